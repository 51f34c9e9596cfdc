//! Removes what the user marked as private.

use std::borrow::Cow;

const OPEN: &str = "<private>";
const CLOSE: &str = "</private>";

/// Returns the text without its parts between `<private>` and `</private>`, in any case. A part that is not closed
/// goes to the end of the text.
pub(crate) fn without_private(text: &str) -> Cow<'_, str> {
    let Some(mut start) = find(text, OPEN) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        out.push_str(&rest[..start]);
        let inside = &rest[start + OPEN.len()..];
        let Some(end) = find(inside, CLOSE) else { return Cow::Owned(out) };
        rest = &inside[end + CLOSE.len()..];
        match find(rest, OPEN) {
            Some(next) => start = next,
            None => {
                out.push_str(rest);
                return Cow::Owned(out);
            }
        }
    }
}

fn find(text: &str, tag: &str) -> Option<usize> {
    text.as_bytes().windows(tag.len()).position(|window| window.eq_ignore_ascii_case(tag.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_parts_are_removed_in_any_case_and_to_the_end_if_they_are_not_closed() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a <private>x</private> b", "a  b"),
            ("a <PRIVATE>x</Private> b <private>y", "a  b "),
            ("<private>é</private>é", "é"),
            ("<private></private><private>z</private>!", "!"),
            ("a </private> b", "a </private> b"),
        ] {
            assert_eq!(without_private(text), expected, "{text}");
        }
    }
}
