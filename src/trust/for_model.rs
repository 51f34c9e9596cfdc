//! [`ForModel`]: text that is safe for a model to read.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};
use core::ops::{Deref, Range};

use serde::{Serialize, Serializer};

use super::escape::{TAG_REACH, add_flags, escape_stored, is_line_break, is_tag_start, open_tag, unforged};
use super::invisible::Flag;
use crate::part::TextPart;

/// Text that is safe for a model to read: it imitates nothing and hides nothing.
///
/// It is made by escaping text, from our own literals, or from other text of this type. No other text can become one.
///
/// ```
/// use saddlebag::trust::ForModel;
///
/// let text = ForModel::escaped("</memory><system:note>");
/// assert_eq!(text, "&lt;/memory>&lt;system:note>");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForModel(String);

impl ForModel {
    /// Escapes text. Escaped text is unchanged.
    #[must_use]
    pub fn escaped(text: &str) -> Self {
        Self::with_flags(text).0
    }

    /// Escapes text, and returns the findings.
    #[must_use]
    pub fn with_flags(text: &str) -> (Self, Vec<Flag>) {
        let (text, flags) = escape_stored(text);
        (Self(text), flags)
    }

    /// Wraps our own text, which may have titles and tags of the block.
    #[must_use]
    pub fn ours(text: &'static str) -> Self {
        Self(text.into())
    }

    /// Wraps the instructions that the host gives for its model: they are its own words.
    pub(crate) fn from_host(text: String) -> Self {
        Self(text)
    }

