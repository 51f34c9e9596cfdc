//! The journal: long-term memory, scratchpad, daily log and notes.
//!
//! Behaviour follows zerostack v1.7.2 to the byte where that is safe: names, write, append, edit,
//! search, ranking and rendering. Where it loses text or lets text escape, this does not.
//!
//! [`Target`] names a file; [`JournalCommand`] is what can be done, [`JournalReply`] what comes of it.

mod backup;
mod compaction;
mod dedup;
mod edit;
mod find;
mod prompt;
mod read;
mod screen;
mod slash;
mod target;
mod write;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use atomic_refcell::AtomicRefCell;

pub use backup::BackupReply;
pub(crate) use backup::restore_file;
pub use compaction::compaction_heading;
pub use prompt::{FLUSH_PROMPT, MEMORY_PROMPT, REFLECT_PROMPT};
pub use slash::{SLASH_USAGE, SlashCommand};
pub use target::{Target, TargetRole};

pub(crate) use read::{read_file, whole_characters};

use crate::engine::{Backups, Call};
use crate::protocol::Error;
use crate::search::{Corpus, SearchResults, Skipped};
use crate::trust::ForModel;

/// How many bytes one write, or the new text of one edit, may have.
pub const MAX_WRITE_BYTES: usize = 65_536;

/// How many bytes `read` gives, and a search renders, unless told otherwise.
pub const DEFAULT_READ_BYTES: u32 = 32_768;

/// How long a query may be, in bytes.
pub const MAX_QUERY_BYTES: usize = 4_096;

/// What can be done with the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalCommand {
    /// Writes text to a target.
    Write {
        /// Where to.
        target: Target,
        /// Behind what is there, or in its place.
        mode: WriteMode,
        /// The text, at most [`MAX_WRITE_BYTES`].
        content: String,
        /// Cut a longer text at the limit instead of refusing it; the reply says so.
        truncate: bool,
    },
    /// Adds an entry to today's log.
    AppendDaily {
        /// One line.
        heading: String,
        /// The text below it.
        body: String,
    },
    /// Reads a part of a target.
    Read {
        /// What to read.
        target: Target,
        /// Where to start, in bytes.
        offset: u64,
        /// How many bytes at most.
        max_bytes: u32,
    },
    /// Lists the files of the scope.
    List,
    /// Changes a target in one place, or deletes a note.
    Edit {
        /// What to change.
        target: Target,
        /// The change.
        change: EditChange,
    },
    /// Puts the backup of a target back.
    Restore {
        /// What to restore.
        target: Target,
    },
    /// Searches the files of the journal: see [`Layout::is_journal`](crate::store::Layout::is_journal).
    Search(SearchRequest),
    /// The sizes of what is always at hand.
    Status,
    /// Keeps the summary of a conversation that is compacted in today's log.
    FlushSummary {
        /// The summary.
        summary: String,
        /// How many messages it stands for.
        messages: Option<u32>,
    },
    /// Runs a `/memory` command line.
    Slash {
        /// The line, with or without `/memory` before it.
        line: String,
    },
}

/// Where a write goes relative to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Behind it, on a line of its own.
    Append,
    /// In its place.
    Overwrite,
}

impl WriteMode {
    /// Parses `append` or `overwrite`.
    ///
    /// # Errors
    ///
    /// Any other word: a typo must not choose a mode.
    pub fn parse(word: &str) -> Result<Self, Error> {
        match word {
            "append" => Ok(Self::Append),
            "overwrite" => Ok(Self::Overwrite),
            _ => Err(Error::invalid_argument(alloc::format!("unknown mode: {word}"), "one of append, overwrite")),
        }
    }
}

/// A change to one place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditChange {
    /// The one occurrence of `old` becomes `new`; an empty `new` deletes it.
    Replace {
        /// The text as it stands in the file.
        old: String,
        /// The text in its place, at most [`MAX_WRITE_BYTES`].
        new: String,
    },
    /// The whole note is deleted. For notes alone.
    Delete,
}

/// What to search for, and how much to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {
    /// Words separated by white space, at most [`MAX_QUERY_BYTES`].
    pub query: String,
    /// How many matching files to pass over: the next page of an earlier search.
    pub offset: u32,
    /// How many hits the reply lists.
    pub limit: u32,
    /// How many bytes the rendered text may have, without its truncation marker.
    pub max_bytes: u32,
    /// The host vouches that nothing changed since the last search, by a watch or a generation
    /// number: the store is not listed again. Of no effect on the first search.
    pub vouched_unchanged: bool,
}

