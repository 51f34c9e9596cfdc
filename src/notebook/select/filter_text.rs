//! The text that a filter looks for, and the notes that it names.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_zk_rules::{FullText, Row};

use super::error::SelectError;
use super::{links, paths};
use crate::notebook::types::{MatchStrategy, NoteFilter, NoteView};
use crate::order;
use crate::part::TextPart;

/// A note as zk's full-text search sees it.
pub(super) fn row<'a>(view: &NoteView<'a>) -> Row<'a> {
    let body = view.text.part(view.note.body.clone());
    Row { path: view.path, title: &view.note.title, body }
}

/// The queries that say something.
pub(super) fn queries(filter: &NoteFilter) -> impl Iterator<Item = &str> {
    filter.matches.iter().map(String::as_str).filter(|query| !query.trim().is_empty())
}

/// The full-text queries of a filter, mentions among them.
pub(super) fn full_text(notes: &[NoteView<'_>], filter: &NoteFilter) -> Result<FullText, SelectError> {
    let mut full_text = FullText::default();
    if filter.strategy == MatchStrategy::FullText {
        for query in queries(filter) {
            let added = full_text.add_query(query);
            added.map_err(|problem| SelectError::Query { query: query.into(), problem })?;
        }
    }
    if !filter.mention.is_empty() {
        let mentioned = named(notes, &filter.mention)?;
        let added = full_text.add_names(mentioned.iter().filter_map(|&note| notes.get(note)).flat_map(links::names));
        added.map_err(|problem| SelectError::Query { query: filter.mention.join(", "), problem })?;
    }
    Ok(full_text)
}

/// The notes that filters name. One that names none is a mistake.
pub(super) fn named(notes: &[NoteView<'_>], paths: &[String]) -> Result<Vec<usize>, SelectError> {
    let mut named = Vec::new();
    for path in paths {
        let found = paths::named(notes, path);
        if found.is_empty() {
            return Err(SelectError::NoNotesAt { path: path.clone() });
        }
        named.extend(found);
    }
    order::sort_slice(&mut named, Ord::cmp);
    named.dedup();
    Ok(named)
}
