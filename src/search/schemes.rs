//! [`OtherSchemes`]: records of other hosts, carried from one index file to the next.
//!
//! Hosts that make versions in different ways cannot compare them. So the index file has a column of versions per
//! scheme. An engine compares only versions of its own scheme. It writes the columns of other schemes back for each
//! file whose bytes are the same, which it knows by their hash. For any other file they are dropped, and with them the
//! pages of the file's folder.
//!
//! The columns stay bytes of the index file until it is written again, so a command that does not write it pays only for
//! checking them.

use core::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use crate::store::RelPath;
use saddlebag_collections::{prelude::*, sorted::SortedSet};

/// Maximum number of schemes in the index file. A host of a further scheme drops the one that was written longest ago. A host
/// that uses this one writes it again, so that it is not dropped.
pub(super) const MAX_SCHEMES: usize = 4;

/// Age in seconds from which a used column is written again. Without it, four hosts in turn would write the index at each use.
const AGE_SECONDS: i64 = 86_400;

/// Hash that shows if two hosts have read the same bytes. It protects against accidents only: whoever makes two files
/// with one hash can make words of one match the other, which they could also write into the index file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContentHash(pub(super) [u8; 8]);

impl ContentHash {
    pub(crate) fn from_text(text: &str) -> Self {
        Self(xxh3_64(text.as_bytes()).to_le_bytes())
    }
}

/// A file, as the hosts of one scheme have listed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen<'a> {
    /// Version; empty if they have not seen these bytes.
    pub(super) version: &'a str,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    pub(super) modified: u64,
}

/// The files of an index file, as the hosts of one scheme have listed them. It is used as it is in the file: the times (8 bytes
/// each), the ends of the versions (4), and then all versions.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenColumn<'a> {
    times: &'a [[u8; 8]],
    ends: &'a [[u8; 4]],
    versions: &'a [u8],
}

impl<'a> SeenColumn<'a> {
    /// Creates the column of `count` files from bytes. `None` if they are too few.
    pub(super) fn new(bytes: &'a [u8], count: usize) -> Option<Self> {
        let (times, rest) = bytes.split_at_checked(count.checked_mul(8)?)?;
        let (ends, versions) = rest.split_at_checked(count.checked_mul(4)?)?;
        Some(Self { times: times.as_chunks().0, ends: ends.as_chunks().0, versions })
    }

    /// Encodes a column. `None` if the versions are too long.
    pub(super) fn encode(seen: &[Seen<'_>]) -> Option<Vec<u8>> {
        let versions: usize = seen.iter().map(|seen| seen.version.len()).sum();
        let mut column = Vec::new();
        column.try_reserve_exact(12 * seen.len() + versions).ok()?;
        seen.iter().for_each(|seen| column.extend_from_slice(&seen.modified.to_le_bytes()));
        let mut end = 0;
        for seen in seen {
            end += seen.version.len();
            column.extend_from_slice(&u32::try_from(end).ok()?.to_le_bytes());
        }
        seen.iter().for_each(|seen| column.extend_from_slice(seen.version.as_bytes()));
        Some(column)
    }

    /// Returns what is known of the file in a row; `None` if the column is damaged there.
    pub(super) fn seen(&self, row: usize) -> Option<Seen<'a>> {
        let end = |row: usize| usize::try_from(u32::from_le_bytes(*self.ends.get(row)?)).ok();
        let range = row.checked_sub(1).map_or(Some(0), end)?..end(row)?;
        let modified = u64::from_le_bytes(*self.times.get(row)?);
        Some(Seen { version: core::str::from_utf8(self.versions.get(range)?).ok()?, modified })
    }
}

/// A scheme of another host, as parts of the index file that was read.
#[derive(Clone, Debug)]
pub(super) struct OtherScheme {
    pub(super) name: String,
    /// Time when its hosts wrote it, in seconds since 1970-01-01T00:00:00Z.
    pub(super) written: i64,
    /// Records of the files of the index file: a [`SeenColumn`].
    pub(super) seen: Range<usize>,
    /// Number of these files.
    pub(super) count: usize,
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
    /// Time when the scheme of this engine was written, if a further scheme would drop it.
    next_to_go: Option<i64>,
}

impl OtherSchemes {
    pub(super) fn new(schemes: Vec<OtherScheme>, next_to_go: Option<i64>) -> Self {
        Self { schemes, changed: SortedSet::default(), next_to_go }
    }

    /// Returns true if the scheme of this engine should be written again, because it is used and would be dropped.
    pub(super) fn would_drop_own(&self, now: i64) -> bool {
        self.next_to_go.is_some_and(|written| now.saturating_sub(written) >= AGE_SECONDS)
    }

    /// Records that the scheme of this engine was written.
    pub(super) fn own_written(&mut self) {
        self.next_to_go = None;
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
    fn a_column_has_what_was_encoded_and_a_damaged_one_has_no_invalid_version() {
        let seen = [("1", 5), ("", 0), ("é", u64::MAX)].map(|(version, modified)| Seen { version, modified });
        let bytes = SeenColumn::encode(&seen).expect("encoded");
        let column = SeenColumn::new(&bytes, 3).expect("a column");
        assert_eq!([0, 1, 2].map(|row| column.seen(row)), seen.map(Some));
        assert_eq!(column.seen(3), None);
        assert!(SeenColumn::new(&bytes, 99).is_none());
        // The end of the first version is within the last one.
        let mut damaged = bytes.clone();
        damaged[24] = 2;
        let column = SeenColumn::new(&damaged, 3).expect("a column");
        assert_eq!([0, 1, 2].map(|row| column.seen(row).is_some()), [false, false, true]);
    }

    #[test]
    fn a_folder_counts_as_changed_only_where_another_scheme_could_have_listed_it() {
        let folder = RelPath::new("notes").ok();
        let mut alone = OtherSchemes::default();
        alone.folder_changed(folder.clone());
        assert!(alone.is_unchanged(&folder));
        let scheme = OtherScheme { name: "b".into(), written: 0, seen: 0..0, count: 0, listed: 0..0 };
        let mut with = OtherSchemes::new(vec![scheme], None);
        with.folder_changed(folder.clone());
        assert!(!with.is_unchanged(&folder) && with.is_unchanged(&None));
    }
}
