//! [`OtherSchemes`]: records of other hosts, carried from one index file to the next.
//!
//! Hosts that make versions in different ways cannot compare them. So the index file has a column of versions per scheme. An
//! engine compares only those of its own scheme. It writes the columns of other schemes back for each file whose bytes are the
//! same, which it knows by their hash. For any other file they are dropped, and with them the pages of the file's folder.
//!
//! The columns stay bytes of the index file until it is written again, so a command that does not write it pays only for
//! checking them.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::sorted::SortedSet;
use crate::store::RelPath;

/// Maximum number of schemes in the index file. A host of a further scheme drops the one that was written longest ago.
pub(super) const MAX_SCHEMES: usize = 4;

/// Hash that shows if two hosts have read the same bytes. It protects against accidents only: whoever makes two texts
/// with one hash can make words of one match the other, which they could also write into the index file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContentHash([u8; 8]);

impl ContentHash {
    pub(crate) fn from_text(text: &str) -> Self {
        Self(xxh3_64(text.as_bytes()).to_le_bytes())
    }
}

/// A file, as the hosts of one scheme have listed it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Seen<'a> {
    /// Version; empty if they have not seen these bytes.
    pub(super) version: &'a str,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    pub(super) modified: u64,
}

/// A scheme of another host, as parts of the index file that was read.
#[derive(Clone, Debug)]
pub(super) struct OtherScheme {
    pub(super) name: String,
    /// Records of the files of the index file, encoded.
    pub(super) seen: Range<usize>,
    /// Folders that it has listed, encoded.
    pub(super) listed: Range<usize>,
}

/// Other schemes of the index file that was read, and the changes since.
#[derive(Debug, Default)]
pub(super) struct OtherSchemes {
    /// Schemes; the last written one comes first.
    schemes: Vec<OtherScheme>,
    /// Folders in which a file was added, removed or changed.
    changed: SortedSet<Option<RelPath>>,
}

impl OtherSchemes {
    pub(super) fn new(schemes: Vec<OtherScheme>) -> Self {
        Self { schemes, changed: SortedSet::default() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OtherScheme> {
        self.schemes.iter()
    }

    /// Records that a file of the folder has changed since the other schemes saw it.
    pub(super) fn folder_changed(&mut self, folder: Option<RelPath>) {
        if !self.schemes.is_empty() {
            self.changed.insert(folder);
        }
    }

    /// Returns true if no file of the folder has changed since the other schemes saw it.
    pub(super) fn is_unchanged(&self, folder: &Option<RelPath>) -> bool {
        !self.changed.contains(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_counts_as_changed_only_where_another_scheme_could_have_listed_it() {
        let folder = RelPath::new("notes").ok();
        let mut alone = OtherSchemes::default();
        alone.folder_changed(folder.clone());
        assert!(alone.is_unchanged(&folder));
        let scheme = OtherScheme { name: "b".into(), seen: 0..0, listed: 0..0 };
        let mut with = OtherSchemes::new(alloc::vec![scheme]);
        with.folder_changed(folder.clone());
        assert!(!with.is_unchanged(&folder) && with.is_unchanged(&None));
    }
}
