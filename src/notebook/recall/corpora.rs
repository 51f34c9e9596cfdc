//! [`Corpora`]: the indexes of the notes and the entries, as one recall sees them.

use atomic_refcell::AtomicRef;

use super::super::item_kind::ItemKind;
use super::succession::is_superseded;
use super::types::NOTES;
use crate::changes::Call;
use crate::search::ranked::{Ranked, Source, Succession};
use crate::search::{Corpus, DocId, IndexedFile, SearchableEntries, SearchableEntry, day_of_log};
use crate::store::{Layout, is_fact};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::Note;
use saddlebag_protocol::Error;

/// Items that a recall may return, and those that count for the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Every item.
    All,
    /// Every item of the project, without the files of the root.
    Project,
    /// Items that may go into a prompt and that no other one supersedes. No other item counts for scores.
    Prompt,
    /// Items that no other one supersedes, whether they may go into a prompt or not.
    Current,
}

/// Selection of items at one moment.
pub(super) struct Selection {
    pub(super) reach: Reach,
    pub(super) kinds: Vec<ItemKind>,
    /// Notes that a filter selects, sorted; `None` for all.
    pub(super) filtered: Option<Vec<DocId>>,
    /// Notes that may go into a prompt, sorted.
    pub(super) approved: Vec<DocId>,
    pub(super) superseded: Vec<Succession>,
}

impl Selection {
    fn has_kind(&self, kind: ItemKind) -> bool {
        kind.is_one_of(&self.kinds)
    }

    fn accepts_note(&self, id: DocId) -> bool {
        let is_reached = match self.reach {
            Reach::All | Reach::Project => true,
            Reach::Prompt => self.is_approved(id) && !is_superseded(&self.superseded, id),
            Reach::Current => !is_superseded(&self.superseded, id),
        };
        is_reached && self.filtered.as_deref().is_none_or(|ids| ids.binary_search(&id).is_ok())
    }

    fn accepts_entry(&self, entry: &SearchableEntry) -> bool {
        self.reach != Reach::Prompt || entry.is_for_prompts()
    }

    fn is_approved(&self, id: DocId) -> bool {
        self.approved.binary_search(&id).is_ok()
    }
}

/// Returns true if a note counts for the scores of a recall for a prompt: if it is one of the approved ones, which are sorted,
/// and is not left out.
pub(super) fn counts_for_prompt(
    notes: &Corpus,
    approved: &[DocId],
    is_left_out: &dyn Fn(&str) -> bool,
    id: DocId,
) -> bool {
    approved.binary_search(&id).is_ok() && !notes.files.path(id).is_some_and(is_left_out)
}

/// Borrowed indexes of the notes and the entries.
pub(super) struct Corpora<'a> {
    layout: &'a Layout,
    pub(super) notes: AtomicRef<'a, Corpus>,
    entries: Option<(AtomicRef<'a, Corpus>, &'a SearchableEntries)>,
}

impl<'a> Corpora<'a> {
    pub(super) fn new(
        layout: &'a Layout,
        notes: AtomicRef<'a, Corpus>,
        entries: Option<&'a SearchableEntries>,
    ) -> Self {
        Self { layout, notes, entries: entries.map(|entries| (entries.corpus.borrow(), entries)) }
    }

