//! [`Snippets`]: which links a listing shows the blocks of.

use alloc::vec;
use alloc::vec::Vec;

use super::links::LinkTable;
use super::paths::named;
use crate::notebook::note_filter::{ConditionKind, NoteFilter};
use crate::notebook::types::NoteView;
use crate::protocol::Error;

/// The links of each note whose blocks a listing shows: those that were followed. A note without them shows its lead.
pub(crate) struct Snippets {
    /// By note: from these, and to these.
    linking: Vec<bool>,
    linked: Vec<bool>,
}

impl Snippets {
    /// For the notes that [`select`](super::select) gives for the filter.
    pub(crate) fn new(notes: &[NoteView<'_>], filter: &NoteFilter) -> Result<Self, Error> {
        let marked = |kind| -> Result<Vec<bool>, Error> {
            let paths = filter.values(kind);
            let mut marked = vec![false; if paths.is_empty() { 0 } else { notes.len() }];
            for note in named(notes, &paths)? {
                if let Some(place) = marked.get_mut(note) {
                    *place = true;
                }
            }
            Ok(marked)
        };
        Ok(Self { linking: marked(ConditionKind::LinkedBy)?, linked: marked(ConditionKind::LinkTo)? })
    }

    /// The links whose blocks are shown for a note, each as the note that has it and its place there.
    pub(crate) fn blocks(&self, notes: &[NoteView<'_>], links: &LinkTable, note: usize) -> Vec<(usize, usize)> {
        let mut blocks = Vec::new();
        let is_marked = |marks: &[bool], note: usize| marks.get(note).copied().unwrap_or_default();
        for from in (0..self.linking.len()).filter(|&from| is_marked(&self.linking, from)) {
            push_blocks(&mut blocks, notes, links, from, |to| to == note);
        }
        if !self.linked.is_empty() {
            push_blocks(&mut blocks, notes, links, note, |to| is_marked(&self.linked, to));
        }
        blocks
    }
}

/// Adds the links of a note that lead where they should.
fn push_blocks(
    blocks: &mut Vec<(usize, usize)>,
    notes: &[NoteView<'_>],
    links: &LinkTable,
    from: usize,
    leads_there: impl Fn(usize) -> bool,
) {
    let Some(view) = notes.get(from) else { return };
    let links = (0..view.note.links.len()).zip(links.targets(from));
    blocks.extend(links.filter(|(_, target)| target.is_some_and(&leads_there)).map(|(link, _)| (from, link)));
}
