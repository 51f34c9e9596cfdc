//! Questions: `get`, `list`, `find`, `hydrate` and `explain`. They see what is stored and what a run holds.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::Entries;
use super::category::Category;
use super::checks::{Limit, checked_key, within};
use super::document::Entry;
use super::hydrate::{Budget, Candidate, Placement, Policy, WORKSPACE_SHARE, plan, taken};
use super::retention::is_expired;
use super::runs::Held;
use super::scope::EntriesScope;
use super::select::{Cursor, EntryFilter, MAX_LIST_ENTRIES, in_order};
use super::view::{EntryProblem, View, look, look_for};
use super::write::absent;
use crate::engine::Call;
use crate::order;
use crate::protocol::Error;
use crate::search::ranked::{Joining, Passages, Query};
use crate::search::{DocId, MAX_QUESTION_BYTES, best_passage};
use crate::sorted::SortedMap;
use crate::store::RelPath;
use crate::trust::{ForModel, Provenance, Standing};

/// How much of an entry a hit shows, in bytes.
const PASSAGE_BYTES: usize = 800;

/// An entry, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    /// Its key.
    pub key: String,
    /// Its category.
    pub category: String,
    /// Its content, byte for byte.
    pub content: String,
    /// Its tags, in their order.
    pub tags: Vec<String>,
    /// When it was made, in nanoseconds since 1970-01-01T00:00:00Z.
    pub created: u64,
    /// When its content, its category or its tags last changed, likewise.
    pub updated: u64,
    /// Where it comes from.
    pub source: Option<String>,
    /// The key of the entry that it stands in for.
    pub supersedes: Option<String>,
    /// Of its file; empty for what a run holds.
    pub version: String,
    /// Its file; empty for what a run holds.
    pub path: String,
    /// What budgets count it as: key, content and category, in bytes.
    pub size: u64,
    /// Where its text comes from.
    pub provenance: Provenance,
    /// When a person approved it, in nanoseconds since 1970-01-01T00:00:00Z.
    pub approved: Option<u64>,
}

impl EntryInfo {
    /// Whether its text is trusted.
    #[must_use]
    pub fn standing(&self) -> Standing {
        Standing { provenance: self.provenance, approved: self.approved }
    }

    /// Makes its texts fit to be read by a model.
    pub(super) fn make_harmless(&mut self) {
        let texts = [&mut self.key, &mut self.category, &mut self.content, &mut self.path];
        let texts = texts.into_iter().chain(&mut self.tags).chain(&mut self.source).chain(&mut self.supersedes);
        texts.for_each(|text| *text = ForModel::escaped(text).into_string());
    }
}

/// A page of entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListEntriesReply {
    /// The newest created first.
    pub entries: Vec<EntryInfo>,
    /// Where the next page begins; `None` on the last.
    pub next: Option<String>,
    /// How many entries there are on all pages.
    pub total: u32,
    /// Files that are no entries.
    pub problems: Vec<EntryProblem>,
}

/// Entries that answer a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FindEntriesReply {
    /// The best first.
    pub hits: Vec<EntryHit>,
    /// How many there are.
    pub total: u32,
    /// Files that are no entries.
    pub problems: Vec<EntryProblem>,
}

/// An entry that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryHit {
    /// The entry.
    pub entry: EntryInfo,
    /// How well it does; 0 for what a run holds, which comes first.
    pub score: f64,
    /// The words of the query that it has.
    pub terms: Vec<String>,
    /// The part of it that says most.
    pub passage: String,
}

/// What to hydrate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hydrate {
    /// How many bytes of entries.
    pub max_bytes: u64,
    /// Which are taken when not all fit.
    pub policy: Policy,
}

/// The entries for a prompt. Their texts are made harmless, as [`for_model`](crate::trust::for_model) does it; budgets
/// count them as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HydrateReply {
    /// What is taken, in the order in which it is shown.
    pub entries: Vec<EntryInfo>,
    /// How many bytes they have.
    pub bytes: u64,
    /// What is left out.
    pub left_out: Vec<Explanation>,
    /// Files that are no entries.
    pub problems: Vec<EntryProblem>,
}

/// Why an entry is hydrated or is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The entry.
    pub key: String,
    /// Its file; empty for what a run holds.
    pub path: String,
    /// Its category.
    pub category: String,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Its place in its tier, counted from 1, the last changed first.
    pub rank: u32,
    /// Key, content and category, in bytes.
    pub size: u64,
    /// How many bytes are taken after it.
    pub total: u64,
    /// When it was last changed, in nanoseconds since 1970-01-01T00:00:00Z.
    pub updated: u64,
    /// Why it is left out; `None` for what is taken.
    pub left_out: Option<String>,
}

/// The decision on every entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplainReply {
    /// In the order in which they were looked at.
    pub entries: Vec<Explanation>,
    /// How many bytes of what may be taken are taken.
    pub bytes: u64,
    /// How many bytes there may be.
    pub max_bytes: u64,
    /// Files that are no entries.
    pub problems: Vec<EntryProblem>,
}

