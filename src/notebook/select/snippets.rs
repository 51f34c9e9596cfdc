//! [`Snippets`]: what a listing shows of each note.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::error::SelectError;
use super::links::Links;
use super::paths::named;
use crate::notebook::note_filter::{ConditionKind, NoteFilter};
use crate::notebook::types::NoteView;
use crate::part::TextPart;

/// The text that a listing shows of each note: the blocks of the links that were followed, else the lead.
pub(crate) struct Snippets {
    /// By note: from these, and to these.
    linking: Vec<bool>,
    linked: Vec<bool>,
}

impl Snippets {
    /// For the notes that [`select`](super::select) gives for the filter.
    pub(crate) fn new(notes: &[NoteView<'_>], filter: &NoteFilter) -> Result<Self, SelectError> {
        let marked = |kind| -> Result<Vec<bool>, SelectError> {
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

    /// The notes whose text is shown besides that of the listed ones: those that link to them.
    pub(crate) fn sources(&self) -> impl Iterator<Item = usize> {
        self.linking.iter().enumerate().filter(|(_, is_linking)| **is_linking).map(|(note, _)| note)
    }

    /// The snippets of a note.
    pub(crate) fn of(&self, notes: &[NoteView<'_>], links: &dyn Links, note: usize) -> Vec<String> {
        let Some(view) = notes.get(note) else { return Vec::new() };
        let mut snippets = Vec::new();
        let is_marked = |marks: &[bool], note: usize| marks.get(note).copied().unwrap_or_default();
        for from in (0..self.linking.len()).filter(|&from| is_marked(&self.linking, from)) {
            push_blocks(&mut snippets, notes, links, from, |to| to == note);
        }
        push_blocks(&mut snippets, notes, links, note, |to| is_marked(&self.linked, to));
        if snippets.is_empty() {
            snippets.push(view.text.part(view.note.lead.clone()).to_string());
        }
        snippets.retain(|snippet| !snippet.is_empty());
        snippets
    }
}

/// The blocks of the links of a note that lead where they should, each once.
fn push_blocks(
    snippets: &mut Vec<String>,
    notes: &[NoteView<'_>],
    links: &dyn Links,
    from: usize,
    leads_there: impl Fn(usize) -> bool,
) {
    let Some(view) = notes.get(from) else { return };
    for (link, target) in view.note.links.iter().zip(links.targets(from)) {
        if !target.is_some_and(&leads_there) {
            continue;
        }
        let block = view.text.part(link.context.clone());
        if snippets.last().is_none_or(|last| last != block) {
            snippets.push(block.to_string());
        }
    }
}
