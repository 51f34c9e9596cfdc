//! Types that several commands of the journal share.

use atomic_refcell::AtomicRefCell;
use saddlebag_collections::{prelude::*, words};

use crate::changes::{Call, Field, Screen};
use crate::search::Corpus;
use crate::trust::ForModel;
use saddlebag_protocol::Error;

/// Maximum size of one write, or of the new text of one edit, in bytes.
pub const MAX_WRITE_BYTES: usize = 65_536;

/// Default size of a part that `read` returns, and of a rendered search, in bytes.
pub const DEFAULT_READ_BYTES: u32 = 32_768;

/// Default number of files on a page of a listing.
pub const DEFAULT_LISTED_FILES: u32 = 200;

/// Maximum size of a query in bytes.
pub const MAX_QUERY_BYTES: usize = 4_096;

/// Mode of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Adds the text at the end, on a separate line.
    Append,
    /// Replaces the existing text.
    Overwrite,
}

words!(WriteMode, "mode" { Append = "append", Overwrite = "overwrite" });

/// A change to one place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditChange {
    /// Replaces the one occurrence of `old_text` by `new_text`. An empty `new_text` deletes it.
    Replace {
        /// Text exactly as it is in the file.
        old_text: String,
        /// New text, at most [`MAX_WRITE_BYTES`].
        new_text: String,
    },
    /// Deletes the whole note. Other targets cannot be deleted.
    DeleteNote,
}

/// Result of a write.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteReply {
    /// Path of the file.
    pub path: String,
    /// Number of bytes of the content that were written, without separators.
    pub bytes: u64,
    /// Number of lines left out because the file already had them.
    pub skipped_lines: u32,
    /// Size of the content before it was cut at the limit.
    pub truncated_from: Option<u64>,
    /// Backup with the replaced text; `None` if there was none, or if the history keeps the text.
    pub backup: Option<String>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// State of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// The file does not exist.
    Missing,
    /// The file has no bytes.
    Empty,
    /// The file has text.
    Text,
}

words!(FileState, "state of a file" { Missing = "missing", Empty = "empty", Text = "text" });

/// A file of a scope.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedFile {
    /// Path of the file.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub modified: u64,
}

/// A file that an edit or a restore has changed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedFile {
    /// Path of the file.
    pub path: String,
    /// Size of the file in bytes; 0 if it was deleted.
    pub bytes: u64,
    /// Backup with the replaced text; `None` if there was none, or if the history keeps the text.
    pub backup: Option<String>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// Parts of a memory that the commands of the journal need.
pub(crate) struct JournalCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) corpus: &'a Arc<AtomicRefCell<Corpus>>,
}

impl EditChange {
    /// Returns true if it does not only delete.
    pub(super) fn adds_text(&self) -> bool {
        matches!(self, Self::Replace { new_text, .. } if !new_text.is_empty())
    }
}

impl Field for EditChange {
    fn each(&mut self, screen: Screen<'_>) -> Result<(), Error> {
        match self {
            Self::Replace { new_text, .. } => new_text.each(screen),
            Self::DeleteNote => Ok(()),
        }
    }
}

/// Name of the journal's files in a refusal of text of tools and imports: they have no frontmatter that could record where
/// their text comes from.
pub(super) const JOURNAL: &str = "a file of the journal";
