//! Reads messages of a client, and returns the error that answers an invalid one. HTTP and stdio share it.

use std::collections::BTreeSet;
use std::fmt;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Reason why bytes are not a message, and the id of the request to answer, if it is known.
pub(crate) struct Refused {
    pub(crate) error: ErrorData,
    pub(crate) id: Option<RequestId>,
    /// True if the message is a notification, which gets no answer on a stream.
    pub(crate) is_notification: bool,
}

/// Reads a message. A duplicate field is refused, because JSON readers differ in which one they use.
pub(crate) fn read(bytes: &[u8]) -> Result<ClientJsonRpcMessage, Refused> {
    let parse_error = |error: String| Refused {
        error: ErrorData::parse_error(format!("the message is not JSON: {error}"), None),
        id: None,
        is_notification: false,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| parse_error(error.to_string()))?;
    let message = match serde_json::from_str(text) {
        Ok(message) => Ok(message),
        Err(error) => {
            // `IgnoredAny` checks only the syntax. A string or number may be valid JSON and still have no Rust value.
            serde_json::from_str::<IgnoredAny>(text).map_err(|error| parse_error(error.to_string()))?;
            Err(error)
        }
    };
    let refused = |error| {
        let envelope = serde_json::from_str::<Envelope>(text).unwrap_or_default();
        let is_notification = envelope.has_method && envelope.id.is_none();
        let id = envelope.id.and_then(|id| serde_json::from_value(id).ok());
        Refused { error, id, is_notification }
    };
    match (message, twice(text)) {
        (_, Some(path)) => {
            let message = format!("`{}` is given twice; give it once", path.escape_debug());
            Err(refused(if path.starts_with("params.") {
                ErrorData::invalid_params(message, None)
            } else {
                ErrorData::invalid_request(message, None)
            }))
        }
        (Ok(message), None) => Ok(message),
        (Err(_), None) => Err(refused(match serde_json::from_str::<Value>(text) {
            Ok(_) => ErrorData::invalid_request("the message is not a JSON-RPC 2.0 request", None),
            // The message has an unpaired surrogate, or a number that is too large.
            Err(error) => ErrorData::invalid_request(format!("the message has an invalid value: {error}"), None),
        })),
    }
}

/// Parts of an unreadable message that its answer needs.
#[derive(Default)]
struct Envelope {
    id: Option<Value>,
    has_method: bool,
}