    /// Wraps text that already has this type on the other side of the contract.
    pub(crate) fn from_contract(text: String) -> Self {
        Self(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text as a `String`.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// Appends our own text.
    pub fn push_ours(&mut self, text: &'static str) {
        self.join(text);
    }

    /// Appends text.
    pub fn push(&mut self, text: &Self) {
        self.join(&text.0);
    }

    /// Escapes text and appends it.
    pub fn push_escaped(&mut self, text: &str) {
        self.push(&Self::escaped(text));
    }

    /// Appends text. If two harmless texts together would make a tag, its `<` is escaped.
    fn join(&mut self, text: &str) {
        let reach = self.0.ceil_char_boundary(self.0.len().saturating_sub(TAG_REACH));
        let before = self.0.part(reach..);
        let head = text.get(..text.floor_char_boundary(TAG_REACH)).unwrap_or(text);
        // A complete tag can only be one of ours.
        let is_whole = |at: &usize| open_tag(before.part(*at..)).is_some();
        if let Some(at) = before.rfind(is_tag_start).filter(|at| !is_whole(at)) {
            let mut both = String::from(before.part(at..));
            both.push_str(head);
            if let Some((0, length)) = open_tag(&both) {
                self.0.replace_range(reach + at..reach + at + length, "&lt;");
            }
        }
        self.0.push_str(text);
    }

    /// Returns a part of the text. A line whose escape is cut off also loses the text that the escape was for. So does
    /// a tag that a cut makes from a longer word.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let is_whole_start = range.start == 0;
        let is_whole_end = range.end >= self.0.len();
        let part = self.0.part(range);
        let mut part = if is_whole_start { part } else { unforged(part) };
        let reach = part.ceil_char_boundary(part.len().saturating_sub(TAG_REACH));
        let end = part.part(reach..);
        if let Some(at) = end.rfind(is_tag_start).filter(|_| !is_whole_end)
            && open_tag(end.part(at..)).is_some()
        {
            part = part.part(..reach + at);
        }
        Self(part.into())
    }

    /// Returns the text. If it has more than `max` bytes, returns its beginning with `marker` after it.
    pub(crate) fn truncated(self, max: usize, marker: &Self) -> Self {
        if self.0.len() <= max {
            return self;
        }
        let mut cut = self.part(0..self.0.floor_char_boundary(max));
        cut.push(marker);
        cut
    }

    /// Returns the text with our mark before every line.
    pub(crate) fn marked(&self, mark: &'static str, is_line_break: impl Fn(char) -> bool) -> Self {
        if mark.is_empty() || self.0.is_empty() {
            return self.clone();
        }
        let mut marked = String::with_capacity(self.0.len() + self.0.len() / 8);
        for line in self.0.replace("\r\n", "\n").split(is_line_break) {
            if !marked.is_empty() {
                marked.push('\n');
            }
            marked.push_str(if line.is_empty() { mark.trim_end() } else { mark });
            marked.push_str(line);
        }
        Self(marked)
    }

    /// Returns the text on one line.
    pub(crate) fn on_one_line(&self, is_line_break: impl Fn(char) -> bool) -> Self {
        Self::escaped(&self.0.replace(is_line_break, " "))
    }

    /// Removes white space at the end.
    pub(crate) fn trimmed_end(mut self) -> Self {
        self.0.truncate(self.0.trim_end().len());
        self
    }
}

/// Escapes stored text for a model, and returns the findings.
///
/// Tags of the block, of roles and of tools are escaped, whatever their case, and with white space or invisible
/// characters inside: the `<` that begins one becomes `&lt;`. A line that reads like a title or a marker of the block
/// gets a `\`. An invisible character becomes visible, as `[U+202E]`, unless the script or the emoji around it needs
/// it.
#[must_use]
pub fn for_model(text: &str) -> (ForModel, Vec<Flag>) {
    ForModel::with_flags(text)
}

/// Renders an item of a list, escaped. Every line of the text is indented below the heading, so that it cannot look
/// like another item.
pub(crate) fn escaped_item(heading: &str, text: &str, flags: &mut Vec<Flag>) -> ForModel {
    let mut escaped = |text: &str| {
        let (text, found) = for_model(text);
        add_flags(flags, found);
        text
    };
    let mut item = ForModel::ours("- ");
    item.push(&escaped(heading));
    item.push_ours("\n");
    let text = escaped(&text.trim().replace("\r\n", "\n"));
    let mut start = 0;
    for line in text.split(is_line_break) {
        let kept = line.trim_end().len();
        if kept > 0 {
            item.push_ours("  ");
            item.push(&text.part(start..start + kept));
        }
        item.push_ours("\n");
        start +=
            line.len() + text.get(start + line.len()..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    item
}

impl Deref for ForModel {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ForModel {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Display for ForModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ForModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ForModel {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl PartialEq<str> for ForModel {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for ForModel {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<String> for ForModel {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_texts_make_no_tag_together() {
        let mut text = ForModel::escaped("a <");
        text.push_escaped("system>");
        assert_eq!(text, "a &lt;system>");
        let mut text = ForModel::escaped("a < / mem");
        text.push_ours("\n");
        text.push_escaped("ory x");
        assert!(ForModel::escaped(&text) == text, "{text}");
        let mut text = ForModel::escaped("a < b");
        text.push_escaped("system>");
        assert_eq!(text, "a < bsystem>");
    }

    #[test]
    fn a_cut_makes_no_tag_and_no_title() {
        let text = ForModel::escaped("see <systematic> ways");
        assert_eq!(text, "see <systematic> ways");
        assert_eq!(text.part(0..11), "see ");
        assert_eq!(text.part(0..8), "see <sys");
        let text = ForModel::escaped("\n## Scratchpad (open items)\n");
        assert_eq!(text, "\n\\## Scratchpad (open items)\n");
        assert_eq!(text.part(2..text.len()), "Scratchpad (open items)\n");
    }

    #[test]
    fn no_line_of_an_item_begins_where_an_item_does() {
        let text = " a\r\n- b (core)\r- c\u{2028}- d\u{85}\n## Entries (hydrated)\n</memory> ";
        let item = "- k (core)\n  a\n  - b (core)\n  - c\n  - d\n\n  \\## Entries (hydrated)\n  &lt;/memory>\n";
        assert_eq!(escaped_item("k (core)", text, &mut Vec::new()), item);
    }

    proptest! {
        #[test]
        fn what_is_escaped_stays_as_it_is(text in "[<＜/!|#… \\n\\u{200b}a-z:>-]{0,40}|(<|</|\\n## |system|memory|scratchpad|[:> ]){0,8}") {
            let once = ForModel::escaped(&text);
            prop_assert_eq!(ForModel::escaped(&once), once);
        }

        #[test]
        fn parts_put_together_are_harmless(
            texts in prop::collection::vec("(<|</|< |\\n|system|sys|tem|memory|mem|ory|[:> ]){0,5}", 0..5)
        ) {
            let mut all = ForModel::default();
            for text in &texts {
                all.push_escaped(text);
            }
            let escaped = ForModel::escaped(&all);
            // A title that begins a line only after it is appended to a line break is not searched.
            prop_assert_eq!(escaped, all);
        }
    }
}
