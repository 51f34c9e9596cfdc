//! Search over the text of a store.
//!
//! A `Corpus` keeps the text of the files that a search covers and an index of their words. It is brought up to date
//! by listing the folders and reading only changed files; `Corpus::search` then answers from memory.
//! [`saddlebag_search`] finds and ranks. This room keeps the files, and knows which notes are newer than others and
//! which files belong to the journal. Ranking, windows and rendering equal zerostack v1.7.2 byte for byte.

mod corpus;
mod entries;
mod files;
mod index_file;
mod naming;
mod parts;
mod refresh;
mod render;
mod rows;
mod schemes;
mod scopes;
mod types;

pub use naming::says_nothing;
pub use render::TRUNCATED;
pub use saddlebag_search::literal::Terms;
pub(crate) use types::SkipReason;
pub use types::{MAX_HIT_LINES, SearchHit, SearchResults, SkipKind, Skipped, TermCount};

pub(crate) use corpus::Corpus;
pub(crate) use entries::{SearchableEntries, SearchableEntry};
pub(crate) use files::{DocId, Extent, IndexedFile, day_of_log};
pub(crate) use index_file::{Needed, read_needed as read_needed_of_index};
pub(crate) use naming::{key_words, naming_advice};
pub(crate) use refresh::{Purpose, catch_up, load_texts, read_all, refresh};
pub(crate) use saddlebag_search::ranked;
pub(crate) use scopes::{FolderScope, is_markdown, list_markdown, list_tree, skipped_names};

use saddlebag_markdown::Note;

/// Maximum size of a question for ranked search in bytes.
pub const MAX_QUESTION_BYTES: usize = 65_536;

/// Returns the best passage of a note, at most `max_bytes`.
pub(crate) fn best_passage(
    passages: &mut ranked::Passages,
    text: &str,
    note: &Note,
    max_bytes: usize,
) -> Option<ranked::Passage> {
    let mut headings = note.headings.iter().map(|heading| heading.span.clone());
    passages.best(text, note.body.clone(), &mut headings, max_bytes)
}
