//! [`KeyValue`]: files as the strings of a store that has only `get` and `set`.
//!
//! One key, the directory, has a record of every file: path, number, size, version, time. The bytes of a file are in
//! the key of its number. Paths are not part of keys, so their length and characters do not matter.
//!
//! A change puts new bytes into the key of a free number first. Then one `set` of the directory makes the change, whatever
//! it moves or replaces. The old bytes are removed last. So a crash between two sets loses nothing, and a full
//! store is noticed before anything has changed. Opening removes bytes that no record names.
//!
//! The host must be the only writer of the store.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use saddlebag::protocol::{EntryKind, FsError, RemoveDirectoryOutcome};
use saddlebag::store::RelPath;
use serde::{Deserialize, Serialize};

use crate::executor::version_of;
use crate::storage::{Attempt, Described, Found, Move, Name, Replace, Storage};

/// A store of strings.
pub trait Strings {
    /// Returns the string of a key; `None` or an empty string if there is not one.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn get(&self, key: &str) -> Result<Option<String>, StringsError>;

    /// Sets the string of a key, which replaces the old one. An empty string removes it, as far as the store can.
    ///
    /// # Errors
    ///
    /// Nothing was set.
    fn set(&self, key: &str, value: &str) -> Result<(), StringsError>;

    /// Returns the time in nanoseconds since 1970; 0 if it is not known.
    fn now(&self) -> u64;
}

/// A [`Strings`] in memory, for tests and for hosts that keep the strings themselves. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct InMemory(Rc<RefCell<(BTreeMap<String, String>, u64)>>);

impl Strings for InMemory {
    fn get(&self, key: &str) -> Result<Option<String>, StringsError> {
        Ok(self.0.borrow().0.get(key).cloned())
    }

    fn set(&self, key: &str, value: &str) -> Result<(), StringsError> {
        let (strings, changes) = &mut *self.0.borrow_mut();
        strings.insert(key.into(), value.into());
        *changes += 1;
        Ok(())
    }

    /// Counts the changes, because the system may not have a clock.
    fn now(&self) -> u64 {
        self.0.borrow().1
    }
}

/// Reason why a store of strings refused a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StringsError {
    /// The store is full.
    Full,
    /// Any other reason, in its words.
    Other(String),
}

impl From<StringsError> for FsError {
    fn from(error: StringsError) -> Self {
        match error {
            StringsError::Full => Self::NoSpace,
            StringsError::Other(reason) => Self::Other(reason),
        }
    }
}

/// Format of the directory.
const FORMAT: u32 = 1;

#[derive(Clone, Serialize, Deserialize)]
struct Directory {
    format: u32,
    /// Number of openings.
    epoch: u64,
    /// Number of changes.
    changes: u64,
    /// No larger number was ever used, except for the bytes of a change that was interrupted.
    end: u32,
    files: BTreeMap<String, Record>,
}

/// A file: number of its key, size, version, time of the last change.
#[derive(Clone, Serialize, Deserialize)]
struct Record(u32, u64, String, u64);

/// A [`Storage`] over [`Strings`].
pub struct KeyValue<T> {
    strings: T,
    prefix: String,
    max_keys: u32,
    directory: RefCell<Directory>,
}

impl<T: Strings> KeyValue<T> {
    /// Opens a store. Every key begins with `prefix`, and there are at most `max_keys`.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written, or its directory is damaged or of another format.
    pub fn open(strings: T, prefix: &str, max_keys: u32) -> Result<Self, FsError> {
        let text = strings.get(&directory_key(prefix))?.filter(|text| !text.is_empty());
        let mut directory: Directory = match text {
            Some(text) => serde_json::from_str(&text)
                .map_err(|error| FsError::Other(format!("the directory of the store is damaged: {error}")))?,
            None => Directory { format: FORMAT, epoch: 0, changes: 0, end: 0, files: BTreeMap::new() },
        };
        if directory.format != FORMAT {
            let format = directory.format;
            return Err(FsError::Other(format!("the store has format {format}, this program knows {FORMAT}")));
        }
        directory.epoch += 1;
        let store = Self { strings, prefix: prefix.into(), max_keys, directory: RefCell::new(directory.clone()) };
        store.remove_unnamed()?;
        store.commit(directory)?;
        Ok(store)
    }

