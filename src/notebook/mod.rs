//! The notebook: facts, decisions and a journal that link to each other.
//!
//! It does what cowboy's Zettelkasten does, without zk. Each command is a struct, such as [`WriteNote`] with
//! [`RememberReply`]. An existing zk notebook is opened in place.

mod attachments;
mod checks;
mod config;
mod config_file;
mod dead_links;
mod draft;
mod files;
mod forget;
mod glob;
mod import_notes;
mod index;
mod init;
mod item_kind;
mod journal;
mod link;
mod links;
mod list_notes;
mod listed_item;
mod listing;
mod load_memories;
mod memory_context;
mod named;
mod note_filter;
mod page;
mod pending_approval;
mod recall;
mod related;
mod remember;
mod remember_error;
mod remember_summary;
mod rename;
mod same_title;
mod select;
mod session;
mod slug;
mod snapshot;
mod successor;
mod superseded;
mod tag_note;
mod tags;
mod template;
#[cfg(test)]
pub(crate) mod testing;
mod today;
mod types;
mod unlinked_mentions;
mod zk_output;

pub use checks::{MAX_TAG_BYTES, MAX_TAGS, MAX_TITLE_BYTES};
pub use config::{CONFIG_FILE, Group, LinkFormat, NoteConfig, NotebookConfig};
pub use dead_links::{DeadLink, DeadLinks, DeadLinksReply};
pub use glob::{Glob, MAX_GLOB_BYTES};
pub use import_notes::{
    ImportNotes, ImportNotesReply, ImportedNote, MAX_IMPORT_ID_BYTES, MAX_IMPORTED_NOTES, MAX_IMPORTED_NOTES_BYTES,
    NoteImport, NoteImportState,
};
pub use init::{InitNotebook, InitReply};
pub use item_kind::ItemKind;
pub use journal::{Journal, JournalEntryReply};
pub use link::{Link, LinkReply, MAX_LINK_TEXT_BYTES};
pub use listed_item::{GraphLink, ItemList, ListedItem};
pub use load_memories::{INITIAL_MEMORIES, LoadMemories};
pub use memory_context::{DEFAULT_MEMORIES_BYTES, MAX_MEMORY_BYTES, MemoryContext, MemoryContextReply};
pub use note_filter::{ConditionKind, NoteCondition, NoteFilter};
pub use recall::{DEFAULT_HITS, MAX_RECALL_BYTES, Recall, RecallForTurn, RecallHit, RecallReply, ScorePart};
pub use related::{Related, RelatedNote, RelatedReply};
pub use remember::{RememberReply, RememberState, WriteNote};
pub(crate) use remember_error::remember_error_of;
pub use remember_error::{
    ERROR_LIFE_SECONDS, ErrorNote, ErrorReply, ErrorState, MAX_ERROR_NOTES, RememberError, error_note,
};
pub use remember_summary::{MAX_SUMMARY_CHARS, RememberSummary, tool_summary_note};
pub use rename::{Rename, RenameReply};
pub use select::named_time;
pub(crate) use select::{Facts, asks_for_latest, fold, time_in, without_time, words_of};
pub use slug::{MAX_SLUG_BYTES, slug};
pub(crate) use successor::newer_note;
pub(crate) use superseded::{counting_again, superseded_by};
pub use tag_note::TagReply;
pub(crate) use tag_note::{checked_change_of_tags, tag_note};
pub use tags::{Tags, TagsReply};
pub use template::{MAX_RENDERED_BYTES, MAX_TEMPLATE_BYTES, Template};
pub use today::{Today, TodayReply};
pub(crate) use types::{CLAIMED_BY, HAND_OFF, SESSION};
pub use types::{MemoriesReply, SortBy, SortFields, SortKey, TagCount, Warning};
pub use unlinked_mentions::{Mention, UnlinkedMentions, UnlinkedMentionsReply};
pub use zk_output::{ZkNote, ZkOutputError, parse_note_path, parse_zk_list_output};

pub(crate) use checks::title_or_stem;
pub(crate) use draft::moment;
pub(crate) use files::check_not_kept;
pub(crate) use forget::{forget, forget_version};
pub(crate) use index::{Notebook, NotebookCall, adopt_config};
pub(crate) use init::{is_made_by_setup, remove_empty_template_folders};
pub(crate) use list_notes::list_notes;
pub(crate) use listing::NoteList;
pub(crate) use named::{marks_of, named_notes, named_user_notes, of_user};
pub(crate) use page::{existing_page, note_at, note_rule, similar_notes};
pub(crate) use pending_approval::{pending_approvals, trusted_titles};
pub(crate) use recall::{
    PASSAGE_BYTES, PromptHit, PromptHits, PromptRecall, Reach, WithheldHit, fitting, recall, recall_for_prompt, render,
    shortened,
};
pub(crate) use remember::write;
pub(crate) use rename::settle as settle_rename;

use crate::family::{family, texts};

family! {
    "notebook", run with NotebookCall<'_>;
    /// A command of the notebook.
    NotebookCommand =>
    /// Reply of a [`NotebookCommand`].
    NotebookReply {
        InitNotebook {},
        RememberSummary { tool: name "tool", summary: summary "summary" },
        Journal { entry: text "entry" },
        Today {},
        Tags,
        DeadLinks,
        LoadMemories | RecallForTurn,
        MemoryContext,
        RememberError { tool: name "tool", error: output "error" },
    }
}

texts!(WriteNote {
    title: name "title", content: text "content", template, group, tags: name "tag", links, supersede, supersedes
});
