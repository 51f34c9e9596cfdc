//! [`Page`]: the site of the page. Every request passes [`Page::answer`], which checks who asks.
//!
//! The address that the program prints has a secret folder, and a key that signs one browser in. The browser gets a
//! cookie for this folder, and the page a second secret that each call must show: another page of this machine may have
//! the cookie sent, but cannot read the secret.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION,
    ORIGIN, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use saddlebag::protocol::ErrorCode;
use serde_json::json;

use super::api::{Api, error, status};
use super::assets::{POLICY, SCRIPT, STYLE, served};
use super::first::First;
use super::live::Live;
use crate::failure::Failure;
use crate::server::connections::Connection;
use crate::server::http::{Answer, Site, answer, held, plain, read_body};
use crate::server::secret::Secret;

/// Maximum size of a call in bytes: a note, even if every character is escaped.
const MAX_CALL_BYTES: usize = 8 << 20;
const COOKIE_NAME: &str = "saddlebag";
const CSRF_HEADER: HeaderName = HeaderName::from_static("x-saddlebag-csrf");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const SIGNED_OUT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Saddlebag</title>\
                          <p>This browser is not signed in to this page. The address that <code>saddlebag ui</code> \
                          prints signs in one browser, once. Run <code>saddlebag ui</code> again for another one.";

/// The site of the page.
pub(super) struct Page {
    pub(super) api: Api,
    pub(super) live: Live,
    pub(super) first: Arc<First>,
    pub(super) is_read_only: bool,
    /// Name of the memory, for people.
    pub(super) memory: String,
    pub(super) port: u16,
    /// First part of every path. A browser sends cookies to all ports of a host, but only for their path, which other
    /// servers do not know.
    pub(super) space: Secret,
    /// Key in the address, which signs in one browser.
    pub(super) key: Secret,
    pub(super) is_key_used: AtomicBool,
    /// Value of the cookie.
    pub(super) session: Secret,
    /// Secret that each call shows.
    pub(super) csrf: Secret,
}

/// Returns the port that a host names. Browsers leave out that of HTTP.
fn port_of(host: &str) -> &str {
    let name_and_port = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    name_and_port.rsplit_once(':').map_or("80", |(_, port)| port)
}

