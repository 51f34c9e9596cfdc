//! [`Rows`]: the table of files in the head of the index file, used in place.
//!
//! Most commands need few of the files that an index names. So a row is decoded when its file is asked for. The table as a
//! whole is checked once: every path is valid, no two are equal, and all numbers are in order.
//!
//! Its columns follow each other: number of the file, end of its path, end of its parsed note, rows sorted by path (4 bytes
//! each), hash of its bytes (8), reason why its text is kept out of prompts (1), and then all paths.

use core::cmp::Ordering;
use core::ops::Range;

use saddlebag_search::literal::TextId;

use super::schemes::ContentHash;
use crate::store::RelPath;
use crate::trust::Provenance;
use saddlebag_collections::{order, prelude::*};

/// Size of a row in bytes, without its path.
const ROW_BYTES: usize = 4 * NUMBERS + 8 + 1;
/// Number of columns of numbers.
const NUMBERS: usize = 4;
/// Columns of numbers.
const IDS: usize = 0;
const PATH_ENDS: usize = 1;
const NOTE_ENDS: usize = 2;
const BY_PATH: usize = 3;

/// A file of the index file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) id: TextId,
    pub(super) path: &'a str,
    /// Hash of the bytes that the note was parsed from.
    pub(super) hash: ContentHash,
    /// Range of the parsed note in the body.
    pub(super) note: Range<usize>,
    /// Origin of the text, if that keeps it out of prompts.
    pub(super) unapproved: Option<Provenance>,
}

/// Files of an index file, sorted by number.
#[derive(Debug, Default)]
pub(super) struct Rows {
    head: Arc<Vec<u8>>,
    /// Place of the table in the head.
    place: Range<usize>,
    count: usize,
}

