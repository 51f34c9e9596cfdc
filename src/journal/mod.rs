//! The journal: long-term memory, scratchpad, daily log and notes.
//!
//! Names, write, append, edit, search, ranking and rendering equal zerostack v1.7.2 byte for byte, except where
//! zerostack loses text or lets text escape.
//!
//! [`Target`] names a file; each command is a struct in a separate file, such as [`WriteFile`] with [`WriteReply`].

mod append_daily;
mod dedup;
mod edit;
mod list;
mod prompt;
mod read;
mod restore;
mod search;
mod slash;
mod status;
mod target;
mod types;
mod write;

pub use append_daily::{AppendDaily, FlushSummary, compaction_heading};
pub use prompt::{FLUSH_PROMPT, JOURNAL_PROMPT, MEMORY_PROMPT, REFLECT_PROMPT};
pub use search::Search;
pub use slash::{SLASH_USAGE, Slash, SlashCommand, SlashReply};
pub use status::{Status, StatusReply};
pub use target::{Target, TargetRole};
pub use types::{
    ChangedFile, DEFAULT_LISTED_FILES, DEFAULT_READ_BYTES, EditChange, FileState, ListedFile, MAX_QUERY_BYTES,
    MAX_WRITE_BYTES, WriteMode, WriteReply,
};
pub use write::WriteFile;

pub(crate) use edit::edit_file;
pub(crate) use list::{journal_files, list};
pub(crate) use read::{Part, check_bytes, file_size, read_part, whole_characters};
pub(crate) use restore::restore_file;
pub(crate) use target::page_path;
pub(crate) use types::JournalCall;
pub(crate) use write::write_file as write;

use crate::family::{family, texts};

family! {
    "journal", run with JournalCall<'_>;
    /// A command of the journal.
    JournalCommand =>
    /// Reply of a [`JournalCommand`].
    JournalReply {
        AppendDaily { heading: name "heading", body: text "body" } | FlushSummary { summary: summary "summary", messages },
        Search,
        Status,
        Slash { line: parts "line" },
    }
}

texts!(WriteFile { target, mode, content: text "content", truncate });