    /// Returns the number of this opening, which no earlier one had.
    pub fn epoch(&self) -> u64 {
        self.directory.borrow().epoch
    }

    /// Returns the time of the last change of a file that exists, in nanoseconds since 1970; 0 if it is unknown.
    pub fn last_change(&self) -> u64 {
        self.directory.borrow().files.values().map(|record| record.3).max().unwrap_or(0)
    }

    /// Returns the store of strings.
    pub fn strings(&self) -> &T {
        &self.strings
    }

    /// Removes the bytes of a change that a crash interrupted.
    fn remove_unnamed(&self) -> Result<(), FsError> {
        let used = self.used();
        for number in (0..=self.directory.borrow().end).filter(|number| !used.contains(number)) {
            let key = self.key(number);
            if self.strings.get(&key)?.is_some_and(|text| !text.is_empty()) {
                self.strings.set(&key, "")?;
            }
        }
        Ok(())
    }

    fn used(&self) -> BTreeSet<u32> {
        self.directory.borrow().files.values().map(|record| record.0).collect()
    }

    fn key(&self, number: u32) -> String {
        format!("{}{number}", self.prefix)
    }

    /// Puts bytes into the key of a free number, and returns their record.
    fn put(&self, bytes: &[u8]) -> Result<Record, FsError> {
        let used = self.used();
        // The lowest free number, which is at most `end`: opening looks there for bytes of an interrupted change. A store
        // that cannot remove a key uses it again. One key is the directory.
        let number =
            (0..self.max_keys.saturating_sub(1)).find(|number| !used.contains(number)).ok_or(FsError::NoSpace)?;
        let value = match std::str::from_utf8(bytes) {
            Ok(text) => format!("t{text}"),
            Err(_) => format!("b{}", STANDARD.encode(bytes)),
        };
        self.strings.set(&self.key(number), &value)?;
        Ok(Record(number, bytes.len() as u64, version_of(bytes).0, self.strings.now()))
    }

    /// Makes a change: one `set` of the directory.
    fn commit(&self, mut directory: Directory) -> Result<(), FsError> {
        let end = directory.files.values().map(|record| record.0 + 1).max().unwrap_or(0);
        directory.end = directory.end.max(end);
        let text = serde_json::to_string(&directory)
            .map_err(|error| FsError::Other(format!("the directory cannot be written: {error}")))?;
        self.strings.set(&directory_key(&self.prefix), &text)?;
        let before = self.used();
        self.directory.replace(directory);
        let after = self.used();
        for number in before.difference(&after) {
            // The change is made. Bytes that stay are removed by the next opening.
            let _ = self.strings.set(&self.key(*number), "");
        }
        Ok(())
    }

    /// Makes a change of the directory, after `record` was put if there is one.
    fn change(&self, put: Option<u32>, edit: impl FnOnce(&mut BTreeMap<String, Record>)) -> Result<(), FsError> {
        let mut directory = self.directory.borrow().clone();
        directory.changes += 1;
        edit(&mut directory.files);
        self.commit(directory).inspect_err(|_| {
            if let Some(number) = put {
                let _ = self.strings.set(&self.key(number), "");
            }
        })
    }

    /// Returns the record of a file. Refuses a folder, and a path through a file.
    fn record(&self, path: &RelPath) -> Result<Option<Record>, FsError> {
        self.check_above(path)?;
        if self.is_folder(path.as_str()) {
            return Err(FsError::IsDirectory);
        }
        Ok(self.directory.borrow().files.get(path.as_str()).cloned())
    }