    /// Calls a function with the sources of a search. The notes come first. `is_left_out` is a predicate for paths of notes
    /// that may not be hits. For a prompt they do not count either.
    pub(super) fn with_sources<T>(
        &self,
        selection: &Selection,
        is_left_out: &dyn Fn(&str) -> bool,
        search: impl FnOnce(&[Source<'_>]) -> T,
    ) -> T {
        let (notes, is_for_prompt) = (&*self.notes, selection.reach == Reach::Prompt);
        let counts_note = |id: DocId| counts_for_prompt(notes, &selection.approved, is_left_out, id);
        let is_outside = |path: &str| selection.reach == Reach::Project && self.layout.below_notebook(path).is_none();
        let is_left_out =
            |id: DocId| notes.files.path(id).is_some_and(|path: &str| is_left_out(path) || is_outside(path));
        let accepts_note = |id: DocId| {
            let kind = || notes.files.doc(id).map(|document| self.kind_of_note(document));
            let is_of_kind = || selection.kinds.is_empty() || kind().is_some_and(|kind| selection.has_kind(kind));
            selection.accepts_note(id) && !is_left_out(id) && is_of_kind()
        };
        let note_tie = |id: DocId| notes.tie(id);
        let counted: &dyn Fn(DocId) -> bool = &counts_note;
        let mut sources = vec![Source {
            counted: Some(counted).filter(|_| is_for_prompt),
            accepted: &accepts_note,
            superseded: &selection.superseded,
            ..Source::new(notes.ranked(), &note_tie)
        }];
        let Some((corpus, entries)) = &self.entries else { return search(&sources) };
        let found = |id: DocId| entries.entries.get(&id);
        let counts_entry = |id: DocId| found(id).is_some_and(|entry| !is_for_prompt || selection.accepts_entry(entry));
        let accepts_entry = |id: DocId| {
            selection.has_kind(ItemKind::Entry) && found(id).is_some_and(|entry| selection.accepts_entry(entry))
        };
        let entry_tie = |id: DocId| corpus.tie(id);
        sources.push(Source {
            counted: Some(&counts_entry),
            accepted: &accepts_entry,
            ..Source::new(corpus.ranked(), &entry_tie)
        });
        search(&sources)
    }

    /// Returns the file of a hit, and its entry if it is one.
    ///
    /// # Errors
    ///
    /// The index no longer has it. It would silently be missing from the reply.
    pub(super) fn document(&self, hit: &Ranked) -> Result<(&IndexedFile, Option<&SearchableEntry>), Error> {
        let found = match (hit.source, &self.entries) {
            (NOTES, _) => self.notes.files.doc(hit.doc).map(|document| (document, None)),
            (_, Some((corpus, entries))) => {
                corpus.files.doc(hit.doc).zip(Some(entries.entries.get(&hit.doc))).filter(|(_, entry)| entry.is_some())
            }
            (_, None) => None,
        };
        found.ok_or_else(|| Error::internal(format!("hit {} is not in the index", hit.doc)))
    }

    /// Returns the kind of a file of the index of notes.
    fn kind_of_note(&self, document: &IndexedFile) -> ItemKind {
        ItemKind::of_note(self.layout, &document.path)
    }

    /// Returns the kind of a hit.
    pub(super) fn kind(&self, document: &IndexedFile, entry: Option<&SearchableEntry>) -> ItemKind {
        if entry.is_some() { ItemKind::Entry } else { self.kind_of_note(document) }
    }

    /// Returns true if the hit is the note of a session.
    pub(super) fn is_session(&self, hit: &Ranked) -> bool {
        let is_session = |document| self.kind_of_note(document) == ItemKind::Session;
        self.document(hit).is_ok_and(|(document, entry)| entry.is_none() && is_session(document))
    }

    /// Returns true if the hit is a page: neither what somebody decided to keep, nor a log or a session.
    pub(super) fn is_page(&self, hit: &Ranked) -> bool {
        let below = |path| self.layout.below_any_notebook(path).map_or(path, |(below, _)| below);
        self.document(hit).is_ok_and(|(document, entry)| {
            entry.is_none()
                && self.kind_of_note(document) == ItemKind::Note
                && day_of_log(&document.path).is_none()
                && !is_fact(below(document.path.as_str()))
        })
    }

    /// Returns the time of an item on the calendar of the reader, in nanoseconds since 1970-01-01T00:00:00Z: the day of a log, the
    /// date of a note, or else the last change.
    pub(super) fn time_of(&self, call: &Call, hit: &Ranked) -> Option<u64> {
        let (document, entry) = self.document(hit).ok()?;
        let of_log = || Some(call.now.at_start_of(day_of_log(&document.path)?).epoch_nanoseconds());
        // A part of a large index may have been read, without the records of the notes.
        let note = || self.note_of_text(hit, document).or_else(|| self.indexed_note(hit, document));
        let of_note = || Some(call.now.calendar_of(note()?.stated()?));
        let stated = entry.map(|entry| entry.updated).or_else(of_log).or_else(of_note);
        Some(stated.unwrap_or(document.modified))
    }

    /// Returns true unless the hit is a file that is not a note. Others may have written the index, and named it there.
    pub(super) fn is_item(&self, hit: &Ranked) -> bool {
        self.document(hit).is_ok_and(|(document, entry)| entry.is_some() || self.notes.is_note(&document.path))
    }

    /// Parses the note from the text of a file; `None` if the text was not read.
    pub(super) fn note_of_text(&self, hit: &Ranked, document: &IndexedFile) -> Option<Note> {
        match (hit.source, &self.entries) {
            (NOTES, _) | (_, None) => self.notes.note_of_text(document),
            (_, Some((corpus, _))) => corpus.note_of_text(document),
        }
    }

    /// Returns the parsed file of a hit, as the index has it.
    pub(super) fn indexed_note(&self, hit: &Ranked, document: &IndexedFile) -> Option<Note> {
        match (hit.source, &self.entries) {
            (NOTES, _) | (_, None) => self.notes.files.note(document),
            (_, Some((corpus, _))) => corpus.files.note(document),
        }
    }
}