impl Site for Page {
    async fn answer(&self, request: Request<Incoming>, place: &Connection) -> Answer {
        let mut answer = self.route(request, place).await;
        let headers = answer.headers_mut();
        for (name, value) in [
            (CONTENT_SECURITY_POLICY, POLICY),
            (CACHE_CONTROL, "no-store"),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (OPENER_POLICY, "same-origin"),
            (RESOURCE_POLICY, "same-origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        answer
    }
}

impl Page {
    async fn route(&self, request: Request<Incoming>, place: &Connection) -> Answer {
        let method = request.method().clone();
        let path = request.uri().path().strip_prefix('/').and_then(|path| path.split_once('/'));
        let path = path.filter(|(space, _)| self.space.is(space.as_bytes())).map(|(_, path)| format!("/{path}"));
        let Some(path) = path else {
            return answer(StatusCode::UNAUTHORIZED, "text/html; charset=utf-8", SIGNED_OUT.into());
        };
        if let Err(text) = self.check_origin(request.headers()) {
            return plain(StatusCode::FORBIDDEN, text);
        }
        let is_signed_in = self.is_signed_in(request.headers());
        if method == Method::GET && path == "/" && request.uri().query().is_some() {
            return self.sign_in(request.uri().query().unwrap_or_default(), is_signed_in);
        }
        if !is_signed_in {
            return answer(StatusCode::UNAUTHORIZED, "text/html; charset=utf-8", SIGNED_OUT.into());
        }
        let answering = place.answers();
        let answered = match (&method, path.as_str()) {
            (&Method::GET, "/") => {
                let page = served(self.csrf.as_str(), self.is_read_only, &self.memory);
                answer(StatusCode::OK, "text/html; charset=utf-8", page.into())
            }
            (&Method::GET, "/app.js") => answer(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT.into()),
            (&Method::GET, "/app.css") => answer(StatusCode::OK, "text/css; charset=utf-8", STYLE.into()),
            (&Method::GET, "/api/changes") => {
                let mut answer = Response::new(self.live.events());
                answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
                answer
            }
            (&Method::POST, _) if let Some(name) = path.strip_prefix("/api/") => self.call(name, request).await,
            _ => plain(StatusCode::NOT_FOUND, "there is no such page\n"),
        };
        held(answered, answering)
    }

    /// Refuses what another page sent, also one of another port of this machine.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if port_of(host) != self.port.to_string() {
            return Err("`Host` has another port\n");
        }
        let own = format!("http://{host}");
        if headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes() != own.as_bytes()) {
            return Err("only this page gets an answer\n");
        }
        let is_from_here = headers.get(FETCH_SITE).is_none_or(|site| site == "same-origin" || site == "none");
        if is_from_here { Ok(()) } else { Err("only this page gets an answer\n") }
    }

    /// Signs in the browser that shows the key, once.
    fn sign_in(&self, query: &str, is_signed_in: bool) -> Answer {
        let is_right = query.strip_prefix("key=").is_some_and(|key| self.key.is(key.as_bytes()));
        let is_first = is_right && !self.is_key_used.swap(true, Ordering::Relaxed);
        if !is_first && !is_signed_in {
            return answer(StatusCode::UNAUTHORIZED, "text/html; charset=utf-8", SIGNED_OUT.into());
        }
        let mut answer = plain(StatusCode::SEE_OTHER, "");
        let folder = format!("/{}/", self.space.as_str());
        let cookie = format!("{COOKIE_NAME}={}; Path={folder}; HttpOnly; SameSite=Strict", self.session.as_str());
        if let Ok(folder) = HeaderValue::from_str(&folder) {
            answer.headers_mut().insert(LOCATION, folder);
        }
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            answer.headers_mut().insert(SET_COOKIE, cookie);
        }
        answer
    }

    fn is_signed_in(&self, headers: &HeaderMap) -> bool {
        let Some(cookies) = headers.get(COOKIE).and_then(|cookies| cookies.to_str().ok()) else { return false };
        let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == COOKIE_NAME && self.session.is(value.as_bytes()))
    }

    async fn call(&self, name: &str, request: Request<Incoming>) -> Answer {
        let shown = request.headers().get(CSRF_HEADER).and_then(|shown| shown.to_str().ok());
        if !shown.is_some_and(|shown| self.csrf.is(shown.as_bytes())) {
            return plain(
                StatusCode::FORBIDDEN,
                "the header `x-saddlebag-csrf` is missing or wrong; reload the page\n",
            );
        }
        let body = match read_body(request.into_body(), MAX_CALL_BYTES).await {
            Ok(body) => body,
            Err(reason) => return reason.answer(),
        };
        let refusal = || {
            let help = "start `saddlebag ui` without --read-only to change memory";
            Failure::new(ErrorCode::NotPermitted, "this page only reads; nothing was changed", help)
        };
        let answered = match serde_json::from_slice(&body) {
            Ok(given) => match self.first.take(name, &given, &self.live).await {
                Some(answer) => Ok(answer),
                None => self.api.answer(name, given, self.is_read_only.then(refusal)).await,
            },
            Err(error) => Err(Failure::new(ErrorCode::InvalidArgument, format!("the body is not JSON: {error}"), "")),
        };
        let (code, value) = match answered {
            Ok(value) => (StatusCode::OK, value),
            Err(failure) => {
                let status = StatusCode::from_u16(status(failure.code)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                (status, json!({ "error": error(&failure) }))
            }
        };
        answer(code, "application/json", value.to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_a_port_has_that_of_http() {
        for (host, port) in [
            ("127.0.0.1:7424", "7424"),
            ("localhost", "80"),
            ("127.0.0.1", "80"),
            ("[::1]", "80"),
            ("[::1]:7424", "7424"),
        ] {
            assert_eq!(port_of(host), port, "{host}");
        }
    }
}
