//! [`Readable`]: an entry that is stored or held by a run, as all read commands see it.

use core::cmp::Reverse;

use super::category::Category;
use super::document::Entry;
use super::retention::is_expired;
use super::state::{Entries, Held};
use super::types::{EntryInfo, EntryProblem};
use super::view::{View, Wanted, look, survey};
use crate::changes::Call;
use crate::search::{DocId, SearchableEntries, SearchableEntry};
use crate::store::RelPath;
use crate::trust::Marks;
use saddlebag_collections::{order, prelude::*, sorted::SortedMap};
use saddlebag_protocol::Error;

/// An entry that is stored, or held by a run.
pub(super) struct Readable {
    pub(super) entry: Arc<Entry>,
    pub(super) path: Option<RelPath>,
    pub(super) doc: Option<DocId>,
    pub(super) shared: bool,
    pub(super) expired: bool,
    /// Key of the entry that supersedes it and may go into a prompt here.
    pub(super) superseded_by: Option<String>,
}

impl Readable {
    pub(super) fn shown_path(&self, call: &Call) -> String {
        self.path.as_ref().map(|path| call.scope.display_path(path)).unwrap_or_default()
    }

    pub(super) fn info(&self, call: &Call) -> EntryInfo {
        let Entry { fields, created, updated, version, .. } = &*self.entry;
        EntryInfo {
            key: fields.key.clone(),
            category: fields.category.as_str().into(),
            content: fields.content.clone(),
            tags: fields.tags.clone(),
            created: *created,
            updated: *updated,
            source: fields.source.clone(),
            supersedes: fields.supersedes.clone(),
            version: version.clone(),
            path: self.shown_path(call),
            size: fields.size(),
            provenance: fields.trust_state.provenance,
            approved: fields.trust_state.approved,
            marks: self.marks(call),
        }
    }

    fn marks(&self, call: &Call) -> Marks {
        let fields = &self.entry.fields;
        Marks {
            unapproved: fields.trust_state.unapproved(),
            only_in: fields.only_in(call.scope.layout.project_name()).to_vec(),
            superseded_by: self.superseded_by.clone(),
            superseded_since: None,
        }
    }
}

/// Returns the entry of an earlier text of a file; `None` if it has no entry, or a forgotten one. `now` is the entry of the file now.
pub(crate) fn earlier(
    call: &Call,
    entries: &Entries,
    path: &RelPath,
    text: &str,
    now: Option<EntryInfo>,
) -> Option<EntryInfo> {
    let pool = entries.scope.as_ref()?.pools().find(|pool| pool.folder.has(path))?;
    let entry = Entry::parse(&pool.folder, path, text, 0, pool.shared).ok()?;
    let entry = Some(Arc::new(entry)).filter(|entry| entry.forgotten.is_none())?;
    let (path, superseded_by) = (Some(path.clone()), now.and_then(|now| now.marks.superseded_by));
    let readable = Readable { entry, path, doc: None, shared: pool.shared, expired: false, superseded_by };
    Some(readable.info(call))
}

/// Returns the stored entries that are not forgotten, replaced by those that a run holds; the last changed comes
/// first.
pub(super) fn readable(call: &Call, view: &View, held: &[Held]) -> Vec<Readable> {
    let now = call.now.epoch_nanoseconds();
    let is_shared = |entry: &Entry| entry.fields.category == Category::Workspace;
    let replaces = |held: &Held, entry: &Entry, shared: bool| {
        !held.is_of_conversation() && is_shared(&held.entry) == shared && held.entry.fields.key == entry.fields.key
    };
    let stored = view.entries.iter().filter(|stored| stored.entry.forgotten.is_none());
    let stored = stored.filter(|stored| !held.iter().any(|held| replaces(held, &stored.entry, stored.shared)));
    let stored = stored.map(|stored| Readable {
        entry: stored.entry.clone(),
        path: Some(stored.path.clone()),
        doc: Some(stored.doc),
        shared: stored.shared,
        expired: stored.is_expired(now),
        superseded_by: None,
    });
    let held = held.iter().map(|held| Readable {
        entry: Arc::new(held.entry.clone()),
        path: None,
        doc: None,
        shared: is_shared(&held.entry),
        expired: is_expired(&held.entry.fields.category, held.entry.updated, now),
        superseded_by: None,
    });
    let mut readable: Vec<Readable> = held.chain(stored).collect();
    order::sort_slice(&mut readable, |a, b| {
        let key = |readable: &Readable| (Reverse(readable.entry.updated), readable.shared);
        key(a).cmp(&key(b)).then_with(|| a.entry.fields.key.cmp(&b.entry.fields.key))
    });
    mark_superseded(call, &mut readable);
    readable
}

/// Entries that supersede each other in a circle stay.
fn mark_superseded(call: &Call, readable: &mut [Readable]) {
    let mut newer: SortedMap<String, String> = SortedMap::default();
    for Readable { entry, .. } in readable.iter().filter(|readable| !readable.expired) {
        let is_here = entry.fields.only_in(call.scope.layout.project_name()).is_empty();
        if let Some(old) = entry.fields.supersedes.as_ref().filter(|old| **old != entry.fields.key)
            && is_here
            && entry.fields.trust_state.unapproved().is_none()
        {
            // Sorted by the last change, so the first one is the last.
            newer.get_or_insert(old.clone(), entry.fields.key.clone());
        }
    }
    for Readable { entry, superseded_by, .. } in readable {
        let ends = |by: &&String| (0..newer.len()).try_fold(*by, |next, _| newer.get(next)).is_none();
        *superseded_by = newer.get(&entry.fields.key).filter(ends).cloned();
    }
}

/// Returns the live entries that nothing supersedes, sorted by key, one per key, and the files that could not be parsed. The
/// agent's entry wins over the workspace's.
pub(crate) async fn current(call: &Call, entries: &Entries) -> Result<(Vec<EntryInfo>, Vec<EntryProblem>), Error> {
    let view = look(call, entries, entries.scope()?).await?;
    let mut found = readable(call, &view, &[]);
    found.retain(|readable| !readable.expired && readable.superseded_by.is_none());
    order::sort_slice(&mut found, |a, b| {
        a.entry.fields.key.cmp(&b.entry.fields.key).then_with(|| a.shared.cmp(&b.shared))
    });
    found.dedup_by(|later, first| later.entry.fields.key == first.entry.fields.key);
    Ok((found.iter().map(|readable| readable.info(call)).collect(), view.problems))
}

/// Returns the live entries for a search together with the notes, and the files that could not be parsed. Their text may be
/// missing, unless it is needed.
pub(crate) async fn searchable(
    call: &Call,
    entries: &Entries,
    needs_text: bool,
) -> Result<(SearchableEntries, Vec<EntryProblem>), Error> {
    let scope = entries.scope()?;
    let wanted: Option<Wanted<'_>> = if needs_text { None } else { Some(&|_| Vec::new()) };
    let view = survey(call, entries, scope, wanted).await?;
    entries.corpus.borrow_mut().index_notes();
    let live = readable(call, &view, &[]).into_iter().filter(|readable| !readable.expired);
    let live = live.filter_map(|readable| {
        let fields = &readable.entry.fields;
        let entry = SearchableEntry {
            key: fields.key.clone(),
            category: fields.category.as_str().into(),
            created: readable.entry.created,
            updated: readable.entry.updated,
            marks: readable.marks(call),
        };
        Some((readable.doc?, entry))
    });
    let mut by_doc = SortedMap::default();
    by_doc.extend(live);
    Ok((SearchableEntries { corpus: entries.corpus.clone(), entries: by_doc }, view.problems))
}
