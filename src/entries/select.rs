//! Filter and pages of a list of entries.
//!
//! Entries are sorted by creation, newest first, then by key, greater first. A change of an entry does not move it, so
//! no entry is skipped or shown twice, however many share one time.

use core::cmp::{Ordering, Reverse};

use super::category::Category;
use super::document::Entry;
use super::types::EntryInfo;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Default number of entries on a page.
pub(super) const LIST_ENTRIES: u32 = 100;

/// Maximum number of entries on a page.
pub const MAX_LIST_ENTRIES: u32 = 1_000;

/// Filter of a list. An entry must meet all of its conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Category that the entry must have.
    pub category: Option<String>,
    /// Tags that the entry must all have.
    pub all_tags: alloc::vec::Vec<String>,
    /// Tags of which the entry must have at least one; empty for no condition.
    pub any_tags: alloc::vec::Vec<String>,
    /// Only entries changed at or after this time, inclusive, in nanoseconds since 1970-01-01T00:00:00Z.
    pub since: Option<u64>,
    /// Latest time of the last change, exclusive, in nanoseconds since 1970-01-01T00:00:00Z.
    pub until: Option<u64>,
}

impl EntryFilter {
    /// Returns true if the entry matches.
    pub(super) fn accepts(&self, entry: &Entry) -> bool {
        let has = |tag: &String| entry.fields.tags.contains(tag);
        self.category.as_deref().is_none_or(|name| name == entry.fields.category.as_str())
            && self.all_tags.iter().all(has)
            && (self.any_tags.is_empty() || self.any_tags.iter().any(has))
            && self.since.is_none_or(|since| entry.updated >= since)
            && self.until.is_none_or(|until| entry.updated < until)
    }

    /// Refuses filters that can match nothing.
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Some(category) = &self.category {
            category.parse::<Category>()?;
        }
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since >= until
        {
            return Err(Error::invalid_argument("`since` is not before `until`", "swap them"));
        }
        Ok(())
    }
}

/// Entry that the previous page ended with: its time of creation and its key, written as `moment:key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    created: u64,
    key: String,
    /// True for the workspace, whose entry comes after the agent's if both have one key.
    shared: bool,
}

impl Cursor {
    pub(super) fn from_entry(entry: &Entry) -> Self {
        Self { created: entry.created, key: entry.fields.key.clone(), shared: is_shared(entry) }
    }

    /// Parses the output of `Display`.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let parsed = || {
            let (place, key) = text.split_once(':')?;
            let (created, shared) = match place.strip_suffix('w') {
                Some(created) => (created, true),
                None => (place, false),
            };
            Some(Self { created: created.parse().ok()?, key: key.to_string(), shared })
        };
        parsed().ok_or_else(|| {
            let message = format!("`{text}` is not a cursor");
            Error::invalid_argument(message, "give the `next` of the previous page, or leave it out")
        })
    }

    /// Returns true if an entry is on a later page.
    pub(super) fn is_before(&self, entry: &Entry) -> bool {
        self.place() < place(entry)
    }

    fn place(&self) -> (Reverse<u64>, Reverse<&str>, bool) {
        (Reverse(self.created), Reverse(&self.key), self.shared)
    }
}

impl core::fmt::Display for Cursor {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mark = if self.shared { "w" } else { "" };
        write!(out, "{}{mark}:{}", self.created, self.key)
    }
}

/// Returns the cursor of a page that ends with this entry.
pub(crate) fn cursor_of(entry: &EntryInfo) -> String {
    let shared = entry.category == Category::Workspace.as_str();
    Cursor { created: entry.created, key: entry.key.clone(), shared }.to_string()
}

/// Compares two entries by the order of a list.
pub(super) fn in_order(a: &Entry, b: &Entry) -> Ordering {
    place(a).cmp(&place(b))
}

fn place(entry: &Entry) -> (Reverse<u64>, Reverse<&str>, bool) {
    (Reverse(entry.created), Reverse(&entry.fields.key), is_shared(entry))
}

fn is_shared(entry: &Entry) -> bool {
    entry.fields.category == Category::Workspace
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::document::Fields;
    use proptest::prelude::*;

    fn entry(key: &str, created: u64, updated: u64, tags: &[&str]) -> Entry {
        let fields = Fields {
            key: key.into(),
            category: Category::Core,
            tags: tags.iter().map(|tag| String::from(*tag)).collect(),
            content: "v".into(),
            source: None,
            supersedes: None,
            trust_state: crate::trust::TrustState::default(),
            writer: crate::trust::Writer::default(),
            projects: Vec::new(),
        };
        Entry { fields, owner: None, created, updated, forgotten: None, version: String::new() }
    }

    #[test]
    fn a_filter_wants_all_of_it() {
        let filter = EntryFilter {
            category: Some("core".into()),
            all_tags: ["a", "b"].map(String::from).to_vec(),
            any_tags: ["c", "d"].map(String::from).to_vec(),
            since: Some(5),
            until: Some(9),
        };
        assert!(filter.accepts(&entry("k", 0, 5, &["d", "b", "a"])));
        for other in [
            entry("k", 0, 4, &["d", "b", "a"]),
            entry("k", 0, 9, &["d", "b", "a"]),
            entry("k", 0, 5, &["d", "b"]),
            entry("k", 0, 5, &["b", "a"]),
        ] {
            assert!(!filter.accepts(&other), "{other:?}");
        }
        let daily = EntryFilter { category: Some("daily".into()), ..EntryFilter::default() };
        assert!(!daily.accepts(&entry("k", 0, 5, &[])));
    }

    #[test]
    fn a_filter_that_matches_nothing_is_refused() {
        assert!(EntryFilter { category: Some(String::new()), ..EntryFilter::default() }.check().is_err());
        let filter = EntryFilter { since: Some(2), until: Some(2), ..EntryFilter::default() };
        assert_eq!(filter.check().unwrap_err().message, "`since` is not before `until`");
    }

    #[test]
    fn an_invalid_cursor_is_refused() {
        for text in ["", "k", "x:k", "1x:k", ":k"] {
            assert_eq!(Cursor::parse(text).unwrap_err().message, format!("`{text}` is not a cursor"));
        }
    }

    proptest! {
        #[test]
        fn pages_show_every_entry_once(
            places in proptest::collection::btree_set((0_u64..3, "[:a-c]{1,2}", any::<bool>()), 0..20),
            length in 1_usize..5,
        ) {
            let mut entries: Vec<Entry> = places.iter().map(|(created, key, shared)| {
                let mut entry = entry(key, *created, 0, &[]);
                if *shared {
                    entry.fields.category = Category::Workspace;
                }
                entry
            }).collect();
            entries.sort_by(in_order);
            let mut shown = Vec::new();
            let mut cursor: Option<Cursor> = None;
            loop {
                let is_later = |entry: &&Entry| cursor.as_ref().is_none_or(|cursor| cursor.is_before(entry));
                let page: Vec<Entry> = entries.iter().filter(is_later).take(length).cloned().collect();
                let Some(last) = page.last() else { break };
                cursor = Some(Cursor::parse(&Cursor::from_entry(last).to_string()).unwrap());
                shown.extend(page);
            }
            prop_assert_eq!(shown, entries);
        }
    }
}
