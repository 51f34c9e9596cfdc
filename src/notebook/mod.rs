//! The notebook: facts, decisions and a journal that link to each other.
//!
//! It does what cowboy's Zettelkasten does, without zk: [`NotebookCommand`] is what can be done,
//! [`NotebookReply`] what comes of it. An existing zk notebook is opened in place.

mod attachments;
mod change;
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
mod screen;
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

pub use config::{CONFIG_FILE, Group, IdCase, LinkFormat, MAX_CONFIG_BYTES, NoteConfig, NotebookConfig, Warning};
pub use create::{MAX_TAG_BYTES, MAX_TAGS, MAX_TITLE_BYTES, RememberReply, RememberState};
pub use daily::{JournalEntryReply, TodayReply};
pub use glob::{Glob, MAX_GLOB_BYTES};
pub use init::InitReply;
pub use lifecycle::{
    ErrorNote, ErrorReply, ErrorState, INITIAL_MEMORIES, MAX_ERROR_NOTES, MAX_MEMORY_BYTES, MAX_SUMMARY_CHARS,
    MemoryContext, RecalledMemory, error_note, format_memory_context, tool_summary_note,
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

pub(crate) use page::locate_page;
pub(crate) use run::{Notebook, run, waiting};

use crate::document::Note;
use crate::engine::Scope;
use crate::journal::RestoreReply;
use crate::trust::Provenance;

/// The field of a note that names the notes which it takes the place of.
pub(crate) const SUPERSEDES: &str = "supersedes";

/// What can be done with a notebook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotebookCommand {
    /// Makes the folders, the configuration and the templates that are missing.
    Init,
    /// Keeps a fact, a decision or another note.
    Remember(RememberRequest),
    /// Finds notes by a question or a query, best first.
    Recall(RecallRequest),
    /// Adds one line with the time of day to today's note.
    Journal {
        /// The line.
        entry: String,
    },
    /// Gives today's note, and makes it from its template first if it is missing.
    Today,
    /// Notes by filters alone, as `zk list` selects them.
    List(ListRequest),
    /// What is linked with a note: links both ways first, then notes that share a linked note.
    Related {
        /// The note: its path, name, title or alias.
        note: String,
        /// How many at most.
        limit: u32,
    },
    /// Writes a link to a note at the end of another, unless it is there.
    Link {
        /// The note that gets the link.
        from: String,
        /// The note that it goes to.
        to: String,
        /// What the link shows; the title of the target where there is none.
        text: Option<String>,
    },
    /// Gives a note another title and name, and rewrites every link to it.
    Rename {
        /// The note.
        note: String,
        /// Its new title.
        title: String,
    },
    /// Removes a note; its text is kept as a backup beside it.
    Forget {
        /// The note.
        note: String,
    },
    /// Puts the backup of a note back, such as that of a note that was forgotten. What it replaces becomes the
    /// backup.
    Restore {
        /// The path that the note has or had.
        note: String,
    },
    /// Every tag, with the number of notes that have it.
    Tags,
    /// Notes and the links between them.
    Graph(ListRequest),
    /// Notes that no other note links to.
    Orphans,
    /// Links that lead nowhere, or to more than one note.
    DeadLinks,
    /// Notes that name a note's title or an alias without linking to it.
    UnlinkedMentions {
        /// The note.
        note: String,
    },
    /// Takes the newest facts into the session, as its first memories.
    LoadMemories {
        /// How many.
        limit: u32,
    },
    /// Recalls for one turn of a conversation: what is found is shown in this turn's prompt alone,
    /// however late it is found. Of several for one turn, the one that was asked last counts.
    RecallForTurn {
        /// The turn; they grow.
        turn: u64,
        /// What was said in it.
        query: String,
        /// How many memories.
        limit: u32,
    },
    /// The memories of the session and of one turn, as a section of its prompt.
    MemoryContext {
        /// The turn.
        turn: u64,
        /// How many bytes the section may have.
        max_bytes: u32,
    },
    /// Keeps an error of a tool as a fact; the same error is counted, not repeated.
    RememberError {
        /// The tool.
        tool: String,
        /// What it said.
        error: String,
    },
    /// Keeps the summary of a tool's output as a fact.
    RememberSummary {
        /// The tool.
        tool: String,
        /// The summary.
        summary: String,
    },
}

/// What came of a [`NotebookCommand`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotebookReply {
    /// Of `Init`.
    Initialised(InitReply),
    /// Of `Remember` and `RememberSummary`.
    Remembered(RememberReply),
    /// Of `RememberError`.
    ErrorKept(ErrorReply),
    /// Of `Recall`.
    Recalled(RecallReply),
    /// Of `Journal`.
    Journaled(JournalEntryReply),
    /// Of `Today`.
    Today(TodayReply),
    /// Of `List` and `Orphans`.
    Listed(ListNotesReply),
    /// Of `Related`.
    Related(Vec<RelatedNote>),
    /// Of `Link`.
    Linked(LinkReply),
    /// Of `Rename`.
    Renamed(RenameReply),
    /// Of `Forget`.
    Forgotten(ForgetReply),
    /// Of `Restore`.
    Restored(RestoreReply),
    /// Of `Tags`.
    Tags(Vec<TagCount>),
    /// Of `Graph`.
    Graph(GraphReply),
    /// Of `DeadLinks`.
    DeadLinks(Vec<DeadLink>),
    /// Of `UnlinkedMentions`.
    Mentions(Vec<Mention>),
    /// Of `LoadMemories` and `RecallForTurn`: how many memories there are for the prompt.
    Loaded(u32),
    /// Of `MemoryContext`.
    Section(MemoryContext),
}

