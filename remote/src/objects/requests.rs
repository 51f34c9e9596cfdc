//! [`Requests`]: the connection to the server of a bucket, which counts the requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use object_store::aws::AmazonS3;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpRequest, HttpRequestBody, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::path::Path;
use object_store::signer::{HeaderName, HeaderValue, Method, SignedUrlOptions, Signer};
use percent_encoding::percent_decode_str;
use saddlebag::protocol::FsError;
use url::Url;

use super::clock::Clock;
use crate::deadline::retries;

/// Time for which the signature of a request is valid.
const SIGNED_FOR: Duration = Duration::from_secs(60);

/// Connection to a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    /// Number of requests that were sent.
    pub(super) sent: Arc<AtomicU64>,
    /// Hears the time of the server.
    pub(super) clock: Clock,
    /// Client that was made last, which is that of the bucket: those of credentials are made before.
    client: Arc<Mutex<Option<HttpClient>>>,
}

/// Client that counts.
#[derive(Debug)]
struct Counted {
    client: HttpClient,
    sent: Arc<AtomicU64>,
    clock: Clock,
}

#[async_trait]
impl HttpService for Counted {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let begun = Instant::now();
        let answer = self.client.execute(request).await;
        let date = answer.as_ref().ok().and_then(|answer| answer.headers().get("date")?.to_str().ok());
        date.inspect(|date| self.clock.hear(date));
        let (kind, key) = shown(method.as_str(), &uri.to_string());
        let status = answer.as_ref().map_or(0, |answer| answer.status().as_u16());
        let milliseconds = begun.elapsed().as_millis() as u64;
        tracing::trace!(kind, key, status, milliseconds, retries = retries(), "request");
        answer
    }
}

/// Returns the kind of a request and the key that it is about. The rest of the address can have a signature or a token.
fn shown(method: &str, address: &str) -> (String, String) {
    let Ok(url) = Url::parse(address) else { return (method.into(), String::new()) };
    let prefix = url.query_pairs().find(|(name, _)| name == "prefix").map(|(_, prefix)| prefix.into_owned());
    match prefix {
        Some(prefix) if method == "GET" => ("LIST".into(), prefix),
        _ => (method.into(), percent_decode_str(url.path()).decode_utf8_lossy().into_owned()),
    }
}

impl HttpConnector for Requests {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        let client = HttpClient::new(Counted { client, sent: self.sent.clone(), clock: self.clock.clone() });
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(client.clone());
        Ok(client)
    }
}

/// Deletes objects under a condition, which `object_store` cannot.
#[derive(Debug)]
pub(super) struct Deleter {
    pub(super) signer: Arc<AmazonS3>,
    pub(super) requests: Requests,
}

/// Outcome of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deleted {
    Done,
    /// Another object is there, or none.
    Changed,
    /// The server does not do it.
    Refused,
}

impl Deleter {
    /// Deletes the object with this ETag, and no other. The caller knows that the server heeds the condition.
    pub(super) async fn delete(&self, key: &Path, etag: &str) -> Result<Deleted, FsError> {
        let other = |error: &dyn std::fmt::Display| FsError::Other(format!("a deletion cannot be sent: {error}"));
        let name = HeaderName::from_static("if-match");
        let value = HeaderValue::from_str(etag).map_err(|error| other(&error))?;
        let options = SignedUrlOptions::new().with_signed_header(name.clone(), value.clone());
        let signed = self.signer.signed_url_opts(Method::DELETE, key, SIGNED_FOR, &options).await;
        // The address has the signature, so an error must not show it.
        let address = signed.map_err(|_| FsError::Other("a deletion cannot be signed".into()))?;
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = Method::DELETE;
        *request.uri_mut() = address.as_str().parse().map_err(|error| other(&error))?;
        request.headers_mut().insert(name, value);
        let client = self.requests.client.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(client) = client else { return Ok(Deleted::Refused) };
        let answer = client.execute(request).await.map_err(|_| FsError::Other("the server did not answer".into()))?;
        Ok(match answer.status().as_u16() {
            200..300 => Deleted::Done,
            404 | 409 | 412 => Deleted::Changed,
            _ => Deleted::Refused,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_shown_without_what_may_be_secret() {
        let shown = |method, address| {
            let (kind, key) = shown(method, address);
            format!("{kind} {key}")
        };
        let signed = "http://h:1/notes/a%20b.md?X-Amz-Signature=abc&X-Amz-Security-Token=t";
        assert_eq!(shown("DELETE", signed), "DELETE /notes/a b.md");
        assert_eq!(shown("GET", "http://h/notes?list-type=2&prefix=t%2Ffiles%2F"), "LIST t/files/");
        assert_eq!(shown("POST", "https://sts/?WebIdentityToken=t"), "POST /");
    }
}
