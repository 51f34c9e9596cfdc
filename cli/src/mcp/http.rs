//! Streamable HTTP: the SDK's transport and a guard that checks the token and the size of messages.
//!
//! [`Door`] runs before the transport. It reads no body from a client without the token.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::message::{self, Refused};
use super::server::MemoryServer;
use super::stdio::too_large;
use super::token::Token;
use crate::failure::Failure;
use crate::server::connections::Connection;
use crate::server::http::{Answer, NoBody, SESSION_HEADER, Site, answer, held, plain, read_body};

/// Path of the endpoint.
pub(crate) const PATH: &str = "/mcp";
/// Allowed origins, for the SDK, which would allow all: only pages of this machine, and they need the token too.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];
const MAX_SESSIONS: usize = 1024;
/// Time after which an unused session is dropped.
const SESSION_IDLE: Duration = Duration::from_secs(3600);

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
    let inner = StreamableHttpService::new(move || server.for_session().map_err(to_io), sessions.clone(), config);
    let door = Door { inner, sessions, used: Mutex::default(), token, max_bytes };
    crate::server::http::serve(listener, Arc::new(door)).await;
}

fn to_io(failure: Failure) -> io::Error {
    io::Error::other(failure.message)
}

impl Site for Door {
    /// Answers a request. The connection is busy until the answer is sent.
    async fn answer(&self, request: Request<Incoming>, place: &Connection) -> Answer {
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
        held(self.handle(request).await, answering)
    }
}

impl Door {
    async fn handle(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let body = match read_body(body, self.max_bytes).await {
            Ok(body) => body,
            Err(NoBody::TooLarge) => return error(StatusCode::PAYLOAD_TOO_LARGE, too_large(self.max_bytes), None),
            Err(reason) => return reason.answer(),
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

fn error(status: StatusCode, error: ErrorData, id: Option<RequestId>) -> Answer {
    let message = ServerJsonRpcMessage::error(error, id);
    answer(status, "application/json", serde_json::to_vec(&message).unwrap_or_default().into())
}
