//! Limits of the parts of a new entry.

use super::category::{Category, Limit, checked_key, over, within};
use super::document::Fields;
use super::types::EntryInfo;
use crate::trust::{TrustState, Writer};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Maximum size of the content of an entry in bytes.
pub const MAX_CONTENT_BYTES: usize = 16_384;
/// Maximum number of tags of an entry.
pub const MAX_TAGS: usize = 32;
/// Maximum length of a tag in bytes.
pub const MAX_TAG_BYTES: usize = 64;
/// Maximum length of the source of an entry in bytes.
pub const MAX_SOURCE_BYTES: usize = 255;

/// An entry to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// Key: any text of 1 to 255 bytes. It identifies the entry.
    pub key: String,
    /// Content: 1 to 16,384 bytes, kept byte for byte.
    pub content: String,
    /// Category: 1 to 64 bytes.
    pub category: String,
    /// Tags: at most 32, of 1 to 64 bytes each.
    pub tags: Vec<String>,
    /// Origin for people, at most 255 bytes. `None` keeps the stored one.
    pub source: Option<String>,
    /// Key of the entry that this one replaces. `None` keeps the stored one.
    pub supersedes: Option<String>,
}

impl NewEntry {
    /// Creates an entry without tags, source and replaced entry.
    pub fn new(key: impl Into<String>, content: impl Into<String>, category: impl Into<String>) -> Self {
        let (key, content, category) = (key.into(), content.into(), category.into());
        Self { key, content, category, tags: Vec::new(), source: None, supersedes: None }
    }

    /// Returns the fields, if every part is within its limit.
    ///
    /// # Errors
    ///
    /// The first part over its limit.
    pub(super) fn checked(&self) -> Result<Fields, Error> {
        let key = checked_key("key", &self.key)?;
        within("content", self.content.len(), Limit { least: 1, most: MAX_CONTENT_BYTES })?;
        let category: Category = self.category.parse()?;
        let source = self.source.clone().filter(|source| !source.is_empty());
        over("bytes", "source", source.as_ref().map_or(0, String::len), MAX_SOURCE_BYTES)?;
        let supersedes = self.supersedes.as_deref().filter(|key| !key.is_empty());
        let supersedes = supersedes.map(|key| checked_key("superseded key", key)).transpose()?;
        let (tags, content) = (checked_tags(&self.tags)?, self.content.clone());
        let (trust_state, writer, projects) = (TrustState::default(), Writer::default(), Vec::new());
        Ok(Fields { key, category, tags, content, source, supersedes, trust_state, writer, projects })
    }
}

impl From<EntryInfo> for NewEntry {
    fn from(entry: EntryInfo) -> Self {
        let EntryInfo { key, content, category, tags, source, supersedes, .. } = entry;
        Self { key, content, category, tags, source, supersedes }
    }
}

impl From<&Fields> for NewEntry {
    /// Returns the new entry that would result in these fields. Provenance is not a part of it.
    fn from(fields: &Fields) -> Self {
        let Fields { key, category, tags, content, source, supersedes, .. } = fields.clone();
        Self { key, content, category: category.as_str().into(), tags, source, supersedes }
    }
}

/// Trims the tags and removes duplicates.
fn checked_tags(tags: &[String]) -> Result<Vec<String>, Error> {
    let mut checked: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| tag.trim()) {
        within("tag", tag.len(), Limit { least: 1, most: MAX_TAG_BYTES })?;
        if !checked.iter().any(|known| known == tag) {
            checked.push(tag.into());
        }
    }
    over("tags", "entry", checked.len(), MAX_TAGS)?;
    Ok(checked)
}

#[cfg(test)]
mod tests {

    use super::*;

    fn entry() -> NewEntry {
        NewEntry::new("k", "v", "core")
    }

    #[test]
    fn the_limits_are_those_of_the_reference() {
        let tags = |count: usize| (0..count).map(|i| format!("t{i}")).collect();
        for (given, refusal) in [
            (NewEntry { key: "k".repeat(255), ..entry() }, None),
            (NewEntry { key: "k".repeat(256), ..entry() }, Some("key has 256 bytes, the limit is 255: 1 too many")),
            (NewEntry { key: String::new(), ..entry() }, Some("key is empty, at least 1 byte is needed")),
            (NewEntry { content: "x".repeat(16_384), ..entry() }, None),
            (
                NewEntry { content: "x".repeat(16_385), ..entry() },
                Some("content has 16385 bytes, the limit is 16384: 1 too many"),
            ),
            (NewEntry { content: String::new(), ..entry() }, Some("content is empty, at least 1 byte is needed")),
            (NewEntry { tags: tags(32), ..entry() }, None),
            (NewEntry { tags: tags(33), ..entry() }, Some("entry has 33 tags, the limit is 32: 1 too many")),
            (NewEntry { tags: vec![" ".into()], ..entry() }, Some("tag is empty, at least 1 byte is needed")),
            (NewEntry { tags: vec!["é".repeat(33)], ..entry() }, Some("tag has 66 bytes, the limit is 64: 2 too many")),
        ] {
            assert_eq!(given.checked().err().map(|error| error.message.clone()).as_deref(), refusal, "{given:?}");
        }
    }

    #[test]
    fn a_tag_is_kept_once() {
        let tags = ["a", " b ", "a"].map(String::from).to_vec();
        assert_eq!(NewEntry { tags, ..entry() }.checked().unwrap().tags, ["a", "b"]);
    }
}
