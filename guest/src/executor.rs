//! [`Executor`]: performs the operations of the component on a [`Storage`].

use std::cell::RefCell;
use std::rc::Rc;

use saddlebag::protocol::{
    AppendOutcome, Entry, EntryKind, FileContent, FsError, FsOp, FsOutcome, LeftOut, LeftOutName, ListOutcome, Listing,
    MAX_LEFT_OUT_NAMES, Precondition, ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, Version,
    WriteOutcome,
};
use saddlebag::store::{MAX_SEGMENT_BYTES, RelPath};
use saddlebag_locks::is_own;
use sha2::{Digest, Sha256};

use crate::storage::{Attempt, Described, Found, Move, Name, Replace, Stamp, Storage};

/// Version scheme of every store of this crate: SHA-256 of the bytes, as hexadecimal digits.
pub const VERSION_SCHEME: &str = "sha256-hex";

/// Maximum number of bytes of one read or write, by default.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Maximum number of entries on one page.
const MAX_PAGE: u32 = 65_536;

/// Number of times that a change is tried again if somebody else changes the file meanwhile.
const ATTEMPTS: u32 = 64;

/// Performs operations on a storage, one after another.
pub struct Executor<S> {
    storage: S,
    max_bytes: u64,
    random: fn() -> u64,
    seen: RefCell<Option<Seen>>,
}

/// A large file that was read whole. It is read in several parts, and its version needs all of its bytes.
struct Seen {
    path: RelPath,
    stamp: Stamp,
    bytes: Rc<[u8]>,
    version: Version,
}

/// All bytes of a file, and their version.
type Whole = (Rc<[u8]>, Version);

/// Minimum size of such a file in bytes.
const LARGE: usize = 256 * 1024;

impl<S: Storage> Executor<S> {
    /// Creates an executor. `random` gives numbers for the versions of files that cannot be read.
    pub fn new(storage: S, random: fn() -> u64) -> Self {
        Self { storage, max_bytes: MAX_BYTES, random, seen: RefCell::new(None) }
    }

    /// Sets the maximum number of bytes of one read or write.
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Returns the storage.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Performs one operation.
    ///
    /// # Errors
    ///
    /// Reason why it was not performed. Absence and a lost race are outcomes.
    pub fn perform(&self, op: &FsOp) -> Result<FsOutcome, FsError> {
        match op {
            FsOp::Read { path, offset, max_bytes } => self.read(path, *offset, *max_bytes).map(FsOutcome::Read),
            FsOp::Write { path, content, precondition, keep_as, like } => {
                self.write(path, content, precondition, keep_as.as_ref(), like.as_ref()).map(FsOutcome::Write)
            }
            // Every addition makes a whole new file.
            FsOp::Append { path, content, newline_first, precondition, may_tear: _, may_vanish: _ } => {
                self.append(path, content, *newline_first, precondition).map(FsOutcome::Append)
            }
            FsOp::ListDirectory { folder, after, limit, unless } => {
                self.list(folder.as_ref(), after.as_ref(), *limit, unless.as_ref()).map(FsOutcome::ListDirectory)
            }
            FsOp::Remove { path, precondition, keep_as, may_return } => {
                self.remove(path, precondition, keep_as.as_ref(), *may_return).map(FsOutcome::Remove)
            }
            FsOp::Rename { path, to, precondition } => self.rename(path, to, precondition).map(FsOutcome::Rename),
            FsOp::MakeDirectory { path } => self.make_directory(path).map(|()| FsOutcome::MakeDirectory),
            FsOp::RemoveDirectory { path } => self.remove_directory(path).map(FsOutcome::RemoveDirectory),
            FsOp::Generation => self.storage.generation().map(FsOutcome::Generation),
        }
    }