impl<'de> Deserialize<'de> for Envelope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Envelope;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        // It is unknown which of the two is meant.
                        "id" if envelope.id.is_some() => return Err(A::Error::duplicate_field("id")),
                        "id" => envelope.id = Some(map.next_value()?),
                        name => {
                            envelope.has_method |= name == "method";
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(envelope)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Returns the path of the first duplicate field of an object, such as `params.arguments.content`.
fn twice(text: &str) -> Option<String> {
    let mut found = None;
    let seed = Unique { path: &mut String::new(), found: &mut found };
    // Another reader refuses text that cannot be parsed.
    let _ = seed.deserialize(&mut serde_json::Deserializer::from_str(text));
    found
}

/// Reads a value, and stops at a duplicate field.
struct Unique<'a> {
    path: &'a mut String,
    found: &'a mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let end = self.path.len();
            if end > 0 {
                self.path.push('.');
            }
            self.path.push_str(&name);
            if !names.insert(name) {
                *self.found = Some(self.path.clone());
                return Err(A::Error::custom("a field is given twice"));
            }
            map.next_value_seed(Unique { path: self.path, found: self.found })?;
            self.path.truncate(end);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Unique { path: self.path, found: self.found })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorCode;

    fn refused(text: &str) -> (ErrorCode, String, Option<RequestId>) {
        let Err(refused) = read(text.as_bytes()) else { panic!("it is taken: {text}") };
        (refused.error.code, refused.error.message.into_owned(), refused.id)
    }

    #[test]
    fn a_field_that_is_given_twice_is_named_wherever_it_is() {
        for (params, path) in [
            (r#"{"name":"x","arguments":{"content":"a","content":"b"}}"#, "params.arguments.content"),
            (r#"{"name":"x","arguments":{"content":"a","c\u006fntent":"b"}}"#, "params.arguments.content"),
            (r#"{"name":"x","name":"y"}"#, "params.name"),
            (r#"{"a":[{"b":1},{"b":1,"b":2}]}"#, "params.a.b"),
        ] {
            let (code, message, id) =
                refused(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#));
            assert_eq!((code, id), (ErrorCode::INVALID_PARAMS, Some(RequestId::Number(7))), "{params}");
            assert_eq!(message, format!("`{path}` is given twice; give it once"));
        }
        let (code, message, id) = refused(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#);
        assert_eq!((code, id), (ErrorCode::INVALID_REQUEST, None));
        assert_eq!(message, "`id` is given twice; give it once");
        let (code, _, id) = refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}"#);
        assert_eq!((code, id), (ErrorCode::INVALID_REQUEST, Some(RequestId::Number(1))));
    }

    #[test]
    fn half_of_a_character_is_refused_under_the_id_of_its_request() {
        for half in [r"\ud800", r"\udc00", r"\ud800\u0041", r"\ud83d."] {
            let (code, message, id) = refused(&format!(
                r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"arguments":{{"content":"{half}"}}}},"id":"five"}}"#
            ));
            assert_eq!(code, ErrorCode::INVALID_REQUEST, "{message}");
            assert_eq!(id, Some(RequestId::String("five".into())), "{half}");
        }
    }

    #[test]
    fn what_is_not_json_and_what_is_not_a_request_differ() {
        for text in ["{not json", "", "{\"id\":1", "\"\n\""] {
            assert_eq!(refused(text).0, ErrorCode::PARSE_ERROR, "{text}");
        }
        assert!(matches!(read(b"\"\xff\""), Err(Refused { error, .. }) if error.code == ErrorCode::PARSE_ERROR));
        for text in ["[]", "42", "\"x\"", "{}", r#"{"id":1e999}"#, r#"{"id":3,"method":"ping"}"#] {
            assert_eq!(refused(text).0, ErrorCode::INVALID_REQUEST, "{text}");
        }
        assert_eq!(refused(r#"{"id":3,"method":"ping"}"#).2, Some(RequestId::Number(3)));
        assert!(read(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_ok());
        assert!(read(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"😀"}}}"#.as_bytes()).is_ok());
    }

    #[test]
    fn a_deep_message_is_refused() {
        let deep =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}", "{\"a\":".repeat(100_000));
        assert_eq!(refused(&deep).0, ErrorCode::PARSE_ERROR);
        let closed = format!("{deep}1{}", "}".repeat(100_001));
        assert_eq!(refused(&closed).0, ErrorCode::INVALID_REQUEST);
    }

    #[test]
    fn a_damaged_message_is_refused_or_reads_back_as_it_was() {
        let samples: [&[u8]; 5] = [
            br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
            br#"{"jsonrpc":"2.0","id":"five","method":"tools/call","params":{"name":"memory_read","arguments":{"source":"long_term","n":1.5e3}}}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"\ud83d\ude00"}}"#,
            br#"{"jsonrpc":"2.0","id":-3,"result":{"roots":[{"uri":"file:///a"}]}}"#,
            br#"[{"jsonrpc":"2.0","id":null,"method":"ping"}]"#,
        ];
        let mut taken = 0;
        saddlebag_tests_shared::mutations::each_mutation(4, &samples, 5_000, |bytes| match read(bytes) {
            Ok(message) => {
                taken += 1;
                let written = serde_json::to_vec(&message).expect("JSON");
                let Ok(again) = read(&written) else { panic!("{}", String::from_utf8_lossy(&written)) };
                assert_eq!(serde_json::to_vec(&again).expect("JSON"), written);
            }
            Err(Refused { error, .. }) => assert!(error.message.len() <= 2 * bytes.len() + 200, "{}", error.message),
        });
        assert!(taken > 100, "only {taken} messages were taken");
    }
}
