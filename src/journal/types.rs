//! The words that several commands of the journal share.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use atomic_refcell::AtomicRefCell;
use saddlebag_words::words;

use crate::engine::{Backup, Call};
use crate::protocol::Error;
use crate::search::Corpus;
use crate::trust::{ForModel, InputPolicy};

/// How many bytes one write, or the new text of one edit, may have.
pub const MAX_WRITE_BYTES: usize = 65_536;

/// How many bytes `read` gives, and a search renders, unless told otherwise.
pub const DEFAULT_READ_BYTES: u32 = 32_768;

/// The most files that a page of a listing names unless told otherwise.
pub const DEFAULT_LISTED_FILES: u32 = 200;

/// How long a query may be, in bytes.
pub const MAX_QUERY_BYTES: usize = 4_096;

/// Where a write goes relative to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Behind it, on a line of its own.
    Append,
    /// In its place.
    Overwrite,
}

words!(WriteMode, "mode" { Append = "append", Overwrite = "overwrite" });

/// A change to one place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditChange {
    /// The one occurrence of `old_text` becomes `new_text`; an empty `new_text` deletes it.
    Replace {
        /// The text as it stands in the file.
        old_text: String,
        /// The text in its place, at most [`MAX_WRITE_BYTES`].
        new_text: String,
    },
    /// The whole note is deleted. For notes alone.
    DeleteNote,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteReply {
    /// The file.
    pub path: String,
    /// How many bytes of the content were written, separators not counted.
    pub bytes: u64,
    /// How many lines were left out as the file had them.
    pub skipped_lines: u32,
    /// The size of the content before it was cut at the cap.
    pub truncated_from: Option<u64>,
    /// What became of the text that was replaced.
    pub backup: BackupReply,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadReply {
    /// The file.
    pub path: String,
    /// Whether there is a file, and text in it.
    pub state: FileState,
    /// The text of the part.
    pub text: String,
    /// Where the text starts, in bytes.
    pub offset: u64,
    /// The size of the whole file, in bytes.
    pub size: u64,
    /// Where the next part starts; `None` at the end.
    pub next_offset: Option<u64>,
    /// What to show behind the text: that there is more, or that there is none.
    #[serde(skip)]
    pub ending: String,
}

/// Whether there is a file, and text in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// There is no such file.
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
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it last changed, in nanoseconds since 1970-01-01T00:00:00Z; 0 where unknown.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub modified: u64,
}

/// What a restore did.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoreReply {
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Where the text that the restore replaced is.
    pub backup: BackupReply,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// What became of the backup of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "Option<BackupView>")]
pub struct BackupReply {
    /// The file that holds what was replaced.
    pub path: Option<String>,
    /// Why it is not the usual backup file, which could not be written.
    pub failure: Option<String>,
}

/// The JSON of a [`BackupReply`]; `null` where there is no backup.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct BackupView {
    /// The file that holds what was replaced.
    path: String,
    /// Why it is not the usual backup file, which could not be written.
    failure: Option<String>,
}

impl From<BackupReply> for Option<BackupView> {
    fn from(BackupReply { path, failure }: BackupReply) -> Self {
        Some(BackupView { path: path?, failure })
    }
}

impl BackupReply {
    /// The reply for a backup that a change has made or not.
    pub(super) fn of(call: &Call, backup: Backup) -> Self {
        match backup {
            Backup::None => Self::default(),
            Backup::Kept(path) => Self { path: Some(call.scope.display_path(&path)), failure: None },
            Backup::Elsewhere(path, error) => {
                Self { path: Some(call.scope.display_path(&path)), failure: Some(error.message) }
            }
        }
    }

    /// The end of a message where the backup is not in its usual file; it begins as in zerostack v1.7.2.
    pub(super) fn warning(&self) -> String {
        let (Some(failure), Some(path)) = (&self.failure, &self.path) else { return String::new() };
        format!(" (warning: backup failed, no .bak written: {failure}; the replaced text is in {path})")
    }
}

/// The parts of a memory that the commands of the journal share.
pub(crate) struct JournalCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) corpus: &'a Arc<AtomicRefCell<Corpus>>,
}

/// Refuses a text of tools and imports, and one with a secret, or takes the secret out, as the policy says. Files of the
/// journal have no frontmatter that could say where their text comes from.
pub(super) fn screened(screen: &InputPolicy, what: &str, text: String) -> Result<String, Error> {
    screen.needs_trust(JOURNAL)?;
    screen.text(what, text)
}

/// The name of the files of the journal in a refusal.
pub(super) const JOURNAL: &str = "a file of the journal";