    fn check_above(&self, path: &RelPath) -> Result<(), FsError> {
        let mut above = path.as_str().match_indices('/').map(|(end, _)| &path.as_str()[..end]);
        if above.any(|folder| self.directory.borrow().files.contains_key(folder)) {
            Err(FsError::NotDirectory)
        } else {
            Ok(())
        }
    }

    fn is_folder(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        let directory = self.directory.borrow();
        directory.files.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    /// Refuses a path at which no file can be created or replaced.
    fn check_target(&self, path: &RelPath) -> Result<(), FsError> {
        self.record(path).map(|_| ())
    }
}

impl<T: Strings> Storage for KeyValue<T> {
    type Guard<'s>
        = ()
    where
        Self: 's;

    fn lock(&self, _: &[&RelPath]) -> Result<(), FsError> {
        Ok(())
    }

    fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>, FsError> {
        let Some(number) = self.record(path)?.map(|record| record.0) else { return Ok(None) };
        let damaged = || FsError::Other(format!("the bytes of `{path}` are not in the store"));
        let value = self.strings.get(&self.key(number))?.ok_or_else(damaged)?;
        match value.split_at_checked(1).ok_or_else(damaged)? {
            ("t", text) => Ok(Some(text.into())),
            ("b", text) => STANDARD.decode(text).map(Some).map_err(|_| damaged()),
            _ => Err(damaged()),
        }
    }

    fn list(&self, folder: Option<&RelPath>) -> Result<Vec<Found>, FsError> {
        let folder = folder.map(RelPath::as_str);
        if let Some(folder) = folder {
            let mut all = folder.match_indices('/').map(|(end, _)| &folder[..end]).chain([folder]);
            if all.any(|path| self.directory.borrow().files.contains_key(path)) {
                return Err(FsError::NotDirectory);
            }
        }
        let mut names: BTreeMap<&str, EntryKind> = BTreeMap::new();
        let prefix = folder.map_or(String::new(), |folder| format!("{folder}/"));
        let directory = self.directory.borrow();
        let from = directory.files.range(prefix.clone()..).map(|(path, _)| path.as_str());
        for path in from.map_while(|path| path.strip_prefix(&prefix)) {
            let (name, kind) =
                path.split_once('/').map_or((path, EntryKind::File), |(name, _)| (name, EntryKind::Directory));
            names.insert(name, kind);
        }
        Ok(names.into_iter().map(|(name, kind)| Found { name: Name::Text(name.into()), kind }).collect())
    }

    fn describe(&self, path: &RelPath) -> Result<Option<Described>, FsError> {
        let describe = |Record(_, size, version, modified)| Described { size, version: Some(version), modified };
        Ok(self.record(path)?.map(describe))
    }

    fn replace(&self, (): &(), change: &Replace<'_>) -> Result<Attempt, FsError> {
        let Replace { path, new, keep_as, .. } = *change;
        self.check_target(path)?;
        keep_as.map_or(Ok(()), |kept| self.check_target(kept))?;
        let record = self.put(new)?;
        self.change(Some(record.0), |files| {
            let old = files.insert(path.to_string(), record);
            if let (Some(kept), Some(old)) = (keep_as, old) {
                files.insert(kept.to_string(), old);
            }
        })?;
        Ok(Attempt::Done)
    }

    fn remove(
        &self,
        (): &(),
        path: &RelPath,
        _: &[u8],
        keep_as: Option<&RelPath>,
        _: bool,
    ) -> Result<Attempt, FsError> {
        keep_as.map_or(Ok(()), |kept| self.check_target(kept))?;
        self.change(None, |files| {
            let old = files.remove(path.as_str());
            if let (Some(kept), Some(old)) = (keep_as, old) {
                files.insert(kept.to_string(), old);
            }
        })?;
        Ok(Attempt::Done)
    }

