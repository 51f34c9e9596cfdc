//! Reads entries: by a question, one by its key, a list in pages.
//!
//! A list is sorted by creation, newest first, then by key, greater first. A change of an entry does not move it, so no entry is
//! skipped or shown twice, however many share one time.

use core::cmp::{Ordering, Reverse};

use super::category::{Category, Limit, within};
use super::document::Entry;
use super::readable::{Readable, readable};
use super::state::{Entries, EntriesCall, Held};
use super::types::{EntryInfo, EntryProblem};
use super::view::{View, absent, look, look_again, look_for, survey};
use crate::changes::Call;
use crate::search::ranked::{self, Question, Source};
use crate::search::{DocId, MAX_QUESTION_BYTES};
use crate::store::RelPath;
use saddlebag_collections::{order, prelude::*, sorted::SortedMap};
use saddlebag_protocol::Error;

/// Entries that match a query.
#[derive(Debug)]
pub(crate) struct Found {
    /// Hits, best first. Those that a run holds come first, and match if they have any word of the query.
    pub(crate) hits: Vec<EntryHit>,
    /// Number of all hits.
    pub(crate) total: u32,
    /// Files that could not be parsed as entries; without a path, what the operators of the query leave out.
    pub(crate) problems: Vec<EntryProblem>,
}

/// An entry that matches a query.
#[derive(Debug)]
pub(crate) struct EntryHit {
    pub(crate) entry: EntryInfo,
    /// Words of the query that the entry has.
    pub(crate) terms: Vec<String>,
}

/// Searches the entries, best first.
pub(super) async fn find(with: &EntriesCall<'_>, query: &str, limit: u32) -> Result<Found, Error> {
    let EntriesCall { call, entries, scope, run, .. } = *with;
    within("query", query.len(), Limit { least: 1, most: MAX_QUESTION_BYTES })?;
    let question = Question::parse(query)
        .map_err(|error| Error::invalid_argument(error.to_string(), "ask a question, or give a few words"))?;
    let held = entries.held(run)?;
    let view = look(call, entries, scope).await?;
    entries.corpus.borrow_mut().index_notes();
    let corpus = entries.corpus.borrow();
    let all = readable(call, &view, &held);
    let mut hits = hits_of_run(call, &all, query);
    let mut by_doc: SortedMap<DocId, &Readable> = SortedMap::default();
    by_doc.extend(all.iter().filter(|readable| !readable.expired).filter_map(|found| Some((found.doc?, found))));
    let of_doc = |id: DocId| by_doc.get(&id).copied();
    let (is_live, tie) = (|id: DocId| of_doc(id).is_some(), |id: DocId| corpus.tie(id));
    let sources = [Source { counted: Some(&is_live), ..Source::new(corpus.ranked(), &tie) }];
    let reading = question.read(&sources);
    let key = |hit: &ranked::Ranked| Some(of_doc(hit.doc)?.entry.fields.key.clone());
    let remark = reading.remark(key).map(|message| EntryProblem { path: String::new(), key: None, message });
    let ranking = ranked::search(&sources, reading.query, limit as usize);
    let total = ranking.total.saturating_add(u32::try_from(hits.len()).unwrap_or(u32::MAX));
    for ranked in ranking.hits.into_iter().take(limit as usize) {
        let readable = of_doc(ranked.doc).ok_or_else(|| Error::internal("a hit is not among the entries"))?;
        hits.push(EntryHit { entry: readable.info(call), terms: ranked.terms });
    }
    hits.truncate(limit as usize);
    let problems = view.problems.iter().cloned().chain(remark).collect();
    Ok(Found { hits, total, problems })
}

/// Returns the entries that only a run holds and that have any word of a query.
pub(crate) fn held_hits(call: &Call, entries: &Entries, run: &str, query: &str) -> Result<Vec<EntryHit>, Error> {
    Ok(hits_of_run(call, &readable(call, &View::default(), &entries.held(Some(run))?), query))
}

fn hits_of_run(call: &Call, all: &[Readable], query: &str) -> Vec<EntryHit> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let held = all.iter().filter(|readable| readable.doc.is_none() && !readable.expired);
    let hits = held.filter_map(|readable| {
        let text = [readable.entry.fields.key.as_str(), &readable.entry.fields.content].join("\n").to_lowercase();
        let terms: Vec<String> = words.iter().filter(|word| text.contains(word.as_str())).cloned().collect();
        (!terms.is_empty()).then(|| EntryHit { entry: readable.info(call), terms })
    });
    hits.collect()
}

