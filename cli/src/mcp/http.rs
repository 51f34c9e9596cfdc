//! Streamable HTTP: the SDK's transport and a guard that checks the token and the size of messages.
//!
//! The transport checks `Host` and `Origin`, so that a web page cannot reach the server under its own host name.
//! [`Door`] runs before the transport. It reads no body from a client without the token.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::connections::{Answering, Connection, Connections};
use super::message::{self, Refused};
use super::server::MemoryServer;
use super::stdio::too_large;
use super::token::Token;

/// Path of the endpoint.
pub(crate) const PATH: &str = "/mcp";
/// Allowed origins: only pages of this machine, and they need the token too.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];
const SESSION_HEADER: &str = "mcp-session-id";
const MAX_CONNECTIONS: usize = 256;
const MAX_SESSIONS: usize = 1024;
/// Time after which an unused session is dropped.
const SESSION_IDLE: Duration = Duration::from_secs(3600);
/// Time limits for the head of a request and for its body.
const HEAD_TIME: Duration = Duration::from_secs(10);
const BODY_TIME: Duration = Duration::from_secs(60);
/// Maximum number of bytes of a message over the limit that are read and dropped. Many clients read no answer before
/// they have sent everything, so the rest must be read before they see the reason.
const MAX_DROPPED_BYTES: usize = 256 << 20;

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Service that checks requests and passes them on.
struct Door {
    inner: StreamableHttpService<MemoryServer, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    used: Mutex<Used>,
    token: Token,
    max_bytes: usize,
}

/// Order in which sessions were last used.
#[derive(Default)]
struct Used {
    moment: u64,
    sessions: BTreeMap<String, u64>,
}

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener, server: MemoryServer, token: Token, max_bytes: usize) {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE);
    let sessions = Arc::new(sessions);
    let config =
        StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS).with_max_request_body_bytes(max_bytes);
    let inner = StreamableHttpService::new(move || Ok(server.for_session()), sessions.clone(), config);
    let door = Arc::new(Door { inner, sessions, used: Mutex::default(), token, max_bytes });
    let connections = Connections::new(MAX_CONNECTIONS);
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Without it, the end of an answer waits 40 ms for the client to acknowledge the beginning.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "answers are delayed");
        }
        let place = Arc::new(connections.take().await);
        let (door, id) = (door.clone(), place.id());
        let task = tokio::spawn(async move {
            let service = service_fn(|request| {
                let (door, place) = (door.clone(), place.clone());
                async move { Ok::<_, Infallible>(door.answer(request, &place).await) }
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .serve_connection(TokioIo::new(stream), service)
                .await;
            if let Err(error) = served {
                tracing::debug!(%error, "connection ended");
            }
        });
        Connection::ends_with(&connections, id, task.abort_handle());
    }
}

