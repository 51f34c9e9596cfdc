//! [`ForModel`]: text that is safe for a model to read.

use core::fmt::{self, Display};
use core::ops::Range;
use saddlebag_collections::prelude::*;

use serde::{Serialize, Serializer};

use saddlebag_sanitize as sanitize;
use saddlebag_sanitize::Flag;

/// Text that is safe for a model to read: it imitates nothing and hides nothing.
///
/// It is made only by escaping text, from our own literals, or from other text of this type.
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
    pub fn escaped(text: &str) -> Self {
        Self::with_flags(text).0
    }

    /// Escapes text, and returns the findings.
    pub fn with_flags(text: &str) -> (Self, Vec<Flag>) {
        let (text, flags) = sanitize::escape(text);
        (Self(text), flags)
    }

    /// Wraps our own text, which may have titles and tags of the block.
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
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the size of the text in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text as a `String`.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Appends our own text.
    pub fn push_ours(&mut self, text: &'static str) {
        sanitize::append(&mut self.0, text);
    }

    /// Appends text.
    pub fn push(&mut self, text: &Self) {
        sanitize::append(&mut self.0, &text.0);
    }

    /// Escapes text and appends it.
    pub fn push_escaped(&mut self, text: &str) {
        self.push(&Self::escaped(text));
    }

    /// Escapes text that continues a line, and appends it. Only the beginning of a line can be taken for a title.
    pub(crate) fn push_within_line(&mut self, text: &str) {
        const BEFORE: &str = "x ";
        let (escaped, _) = Self::with_flags(&format!("{BEFORE}{text}"));
        self.push(&Self(escaped.0.strip_prefix(BEFORE).unwrap_or(&escaped.0).into()));
    }

    /// Returns a part of the text. A line whose escape is cut off also loses the text that the escape was for. So does
    /// a tag that a cut makes from a longer word.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        Self(sanitize::part(&self.0, range).into())
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
    pub(crate) fn marked(&self, mark: &'static str) -> Self {
        Self(sanitize::mark_lines(&self.0, mark))
    }

    /// Removes white space at the end.
    pub(crate) fn trimmed_end(mut self) -> Self {
        self.0.truncate(self.0.trim_end().len());
        self
    }
}

/// Escapes stored text for a model, and returns the findings: [`saddlebag_sanitize::escape`] has the rules.
pub fn for_model(text: &str) -> (ForModel, Vec<Flag>) {
    ForModel::with_flags(text)
}

/// Renders an item of a list, escaped. Every line of the text is indented below the heading, so that it cannot look
/// like another item.
pub(crate) fn escaped_item(heading: &str, text: &str, flags: &mut Vec<Flag>) -> ForModel {
    ForModel(sanitize::list_item(heading, text, flags))
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
