//! [`Disk`]: the files of the store, changed only if they still are what was read. What belongs to a memory is changed through it, so
//! that the history has the change.

use saddlebag::document::Frontmatter;
use saddlebag::protocol::{
    Entry, EntryKind, Error, ErrorCode, FsOp, FsOutcome, ListOutcome, Precondition, ReadOutcome, RemoveOutcome,
    Version, WriteOutcome,
};
use saddlebag::store::{Layout, RelPath};
use saddlebag::trust::without_rejected;
use saddlebag_host::{Executor, LocalDir};

use super::incoming::Admitted;
use super::memories::{Answer, MadeOperation, Memories};
use crate::failure::set_changes;
use crate::prelude::*;
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

    /// Opens the store without a history, for what git itself merges.
    pub(super) fn without_history(global: &Global) -> Result<Self, Failure> {
        Ok(Self { folder: store::disk(global)?, memories: None, refused: RefusedFiles::default() })
    }

    /// Says which commit the next changes come from.
    pub(super) fn set_source(&mut self, source: Option<&String>) {
        self.memories.iter_mut().for_each(|memories| memories.set_source(source));
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
        content: Admitted,
    ) -> Result<Change, Failure> {
        let content = content.into_bytes();
        let refused = match self.tell(path, known, content.as_deref())? {
            Answer::Changed => return Ok(Change::Made),
            Answer::Stale => return Ok(Change::Stale),
            Answer::NotKept => None,
            Answer::Rejected(reason) => {
                let rest = self.without_rejected(path, known, content.unwrap_or_default())?;
                let change = match rest.map(|rest| self.tell(path, known, Some(&rest))).transpose()? {
                    Some(Answer::Changed) => Change::Made,
                    Some(Answer::Stale) => return Ok(Change::Stale),
                    _ => Change::Refused,
                };
                self.refused.rejected.push(Refused { path: path.to_string(), reason });
                return Ok(change);
            }
            Answer::Refused(reason) => Some(Refused { path: path.to_string(), reason }),
        };
        // The memory has not looked for them.
        let Some(content) = content else { return self.replace(path, known, None, refused) };
        let rest = self.without_rejected(path, known, content.clone())?;
        let is_whole = rest.as_ref() == Some(&content);
        let change = match rest {
            Some(rest) => self.replace(path, known, Some(rest), refused)?,
            None => Change::Refused,
        };
        if change != Change::Stale && !is_whole {
            let reason = "it has a value that was rejected for good".to_string();
            self.refused.rejected.push(Refused { path: path.to_string(), reason });
        }
        Ok(change)
    }

    /// Writes a log of the program, if it still is what was read. It has digests, and no text of anybody.
    pub(super) fn write_log(
        &mut self,
        path: &RelPath,
        known: Option<&Known>,
        lines: String,
    ) -> Result<Change, Failure> {
        self.replace(path, known, Some(lines.into_bytes()), None)
    }

    /// Replaces or removes a file without a record in the history.
    fn replace(
        &mut self,
        path: &RelPath,
        known: Option<&Known>,
        content: Option<Vec<u8>>,
        refused: Option<Refused>,
    ) -> Result<Change, Failure> {
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

    /// Leaves out the lines that have rejected values, and returns the rest. `None` if the rest still has one, or has nothing after
    /// the frontmatter.
    fn without_rejected(
        &mut self,
        path: &RelPath,
        known: Option<&Known>,
        content: Vec<u8>,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let log = Layout::rejected_log().map(|log| self.read(&log)).ok().transpose()?.flatten();
        let (Some(log), Ok(text)) = (log, std::str::from_utf8(&content)) else { return Ok(Some(content)) };
        let before = known.map(|known| String::from_utf8_lossy(&known.bytes)).unwrap_or_default();
        let is_blank = |text: &str| text.get(Frontmatter::parse(text).span.end..).unwrap_or_default().trim().is_empty();
        let rest = without_rejected(&log.bytes, path.as_str(), text, &before);
        Ok(rest.filter(|rest| !is_blank(rest) || is_blank(text)).map(String::into_bytes))
    }

    /// Returns the operations of the history that this run made, with the commands that take them back.
    pub(super) fn operations(&self) -> Vec<MadeOperation> {
        self.memories.as_ref().map(Memories::made).unwrap_or_default()
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
pub(super) fn write_new(disk: &mut Disk<'_>, path: &str, content: Admitted) -> Result<(), Failure> {
    let path = new_path(path)?;
    if disk.read(&path)?.is_none() {
        disk.change(&path, None, content)?;
    }
    Ok(())
}

/// Returns the path of a file that a merge adds.
pub(super) fn new_path(path: &str) -> Result<RelPath, Failure> {
    RelPath::new(path)
        .map_err(|error| Failure::new(ErrorCode::Internal, format!("the path of a new file: {error}"), ""))
}