    fn read(&self, path: &RelPath, offset: u64, max_bytes: u32) -> Result<ReadOutcome, FsError> {
        refuse_own([path])?;
        self.storage.settled(path)?;
        let Some((whole, version)) = self.whole(path)? else { return Ok(ReadOutcome::Absent) };
        let size = whole.len() as u64;
        let wanted = size.saturating_sub(offset).min(u64::from(max_bytes));
        if wanted > self.max_bytes {
            return Err(FsError::TooLarge(self.max_bytes));
        }
        let start = usize::try_from(offset.min(size)).unwrap_or(usize::MAX);
        let bytes = whole.get(start..).unwrap_or_default();
        let bytes = bytes.get(..usize::try_from(wanted).unwrap_or(usize::MAX)).unwrap_or_default().to_vec();
        Ok(ReadOutcome::Content(FileContent { bytes, version, size }))
    }

    /// Returns all bytes of a file, and their version.
    fn whole(&self, path: &RelPath) -> Result<Option<Whole>, FsError> {
        let stamp = self.storage.stamp(path);
        if let (Some(seen), Some(stamp)) = (&*self.seen.borrow(), stamp)
            && (&seen.path, seen.stamp) == (path, stamp)
        {
            return Ok(Some((seen.bytes.clone(), seen.version.clone())));
        }
        let Some(whole) = self.storage.read(path)? else { return Ok(None) };
        let (bytes, version): (Rc<[u8]>, Version) = (whole.as_slice().into(), version_of(&whole));
        // The stamp is older than the bytes: if they have changed in between, it is not that of the next read.
        if let Some(stamp) = stamp.filter(|_| bytes.len() >= LARGE) {
            let (path, bytes, version) = (path.clone(), bytes.clone(), version.clone());
            self.seen.replace(Some(Seen { path, stamp, bytes, version }));
        }
        Ok(Some((bytes, version)))
    }

    fn write(
        &self,
        path: &RelPath,
        content: &[u8],
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
        like: Option<&RelPath>,
    ) -> Result<WriteOutcome, FsError> {
        self.refuse_size(content)?;
        refuse_own([path].into_iter().chain(keep_as).chain(like))?;
        refuse_itself(path, keep_as)?;
        self.change(path, keep_as, |guard, old| {
            if let Some(version) = stale(old, precondition) {
                return Ok(Some(WriteOutcome::Stale(version)));
            }
            let change = Replace { path, old, new: content, keep_as: keep_as.filter(|_| old.is_some()), like };
            let done = self.storage.replace(guard, &change)? == Attempt::Done;
            Ok(done.then(|| WriteOutcome::Written(version_of(content))))
        })
    }

    fn append(
        &self,
        path: &RelPath,
        content: &[u8],
        newline_first: bool,
        precondition: &Precondition,
    ) -> Result<AppendOutcome, FsError> {
        self.refuse_size(content)?;
        refuse_own([path])?;
        self.change(path, None, |guard, old| {
            if let Some(version) = stale(old, precondition) {
                return Ok(Some(AppendOutcome::Stale(version)));
            }
            let mut new = old.unwrap_or_default().to_vec();
            if newline_first && new.last().is_some_and(|&last| last != b'\n') {
                new.push(b'\n');
            }
            new.extend_from_slice(content);
            // A whole new file: no reader sees half of an addition, and another name of the old file keeps its bytes.
            let change = Replace { path, old, new: &new, keep_as: None, like: None };
            let done = old == Some(new.as_slice()) || self.storage.replace(guard, &change)? == Attempt::Done;
            Ok(done.then(|| AppendOutcome::Written(version_of(&new))))
        })
    }

    fn remove(
        &self,
        path: &RelPath,
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
        may_return: bool,
    ) -> Result<RemoveOutcome, FsError> {
        refuse_own([path].into_iter().chain(keep_as))?;
        refuse_itself(path, keep_as)?;
        self.change(path, keep_as, |guard, old| {
            let Some(old) = old else { return Ok(Some(RemoveOutcome::Done)) };
            if let Some(version) = stale(Some(old), precondition) {
                return Ok(version.map(RemoveOutcome::Stale));
            }
            let done = self.storage.remove(guard, path, old, keep_as, may_return)? == Attempt::Done;
            Ok(done.then_some(RemoveOutcome::Done))
        })
    }

