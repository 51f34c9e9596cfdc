//! Tools over HTTP: `GET /tools` lists them, `POST /tools/NAME` runs one.

use saddlebag::store::Timestamp;
use serde_json::{Value, json};

use crate::answers::{answer_json, tool_json};
use crate::guest::Guest;
use crate::storage::Storage;

/// A request without its connection.
#[derive(Clone, Copy, Debug)]
pub struct HttpRequest<'a> {
    /// Method, such as `POST`.
    pub method: &'a str,
    /// Path without a query.
    pub path: &'a str,
    /// Value of the header `content-type`; empty if there is none.
    pub content_type: &'a str,
    /// Arguments of the tool: a JSON object.
    pub body: &'a str,
}

/// Returns the status and the JSON body that answer a request.
///
/// A page in a browser can send other content types to any address without asking. It cannot send JSON.
pub fn respond<S: Storage>(guest: &mut Guest<S>, now: Timestamp, request: &HttpRequest<'_>) -> (u16, String) {
    let tools = guest.tools();
    let refused = |status: u16, reason: String| (status, json!({ "error": reason }).to_string());
    let name = match (request.method, request.path, request.path.strip_prefix("/tools/")) {
        ("GET", "/tools", _) => {
            let tools: Vec<Value> = tools.iter().map(tool_json).collect();
            return (200, json!({ "tools": tools }).to_string());
        }
        ("POST", _, Some(name)) => name,
        (_, "/tools", _) | (_, _, Some(_)) => return refused(405, "GET /tools, or POST /tools/NAME".into()),
        _ => return refused(404, "GET /tools, or POST /tools/NAME".into()),
    };
    if tools.iter().all(|tool| tool.name != name) {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return refused(404, format!("unknown tool; one of {}", names.join(", ")));
    }
    let media = request.content_type.split(';').next().unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case("application/json") {
        return refused(415, "the content type must be application/json".into());
    }
    match guest.call(now, "", name, request.body) {
        Ok(answered) => (200, answer_json(&answered.answer).to_string()),
        Err(reason) => refused(500, reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::tests::guest;

    #[test]
    fn a_tool_runs_by_post_of_json_alone() {
        let mut guest = guest();
        let now = Timestamp { seconds: 1_780_125_300, nanoseconds: 0, utc_offset_seconds: 0 };
        let mut ask = |method: &str, path: &str, content_type: &str, body: &str| {
            let (status, text) = respond(&mut guest, now, &HttpRequest { method, path, content_type, body });
            (status, serde_json::from_str::<Value>(&text).expect("JSON"))
        };
        let (json, store) = ("application/json; charset=utf-8", r#"{"key":"port","content":"8080"}"#);
        assert_eq!(ask("POST", "/tools/mem_remember", json, store).0, 200);
        let (status, found) = ask("POST", "/tools/mem_recall", "Application/JSON", r#"{"query":"port"}"#);
        assert_eq!((status, found["content"][0]["text"].as_str().map(|text| text.contains("8080"))), (200, Some(true)));
        let (status, listed) = ask("GET", "/tools", "", "");
        assert_eq!((status, listed["tools"].as_array().map(Vec::len)), (200, Some(10)));
        for (method, path, content_type, status) in [
            ("POST", "/tools/mem_remember", "text/plain", 415),
            ("POST", "/tools/mem_remember", "", 415),
            ("GET", "/tools/mem_remember", json, 405),
            ("POST", "/tools", json, 405),
            ("POST", "/tools/other", json, 404),
            ("GET", "/", "", 404),
        ] {
            assert_eq!(ask(method, path, content_type, "{}").0, status, "{method} {path}");
        }
    }
}
