//! [`File`] and [`Change`]: a file as it was loaded, and one change of it.

use crate::engine::Loaded;
use crate::store::{Layout, RelPath};
use crate::trust::TrustState;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, Precondition, Version};

/// A file as it was loaded. Only loading gives it bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(super) path: RelPath,
    pub(super) bytes: Option<Arc<Vec<u8>>>,
    pub(super) precondition: Precondition,
    is_hidden: bool,
}

impl File {
    /// Returns a file that does not exist. A change of it creates it.
    pub(crate) fn absent(path: &RelPath) -> Self {
        Self::without_bytes(path, Precondition::Absent)
    }

    /// Returns true if the file has this version, or does not exist if there is none.
    pub(crate) fn has_version(&self, version: Option<&Version>) -> bool {
        self.precondition == version.map_or(Precondition::Absent, |version| Precondition::Matches(version.clone()))
    }

    pub(super) fn without_bytes(path: &RelPath, precondition: Precondition) -> Self {
        Self { path: path.clone(), bytes: None, precondition, is_hidden: false }
    }

    pub(super) fn from_loaded(path: &RelPath, loaded: Loaded, limit: u32) -> Result<Self, Error> {
        match loaded {
            Loaded::Absent => Ok(Self::absent(path)),
            Loaded::Whole { bytes, version } => {
                let bytes = Some(bytes.into());
                Ok(Self { bytes, ..Self::without_bytes(path, Precondition::Matches(version)) })
            }
            Loaded::TooLarge(size) => Err(Error::file_too_large(path, size, u64::from(limit))),
        }
    }

    /// Returns a file that does not exist with bytes that are kept elsewhere.
    pub(super) fn with_bytes(&self, bytes: Vec<u8>) -> Self {
        Self { bytes: Some(Arc::new(bytes)), ..self.clone() }
    }

    /// Returns the bytes; `None` if the file does not exist.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_ref().map(|bytes| bytes.as_slice())
    }

    /// Returns the text; `None` if the file does not exist.
    ///
    /// # Errors
    ///
    /// The bytes are not UTF-8.
    pub(crate) fn text(&self) -> Result<Option<&str>, Error> {
        self.bytes().map(core::str::from_utf8).transpose().map_err(|_| Error::not_text(&self.path))
    }

    /// Returns the record of its text. A file without bytes has none.
    pub(super) fn trust_state(&self) -> TrustState {
        TrustState::from_bytes(self.bytes().unwrap_or_default())
    }

    /// Returns the file of an entry that is not shown any more. New text in its place needs no more trust than a new file.
    pub(crate) fn hidden_if(&self, is_hidden: bool) -> Self {
        Self { is_hidden, ..self.clone() }
    }

    /// Returns the bytes that new text takes the place of.
    pub(super) fn shown_bytes(&self) -> Option<&[u8]> {
        self.bytes().filter(|_| !self.is_hidden)
    }
}

/// One change of one file: the file as it was, and what it becomes. It is applied as it is, and only while the file still
/// is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(super) before: File,
    pub(super) after: After,
    /// File in which the replaced bytes are kept.
    pub(super) keep_as: Option<RelPath>,
    /// File whose permissions a new file gets.
    pub(super) like: Option<RelPath>,
    /// File whose text comes here, if it is another one. Its values are not new.
    pub(super) from: Option<File>,
    /// True if that file is removed next, as a part of the same move.
    pub(super) moves: bool,
}

/// State of a file after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// It has these bytes.
    Whole(Vec<u8>),
    /// It has these bytes at its end too, on a separate line.
    Added(Vec<u8>),
    /// It does not exist.
    Removed,
    /// It does not exist, unless the power is cut.
    Discarded,
    /// It has another path.
    Moved(RelPath),
}

impl Change {
    pub(super) fn new(before: File, after: After) -> Self {
        Self { before, after, keep_as: None, like: None, from: None, moves: false }
    }

    /// Returns a change of a record of ours below `.saddlebag/`, such as the intent of a rename.
    ///
    /// # Errors
    ///
    /// The path is one of a file that people keep.
    pub(crate) fn of_record(path: &RelPath, precondition: Precondition, after: After) -> Result<Self, Error> {
        match Layout::is_bookkeeping(path) {
            true => Ok(Self::new(File::without_bytes(path, precondition), after)),
            false => Err(Error::internal(format!("{path} is not a record"))),
        }
    }

    /// Returns the change with the text before it kept, so that `restore` brings it back.
    pub(crate) fn keeping_text(self) -> Self {
        let has_text = self.before.bytes().is_some_and(|bytes| !bytes.is_empty());
        let keep_as = Some(Layout::backup_of(self.path())).filter(|_| has_text);
        Self { keep_as, ..self }
    }

    /// Returns the removal of the backup of a file that is gone, or has moved away from its backup.
    pub(crate) fn backup_removal(of: &RelPath, is_durable: bool) -> Self {
        let after = if is_durable { After::Removed } else { After::Discarded };
        Self::new(File::without_bytes(&Layout::backup_of(of), Precondition::Any), after)
    }

    pub(crate) fn path(&self) -> &RelPath {
        &self.before.path
    }

    /// Returns the bytes of the file after the change; `None` if it does not exist then.
    pub(super) fn after_bytes(&self) -> Option<Cow<'_, [u8]>> {
        match &self.after {
            After::Whole(bytes) => Some(Cow::Borrowed(bytes)),
            After::Added(addition) => {
                let mut bytes = self.before.bytes().unwrap_or_default().to_vec();
                if bytes.last().is_some_and(|last| *last != b'\n') {
                    bytes.push(b'\n');
                }
                bytes.extend_from_slice(addition);
                Some(Cow::Owned(bytes))
            }
            After::Removed | After::Discarded | After::Moved(_) => None,
        }
    }

    /// Returns the size of the bytes that are written.
    pub(crate) fn size(&self) -> u64 {
        match &self.after {
            After::Whole(bytes) | After::Added(bytes) => bytes.len() as u64,
            After::Removed | After::Discarded | After::Moved(_) => 0,
        }
    }
}