/// Returns the entry of a key, or the one whose file has this path: the run's own, else the agent's, else the workspace's.
pub(super) async fn get(with: &EntriesCall<'_>, name: &str) -> Result<EntryInfo, Error> {
    let EntriesCall { call, entries, scope, run, .. } = *with;
    let held = entries.held(run)?;
    let is_of_conversation = |held: &Held| held.is_of_conversation() && held.entry.fields.key == name;
    // An entry that only a run holds needs no file operation.
    let looked = match held.iter().any(is_of_conversation) {
        true => (View::default(), name.into()),
        false => look_for(call, entries, scope, name).await?,
    };
    preferred(call, &looked, &held)
}

/// Returns the entry like [`get`], for a command that has just found it and changed nothing.
pub(super) async fn get_found(with: &EntriesCall<'_>, name: &str) -> Result<EntryInfo, Error> {
    let EntriesCall { call, entries, scope, run, .. } = *with;
    preferred(call, &look_again(call, entries, scope, name).await?, &entries.held(run)?)
}

fn preferred(call: &Call, (view, key): &(View, String), held: &[Held]) -> Result<EntryInfo, Error> {
    let mut found: Vec<Readable> = readable(call, view, held);
    found.retain(|readable| readable.entry.fields.key == *key && !readable.expired);
    let preference = |readable: &Readable| (readable.entry.fields.category != Category::Conversation, readable.shared);
    order::sort_slice_by_key(&mut found, preference);
    found.first().map(|readable| readable.info(call)).ok_or_else(|| absent(view, key))
}

/// An order of entries.
pub(crate) type EntryOrder<'a> = &'a (dyn Fn(&Entry, &Entry) -> Ordering + Sync);

/// Conditions, order and page of a list of entries.
#[derive(Clone, Copy)]
pub(crate) struct EntryList<'a> {
    /// Category that the entries must have.
    pub(crate) category: Option<&'a str>,
    pub(crate) accepts: &'a (dyn Fn(&Entry) -> bool + Sync),
    /// Order; `None` is the one of creation, in which alone a page can begin after a cursor.
    pub(crate) order: Option<EntryOrder<'a>>,
    pub(crate) limit: usize,
    /// The `next` of the previous page.
    pub(crate) after: Option<&'a str>,
}

/// A page of entries.
#[derive(Debug)]
pub(crate) struct EntryPage {
    pub(crate) entries: Vec<EntryInfo>,
    /// Cursor of the next page; `None` on the last page.
    pub(crate) next: Option<String>,
    /// Number of entries on all pages.
    pub(crate) total: u32,
    /// Files that could not be parsed as entries.
    pub(crate) problems: Vec<EntryProblem>,
}

pub(super) async fn list(with: &EntriesCall<'_>, asked: EntryList<'_>) -> Result<EntryPage, Error> {
    let EntriesCall { call, entries, scope, run, .. } = *with;
    let EntryList { category, accepts, order, limit, after } = asked;
    category.map(str::parse::<Category>).transpose()?;
    let cursor = after.map(Cursor::parse).transpose()?;
    let held = entries.held(run)?;
    let is_meant = |entry: &Entry| category.is_none_or(|name| name == entry.fields.category.as_str()) && accepts(entry);
    let page = |view: &View| {
        let mut accepted = readable(call, view, &held);
        accepted.retain(|readable| !readable.expired && is_meant(&readable.entry));
        order::sort_slice(&mut accepted, |a, b| match order {
            Some(order) => order(&a.entry, &b.entry),
            None => in_order(&a.entry, &b.entry),
        });
        let total = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
        accepted.retain(|readable| cursor.as_ref().is_none_or(|cursor| cursor.is_before(&readable.entry)));
        let has_more = accepted.len() > limit;
        accepted.truncate(limit);
        (accepted, total, has_more)
    };
    let page: &(dyn Fn(&View) -> _ + Sync) = &page;
    let shown = |view: &View| page(view).0.iter().filter_map(|readable| readable.doc).collect();
    let view = survey(call, entries, scope, Some(&shown)).await?;
    let (accepted, total, has_more) = page(&view);
    let next = accepted.last().filter(|_| has_more).map(|last| Cursor::from_entry(&last.entry).to_string());
    let entries = accepted.iter().map(|readable| readable.info(call)).collect();
    Ok(EntryPage { entries, next, total, problems: view.problems })
}

/// An entry that is forgotten. Its file keeps its text.
pub(crate) struct ForgottenEntry {
    pub(crate) entry: Arc<Entry>,
    pub(crate) path: RelPath,
    /// Time when it was forgotten, in nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) time: u64,
}

