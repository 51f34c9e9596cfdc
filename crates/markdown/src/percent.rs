//! Percent-encoding, as in the target of a Markdown link: `%20` for a space.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::memchr;
use saddlebag_collections::SlicePart;

/// Returns the text with `%XX` for each byte of the characters to encode.
///
/// ```
/// use saddlebag_markdown::percent::{decode, encode};
///
/// let encoded = encode("käse plan.md", |c| c == ' ' || !c.is_ascii());
/// assert_eq!(encoded, "k%C3%A4se%20plan.md");
/// assert_eq!(decode(&encoded), "käse plan.md");
/// ```
#[must_use]
pub fn encode(text: &str, is_encoded: impl Fn(char) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        if is_encoded(character) {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        } else {
            encoded.push(character);
        }
    }
    encoded
}

/// Returns the text with each `%XX` decoded. It is borrowed if nothing is encoded, or if the result would not be
/// UTF-8.
#[must_use]
pub fn decode(text: &str) -> Cow<'_, str> {
    if memchr(b'%', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = match (byte, after) {
            (b'%', [high, low, ..]) => char::from(*high).to_digit(16).zip(char::from(*low).to_digit(16)),
            _ => None,
        };
        let value = digits.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        decoded.push(value.unwrap_or(byte));
        rest = if value.is_some() { after.part(2..) } else { after };
    }
    if decoded.len() == text.len() {
        return Cow::Borrowed(text);
    }
    String::from_utf8(decoded).map_or(Cow::Borrowed(text), Cow::Owned)
}
