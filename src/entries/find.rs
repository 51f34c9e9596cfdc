//! `find-entries`: entries that match a question or a query, best first.

use super::limits::{Limit, within};
use super::readable::{Readable, readable};
use super::state::EntriesCall;
use super::types::{EntryInfo, EntryProblem};
use super::view::look;
use crate::request::{Run, SAMPLE_TEXT, request};
use crate::search::ranked::{self, Passages, Question, Source};
use crate::search::{DocId, MAX_QUESTION_BYTES, best_passage};
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_protocol::Error;

/// Default number of hits.
pub const DEFAULT_FOUND_ENTRIES: u32 = 20;

/// Maximum size of the passage of a hit in bytes.
const PASSAGE_BYTES: usize = 800;

/// Searches the entries, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindEntries {
    /// A sentence, or a query in the syntax of recall.
    pub query: String,
    /// Maximum number of hits.
    pub limit: u32,
}

/// Entries that match a query.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindEntriesReply {
    /// Hits, best first.
    pub hits: Vec<EntryHit>,
    /// Number of all hits.
    pub total: u32,
    /// Files that could not be parsed as entries; without a path, what the operators of the query leave out.
    pub problems: Vec<EntryProblem>,
}

/// An entry that matches a query.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryHit {
    /// The entry.
    pub entry: EntryInfo,
    /// Score; 0 for entries that a run holds, which come first.
    pub score: f64,
    /// Words of the query that the entry has.
    pub terms: Vec<String>,
    /// Passage of the entry that matches best.
    pub passage: String,
}

request!(FindEntries "find-entries" => FindEntriesReply, Reads, |name| {
    [SAMPLE_TEXT, name].map(|query| Self { query: query.into(), limit: 3 }).to_vec()
});

/// Entries that a run holds match if they have any word of the query.
impl Run<EntriesCall<'_>> for FindEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<FindEntriesReply, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let Self { query, limit } = self;
        within("query", query.len(), Limit { least: 1, most: MAX_QUESTION_BYTES })?;
        let question = Question::parse(&query)
            .map_err(|error| Error::invalid_argument(error.to_string(), "ask a question, or give a few words"))?;
        let held = entries.held(run)?;
        let view = look(call, entries, scope).await?;
        entries.corpus.borrow_mut().index_notes();
        let corpus = entries.corpus.borrow();
        let all = readable(call, &view, &held);
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let held_hits =
            all.iter().filter(|readable| readable.doc.is_none() && !readable.expired).filter_map(|readable| {
                let text =
                    [readable.entry.fields.key.as_str(), &readable.entry.fields.content].join("\n").to_lowercase();
                let terms: Vec<String> = words.iter().filter(|word| text.contains(word.as_str())).cloned().collect();
                let entry = readable.info(call);
                let passage = saddlebag_markdown::head(&entry.content, PASSAGE_BYTES).to_string();
                (!terms.is_empty()).then_some(EntryHit { entry, score: 0.0, terms, passage })
            });
        let mut hits: Vec<EntryHit> = held_hits.collect();
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
        let mut passages = Passages::new(&sources, reading.query);
        for ranked in ranking.hits.into_iter().take(limit as usize) {
            let found = of_doc(ranked.doc).zip(corpus.files.doc(ranked.doc));
            let (readable, doc) = found.ok_or_else(|| Error::internal("a hit is not among the entries"))?;
            let note = corpus.note(doc)?.ok_or_else(|| Error::internal("a hit was not parsed"))?;
            let passage = best_passage(&mut passages, doc.text(), &note, PASSAGE_BYTES);
            let passage = match passage {
                Some(passage) => {
                    doc.text().get(passage.range).ok_or_else(|| Error::internal("a passage is not in its text"))?
                }
                // The file has no text.
                None => "",
            };
            let passage = passage.to_string();
            let score = f64::from(ranked.score);
            hits.push(EntryHit { entry: readable.info(call), score, terms: ranked.terms, passage });
        }
        hits.truncate(limit as usize);
        let problems = view.problems.iter().cloned().chain(remark).collect();
        Ok(FindEntriesReply { hits, total, problems })
    }
}
