//! The HTTP server of this machine: connections, the checks that every request must pass, and answers.
//!
//! Any web page can make the browser send requests to this machine. So [`serve`] refuses a request whose `Host` is
//! another name, which a page could point to this machine, and one whose `Origin` is another machine. A [`Site`] then
//! checks who asks.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use super::connections::{Answering, Connection, Connections};
use crate::failure::{Failure, ProgramCode};

const MAX_CONNECTIONS: usize = 256;
/// Time limits for the head of a request and for its body.
const HEAD_TIME: Duration = Duration::from_secs(10);
const BODY_TIME: Duration = Duration::from_secs(60);
/// Maximum number of bytes of a body over the limit that are read and dropped. Many clients read no answer before
/// they have sent everything, so the rest must be read before they see the reason.
const MAX_DROPPED_BYTES: usize = 256 << 20;
/// Header with the session of a client of MCP.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";
/// Headers that may occur only once. Two readers of a duplicate may use different values.
const SINGLE: [&str; 5] = ["host", "origin", "authorization", "cookie", SESSION_HEADER];

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Something that is served to this machine.
pub(crate) trait Site: Send + Sync + 'static {
    /// Answers a request that passed the checks of [`serve`].
    fn answer(&self, request: Request<Incoming>, place: &Connection) -> impl Future<Output = Answer> + Send;
}

/// Listens on an address of this machine.
pub(crate) async fn listen(address: SocketAddr, way_out: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let message = format!("cannot listen on {address}: {error}");
        Failure::new(ProgramCode::Server, message, way_out)
    })
}

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener, site: Arc<impl Site>) {
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
        let (site, id) = (site.clone(), place.id());
        let task = tokio::spawn(async move {
            let service = service_fn(|request| {
                let (site, place) = (site.clone(), place.clone());
                async move {
                    let refused = check(request.uri(), request.headers()).err();
                    Ok::<_, Infallible>(match refused {
                        Some((status, text)) => plain(status, text),
                        None => site.answer(request, &place).await,
                    })
                }
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

/// Refuses headers that two readers may understand differently, and what a web page of another machine may have sent.
fn check(uri: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, String)> {
    for name in SINGLE {
        if headers.get_all(name).iter().nth(1).is_some() {
            return Err((StatusCode::BAD_REQUEST, format!("the header `{name}` occurs twice; send it once\n")));
        }
    }
    let Some(host) = headers.get(HOST) else {
        return Err((StatusCode::BAD_REQUEST, "the header `host` is missing\n".into()));
    };
    if host.as_bytes().contains(&b'@') {
        return Err((StatusCode::BAD_REQUEST, "`Host` has a user; send only a host and a port\n".into()));
    }
    let is_served = |host: &str| {
        is_this_machine(host.rsplit_once(':').map_or(host, |(name, port)| if is_port(port) { name } else { host }))
    };
    let is_host = host.to_str().is_ok_and(is_served) && uri.host().is_none_or(is_this_machine);
    if !is_host {
        return Err((StatusCode::FORBIDDEN, "`Host` must be this machine, such as `localhost`\n".into()));
    }
    let is_origin = |origin: &HeaderValue| {
        let origin = origin.to_str().ok()?;
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
        Some(is_served(host))
    };
    if headers.get(ORIGIN).is_some_and(|origin| is_origin(origin) != Some(true)) {
        return Err((StatusCode::FORBIDDEN, "pages of other machines get no answer\n".into()));
    }
    Ok(())
}

/// Returns true for a name of this machine that no other machine can take.
fn is_this_machine(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| host.eq_ignore_ascii_case(name))
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reason why there is no body.
pub(crate) enum NoBody {
    TooLarge,
    /// The client hung up, for this reason.
    Incomplete(io::Error),
    TooSlow,
}

impl NoBody {
    /// Returns the answer for the client.
    pub(crate) fn answer(self) -> Answer {
        match self {
            Self::TooLarge => plain(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large\n"),
            Self::Incomplete(failure) => {
                tracing::debug!(%failure, "the client hung up");
                plain(StatusCode::BAD_REQUEST, "the message is incomplete\n")
            }
            Self::TooSlow => plain(StatusCode::REQUEST_TIMEOUT, "the message took too long\n"),
        }
    }
}

/// Reads the body of a request. A body over the limit is read and dropped.
pub(crate) async fn read_body(body: Incoming, max_bytes: usize) -> Result<Bytes, NoBody> {
    match tokio::time::timeout(BODY_TIME, collect(body, max_bytes)).await {
        Ok(Ok(Some(body))) => Ok(body),
        Ok(Ok(None)) => Err(NoBody::TooLarge),
        Ok(Err(failure)) => Err(NoBody::Incomplete(failure)),
        Err(_) => Err(NoBody::TooSlow),
    }
}

/// Returns an answer that keeps the connection busy until it is sent or dropped.
pub(crate) fn held(answer: Answer, answering: Answering) -> Answer {
    let (head, body) = answer.into_parts();
    let body = body
        .map_frame(move |frame| {
            let _ = &answering;
            frame
        })
        .boxed();
    Response::from_parts(head, body)
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

pub(crate) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    answer(status, "text/plain; charset=utf-8", text.into())
}

pub(crate) fn answer(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
