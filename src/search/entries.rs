//! [`SearchableEntries`]: the entries that are searched together with the notes.

use atomic_refcell::AtomicRefCell;

use super::corpus::Corpus;
use super::files::DocId;
use crate::trust::Marks;
use saddlebag_collections::{prelude::*, sorted::SortedMap};

/// Entries that a caller may see, with the index of their words.
pub(crate) struct SearchableEntries {
    pub(crate) corpus: Arc<AtomicRefCell<Corpus>>,
    /// Live entries. Other files of the index are not found and do not count.
    pub(crate) entries: SortedMap<DocId, SearchableEntry>,
}

/// An entry, as hits show it.
#[derive(Clone, Debug)]
pub(crate) struct SearchableEntry {
    pub(crate) key: String,
    pub(crate) category: String,
    /// Times of creation and of the last change, in nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) created: u64,
    pub(crate) updated: u64,
    pub(crate) marks: Marks,
}

impl SearchableEntry {
    /// Returns true if a prompt may bring it: nothing withholds it, and no other entry supersedes it.
    pub(crate) fn is_for_prompts(&self) -> bool {
        !self.marks.is_withheld() && self.marks.superseded_by.is_none()
    }
}