impl SearchRequest {
    /// A search for `query` with the usual limits: 50 hits, [`DEFAULT_READ_BYTES`] of text.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), offset: 0, limit: 50, max_bytes: DEFAULT_READ_BYTES, vouched_unchanged: false }
    }
}

/// What came of a [`JournalCommand`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JournalReply {
    /// Of `Write`, `AppendDaily` and `FlushSummary`.
    Written(WriteReply),
    /// Of `Read`.
    Read(ReadReply),
    /// Of `List`.
    Listed(ListReply),
    /// Of `Edit`.
    Edited(EditReply),
    /// Of `Restore`.
    Restored(RestoreReply),
    /// Of `Search`.
    Found(SearchResults),
    /// Of `Status`.
    Status(StatusReply),
    /// Of `Slash`: text for a person.
    Text(String),
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The files of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListReply {
    /// Sorted by path.
    pub files: Vec<ListedFile>,
    /// Named like memory, but not readable as such.
    pub skipped: Vec<Skipped>,
}

/// A file of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it last changed, in nanoseconds since 1970-01-01T00:00:00Z; 0 where unknown.
    pub modified: u64,
}

/// What an edit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditReply {
    /// The file.
    pub path: String,
    /// What became of the text that was replaced.
    pub backup: BackupReply,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// What a restore did.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The sizes of what is always at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusReply {
    /// The size of the long-term memory that every project shares; `None` if it was never written.
    pub long_term_bytes: Option<u64>,
    /// The size of the long-term memory of the project; `None` if it was never written, or without a project.
    pub project_long_term_bytes: Option<u64>,
    /// Open items of the scratchpad.
    pub open_items: u32,
    /// Entries of today's log.
    pub today_entries: u32,
    /// All of this for a person.
    pub text: String,
}

impl JournalCommand {
    /// The name of the command, as its context keys begin.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Write { .. } => "write",
            Self::AppendDaily { .. } => "append-daily",
            Self::Read { .. } => "read",
            Self::List => "list",
            Self::Edit { .. } => "edit",
            Self::Restore { .. } => "restore",
            Self::Search(_) => "search",
            Self::Status => "status",
            Self::FlushSummary { .. } => "flush-summary",
            Self::Slash { .. } => "slash",
        }
    }
}

/// Runs a command.
pub(crate) async fn run(
    call: &Call,
    corpus: &Arc<AtomicRefCell<Corpus>>,
    command: JournalCommand,
) -> Result<JournalReply, Error> {
    let command = screen::screened(call, command)?;
    let mut reply = match command {
        JournalCommand::Write { target, mode, content, truncate } => {
            let over_limit = if truncate { write::OverLimit::Cut } else { write::OverLimit::Refuse };
            JournalReply::Written(write::write(call, &target, mode, &content, over_limit, Backups::Keep).await?)
        }
        JournalCommand::AppendDaily { heading, body } => {
            JournalReply::Written(write::append_daily(call, &heading, &body).await?)
        }
        JournalCommand::Read { target, offset, max_bytes } => {
            JournalReply::Read(read::read(call, &target, offset, max_bytes).await?)
        }
        JournalCommand::List => JournalReply::Listed(read::list(call).await?),
        JournalCommand::Edit { target, change } => {
            JournalReply::Edited(edit::edit(call, &target, &change, Backups::Off).await?)
        }
        JournalCommand::Restore { target } => JournalReply::Restored(backup::restore(call, &target).await?),
        JournalCommand::Search(request) => JournalReply::Found(find::search(call, corpus, &request).await?),
        JournalCommand::Status => JournalReply::Status(read::status(call).await?),
        JournalCommand::FlushSummary { summary, messages } => {
            JournalReply::Written(compaction::flush_summary(call, &summary, messages).await?)
        }
        JournalCommand::Slash { line } => {
            let command = screen::screened_line(call, SlashCommand::parse(&line)?)?;
            JournalReply::Text(slash::run(call, corpus, command).await?)
        }
    };
    screen::tell(&call.screen, &mut reply);
    Ok(reply)
}