    fn rename(&self, path: &RelPath, to: &RelPath, precondition: &Precondition) -> Result<RenameOutcome, FsError> {
        refuse_own([path, to])?;
        self.change(path, Some(to), |guard, old| {
            let Some(old) = old else { return Ok(Some(RenameOutcome::Absent)) };
            if let Some(version) = stale(Some(old), precondition) {
                return Ok(version.map(RenameOutcome::Stale));
            }
            Ok(match self.storage.rename(guard, path, to, old)? {
                Move::Attempt(attempt) => (attempt == Attempt::Done).then_some(RenameOutcome::Done),
                Move::Exists => Some(RenameOutcome::Exists),
            })
        })
    }

    /// Makes attempts to change a file, each with the locks of both paths and the bytes of the first.
    fn change<T>(
        &self,
        path: &RelPath,
        other: Option<&RelPath>,
        attempt: impl Fn(&S::Guard<'_>, Option<&[u8]>) -> Result<Option<T>, FsError>,
    ) -> Result<T, FsError> {
        let paths: Vec<&RelPath> = [path].into_iter().chain(other).collect();
        for _ in 0..ATTEMPTS {
            let guard = self.storage.lock(&paths)?;
            let old = self.storage.read(path)?;
            if let Some(outcome) = attempt(&guard, old.as_deref())? {
                return Ok(outcome);
            }
        }
        Err(FsError::Other("somebody else kept changing the file; try again".into()))
    }

    fn make_directory(&self, path: &RelPath) -> Result<(), FsError> {
        refuse_own([path])?;
        self.storage.make_directory(path)
    }

    fn remove_directory(&self, path: &RelPath) -> Result<RemoveDirectoryOutcome, FsError> {
        refuse_own([path])?;
        self.storage.remove_directory(path)
    }

    fn list(
        &self,
        folder: Option<&RelPath>,
        after: Option<&RelPath>,
        limit: u32,
        unless: Option<&Version>,
    ) -> Result<ListOutcome, FsError> {
        refuse_own(folder.into_iter().chain(after))?;
        let (mut found, others) = sort_out(folder, self.storage.list(folder)?);
        found.retain(|(path, _)| after.is_none_or(|after| path > after));
        found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let limit = limit.clamp(1, MAX_PAGE) as usize;
        let next = (found.len() > limit).then(|| found[limit - 1].0.clone());
        found.truncate(limit);
        let mut entries = Vec::with_capacity(found.len());
        for (path, kind) in found {
            let nothing = Described { size: 0, version: Some(String::new()), modified: 0 };
            let described = match kind {
                EntryKind::File => self.storage.describe(&path)?,
                _ => Some(nothing),
            };
            // The last entry of a page stays, because it is the cursor. A file that is gone matches no version.
            let is_cursor = next.as_ref() == Some(&path);
            let gone = is_cursor.then_some(Described { size: 0, version: None, modified: 0 });
            let Some(Described { size, version, modified }) = described.or(gone) else { continue };
            let version = version.unwrap_or_else(|| format!("unreadable{}", (self.random)()));
            entries.push(Entry { path, kind, size, version: Version(version), modified });
        }
        let left_out = if after.is_none() { others } else { LeftOut::default() };
        let version = page_version(&entries, next.as_ref(), &left_out);
        if version.is_some() && version.as_ref() == unless {
            return Ok(ListOutcome::Unchanged);
        }
        Ok(ListOutcome::Page(Listing { entries, next, left_out, version }))
    }

    fn refuse_size(&self, content: &[u8]) -> Result<(), FsError> {
        if content.len() as u64 > self.max_bytes { Err(FsError::TooLarge(self.max_bytes)) } else { Ok(()) }
    }
}

/// Returns the SHA-256 of bytes as a version.
pub(crate) fn version_of(bytes: &[u8]) -> Version {
    Version(hex(&Sha256::digest(bytes)))
}

pub(crate) fn hex(digest: &[u8]) -> String {
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// Returns the version of a file that does not meet the precondition.
fn stale(old: Option<&[u8]>, precondition: &Precondition) -> Option<Option<Version>> {
    let version = || old.map(version_of);
    match precondition {
        Precondition::Any => None,
        Precondition::Absent => old.is_some().then(version),
        Precondition::Matches(wanted) => Some(version()).filter(|version| version.as_ref() != Some(wanted)),
    }
}

fn refuse_own<'a>(paths: impl IntoIterator<Item = &'a RelPath>) -> Result<(), FsError> {
    if paths.into_iter().any(|path| is_own(path.as_str())) {
        return Err(FsError::InvalidPath("this name is kept for the host".into()));
    }
    Ok(())
}

fn refuse_itself(path: &RelPath, keep_as: Option<&RelPath>) -> Result<(), FsError> {
    if keep_as == Some(path) {
        return Err(FsError::InvalidPath("a file cannot be kept at its own path".into()));
    }
    Ok(())
}

/// Separates the entries of a folder that have a path from the names that cannot be in one. Own names are in neither.
fn sort_out(folder: Option<&RelPath>, found: Vec<Found>) -> (Vec<(RelPath, EntryKind)>, LeftOut) {
    let (mut entries, mut others) = (Vec::with_capacity(found.len()), Vec::new());
    for Found { name, kind } in found {
        let at = |name: &str| match folder {
            Some(folder) => folder.join(name),
            None => RelPath::new(name),
        };
        match name {
            Name::Text(name) => match at(&name) {
                Ok(path) if is_own(path.as_str()) => {}
                Ok(path) => entries.push((path, kind)),
                Err(_) => others.push((at(&spelled(&name)), kind)),
            },
            Name::Damaged(name) => others.push((at(&spelled(&name)), kind)),
        }
    }
    let count = u32::try_from(others.len()).unwrap_or(u32::MAX);
    let named = others.into_iter().filter_map(|(path, kind)| Some(LeftOutName { path: path.ok()?, kind }));
    let mut names: Vec<LeftOutName> = named.collect();
    names.sort_unstable();
    names.truncate(MAX_LEFT_OUT_NAMES);
    (entries, LeftOut { names, count })
}

/// Returns the closest name that a path can have.
fn spelled(name: &str) -> String {
    let spell = |letter: char| if letter == '\\' || letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter };
    let mut spelled: String = name.chars().map(spell).collect();
    spelled.truncate(spelled.floor_char_boundary(MAX_SEGMENT_BYTES));
    spelled
}

