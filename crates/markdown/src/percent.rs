//! Percent-encoding, as in the target of a Markdown link: `%20` for a space.

use saddlebag_collections::prelude::*;

use percent_encoding::{percent_decode_str, percent_encode_byte};

/// Returns the text with `%XX` for each byte of the characters to encode.
///
/// ```
/// use saddlebag_markdown::percent::{decode, encode};
///
/// let encoded = encode("käse plan.md", |c| c == ' ' || !c.is_ascii());
/// assert_eq!(encoded, "k%C3%A4se%20plan.md");
/// assert_eq!(decode(&encoded), "käse plan.md");
/// ```
pub fn encode(text: &str, is_encoded: impl Fn(char) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        if is_encoded(character) {
            let mut bytes = [0; 4];
            encoded.extend(character.encode_utf8(&mut bytes).bytes().map(percent_encode_byte));
        } else {
            encoded.push(character);
        }
    }
    encoded
}

/// Returns the text with each `%XX` decoded. It is borrowed if nothing is encoded, or if the result would not be
/// UTF-8.
pub fn decode(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}