/// Encodes files, whose numbers grow. `None` if a number does not fit.
pub(super) fn encode(rows: &[Row<'_>], out: &mut Vec<u8>) -> Option<()> {
    let mut by_path: Vec<u32> = (0..u32::try_from(rows.len()).ok()?).collect();
    let path = |row: u32| rows.get(row as usize).map_or("", |row| row.path);
    order::sort_by(&mut by_path, &|one, other| path(one) < path(other));
    let mut end_of_paths = 0_usize;
    out.reserve(rows.len() * ROW_BYTES);
    let mut column = |number: &mut dyn FnMut(&Row<'_>) -> Option<usize>| -> Option<()> {
        rows.iter().try_for_each(|row| {
            out.extend_from_slice(&u32::try_from(number(row)?).ok()?.to_le_bytes());
            Some(())
        })
    };
    column(&mut |row| Some(row.id as usize))?;
    column(&mut |row| {
        end_of_paths += row.path.len();
        Some(end_of_paths)
    })?;
    column(&mut |row| Some(row.note.end))?;
    let mut sorted = by_path.into_iter();
    column(&mut |_| Some(sorted.next()? as usize))?;
    rows.iter().for_each(|row| out.extend_from_slice(&row.hash.0));
    out.extend(rows.iter().map(|row| reason_number(row.unapproved)));
    rows.iter().for_each(|row| out.extend_from_slice(row.path.as_bytes()));
    Some(())
}

fn reason_number(unapproved: Option<Provenance>) -> u8 {
    let place = unapproved.and_then(|reason| Provenance::ALL.iter().position(|other| *other == reason));
    place.map_or(0, |place| u8::try_from(place + 1).unwrap_or(u8::MAX))
}

impl Rows {
    /// Checks a table. `None` if it is damaged.
    pub(super) fn new(head: Arc<Vec<u8>>, place: Range<usize>, count: usize) -> Option<Self> {
        let rows = Self { head, place, count };
        let bytes = rows.head.get(rows.place.clone())?;
        let paths = core::str::from_utf8(bytes.get(count.checked_mul(ROW_BYTES)?..)?).ok()?;
        let columns = (0..count).map(|row| rows.path_range(row).zip(rows.note_range(row)).zip(rows.id(row)));
        let (mut start, mut before) = ((0, 0), None);
        for column in columns {
            let ((path, note), id) = column?;
            if (path.start, note.start) != start || note.end < note.start || before >= Some(id) {
                return None;
            }
            RelPath::check(paths.get(path.clone())?).ok()?;
            (start, before) = ((path.end, note.end), Some(id));
        }
        // Each path is greater than the previous one, so all differ, and each row is named once.
        let is_sorted = (0..count).map(|place| rows.path(rows.row_at(place)?)).try_fold("", |before, path| {
            let path = path?;
            (before < path).then_some(path)
        });
        (is_sorted.is_some() && start.0 == paths.len()).then_some(rows)
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Returns the length of all parsed notes.
    pub(super) fn notes_len(&self) -> usize {
        self.count.checked_sub(1).and_then(|last| self.number(NOTE_ENDS, last)).unwrap_or(0)
    }

    /// Returns the numbers of the files, ascending.
    pub(super) fn ids(&self) -> impl Iterator<Item = TextId> {
        (0..self.count).filter_map(|row| self.id(row))
    }

    /// Returns the paths, sorted.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        (0..self.count).filter_map(|place| self.path(self.row_at(place)?))
    }

    /// Returns the file in a row.
    pub(super) fn row(&self, row: usize) -> Option<Row<'_>> {
        Some(Row {
            id: self.id(row)?,
            path: self.path(row)?,
            hash: ContentHash(*self.column(4 * NUMBERS, 8, row)?.first_chunk()?),
            note: self.note_range(row)?,
            unapproved: self.unapproved(row),
        })
    }

    pub(super) fn id(&self, row: usize) -> Option<TextId> {
        TextId::try_from(self.number(IDS, row)?).ok()
    }

    pub(super) fn path(&self, row: usize) -> Option<&str> {
        let paths = self.head.get(self.place.start + self.count * ROW_BYTES..self.place.end)?;
        core::str::from_utf8(paths.get(self.path_range(row)?)?).ok()
    }

    /// Returns the reason why the text is kept out of prompts. A number that this version does not know is one.
    pub(super) fn unapproved(&self, row: usize) -> Option<Provenance> {
        let number = self.column(4 * NUMBERS + 8, 1, row).and_then(<[u8]>::first).copied().unwrap_or(u8::MAX);
        let place = usize::from(number).checked_sub(1)?;
        Some(Provenance::ALL.get(place).copied().unwrap_or(Provenance::Imported))
    }

    /// Returns the row at a place in the order of paths.
    pub(super) fn row_at(&self, place: usize) -> Option<usize> {
        self.number(BY_PATH, place)
    }

    /// Returns the places in the order of paths for which `compare` says that they are equal, if it is consistent with the
    /// order.
    pub(super) fn places(&self, compare: &dyn Fn(&str) -> Ordering) -> Range<usize> {
        let bound = |is_before: &dyn Fn(Ordering) -> bool| {
            let (mut start, mut end) = (0, self.count);
            while start < end {
                let middle = usize::midpoint(start, end);
                let path = self.row_at(middle).and_then(|row| self.path(row)).unwrap_or_default();
                if is_before(compare(path)) { start = middle + 1 } else { end = middle }
            }
            start
        };
        bound(&Ordering::is_lt)..bound(&Ordering::is_le)
    }

    fn path_range(&self, row: usize) -> Option<Range<usize>> {
        self.range(PATH_ENDS, row)
    }

    fn note_range(&self, row: usize) -> Option<Range<usize>> {
        self.range(NOTE_ENDS, row)
    }

    fn range(&self, ends: usize, row: usize) -> Option<Range<usize>> {
        let start = row.checked_sub(1).map_or(Some(0), |before| self.number(ends, before))?;
        Some(start..self.number(ends, row)?)
    }

    fn number(&self, column: usize, row: usize) -> Option<usize> {
        let bytes = self.column(4 * column, 4, row)?;
        usize::try_from(u32::from_le_bytes(*bytes.first_chunk()?)).ok()
    }

    /// Returns an item of the column that begins after `before` bytes of each row.
    fn column(&self, before: usize, size: usize, row: usize) -> Option<&[u8]> {
        if row >= self.count {
            return None;
        }
        let start = self.place.start + before * self.count + row * size;
        self.head.get(start..start + size)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the encoded table of files with these paths, after some other bytes, and its place.
    fn encoded(paths: &[String]) -> (Vec<u8>, Range<usize>) {
        let rows: Vec<Row<'_>> = (0_u32..)
            .zip(paths)
            .map(|(number, path)| Row {
                id: 3 * number + 1,
                path,
                hash: ContentHash::from_text(path),
                note: 10 * number as usize..10 * (number as usize + 1),
                unapproved: (number % 3 == 1).then_some(Provenance::Imported),
            })
            .collect();
        let mut bytes = vec![7; 5];
        encode(&rows, &mut bytes).expect("encoded");
        let place = 5..bytes.len();
        bytes.push(7);
        (bytes, place)
    }

    /// Returns the table of files with these paths, which must be different. Their numbers are 1, 4, 7 and so on.
    pub(in super::super) fn table_of(paths: &[String]) -> Rows {
        let (bytes, place) = encoded(paths);
        Rows::new(bytes.into(), place, paths.len()).expect("a table")
    }

    fn paths() -> impl Strategy<Value = Vec<String>> {
        let path = "[a-c]{1,2}(/[a-c日]{1,2}){0,2}";
        proptest::collection::btree_set(path, 0..12).prop_map(|paths| paths.into_iter().collect()).prop_shuffle()
    }

    proptest! {
        #[test]
        fn a_table_has_the_rows_that_were_encoded(paths in paths()) {
            let rows = table_of(&paths);
            prop_assert_eq!(rows.len(), paths.len());
            prop_assert_eq!(rows.notes_len(), 10 * paths.len());
            for (number, path) in paths.iter().enumerate() {
                let row = rows.row(number).expect("a row");
                prop_assert_eq!(row.path, path);
                prop_assert_eq!(row.id as usize, 3 * number + 1);
                prop_assert_eq!(row.hash, ContentHash::from_text(path));
                prop_assert_eq!(row.note, 10 * number..10 * number + 10);
                prop_assert_eq!(row.unapproved, (number % 3 == 1).then_some(Provenance::Imported));
            }
            let mut sorted = paths.clone();
            sorted.sort();
            prop_assert_eq!(rows.paths().collect::<Vec<_>>(), sorted);
            prop_assert_eq!(rows.row(paths.len()), None);
        }

        #[test]
        fn places_are_those_of_the_paths_that_are_equal(paths in paths(), wanted in "[a-c]{1,2}(/[a-c]){0,1}") {
            let rows = table_of(&paths);
            let found: Vec<&str> = rows.places(&|path| path.cmp(&wanted)).filter_map(|place| rows.path(rows.row_at(place)?)).collect();
            prop_assert_eq!(found, paths.iter().filter(|path| **path == wanted).collect::<Vec<_>>());
            let prefix = format!("{wanted}/");
            let below = |path: &str| if path.starts_with(&prefix) { Ordering::Equal } else { path.cmp(&prefix) };
            prop_assert_eq!(rows.places(&below).len(), paths.iter().filter(|path| path.starts_with(&prefix)).count());
        }

        #[test]
        fn a_damaged_table_is_refused_or_has_valid_paths(
            paths in paths(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            count in 0_usize..14,
            cut in 0_usize..9,
        ) {
            let (mut bytes, place) = encoded(&paths);
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            for (place, count) in [(place.clone(), paths.len()), (place.clone(), count), (place.start..place.end - cut.min(place.len()), count)] {
                if let Some(rows) = Rows::new(bytes.clone().into(), place, count) {
                    let valid: Vec<&str> = rows.paths().filter(|path| RelPath::new(*path).is_ok()).collect();
                    prop_assert_eq!(valid.len(), count);
                    prop_assert!(valid.is_sorted_by(|one, next| one < next));
                    prop_assert_eq!((0..count).filter_map(|row| rows.row(row)).count(), count);
                }
            }
        }
    }
}