/// An entry that is stored, or held by a run.
struct Readable {
    entry: Arc<Entry>,
    path: Option<RelPath>,
    doc: Option<DocId>,
    shared: bool,
    expired: bool,
}

impl Readable {
    fn shown_path(&self, call: &Call) -> String {
        self.path.as_ref().map(|path| call.scope.shown(path)).unwrap_or_default()
    }

    fn info(&self, call: &Call) -> EntryInfo {
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
            provenance: fields.standing.provenance,
            approved: fields.standing.approved,
        }
    }
}

/// What is stored and not forgotten, with what a run holds in its place; the last changed first.
fn readable(call: &Call, view: &View, held: &[Held]) -> Vec<Readable> {
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
    });
    let held = held.iter().map(|held| Readable {
        entry: Arc::new(held.entry.clone()),
        path: None,
        doc: None,
        shared: is_shared(&held.entry),
        expired: is_expired(&held.entry.fields.category, held.entry.updated, now),
    });
    let mut readable: Vec<Readable> = held.chain(stored).collect();
    order::sort_slice(&mut readable, |a, b| {
        let key = |readable: &Readable| (Reverse(readable.entry.updated), readable.shared);
        key(a).cmp(&key(b)).then_with(|| a.entry.fields.key.cmp(&b.entry.fields.key))
    });
    readable
}

/// The entry of a key: that of the conversation, else the agent's own, else that of the workspace.
pub(super) async fn get(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    key: &str,
    run: Option<&str>,
) -> Result<EntryInfo, Error> {
    let key = checked_key("key", key)?;
    let held = entries.held(run)?;
    let of_conversation = held.iter().find(|held| held.is_of_conversation() && held.entry.fields.key == key);
    let view = match of_conversation {
        // What lives only in the run causes no operation.
        Some(_) => View::default(),
        None => look_for(call, entries, scope, &key).await?,
    };
    let mut found: Vec<Readable> = readable(call, &view, &held);
    found.retain(|readable| readable.entry.fields.key == key && !readable.expired);
    let preference = |readable: &Readable| (readable.entry.fields.category != Category::Conversation, readable.shared);
    order::sort_slice_by_key(&mut found, preference);
    found.first().map(|readable| readable.info(call)).ok_or_else(|| absent(&view, &key))
}

/// What is stored and neither forgotten nor too old, one for each key: the agent's own, else that of the workspace. By
/// key.
pub(super) async fn current(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
) -> Result<(Vec<EntryInfo>, Vec<EntryProblem>), Error> {
    let view = look(call, entries, scope).await?;
    let mut found = readable(call, &view, &[]);
    found.retain(|readable| !readable.expired);
    order::sort_slice(&mut found, |a, b| {
        a.entry.fields.key.cmp(&b.entry.fields.key).then_with(|| a.shared.cmp(&b.shared))
    });
    found.dedup_by(|later, first| later.entry.fields.key == first.entry.fields.key);
    Ok((found.iter().map(|readable| readable.info(call)).collect(), view.problems))
}

/// A page of the entries that a filter accepts.
pub(super) async fn list(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    filter: &EntryFilter,
    limit: Option<u32>,
    cursor: Option<&str>,
    run: Option<&str>,
) -> Result<ListEntriesReply, Error> {
    filter.check()?;
    let cursor = cursor.map(Cursor::parse).transpose()?;
    let limit = match limit {
        Some(0) => return Err(Error::invalid_argument("limit is 0", "give a positive number, or none for 100")),
        limit => limit.unwrap_or(MAX_LIST_ENTRIES).min(MAX_LIST_ENTRIES) as usize,
    };
    let held = entries.held(run)?;
    let view = look(call, entries, scope).await?;
    let mut accepted = readable(call, &view, &held);
    accepted.retain(|readable| !readable.expired && filter.accepts(&readable.entry));
    order::sort_slice(&mut accepted, |a, b| in_order(&a.entry, &b.entry));
    let total = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
    accepted.retain(|readable| cursor.as_ref().is_none_or(|cursor| cursor.is_before(&readable.entry)));
    let has_more = accepted.len() > limit;
    accepted.truncate(limit);
    let next = accepted.last().filter(|_| has_more).map(|last| Cursor::of(&last.entry).to_string());
    let entries = accepted.iter().map(|readable| readable.info(call)).collect();
    Ok(ListEntriesReply { entries, next, total, problems: view.problems })
}