impl NotebookCommand {
    /// The command with the paths of its filter below the notebook: replies show them with more before them.
    fn below_notebook(mut self, scope: &Scope) -> Self {
        if let Self::List(ListRequest { filter, .. })
        | Self::Graph(ListRequest { filter, .. })
        | Self::Recall(RecallRequest { filter, .. }) = &mut self
        {
            let lists = [
                &mut filter.paths,
                &mut filter.exclude,
                &mut filter.linked_by,
                &mut filter.link_to,
                &mut filter.no_linked_by,
                &mut filter.no_link_to,
                &mut filter.related,
                &mut filter.mention,
                &mut filter.mentioned_by,
            ];
            for path in lists.into_iter().flatten() {
                if let Some(below) = scope.below_notebook(path) {
                    *path = below.into();
                }
            }
        }
        self
    }

    /// Whether the command writes notes. `Rename` does too, and finishes another rename itself.
    fn changes_notes(&self) -> bool {
        match self {
            Self::Remember(_)
            | Self::Journal { .. }
            | Self::Today
            | Self::Link { .. }
            | Self::Forget { .. }
            | Self::Restore { .. }
            | Self::RememberError { .. }
            | Self::RememberSummary { .. } => true,
            Self::Init
            | Self::Recall(_)
            | Self::List(_)
            | Self::Related { .. }
            | Self::Rename { .. }
            | Self::Tags
            | Self::Graph(_)
            | Self::Orphans
            | Self::DeadLinks
            | Self::UnlinkedMentions { .. }
            | Self::LoadMemories { .. }
            | Self::RecallForTurn { .. }
            | Self::MemoryContext { .. } => false,
        }
    }

    /// The name of the command, as its context keys begin.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Remember(_) => "remember",
            Self::Recall(_) => "recall",
            Self::Journal { .. } => "journal",
            Self::Today => "today",
            Self::List(_) => "list-notes",
            Self::Related { .. } => "related",
            Self::Link { .. } => "link",
            Self::Rename { .. } => "rename",
            Self::Forget { .. } => "forget",
            Self::Restore { .. } => "restore-note",
            Self::Tags => "tags",
            Self::Graph(_) => "graph",
            Self::Orphans => "orphans",
            Self::DeadLinks => "dead-links",
            Self::UnlinkedMentions { .. } => "unlinked-mentions",
            Self::LoadMemories { .. } => "load-memories",
            Self::RecallForTurn { .. } => "recall-for-turn",
            Self::MemoryContext { .. } => "memory-context",
            Self::RememberError { .. } => "remember-error",
            Self::RememberSummary { .. } => "remember-summary",
        }
    }
}

/// What to remember.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RememberRequest {
    /// One line; any text.
    pub title: String,
    /// Markdown.
    pub content: String,
    /// `fact`, `decision`, the name of a folder of the notebook, or `.` for its root.
    pub template: String,
    /// The group of the configuration whose file name, template and variables the note gets; `None` for the
    /// group of its folder.
    pub group: Option<String>,
    /// Tags, with or without `#`.
    pub tags: Vec<String>,
    /// Notes to link to.
    pub links: Vec<String>,
    /// Instead of a second note beside one of the same title: a new one that supersedes it.
    pub supersede: bool,
    /// Where the text comes from; `None` for that of the configuration, than which it can only be trusted less.
    pub provenance: Option<Provenance>,
}

/// What to recall, and how much to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallRequest {
    /// A sentence, or a query: `"a phrase"`, `prefix*`, `-not`, `this | that`, `title:word`.
    pub query: String,
    /// How many hits at most.
    pub limit: u32,
    /// How many hits to pass over.
    pub offset: u32,
    /// What the notes must be.
    pub filter: NoteFilter,
    /// The keys to sort by instead of the score, the most important first.
    pub sort: Vec<SortKey>,
    /// Show the parts of each score.
    pub explain: bool,
    /// The host vouches that nothing changed since the last command.
    pub vouched_unchanged: bool,
}

/// Which notes to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// What the notes must be.
    pub filter: NoteFilter,
    /// The keys to sort by, the most important first; the title where there is none.
    pub sort: Vec<SortKey>,
    /// How many at most; `None` for all.
    pub limit: Option<u32>,
    /// Resolve links by substring, as zk does.
    pub zk_links: bool,
    /// Give the text of each note too.
    pub with_text: bool,
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