impl Door {
    /// Answers a request. The connection is busy until the answer is sent.
    async fn answer(&self, request: Request<Incoming>, place: &Connection) -> Answer {
        if let Err(text) = check_headers(request.headers()) {
            return plain(StatusCode::BAD_REQUEST, text);
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, format!("the endpoint is {PATH}\n"));
        }
        let shown = request.headers().get(AUTHORIZATION);
        if !shown.is_some_and(|header| self.token.is_shown_by(header.as_bytes())) {
            let text = "the bearer token is missing or wrong; the server says at its start where it is\n";
            let mut answer = plain(StatusCode::UNAUTHORIZED, text);
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"saddlebag\""));
            return answer;
        }
        let answering = place.answers();
        let answer = self.handle(request).await;
        let (head, body) = answer.into_parts();
        Response::from_parts(head, held(body, answering))
    }

    async fn handle(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let body = match tokio::time::timeout(BODY_TIME, collect(body, self.max_bytes)).await {
            Ok(Ok(Some(body))) => body,
            Ok(Ok(None)) => return error(StatusCode::PAYLOAD_TOO_LARGE, too_large(self.max_bytes), None),
            Ok(Err(failure)) => {
                tracing::debug!(%failure, "the client hung up");
                return plain(StatusCode::BAD_REQUEST, "the message is incomplete\n");
            }
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the message took too long\n"),
        };
        if head.method == Method::POST {
            if let Err(Refused { error: failure, id, .. }) = message::read(&body) {
                return error(StatusCode::BAD_REQUEST, failure, id);
            }
            if !head.headers.contains_key(SESSION_HEADER) {
                self.make_room().await;
            }
        }
        let ends = head.method == Method::DELETE;
        let session = head.headers.get(SESSION_HEADER).cloned();
        self.use_session(session.as_ref());
        let mut answer = self.inner.handle(Request::from_parts(head, Full::new(body))).await;
        if ends && answer.status() == StatusCode::ACCEPTED {
            // The session has ended by now. Clients treat 202 as a failure.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        self.use_session(answer.headers().get(SESSION_HEADER).or(session.as_ref()));
        answer
    }

    /// Records that a session was used now. Unknown names are dropped by [`make_room`](Self::make_room).
    fn use_session(&self, id: Option<&HeaderValue>) {
        let Some(id) = id.and_then(|id| id.to_str().ok()) else { return };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.moment += 1;
        let moment = used.moment;
        if used.sessions.len() < 2 * MAX_SESSIONS || used.sessions.contains_key(id) {
            used.sessions.insert(id.to_string(), moment);
        }
    }

    /// Ends the sessions that have been unused for longest, until there is room for one more.
    async fn make_room(&self) {
        loop {
            let idlest = {
                let sessions = self.sessions.sessions.read().await;
                let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
                used.sessions.retain(|id, _| sessions.contains_key(id.as_str()));
                if sessions.len() < MAX_SESSIONS {
                    return;
                }
                let moment = |id: &str| used.sessions.get(id).copied().unwrap_or_default();
                sessions.keys().min_by_key(|id| moment(id)).cloned()
            };
            let Some(idlest) = idlest else { return };
            tracing::debug!("an idle session gives way");
            if let Err(error) = self.sessions.close_session(&idlest).await {
                tracing::debug!(%error, "a session did not end");
            }
        }
    }
}

/// Headers that may occur only once. Two readers of a duplicate may use different values.
const SINGLE: [&str; 4] = ["host", "origin", "authorization", SESSION_HEADER];

/// Refuses headers that two readers may understand differently.
fn check_headers(headers: &HeaderMap) -> Result<(), String> {
    for name in SINGLE {
        if headers.get_all(name).iter().nth(1).is_some() {
            return Err(format!("the header `{name}` occurs twice; send it once\n"));
        }
    }
    if headers.get(HOST).is_some_and(|host| host.as_bytes().contains(&b'@')) {
        return Err("`Host` has a user; send only a host and a port\n".into());
    }
    Ok(())
}

/// Returns the body of an answer, which keeps the connection busy until it is sent or dropped.
fn held(body: BoxBody<Bytes, Infallible>, answering: Answering) -> BoxBody<Bytes, Infallible> {
    body.map_frame(move |frame| {
        let _ = &answering;
        frame
    })
    .boxed()
}

/// Returns the whole body, or `None` if it is over the limit. Such a body is read and dropped.
async fn collect<B>(body: B, max_bytes: usize) -> io::Result<Option<Bytes>>
where
    B: Body<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let mut body = std::pin::pin!(body);
    let (mut collected, mut total) = (Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
        total = total.saturating_add(data.len());
        if total <= max_bytes {
            collected.extend_from_slice(&data);
        } else {
            collected = Vec::new();
            if total > MAX_DROPPED_BYTES {
                break;
            }
        }
    }
    Ok((total <= max_bytes).then(|| collected.into()))
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    answer(status, "text/plain; charset=utf-8", text.into())
}

fn error(status: StatusCode, error: ErrorData, id: Option<RequestId>) -> Answer {
    let message = ServerJsonRpcMessage::error(error, id);
    answer(status, "application/json", serde_json::to_vec(&message).unwrap_or_default().into())
}

fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
