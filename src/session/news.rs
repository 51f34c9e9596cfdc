//! What memory has got since the session was told the names of its items.

use super::state::State;
use super::types::{SessionCall, StoredItem, searchable};
use crate::context::SectionItem;
use crate::engine::{Loaded, load_all};
use crate::notebook::newer_note;
use crate::search::SearchableEntry;
use crate::store::{DECISIONS_FOLDER, FACTS_FOLDER, RelPath, is_in_folder};
use crate::trust::Approved;
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::{Note, TagSyntax, one_line};
use saddlebag_protocol::Error;

/// Maximum number of new items that are looked at, and that are named.
const MAX_READ: usize = 64;
const MAX_NAMED: usize = 8;

/// Items that are new, and the time of the last change that was looked at.
pub(super) struct News {
    pub(super) item: SectionItem,
    pub(super) newest: u64,
}

/// Returns one line with the names of the decisions, facts and entries that were made since the session was told the names,
/// except those of `shown` and those that it stored itself. `None` without any, or if the session was told no names.
pub(super) async fn news(with: &SessionCall<'_>, state: &State, shown: &[String]) -> Result<Option<News>, Error> {
    let SessionCall { call, notebook, entries, .. } = *with;
    let Some(told) = state.lines.iter().rev().find(|line| line.newest > 0) else { return Ok(None) };
    let is_made = |created: u64| i64::try_from(created / 1_000_000_000).is_ok_and(|seconds| seconds >= told.at);
    let mut found: Vec<(u64, RelPath)> = Vec::new();
    {
        let corpus = notebook.corpus.borrow();
        let files = &corpus.files;
        let is_listed = |path: &str| {
            let below = call.scope.layout.below_notebook(path).unwrap_or_default();
            [FACTS_FOLDER, DECISIONS_FOLDER].into_iter().any(|folder| is_in_folder(below, folder))
        };
        let ids = (0..files.next_id()).filter(|id| corpus.is_loaded() && files.path(*id).is_some_and(is_listed));
        let changed = ids.filter_map(|id| files.doc(id)).filter(|file| file.modified > told.newest);
        found.extend(changed.map(|file| (file.modified, file.path.clone())));
    }
    order::sort_slice(&mut found, Ord::cmp);
    found.truncate(MAX_READ);
    let mut newest = found.iter().map(|(modified, _)| *modified).max().unwrap_or_default();
    let paths: Vec<&RelPath> = found.iter().map(|(_, path)| path).collect();
    let read = load_all(&call.fs, &paths, call.scope.limits.max_file_bytes).await;
    let stored = |name: &str| {
        let kept = state.lines.iter().filter_map(|line| line.kept.as_ref());
        kept.into_iter().any(|kept| matches!(kept, StoredItem::Note(own) | StoredItem::Entry(own) if own == name))
    };
    let mut names: Vec<(String, Approved)> = Vec::new();
    for (path, loaded) in paths.iter().zip(read) {
        let Ok(Loaded::Whole { bytes, .. }) = loaded else { continue };
        let Some(text) = String::from_utf8(bytes).ok().and_then(|text| Approved::judge(text).ok()) else { continue };
        let note = Note::parse_file(text.as_str(), TagSyntax::default(), path.file_stem());
        let path = call.scope.display_path(path);
        let is_own = [path.as_str(), note.title.as_str()].into_iter().any(stored);
        if newer_note(call, &notebook.corpus.borrow(), path.as_str()).is_some() {
            continue;
        }
        let created = note.stated().map(|stated| call.now.moment_of(stated));
        if created.is_none_or(is_made) && !is_own {
            names.push((path, text.map(|_| one_line(&note.title))));
        }
    }
    if let Some(searchable) = searchable(call, entries).await? {
        let corpus = searchable.corpus.borrow();
        let is_new = |entry: &SearchableEntry| is_made(entry.created) && entry.is_for_prompts();
        for (id, entry) in searchable.entries.iter().filter(|(_, entry)| is_new(entry)) {
            let Some(file) = corpus.files.doc(*id).filter(|file| file.modified > told.newest) else { continue };
            newest = newest.max(file.modified);
            if let Some(text) = Approved::judge(file.text().into()).ok().filter(|_| !stored(&entry.key)) {
                names.push((call.scope.display_path(&file.path), text.map(|_| one_line(&entry.key))));
            }
        }
    }
    names.retain(|(path, _)| !shown.contains(path));
    let Some((path, _)) = names.first() else { return Ok(None) };
    let path = path.clone();
    let mut heading = Approved::from("New in memory, read with `mem_show NAME`: ");
    for (place, (_, name)) in names.iter().take(MAX_NAMED).enumerate() {
        heading.push_ours(if place == 0 { "" } else { ", " });
        heading.push(name);
    }
    if let Some(more) = names.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        heading.push(&Approved::default().map(|_| format!(" and {more} more")));
    }
    let item = SectionItem { key: Some(path.to_string()), path, heading, text: Approved::default() };
    Ok(Some(News { item, newest }))
}
