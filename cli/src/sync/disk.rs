//! [`Disk`]: the files of the store, changed only if they still are what was read. What belongs to a memory is changed through it, so
//! that the history has the change.

use saddlebag::protocol::{
    Entry, EntryKind, Error, ErrorCode, FsOp, FsOutcome, ListOutcome, Precondition, ReadOutcome, RemoveOutcome,
    Version, WriteOutcome,
};
use saddlebag::store::{Layout, RelPath};
use saddlebag::trust::without_rejected;
use saddlebag_host::{Executor, LocalDir};
use schemars::JsonSchema;
use serde::Serialize;

use super::memories::{Answer, Memories};
use crate::failure::{Failure, set_changes};
use crate::global::Global;
use crate::store;

/// Number of entries that one listing returns.
const LISTED: u32 = 1_000;

/// Files whose new text their memories refused.
#[derive(Default)]
pub(super) struct RefusedFiles {
    /// Their text had values that were rejected for good. They were written without these lines, or not at all.
    pub(super) rejected: Vec<Refused>,
    /// They were written without a record.
    pub(super) unrecorded: Vec<Refused>,
}

/// Result of a change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Made,
    /// The file is no longer as it was read.
    Stale,
    /// The file stays as it is: its new text has a value that was rejected for good, and no line can be left out.
    Refused,
}

/// A file, as it was read.
pub(super) struct Known {
    pub(super) bytes: Vec<u8>,
    version: Version,
}

/// The files of the store.
pub(crate) struct Disk<'a> {
    folder: LocalDir,
    /// Memories that the files belong to; `None`: the history does not get the changes.
    memories: Option<Memories<'a>>,
    refused: RefusedFiles,
}

/// A file whose new text its memory refused.
#[derive(PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Refused {
    /// Path relative to the root of the store.
    pub(super) path: String,
    /// Reason.
    pub(super) reason: String,
}

impl<'a> Disk<'a> {
    /// Opens the store. The history gets the changes, with this reason.
    pub(crate) fn open(global: &'a Global, reason: &'static str) -> Result<Self, Failure> {
        Ok(Self {
            folder: store::disk(global)?,
            memories: Some(Memories::new(global, reason)),
            refused: RefusedFiles::default(),
        })
    }

    /// Changes the files of a store, without a history.
    pub(crate) fn without_history(folder: LocalDir) -> Self {
        Self { folder, memories: None, refused: RefusedFiles::default() }
    }

    /// Reads a file; `None` if it does not exist.
    pub(super) fn read(&mut self, path: &RelPath) -> Result<Option<Known>, Failure> {
        let op = FsOp::Read { path: path.clone(), offset: 0, max_bytes: u32::MAX };
        match self.perform(&op)? {
            FsOutcome::Read(ReadOutcome::Content(found)) => {
                Ok(Some(Known { bytes: found.bytes, version: found.version }))
            }
            FsOutcome::Read(ReadOutcome::Absent) => Ok(None),
            _ => Err(Failure::wrong_reply("read")),
        }
    }

    /// Writes a file, or removes it without a content, if it still is what was read. Lines with a value that was rejected for
    /// good are left out.
    pub(super) fn change(
        &mut self,
        path: &RelPath,
        known: Option<&Known>,
        content: Option<Vec<u8>>,
    ) -> Result<Change, Failure> {
        let refused = match self.tell(path, known, content.as_deref())? {
            Answer::Changed => return Ok(Change::Made),
            Answer::Stale => return Ok(Change::Stale),
            Answer::NotKept => None,
            Answer::Rejected(reason) => {
                let change = self.without_rejected(path, known, content.as_deref().unwrap_or_default())?;
                if change != Change::Stale {
                    self.refused.rejected.push(Refused { path: path.to_string(), reason });
                }
                return Ok(change);
            }
            Answer::Refused(reason) => Some(Refused { path: path.to_string(), reason }),
        };
        let precondition = known.map_or(Precondition::Absent, |known| Precondition::Matches(known.version.clone()));
        let op = match content {
            Some(content) => FsOp::write(path.clone(), content, precondition),
            None => FsOp::remove(path.clone(), precondition),
        };
        let outcome = self.perform(&op)?;
        let is_done =
            matches!(outcome, FsOutcome::Write(WriteOutcome::Written(_)) | FsOutcome::Remove(RemoveOutcome::Done));
        if is_done {
            set_changes(true, true);
            self.refused.unrecorded.extend(refused);
        }
        Ok(if is_done { Change::Made } else { Change::Stale })
    }

    /// Changes a file through its memory.
    fn tell(&mut self, path: &RelPath, known: Option<&Known>, content: Option<&[u8]>) -> Result<Answer, Failure> {
        let version = known.map(|known| &known.version);
        match &mut self.memories {
            Some(memories) => memories.change(path, version, content),
            None => Ok(Answer::NotKept),
        }
    }

    /// Writes a text without the lines that its memory rejects.
    fn without_rejected(&mut self, path: &RelPath, known: Option<&Known>, content: &[u8]) -> Result<Change, Failure> {
        let log = Layout::rejected_log().map(|log| self.read(&log)).ok().transpose()?.flatten();
        let before = known.map(|known| String::from_utf8_lossy(&known.bytes)).unwrap_or_default();
        let text = std::str::from_utf8(content).ok();
        let rest = text.zip(log).and_then(|(text, log)| without_rejected(&log.bytes, text, &before));
        let Some(rest) = rest else { return Ok(Change::Refused) };
        Ok(match self.tell(path, known, Some(rest.as_bytes()))? {
            Answer::Changed => Change::Made,
            Answer::Stale => Change::Stale,
            Answer::Rejected(_) | Answer::NotKept | Answer::Refused(_) => Change::Refused,
        })
    }

    /// Returns the files whose text was refused since the last call.
    pub(super) fn take_refused(&mut self) -> RefusedFiles {
        std::mem::take(&mut self.refused)
    }

    /// Returns the files of the store, except hidden ones and those in hidden folders.
    pub(super) fn files(&mut self) -> Result<Vec<RelPath>, Failure> {
        let mut files = Vec::new();
        let mut folders: Vec<Option<RelPath>> = vec![None];
        while let Some(folder) = folders.pop() {
            let mut after = None;
            loop {
                let op = FsOp::ListDirectory { folder: folder.clone(), after, limit: LISTED, unless: None };
                let FsOutcome::ListDirectory(ListOutcome::Page(page)) = self.perform(&op)? else {
                    return Err(Failure::wrong_reply("list-directory"));
                };
                for Entry { path, kind, .. } in page.entries {
                    match kind {
                        _ if path.file_name().starts_with('.') => {}
                        EntryKind::Directory => folders.push(Some(path)),
                        EntryKind::File => files.push(path),
                        EntryKind::Other => {}
                    }
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        files.sort();
        Ok(files)
    }

    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, Failure> {
        let path = match op {
            FsOp::Read { path, .. } | FsOp::Write { path, .. } | FsOp::Remove { path, .. } => Some(path),
            _ => None,
        };
        self.folder.perform(op).map_err(|error| Error::storage(path, &error).into())
    }
}

/// Writes a file that is named by its content, such as a review, unless it is there already.
pub(crate) fn write_new(disk: &mut Disk<'_>, path: &str, content: Vec<u8>) -> Result<(), Failure> {
    let path = RelPath::new(path)
        .map_err(|error| Failure::new(ErrorCode::Internal, format!("the path of a new file: {error}"), ""))?;
    if disk.read(&path)?.is_none() {
        disk.change(&path, None, Some(content))?;
    }
    Ok(())
}