    fn rename(&self, (): &(), path: &RelPath, to: &RelPath, _: &[u8]) -> Result<Move, FsError> {
        self.check_above(to)?;
        if self.is_folder(to.as_str()) || self.directory.borrow().files.contains_key(to.as_str()) {
            return Ok(Move::Exists);
        }
        self.change(None, |files| {
            if let Some(record) = files.remove(path.as_str()) {
                files.insert(to.to_string(), record);
            }
        })?;
        Ok(Move::Attempt(Attempt::Done))
    }

    fn make_directory(&self, path: &RelPath) -> Result<(), FsError> {
        self.list(Some(path)).map(|_| ())
    }

    fn remove_directory(&self, path: &RelPath) -> Result<RemoveDirectoryOutcome, FsError> {
        let found = self.list(Some(path))?;
        Ok(if found.is_empty() { RemoveDirectoryOutcome::Absent } else { RemoveDirectoryOutcome::NotEmpty })
    }

    fn generation(&self) -> Result<String, FsError> {
        Ok(self.directory.borrow().changes.to_string())
    }
}

/// Returns the key of the directory, which is not the key of a number.
fn directory_key(prefix: &str) -> String {
    format!("{prefix}directory")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::Executor;
    use saddlebag::protocol::{FsOp, FsOutcome, Precondition, ReadOutcome};

    /// A store that ends after some sets, or is full above some bytes.
    #[derive(Clone, Default)]
    struct Map {
        values: RefCell<BTreeMap<String, String>>,
        sets: Cell<Option<u32>>,
        max_bytes: Cell<Option<usize>>,
    }

    impl Strings for Map {
        fn get(&self, key: &str) -> Result<Option<String>, StringsError> {
            Ok(self.values.borrow().get(key).cloned())
        }

        fn set(&self, key: &str, value: &str) -> Result<(), StringsError> {
            if let Some(sets) = self.sets.get() {
                self.sets.set(Some(sets.checked_sub(1).ok_or_else(|| StringsError::Other("gone".into()))?));
            }
            let mut values = self.values.borrow_mut();
            let others: usize = values.iter().filter(|(other, _)| *other != key).map(|(_, text)| text.len()).sum();
            if self.max_bytes.get().is_some_and(|most| others + value.len() > most) {
                return Err(StringsError::Full);
            }
            values.insert(key.into(), value.into());
            Ok(())
        }

        fn now(&self) -> u64 {
            7
        }
    }

    fn path(text: &str) -> RelPath {
        RelPath::new(text).expect("a path")
    }

    fn open(map: Map) -> Executor<KeyValue<Map>> {
        Executor::new(KeyValue::open(map, "m", 1000).expect("opened"), || 1)
    }

    fn bytes(store: &Executor<KeyValue<Map>>, at: &str) -> Option<Vec<u8>> {
        match store.perform(&FsOp::Read { path: path(at), offset: 0, max_bytes: u32::MAX }) {
            Ok(FsOutcome::Read(ReadOutcome::Content(content))) => Some(content.bytes),
            Ok(FsOutcome::Read(ReadOutcome::Absent)) => None,
            other => panic!("{other:?}"),
        }
    }

    fn write(at: &str, content: &[u8], keep_as: Option<&str>) -> FsOp {
        let (path, keep_as) = (path(at), keep_as.map(path));
        FsOp::Write { path, content: content.into(), precondition: Precondition::Any, keep_as, like: None }
    }

    #[test]
    fn bytes_that_are_not_text_and_long_paths_come_back() {
        let long = ["x".repeat(255), "é".repeat(120), "日".repeat(85)].join("/");
        let files = [("a.md", b"text".as_slice()), (&long, &[0xff, 0, 0x80]), ("empty", b"")];
        let store = open(Map::default());
        for (at, content) in files {
            store.perform(&write(at, content, None)).expect("written");
        }
        let map = store.storage().strings().clone();
        assert!(map.values.borrow().keys().all(|key| key.len() <= 128));
        let again = open(map);
        for (at, content) in files {
            assert_eq!(bytes(&again, at).as_deref(), Some(content), "{at}");
        }
        assert_eq!(again.storage().epoch(), 2);
    }

    /// Every change is made or not, wherever the store ends, and the next opening leaves no bytes that belong to no file.
    #[test]
    fn a_crash_between_two_sets_loses_nothing() {
        let store = open(Map::default());
        store.perform(&write("a.md", b"one", None)).expect("written");
        store.perform(&write("kept.md", b"old", None)).expect("written");
        let map = store.storage().strings().clone();
        let remove = FsOp::Remove {
            path: path("a.md"),
            precondition: Precondition::Any,
            keep_as: Some(path("kept.md")),
            may_return: false,
        };
        let rename = FsOp::Rename { path: path("a.md"), to: path("b.md"), precondition: Precondition::Any };
        for op in [write("a.md", b"two", Some("kept.md")), write("new.md", b"two", None), remove, rename] {
            let state =
                |store: &Executor<KeyValue<Map>>| ["a.md", "b.md", "kept.md", "new.md"].map(|at| bytes(store, at));
            let done = open(map.clone());
            let before = state(&done);
            done.perform(&op).expect("performed");
            let after = state(&done);
            for sets in 0..4 {
                let store = open(map.clone());
                store.storage().strings().sets.set(Some(sets));
                let outcome = store.perform(&op);
                let left = Map { sets: Cell::default(), ..store.storage().strings().clone() };
                let again = open(left);
                let expected = if outcome.is_ok() { &after } else { &before };
                assert_eq!(&state(&again), expected, "{op:?} after {sets} sets");
                let used = again.storage().directory.borrow().files.len();
                let values = again.storage().strings().values.borrow().values().filter(|text| !text.is_empty()).count();
                assert_eq!(values, used + 1, "{op:?} after {sets} sets");
            }
        }
    }

    #[test]
    fn a_full_store_refuses_a_change_before_anything_is_half_done() {
        let store = open(Map { max_bytes: Cell::new(Some(1000)), ..Map::default() });
        store.perform(&write("a.md", &[b'x'; 300], None)).expect("written");
        for most in 0..900 {
            let map = store.storage().strings().clone();
            map.max_bytes.set(None);
            let full = open(map);
            full.storage().strings().max_bytes.set(Some(most));
            let outcome = full.perform(&write("a.md", &[b'y'; 200], Some("kept.md")));
            let map = Map { max_bytes: Cell::default(), ..full.storage().strings().clone() };
            let found = ["a.md", "kept.md"].map(|at| bytes(&open(map.clone()), at));
            let expected = match outcome {
                Ok(_) => [Some(vec![b'y'; 200]), Some(vec![b'x'; 300])],
                Err(error) => {
                    assert_eq!(error, FsError::NoSpace);
                    [Some(vec![b'x'; 300]), None]
                }
            };
            assert_eq!(found, expected, "with {most} bytes");
        }
    }

    #[test]
    fn the_number_of_keys_is_bounded_and_keys_are_used_again() {
        let store = KeyValue::open(Map::default(), "m", 4).expect("opened");
        let store = Executor::new(store, || 1);
        for name in ["a", "b"] {
            store.perform(&write(name, b"1", None)).expect("written");
        }
        for _ in 0..8 {
            store.perform(&write("b", b"2", None)).expect("the old bytes have made room");
        }
        assert!(store.storage().strings().values.borrow().len() <= 4);
        store.perform(&write("c", b"3", None)).expect("the last key");
        assert_eq!(store.perform(&write("d", b"4", None)), Err(FsError::NoSpace));
        assert_eq!(store.perform(&write("b", b"4", None)), Err(FsError::NoSpace));
        assert_eq!(bytes(&store, "b").as_deref(), Some(b"2".as_slice()));
    }
}
