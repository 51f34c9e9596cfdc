//! Reads the JSON that a client writes to standard input.

use std::borrow::Cow;
use std::io::{self, Read};

use serde_json::{Map, Value};

use super::trouble::Trouble;

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
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    let value = serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_lone_surrogates(text)));
    match value {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Trouble::input("the payload is not a JSON object")),
        // The message of the parser may repeat the text.
        Err(error) => {
            Err(Trouble::input(format!("the payload is not JSON (line {}, column {})", error.line(), error.column())))
        }
    }
}

/// Replaces the escapes of half surrogate pairs. JavaScript writes them where text was cut inside of a character.
fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        let Some(unit) = escaped_unit(&text[start..]) else {
            // The escaped character may be a backslash itself.
            at = start + 1 + text[start + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        };
        let end = start + ESCAPE_BYTES;
        let is_low = |unit: u16| (0xdc00..0xe000).contains(&unit);
        at = match unit {
            0xd800..0xdc00 if escaped_unit(&text[end..]).is_some_and(is_low) => end + ESCAPE_BYTES,
            0xd800..0xe000 => {
                out.push_str(&text[copied..start]);
                out.push('\u{fffd}');
                copied = end;
                end
            }
            _ => end,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Length of an escape such as `\u12ab`, in bytes.
const ESCAPE_BYTES: usize = 6;

/// Returns the UTF-16 unit of the escape that the text begins with.
fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_a_whole_one_kept() {
        for (text, expected) in [
            (r#"{"a":"x\ud83dy"}"#, "x\u{fffd}y"),
            (r#"{"a":"\udc00"}"#, "\u{fffd}"),
            (r#"{"a":"\ud83d\ude00\ud83d"}"#, "\u{1f600}\u{fffd}"),
            (r#"{"a":"\\ud83d"}"#, "\\ud83d"),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{fffd}\u{1f600}"),
            (r#"{"a":"\u0000\u00e9"}"#, "\0é"),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap()["a"], expected, "{text}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        assert_eq!(parse(b"\xef\xbb\xbf{\"a\":\"\xff\"}").unwrap()["a"], "\u{fffd}");
    }

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
