//! Short spellings of operations, and a store on disk that goes with its test.

use std::path::Path;

use saddlebag::protocol::{
    AppendOutcome, Entry, EntryKind, FileContent, FsError, FsOp, FsOutcome, ListOutcome, Listing, Precondition,
    ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
use saddlebag::store::RelPath;
use saddlebag_host::{Durability, Executor, LocalDir, LocalDirOptions};

pub(crate) use saddlebag::protocol::Precondition::{Absent, Any, Matches};

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::new(text).unwrap()
}

pub(crate) fn fast() -> LocalDirOptions {
    LocalDirOptions { durability: Durability::Fast, ..LocalDirOptions::default() }
}

pub(crate) fn open(root: &Path) -> LocalDir {
    LocalDir::open(root, fast()).unwrap()
}

/// One method for each operation, so that a test reads like what it does.
pub(crate) trait Ask: Executor {
    fn read_part(&mut self, at: &str, offset: u64, max_bytes: u32) -> Result<ReadOutcome, FsError> {
        match self.perform(&FsOp::Read { path: path(at), offset, max_bytes })? {
            FsOutcome::Read(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn write(&mut self, at: &str, content: &str, precondition: Precondition) -> Result<WriteOutcome, FsError> {
        match self.perform(&FsOp::write(path(at), content.into(), precondition))? {
            FsOutcome::Write(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn append_with(
        &mut self,
        at: &str,
        content: &str,
        newline_first: bool,
        precondition: Precondition,
    ) -> Result<AppendOutcome, FsError> {
        let op = FsOp::append(path(at), content.into(), newline_first, precondition);
        match self.perform(&op)? {
            FsOutcome::Append(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn append(&mut self, at: &str, content: &str) -> Result<AppendOutcome, FsError> {
        self.append_with(at, content, true, Any)
    }

    fn list_with(&mut self, folder: &str, after: &str, limit: u32) -> Result<Listing, FsError> {
        let given = |text: &str| (!text.is_empty()).then(|| path(text));
        let op = FsOp::ListDirectory { folder: given(folder), after: given(after), limit, unless: None };
        match self.perform(&op)? {
            FsOutcome::ListDirectory(ListOutcome::Page(listing)) => Ok(listing),
            other => panic!("{other:?}"),
        }
    }

    /// Everything in `folder`, except for the host's own folder; with `tree` everything below it, folder by folder.
    fn list(&mut self, folder: &str, tree: bool) -> Result<Vec<Entry>, FsError> {
        let mut entries = self.list_with(folder, "", u32::MAX)?.entries;
        if tree {
            let folders = entries.iter().filter(|entry| entry.kind == EntryKind::Directory);
            let folders: Vec<String> = folders.map(|entry| entry.path.to_string()).collect();
            for folder in folders {
                entries.extend(self.list(&folder, true)?);
            }
            entries.sort_by(|one, other| one.path.cmp(&other.path));
        }
        entries.retain(|entry| entry.path.as_str() != ".saddlebag");
        Ok(entries)
    }

    fn remove(&mut self, at: &str, precondition: Precondition) -> Result<RemoveOutcome, FsError> {
        match self.perform(&FsOp::remove(path(at), precondition))? {
            FsOutcome::Remove(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn rename(&mut self, from: &str, to: &str, precondition: Precondition) -> Result<RenameOutcome, FsError> {
        match self.perform(&FsOp::Rename { path: path(from), to: path(to), precondition })? {
            FsOutcome::Rename(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    fn make_directory(&mut self, at: &str) -> Result<FsOutcome, FsError> {
        self.perform(&FsOp::MakeDirectory { path: path(at) })
    }

    fn remove_directory(&mut self, at: &str) -> Result<RemoveDirectoryOutcome, FsError> {
        match self.perform(&FsOp::RemoveDirectory { path: path(at) })? {
            FsOutcome::RemoveDirectory(outcome) => Ok(outcome),
            other => panic!("{other:?}"),
        }
    }

    /// The whole file, which must be there.
    fn content(&mut self, at: &str) -> FileContent {
        match self.read_part(at, 0, u32::MAX).unwrap() {
            ReadOutcome::Content(content) => content,
            other => panic!("{at}: {other:?}"),
        }
    }

    fn text(&mut self, at: &str) -> String {
        String::from_utf8(self.content(at).bytes).unwrap()
    }

    /// Writes a file without a precondition, and returns its version.
    fn put(&mut self, at: &str, content: &str) -> Version {
        match self.write(at, content, Any).unwrap() {
            WriteOutcome::Written(version) => version,
            other => panic!("{at}: {other:?}"),
        }
    }
}

impl<E: Executor + ?Sized> Ask for E {}

pub(crate) fn paths(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.path.as_str()).collect()
}

/// The outcome without what may differ: the text of versions, and times. A file that changed just now has another
/// version than later.
pub(crate) fn anonymous(mut outcome: FsOutcome) -> FsOutcome {
    let hide = |version: &mut Version| {
        if !version.0.is_empty() {
            version.0 = "version".into();
        }
    };
    match &mut outcome {
        FsOutcome::Read(ReadOutcome::Content(content)) => hide(&mut content.version),
        FsOutcome::Write(WriteOutcome::Written(version) | WriteOutcome::Stale(Some(version)))
        | FsOutcome::Append(AppendOutcome::Written(version) | AppendOutcome::Stale(Some(version)))
        | FsOutcome::Remove(RemoveOutcome::Stale(version))
        | FsOutcome::Rename(RenameOutcome::Stale(version)) => hide(version),
        FsOutcome::ListDirectory(ListOutcome::Page(listing)) => {
            listing.version = None;
            for entry in &mut listing.entries {
                hide(&mut entry.version);
                entry.modified = entry.modified.min(1);
            }
        }
        _ => {}
    }
    outcome
}