/// Returns the digest of everything on a page; `None` if a file of it could not be read.
fn page_version(entries: &[Entry], next: Option<&RelPath>, left_out: &LeftOut) -> Option<Version> {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update(text);
        digest.update([0]);
    };
    for Entry { path, kind, size, version, modified } in entries {
        if version.0.starts_with("unreadable") {
            return None;
        }
        [path.as_str(), kind.as_str(), &size.to_string(), &version.0, &modified.to_string()]
            .into_iter()
            .for_each(&mut add);
    }
    for LeftOutName { path, kind } in &left_out.names {
        [path.as_str(), kind.as_str()].into_iter().for_each(&mut add);
    }
    add(&left_out.count.to_string());
    add(next.map_or("", RelPath::as_str));
    Some(Version(hex(&digest.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InMemory, KeyValue};

    #[test]
    fn sizes_are_bounded() {
        let storage = KeyValue::open(InMemory::default(), "m", 1000).expect("a store");
        let store = Executor::new(storage, || 0).with_max_bytes(10);
        let path = || RelPath::new("new/a.md").expect("a path");
        let (keep_as, like, precondition, newline_first) = (None, None, Precondition::Any, false);
        let append = |content: &str| FsOp::append(path(), content.into(), newline_first, Precondition::Any);
        let write = FsOp::Write { path: path(), content: "x".repeat(11).into(), precondition, keep_as, like };
        let read = |offset| FsOp::Read { path: path(), offset, max_bytes: u32::MAX };
        for op in [write, append(&"x".repeat(11))] {
            assert_eq!(store.perform(&op), Err(FsError::TooLarge(10)));
        }
        assert_eq!(store.perform(&read(0)), Ok(FsOutcome::Read(ReadOutcome::Absent)));
        for content in ["0123456789", "x"] {
            store.perform(&append(content)).expect("appended");
        }
        assert_eq!(store.perform(&read(0)), Err(FsError::TooLarge(10)));
        assert!(matches!(store.perform(&read(1)), Ok(FsOutcome::Read(ReadOutcome::Content(_)))));
    }
}
