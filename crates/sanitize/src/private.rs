//! Removes text that a person marked as private.

use saddlebag_collections::TextPart;

use crate::escape::is_ignorable;
use saddlebag_collections::prelude::*;

const NAME: &str = "private";

/// Returns the text without what is between `<private>` and `</private>`, which a space replaces. Upper and lower case are the
/// same, a tag may have white space and attributes, parts may be nested, and a part without an end reaches to the end of the
/// text.
///
/// ```
/// use saddlebag_sanitize::without_private;
///
/// assert_eq!(without_private("deploy <private>as root <private>!</private></private>today"), "deploy  today");
/// ```
pub fn without_private(text: &str) -> Cow<'_, str> {
    let mut tags = tags(text).peekable();
    if tags.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut outside = 0;
    for tag in tags {
        if tag.begins {
            if depth == 0 {
                kept.push_str(text.part(outside..tag.start));
            }
            depth = depth.saturating_add(1);
        } else if depth > 0 {
            depth -= 1;
            if depth == 0 {
                // Words around a removed part stay apart.
                kept.push(' ');
                outside = tag.end;
            }
        }
    }
    if depth == 0 {
        kept.push_str(text.part(outside..));
    }
    Cow::Owned(kept)
}

/// A tag in text, with its first byte and the byte after it.
struct Tag {
    begins: bool,
    start: usize,
    end: usize,
}

/// Returns the tags of private parts in text.
fn tags(text: &str) -> impl Iterator<Item = Tag> + '_ {
    text.match_indices('<').filter_map(|(start, _)| {
        let inside = text.get(start + 1..)?.trim_start_matches(is_ignorable);
        let (begins, name) = inside.strip_prefix('/').map_or((true, inside), |name| (false, name));
        let name = name.trim_start_matches(is_ignorable);
        let (_, after) = name.split_at_checked(NAME.len()).filter(|(word, _)| word.eq_ignore_ascii_case(NAME))?;
        let (attributes, rest) = after.split_once('>')?;
        let is_tag = attributes.is_empty() || attributes.starts_with(is_ignorable);
        (is_tag && !attributes.contains('<')).then_some(Tag { begins, start, end: text.len() - rest.len() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_parts_are_removed_whatever_their_case_and_nesting() {
        for (text, kept) in [
            ("plain", "plain"),
            ("a <private>b</private> c", "a   c"),
            ("a <PRIVATE>b</Private>c", "a  c"),
            ("a <private>b <private>c</private> d</private> e", "a   e"),
            ("<private>a<private>b</private>c</private>", " "),
            ("a <private>b", "a "),
            ("a <private>b <private>c</private> d", "a "),
            ("<private></private><private>z</private>!", "  !"),
            ("a < b <privat> </private>", "a < b <privat> </private>"),
            ("a </private> b <private>c", "a </private> b "),
            ("a <private >b</private\n>c", "a  c"),
            ("a <private>b</private c</private>d", "a  d"),
            ("<privately>a</privately>", "<privately>a</privately>"),
            ("<private>é", ""),
            ("<private>é</private>é", " é"),
            ("é<é", "é<é"),
            ("a <private x>b</private>c", "a  c"),
            ("a <private reason=\"key\">b</private x> c", "a   c"),
            ("a < private>b< / private >c", "a  c"),
            ("a <\u{200b}private>b", "a "),
            ("a <private b", "a <private b"),
            ("a <private/> <privates x>", "a <private/> <privates x>"),
        ] {
            assert_eq!(without_private(text), kept, "{text}");
        }
    }
}