/// Entries by a question or a query, best first. What a run holds is found by any word of it.
pub(super) async fn find(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    query: &str,
    limit: u32,
    run: Option<&str>,
) -> Result<FindEntriesReply, Error> {
    within("query", query.len(), Limit { least: 1, most: MAX_QUESTION_BYTES })?;
    let parsed = Query::parse(query, Joining::Any)
        .map_err(|error| Error::invalid_argument(error.to_string(), "ask a question, or give a few words"))?;
    let held = entries.held(run)?;
    let view = look(call, entries, scope).await?;
    let mut corpus = entries.corpus.borrow_mut();
    corpus.index_notes();
    let all = readable(call, &view, &held);
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let held_hits = all.iter().filter(|readable| readable.doc.is_none() && !readable.expired).filter_map(|readable| {
        let text = [readable.entry.fields.key.as_str(), &readable.entry.fields.content].join("\n").to_lowercase();
        let terms: Vec<String> = words.iter().filter(|word| text.contains(word.as_str())).cloned().collect();
        let entry = readable.info(call);
        let passage = crate::document::head(&entry.content, PASSAGE_BYTES).to_string();
        (!terms.is_empty()).then_some(EntryHit { entry, score: 0.0, terms, passage })
    });
    let mut hits: Vec<EntryHit> = held_hits.collect();
    let mut by_doc: SortedMap<DocId, &Readable> = SortedMap::default();
    by_doc.extend(all.iter().filter(|readable| !readable.expired).filter_map(|found| Some((found.doc?, found))));
    let of_doc = |id: DocId| by_doc.get(&id).copied();
    let ranking =
        corpus.ranked().search(&parsed, limit as usize, &|id| of_doc(id).is_some(), &|_| 1.0, &|id| corpus.tie(id));
    let total = ranking.total.saturating_add(u32::try_from(hits.len()).unwrap_or(u32::MAX));
    let mut passages = Passages::new(corpus.ranked(), &parsed);
    for ranked in ranking.hits.into_iter().take(limit as usize) {
        let (Some(readable), Some(doc)) = (of_doc(ranked.doc), corpus.files.doc(ranked.doc)) else { continue };
        let note = corpus.files.note(doc);
        let passage = note.and_then(|note| best_passage(&mut passages, doc.text(), &note, PASSAGE_BYTES));
        let passage = passage.and_then(|passage| doc.text().get(passage.range)).unwrap_or_default().to_string();
        let score = f64::from(ranked.score);
        hits.push(EntryHit { entry: readable.info(call), score, terms: ranked.terms, passage });
    }
    hits.truncate(limit as usize);
    Ok(FindEntriesReply { hits, total, problems: view.problems })
}

/// Decides which entries go into a prompt.
async fn decide(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    request: Hydrate,
    run: Option<&str>,
) -> Result<(Vec<Readable>, Vec<Placement>, View), Error> {
    let held = entries.held(run)?;
    let view = look(call, entries, scope).await?;
    let all = readable(call, &view, &held);
    let candidates = all.iter().map(|readable| Candidate {
        tier: readable.entry.fields.category.tier(),
        size: readable.entry.fields.size(),
        shared: readable.shared,
        expired: readable.expired,
        unapproved: readable.entry.fields.standing.unapproved().is_some(),
    });
    let candidates: Vec<Candidate> = candidates.collect();
    let budget = Budget { bytes: request.max_bytes, shared_bytes: request.max_bytes / WORKSPACE_SHARE };
    let placements = plan(&candidates, budget, request.policy);
    Ok((all, placements, view))
}

/// The entries for a prompt, under a budget.
pub(super) async fn hydrate(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    request: Hydrate,
    run: Option<&str>,
) -> Result<HydrateReply, Error> {
    let (all, placements, view) = decide(call, entries, scope, request, run).await?;
    let taken = taken(&placements, request.policy);
    let left_out = placements.iter().filter(|placement| placement.left_out.is_some());
    Ok(HydrateReply {
        entries: taken.into_iter().filter_map(|index| Some(all.get(index)?.info(call))).collect(),
        bytes: placements.last().map_or(0, |last| last.total),
        left_out: left_out.filter_map(|placement| explanation(call, &all, placement)).collect(),
        problems: view.problems,
    })
}

/// Tier, rank, size, running total and the decision for every entry, or for one.
pub(super) async fn explain(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    request: Hydrate,
    key: Option<&str>,
    run: Option<&str>,
) -> Result<ExplainReply, Error> {
    let key = key.map(|key| checked_key("key", key)).transpose()?;
    let (all, placements, view) = decide(call, entries, scope, request, run).await?;
    let explained = placements.iter().filter_map(|placement| explanation(call, &all, placement));
    let explained: Vec<Explanation> =
        explained.filter(|entry| key.as_ref().is_none_or(|key| entry.key == *key)).collect();
    if let (Some(key), []) = (&key, explained.as_slice()) {
        return Err(absent(&view, key));
    }
    let bytes = placements.last().map_or(0, |last| last.total);
    Ok(ExplainReply { entries: explained, bytes, max_bytes: request.max_bytes, problems: view.problems })
}

fn explanation(call: &Call, all: &[Readable], placement: &Placement) -> Option<Explanation> {
    let readable = all.get(placement.index)?;
    let Entry { fields, updated, .. } = &*readable.entry;
    Some(Explanation {
        key: fields.key.clone(),
        path: readable.shown_path(call),
        category: fields.category.as_str().into(),
        pinned: fields.category.tier() == super::category::Tier::Pinned,
        rank: placement.rank,
        size: fields.size(),
        total: placement.total,
        updated: *updated,
        left_out: placement.left_out.map(|reason| reason.to_string()),
    })
}
