//! Streamable HTTP: the SDK's transport behind a door that takes one token and bounded messages.
//!
//! The transport checks `Host` and `Origin`, so that a page in a browser can reach the server under no name of
//! its own. The door comes before it: nothing is read from who has no token.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::server::MemoryServer;
use super::stdio::too_large;
use super::token::Token;

/// Where the endpoint is.
pub(crate) const PATH: &str = "/mcp";
/// Pages of this machine may ask, with the token; no others.
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
/// How long a session is kept that nobody uses.
const SESSION_IDLE: Duration = Duration::from_secs(3600);
/// How long the head of a request may take, and its body.
const HEAD_TIME: Duration = Duration::from_secs(10);
const BODY_TIME: Duration = Duration::from_secs(60);
/// How much of a message over the bound is read and dropped, so that the client hears why: many do not listen
/// before they have sent all.
const MAX_DROPPED_BYTES: usize = 256 << 20;

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What answers requests.
struct Door {
    inner: StreamableHttpService<MemoryServer, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    token: Token,
    max_bytes: usize,
}

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener, server: MemoryServer, token: Token, max_bytes: usize) {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE);
    let sessions = Arc::new(sessions);
    let config =
        StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS).with_max_request_body_bytes(max_bytes);
    let inner = StreamableHttpService::new(move || Ok(server.clone()), sessions.clone(), config);
    let door = Arc::new(Door { inner, sessions, token, max_bytes });
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = connections.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let door = door.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let door = door.clone();
                async move { Ok::<_, Infallible>(door.answer(request).await) }
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .serve_connection(TokioIo::new(stream), service)
                .await;
            if let Err(error) = served {
                tracing::debug!(%error, "connection ended");
            }
            drop(place);
        });
    }
}

impl Door {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
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
        let (head, body) = request.into_parts();
        let body = match tokio::time::timeout(BODY_TIME, collect(body, self.max_bytes)).await {
            Ok(Ok(Some(body))) => body,
            Ok(Ok(None)) => return error(StatusCode::PAYLOAD_TOO_LARGE, too_large(self.max_bytes)),
            Ok(Err(failure)) => {
                tracing::debug!(%failure, "the client hung up");
                return plain(StatusCode::BAD_REQUEST, "the message is not whole\n");
            }
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the message took too long\n"),
        };
        if head.method == Method::POST {
            if let Err(failure) = serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
                let failure = ErrorData::parse_error(format!("the message is no JSON: {failure}"), None);
                return error(StatusCode::BAD_REQUEST, failure);
            }
            let opens = !head.headers.contains_key(SESSION_HEADER);
            if opens && self.sessions.sessions.read().await.len() >= MAX_SESSIONS {
                let text = format!("there are {MAX_SESSIONS} sessions; end one that is not used any more\n");
                return plain(StatusCode::SERVICE_UNAVAILABLE, text);
            }
        }
        let ends = head.method == Method::DELETE;
        let mut answer = self.inner.handle(Request::from_parts(head, Full::new(body))).await;
        if ends && answer.status() == StatusCode::ACCEPTED {
            // The session has ended by now; clients take 202 for a failure.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }
}

/// The whole body; `None` for one over the bound, which is read and dropped.
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

fn error(status: StatusCode, error: ErrorData) -> Answer {
    let message = ServerJsonRpcMessage::error(error, None);
    answer(status, "application/json", serde_json::to_vec(&message).unwrap_or_default().into())
}

fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
