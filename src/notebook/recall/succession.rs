//! The notes that supersede others.

use super::types::NOTES;
use crate::changes::Call;
use crate::search::ranked::{Ranked, Succession};
use crate::search::{Corpus, DocId, IndexedFile};
use crate::store::{NOTE_SUFFIX, RelPath};
use saddlebag_collections::{prelude::*, sorted::SortedMap};

/// Returns the superseded notes, each with the last note of the chain that supersedes it, sorted by the superseded note.
///
/// Notes that wait for approval, and notes in `refused`, do not supersede others. Notes that supersede each other in a
/// circle count as current. With `for_prompt`, a superseded note that waits for approval has no successor, because its
/// text must not decide what a prompt shows.
pub(in super::super) fn successions(
    call: &Call,
    corpus: &Corpus,
    refused: &[DocId],
    for_prompt: bool,
) -> Vec<Succession> {
    if !corpus.has_superseded() {
        return Vec::new();
    }
    let files = &corpus.files;
    let may = |document: &IndexedFile| document.unapproved.is_none() && corpus.is_note(&document.path);
    let mut newer: SortedMap<DocId, DocId> = SortedMap::default();
    for (path, ids) in corpus.supersedes().iter() {
        let named = [path.clone(), format!("{path}{NOTE_SUFFIX}")];
        let layout = &call.scope.layout;
        // A note supersedes one beside it: of the project, or of those for all projects.
        for of_user in [false, true] {
            let place = |path: &str| match of_user {
                false => layout.in_notebook(path).ok(),
                true => RelPath::new(format!("{}/{path}", layout.user_folder()?)).ok(),
            };
            let old = named.iter().find_map(|path| files.id(&place(path.as_str())?));
            let Some(old) = old.filter(|old| !for_prompt || files.doc(*old).is_some_and(may)) else { continue };
            let is_beside = |new: &IndexedFile| layout.is_of_user(new.path.as_str()) == of_user;
            let may_follow = |new: &IndexedFile| may(new) && is_beside(new);
            let is_successor =
                |id: &DocId| *id != old && !refused.contains(id) && files.doc(*id).is_some_and(may_follow);
            if let Some(&new) = ids.iter().rev().find(|id| is_successor(id)) {
                newer.insert(old, new);
            }
        }
    }
    let last = |old: DocId| {
        let mut new = *newer.get(&old)?;
        for _ in 0..=newer.len() {
            match newer.get(&new) {
                Some(next) => new = *next,
                None => return Some(Succession { old, new }),
            }
        }
        None
    };
    newer.keys().filter_map(|old| last(*old)).collect()
}

/// Returns true if a note is superseded.
pub(in super::super) fn is_superseded(superseded: &[Succession], id: DocId) -> bool {
    superseded.binary_search_by_key(&id, |succession| succession.old).is_ok()
}

/// Puts each note after the one that supersedes it. Their passages may order them otherwise.
pub(super) fn newer_first(hits: &mut [Ranked], superseded: &[Succession]) {
    for place in 0..hits.len() {
        let doc = hits.get(place).filter(|hit| hit.source == NOTES).map(|hit| hit.doc);
        let succession = doc.and_then(|doc| superseded.binary_search_by_key(&doc, |succession| succession.old).ok());
        let Some(succession) = succession.and_then(|number| superseded.get(number)) else { continue };
        if let Some(later) = hits.iter().skip(place).position(|hit| (hit.source, hit.doc) == (NOTES, succession.new)) {
            hits.swap(place, place + later);
        }
    }
}
