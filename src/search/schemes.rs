//! [`OtherSchemes`]: what other hosts know of the files, carried from one index file to the next.
//!
//! Hosts that make versions in different ways cannot compare theirs. So the index file has a column of versions for each
//! scheme. An engine compares those of its own scheme alone. The columns of the others it writes back for each file whose
//! bytes are still those of the index file, which it knows by their hash; for any other file they are dropped, and with
//! them the pages of the folder that the file was in.
//!
//! The columns stay bytes of the index file until it is written again: a command that writes none pays only for checking
//! them.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::sorted::SortedSet;
use crate::store::RelPath;

/// How many schemes the index file keeps. A host of one more drops the scheme that was written longest ago.
pub(super) const MAX_SCHEMES: usize = 4;

/// Tells whether two hosts have read the same bytes. It guards against accidents: whoever makes two texts of one hash
/// gets the words of one found in the other, which he could write into the index file as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContentHash([u8; 8]);

impl ContentHash {
    pub(crate) fn of(text: &str) -> Self {
        Self(xxh3_64(text.as_bytes()).to_le_bytes())
    }
}

/// A file as the hosts of one scheme have listed it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Seen<'a> {
    /// Empty if they have not seen these bytes.
    pub(super) version: &'a str,
    /// In nanoseconds since 1970-01-01T00:00:00Z; 0 where unknown.
    pub(super) modified: u64,
}

/// A scheme of another host, as parts of the index file that was read.
#[derive(Clone, Debug)]
pub(super) struct OtherScheme {
    pub(super) name: String,
    /// What it has seen of each file of the index file, encoded.
    pub(super) seen: Range<usize>,
    /// The folders that it has listed, encoded.
    pub(super) listed: Range<usize>,
}

/// The other schemes of the index file that was read, and what has changed since.
#[derive(Debug, Default)]
pub(super) struct OtherSchemes {
    /// The one that was written last is first.
    schemes: Vec<OtherScheme>,
    /// The folders in which a file came, went or changed.
    changed: SortedSet<Option<RelPath>>,
}

impl OtherSchemes {
    pub(super) fn new(schemes: Vec<OtherScheme>) -> Self {
        Self { schemes, changed: SortedSet::default() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OtherScheme> {
        self.schemes.iter()
    }

    /// A file of the folder is no longer what the other schemes have seen.
    pub(super) fn folder_changed(&mut self, folder: Option<RelPath>) {
        if !self.schemes.is_empty() {
            self.changed.insert(folder);
        }
    }

    /// Returns true if the files of the folder are those that the other schemes have seen.
    pub(super) fn is_unchanged(&self, folder: &Option<RelPath>) -> bool {
        !self.changed.contains(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_counts_as_changed_only_where_another_scheme_could_have_listed_it() {
        let folder = RelPath::parse("notes").ok();
        let mut alone = OtherSchemes::default();
        alone.folder_changed(folder.clone());
        assert!(alone.is_unchanged(&folder));
        let scheme = OtherScheme { name: "b".into(), seen: 0..0, listed: 0..0 };
        let mut with = OtherSchemes::new(alloc::vec![scheme]);
        with.folder_changed(folder.clone());
        assert!(!with.is_unchanged(&folder) && with.is_unchanged(&None));
    }
}
