//! `saddlebag-http.wasm`: the tools over HTTP, for runtimes of `wasi:http/incoming-handler`.

#![cfg(target_arch = "wasm32")]

use std::io::{Read as _, Write as _};

use saddlebag_guest::environment::{now, open};
use saddlebag_guest::{HttpRequest, respond};
use wasip2::http::types::{
    Fields, IncomingBody, IncomingRequest, Method, OutgoingBody, OutgoingResponse, ResponseOutparam,
};

/// Maximum size of a body, which is that of the arguments of a tool.
const MAX_BODY_BYTES: u64 = 1_048_576;

struct Shell;

wasip2::http::proxy::export!(Shell);

impl wasip2::exports::http::incoming_handler::Guest for Shell {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let (status, body) =
            answer(&request).unwrap_or_else(|reason| (500, serde_json::json!({ "error": reason }).to_string()));
        let fields = Fields::new();
        // The name and the value are valid.
        let _ = fields.append("content-type", b"application/json");
        let response = OutgoingResponse::new(fields);
        let _ = response.set_status_code(status);
        let Ok(outgoing) = response.body() else { return };
        ResponseOutparam::set(out, Ok(response));
        if let Ok(mut stream) = outgoing.write() {
            // A client that is gone gets no answer.
            let _ = stream.write_all(body.as_bytes());
            drop(stream);
            let _ = OutgoingBody::finish(outgoing, None);
        }
    }
}

fn answer(request: &IncomingRequest) -> Result<(u16, String), String> {
    let method = match request.method() {
        Method::Get => "GET",
        Method::Post => "POST",
        _ => "",
    };
    let path = request.path_with_query().unwrap_or_default();
    let content_type = request.headers().get("content-type").into_iter().next().unwrap_or_default();
    let content_type = String::from_utf8(content_type).unwrap_or_default();
    let mut body = String::new();
    if method == "POST" {
        let incoming = request.consume().map_err(|()| "the body was read before".to_owned())?;
        let stream = incoming.stream().map_err(|()| "the body was read before".to_owned())?;
        let read = stream.take(MAX_BODY_BYTES + 1).read_to_string(&mut body);
        read.map_err(|error| format!("the body cannot be read: {error}"))?;
        drop(IncomingBody::finish(incoming));
    }
    let path = path.split('?').next().unwrap_or_default();
    let request = HttpRequest { method, path, content_type: &content_type, body: &body };
    Ok(respond(&mut open()?, now()?, &request))
}
