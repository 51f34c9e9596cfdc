//! The notebook: facts, decisions and a journal that link to each other.
//!
//! It does what cowboy's Zettelkasten does, without zk. Each command is a struct, such as [`Remember`] with
//! [`RememberReply`]. An existing zk notebook is opened in place.

mod attachments;
mod change;
mod commands;
mod config;
mod create;
mod daily;
mod date_words;
mod draft;
mod files;
mod glob;
mod init;
mod intent;
mod lifecycle;
mod link;
mod links;
mod page;
mod queries;
mod recall;
mod rename;
mod reply;
mod run;
mod select;
mod session;
mod slug;
mod snapshot;
mod template;
mod template_syntax;
#[cfg(test)]
pub(crate) mod testing;
mod zk_output;

use alloc::string::String;
use alloc::vec::Vec;

pub use commands::{
    DeadLinks, DeadLinksReply, Forget, Graph, Init, Journal, Link, ListNotes, LoadMemories, MemoriesReply,
    MemoryContext, Orphans, Recall, RecallForTurn, Related, RelatedReply, Remember, RememberError, RememberSummary,
    Rename, RestoreNote, Tags, TagsReply, Today, UnlinkedMentions, UnlinkedMentionsReply,
};
pub use config::{CONFIG_FILE, Group, IdCase, LinkFormat, MAX_CONFIG_BYTES, NoteConfig, NotebookConfig, Warning};
pub use create::{MAX_TAG_BYTES, MAX_TAGS, MAX_TITLE_BYTES, RememberReply, RememberState};
pub use daily::{JournalEntryReply, TodayReply};
pub use glob::{Glob, MAX_GLOB_BYTES};
pub use init::InitReply;
pub use lifecycle::{
    ErrorNote, ErrorReply, ErrorState, INITIAL_MEMORIES, MAX_ERROR_NOTES, MAX_MEMORY_BYTES, MAX_SUMMARY_CHARS,
    MemoryContextReply, RecalledMemory, error_note, format_memory_context, tool_summary_note,
};
pub use link::{LinkReply, MAX_LINK_TEXT_BYTES};
pub use recall::MAX_RECALL_BYTES;
pub use rename::{ForgetReply, RenameReply};
pub use reply::{
    DeadLink, GraphLink, GraphReply, ListNotesReply, Mention, NoteInfo, RecallHit, RecallReply, RelatedNote, ScorePart,
    TagCount,
};
pub use select::is_query_syntax_error;
pub use slug::{MAX_SLUG_BYTES, slug};
pub use template::{MAX_RENDERED_BYTES, MAX_TEMPLATE_BYTES, Template};
pub use zk_output::{ZkNote, ZkOutputError, parse_note_path, parse_zk_list_output};

pub(crate) use commands::NotebookCall;
pub(crate) use page::locate_page;
pub(crate) use run::{Notebook, waiting};

use crate::document::Note;
use crate::protocol::Error;
use crate::request::family;

/// The field of a note that names the notes which it takes the place of.
pub(crate) const SUPERSEDES: &str = "supersedes";

family! {
    "notebook" in Notebook, run with NotebookCall<'_>;
    /// A command of the notebook.
    NotebookCommand =>
    /// The reply of a [`NotebookCommand`].
    NotebookReply {
        Init,
        Remember,
        Recall,
        Journal,
        Today,
        ListNotes,
        Related,
        Link,
        Rename,
        Forget,
        RestoreNote,
        Tags,
        Graph,
        Orphans,
        DeadLinks,
        UnlinkedMentions,
        LoadMemories,
        RecallForTurn,
        MemoryContext,
        RememberError,
        RememberSummary,
    }
}

/// Runs a command.
pub(crate) async fn run(with: &NotebookCall<'_>, command: NotebookCommand) -> Result<NotebookReply, Error> {
    command.run(with).await
}

/// What a note must be to be listed: all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteFilter {
    /// Queries; all of them must match.
    pub matches: Vec<String>,
    /// How the queries match.
    pub strategy: MatchStrategy,
    /// Paths, or beginnings of paths; one of them must fit.
    pub paths: Vec<String>,
    /// Paths that must not fit.
    pub exclude: Vec<String>,
    /// Tags as globs: all must be there; `a OR b`, `NOT a` in one.
    pub tags: Vec<String>,
    /// No tags at all.
    pub tagless: bool,
    /// Notes that one of these links to.
    pub linked_by: Vec<String>,
    /// Notes that link to one of these.
    pub link_to: Vec<String>,
    /// Notes that none of these links to.
    pub no_linked_by: Vec<String>,
    /// Notes that link to none of these.
    pub no_link_to: Vec<String>,
    /// Follow links over several notes.
    pub recursive: bool,
    /// How many links to follow at most; of effect with `recursive`.
    pub max_distance: Option<u32>,
    /// Notes two links away from one of these.
    pub related: Vec<String>,
    /// Notes that mention the title or an alias of one of these.
    pub mention: Vec<String>,
    /// Notes whose title or alias one of these mentions.
    pub mentioned_by: Vec<String>,
    /// Nothing links to it.
    pub orphan: bool,
    /// A note links to it to which it does not link back.
    pub missing_backlink: bool,
    /// Created on this day, month, year, or at this moment.
    pub created: Option<String>,
    /// Created before.
    pub created_before: Option<String>,
    /// Created after.
    pub created_after: Option<String>,
    /// Changed on this day, month, year, or at this moment.
    pub modified: Option<String>,
    /// Changed before.
    pub modified_before: Option<String>,
    /// Changed after.
    pub modified_after: Option<String>,
}

/// How the query of a filter matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchStrategy {
    /// Words of path, title and body, stemmed; zk's query syntax.
    #[default]
    FullText,
    /// The text as it stands anywhere in the file, whatever the case of ASCII letters.
    Exact,
}

/// What to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The field.
    pub by: SortBy,
    /// From small to large.
    pub ascending: bool,
}

/// A field to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// When it was created; descending unless told otherwise.
    Created,
    /// When it was changed; descending unless told otherwise.
    Modified,
    /// Its path.
    Path,
    /// Its title.
    Title,
    /// How many words it has.
    WordCount,
}

/// A note of the index, as filters and links see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoteView<'a> {
    /// Below the root of the notebook, not of the store.
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) note: &'a Note,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) modified: u64,
    /// From the frontmatter's date, else `modified`.
    pub(crate) created: u64,
}
