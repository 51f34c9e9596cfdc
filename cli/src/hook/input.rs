//! Reads the JSON that a client writes to standard input.

use std::io::{self, Read};

use serde_json::{Map, Value};

use super::trouble::Trouble;
use crate::client_json::parsed;

/// Maximum size of an input, in bytes. The output of a tool is part of it.
pub(crate) const MAX_INPUT_BYTES: u64 = 8 << 20;

/// Reads one JSON object. All of the input is taken, so that the client never writes to a closed pipe.
pub(crate) fn object(mut reader: impl Read) -> Result<Map<String, Value>, Trouble> {
    let mut bytes = Vec::new();
    let read = reader.by_ref().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Trouble::input(format!("standard input: {}", saddlebag_host::io_cause(&error))))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        // The rest is not needed, and an error while it is read changes nothing.
        let _ = io::copy(&mut reader, &mut io::sink());
        return Err(Trouble::input(format!("the payload has more than {MAX_INPUT_BYTES} bytes")));
    }
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Trouble> {
    match parsed(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Trouble::input("the payload is not a JSON object")),
        // The message of the parser may repeat the text.
        Err(error) => {
            Err(Trouble::input(format!("the payload is not JSON (line {}, column {})", error.line(), error.column())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_about_a_bad_payload_has_nothing_of_it() {
        for bad in ["", "secret", "[\"secret\"]", "{\"secret\":}", "{\"a\":\"\\ud83d", &"[".repeat(100_000)] {
            let trouble = parse(bad.as_bytes()).unwrap_err();
            assert!(!trouble.message.contains("secret"), "{}", trouble.message);
        }
    }

    #[test]
    fn a_payload_over_the_limit_is_read_to_its_end_and_refused() {
        let mut reader = io::repeat(b' ').take(MAX_INPUT_BYTES * 2);
        assert!(object(&mut reader).is_err());
        assert_eq!(reader.limit(), 0);
    }
}