/// Returns the forgotten entries, and the files that could not be parsed as entries.
pub(crate) async fn forgotten(
    call: &Call,
    entries: &Entries,
) -> Result<(Vec<ForgottenEntry>, Vec<EntryProblem>), Error> {
    let view = survey(call, entries, entries.scope()?, Some(&|_| Vec::new())).await?;
    let forgotten = view.entries.into_iter().filter_map(|stored| {
        Some(ForgottenEntry { time: stored.entry.forgotten?, entry: stored.entry, path: stored.path })
    });
    Ok((forgotten.collect(), view.problems))
}

/// Entry that the previous page ended with: its time of creation and its key, written as `moment:key`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cursor {
    created: u64,
    key: String,
    /// True for the workspace, whose entry comes after the agent's if both have one key.
    shared: bool,
}

impl Cursor {
    pub(super) fn from_entry(entry: &Entry) -> Self {
        Self { created: entry.created, key: entry.fields.key.clone(), shared: is_shared(entry) }
    }

    /// Parses the output of `Display`.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let parsed = || {
            let (place, key) = text.split_once(':')?;
            let (created, shared) = match place.strip_suffix('w') {
                Some(created) => (created, true),
                None => (place, false),
            };
            Some(Self { created: created.parse().ok()?, key: key.to_string(), shared })
        };
        parsed().ok_or_else(|| {
            let message = format!("`{text}` is not a cursor");
            Error::invalid_argument(message, "give the `next` of the previous page, or leave it out")
        })
    }

    /// Returns true if an entry is on a later page.
    fn is_before(&self, entry: &Entry) -> bool {
        self.place() < place(entry)
    }

    fn place(&self) -> (Reverse<u64>, Reverse<&str>, bool) {
        (Reverse(self.created), Reverse(&self.key), self.shared)
    }
}

impl core::fmt::Display for Cursor {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mark = if self.shared { "w" } else { "" };
        write!(out, "{}{mark}:{}", self.created, self.key)
    }
}

/// Returns the cursor of a page that ends with this entry.
pub(crate) fn cursor_of(entry: &EntryInfo) -> String {
    let shared = entry.category == Category::Workspace.as_str();
    Cursor { created: entry.created, key: entry.key.clone(), shared }.to_string()
}

/// Compares two entries by the order of a list.
pub(super) fn in_order(a: &Entry, b: &Entry) -> Ordering {
    place(a).cmp(&place(b))
}

fn place(entry: &Entry) -> (Reverse<u64>, Reverse<&str>, bool) {
    (Reverse(entry.created), Reverse(&entry.fields.key), is_shared(entry))
}

fn is_shared(entry: &Entry) -> bool {
    entry.fields.category == Category::Workspace
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::document::Fields;
    use proptest::prelude::*;

    fn entry(key: &str, created: u64, updated: u64, tags: &[&str]) -> Entry {
        let fields = Fields {
            key: key.into(),
            category: Category::Core,
            tags: tags.iter().map(|tag| String::from(*tag)).collect(),
            content: "v".into(),
            source: None,
            supersedes: None,
            trust_state: crate::trust::TrustState::default(),
            writer: crate::trust::Writer::default(),
            projects: Vec::new(),
        };
        Entry { fields, owner: None, created, updated, forgotten: None, version: String::new() }
    }

    #[test]
    fn an_invalid_cursor_is_refused() {
        for text in ["", "k", "x:k", "1x:k", ":k"] {
            assert_eq!(Cursor::parse(text).unwrap_err().message, format!("`{text}` is not a cursor"));
        }
    }

    proptest! {
        #[test]
        fn pages_show_every_entry_once(
            places in proptest::collection::btree_set((0_u64..3, "[:a-c]{1,2}", any::<bool>()), 0..20),
            length in 1_usize..5,
        ) {
            let mut entries: Vec<Entry> = places.iter().map(|(created, key, shared)| {
                let mut entry = entry(key, *created, 0, &[]);
                if *shared {
                    entry.fields.category = Category::Workspace;
                }
                entry
            }).collect();
            entries.sort_by(in_order);
            let mut shown = Vec::new();
            let mut cursor: Option<Cursor> = None;
            loop {
                let is_later = |entry: &&Entry| cursor.as_ref().is_none_or(|cursor| cursor.is_before(entry));
                let page: Vec<Entry> = entries.iter().filter(is_later).take(length).cloned().collect();
                let Some(last) = page.last() else { break };
                cursor = Some(Cursor::parse(&Cursor::from_entry(last).to_string()).unwrap());
                shown.extend(page);
            }
            prop_assert_eq!(shown, entries);
        }
    }
}
