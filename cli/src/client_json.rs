//! Reads the JSON that clients write: with half surrogate pairs, a byte order mark, or bytes that are not text.

use std::borrow::Cow;

use serde_json::Value;

/// Parses JSON that a client has written.
pub(crate) fn parsed(bytes: &[u8]) -> serde_json::Result<Value> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_lone_surrogates(text)))
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
            assert_eq!(parsed(text.as_bytes()).unwrap()["a"], expected, "{text}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        assert_eq!(parsed(b"\xef\xbb\xbf{\"a\":\"\xff\"}").unwrap()["a"], "\u{fffd}");
    }
}
