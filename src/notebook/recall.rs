//! `recall`: finds the notes that answer a question best, and explains why.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::index::{Needed, Notebook, NotebookCall, catch_up_for, has, known_config, look, read_texts, warnings};
use super::list_notes::selected;
use super::note_filter::NoteFilter;
use super::rescore::{CANDIDATES, Scored, fused, score, texts};
use super::succession::{is_superseded, newer_first, successions};
use super::superseded::without_older;
use super::title::title_or_stem;
use super::types::{SortFields, SortKey, Warning};
use crate::changes::Call;
use crate::document::Note;
use crate::order;
use crate::protocol::{Error, ErrorCode, FsError};
use crate::request::{Effect, Request, Run};
use crate::samples::SAMPLE_TEXT;
use crate::search::ranked::{Joining, Passages, Query, Ranked, Ranking, Succession};
use crate::search::{Corpus, DocId, IndexedFile, Skipped, best_passage, load_texts};
use crate::trust::{ForModel, Provenance, TrustState};

/// Maximum size of a query in bytes.
pub use crate::search::MAX_QUESTION_BYTES as MAX_RECALL_BYTES;

/// Default number of notes.
pub const DEFAULT_HITS: u32 = 10;

/// Maximum number of bytes of a note that a hit shows.
const PASSAGE_BYTES: usize = 800;

/// Maximum number of attempts if notes change while they are read.
const MAX_ATTEMPTS: u32 = 8;

/// Finds notes by a question or a query, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recall {
    /// A sentence, or a query: `"a phrase"`, `prefix*`, `-not`, `this | that`, `title:word`.
    pub query: String,
    /// Maximum number of hits.
    pub limit: u32,
    /// Number of hits to skip.
    pub offset: u32,
    /// Filter for the notes to search.
    pub filter: NoteFilter,
    /// Sort keys that replace the score, the most important first.
    pub sort: Vec<SortKey>,
    /// If set, returns the parts of each score.
    pub explain: bool,
    /// If set, the host guarantees that nothing changed since the last command.
    pub assume_unchanged: bool,
}

/// Reply of [`Recall`].
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecallReply {
    /// Hits, best first.
    pub hits: Vec<RecallHit>,
    /// Number of notes that match; `hits` is a page of them.
    pub total: u32,
    /// Rarity of a word that only one note has. [`on_one_scale`](crate::search::on_one_scale) makes scores of two
    /// indexes comparable.
    pub rarity: f64,
    /// Hits as text for a person or a model, made harmless.
    pub rendered: ForModel,
    /// Problems that do not stop a recall: an invalid configuration, frontmatter that is not YAML.
    pub warnings: Vec<Warning>,
    /// Files that could not be searched.
    pub skipped: Vec<Skipped>,
}

/// A note that matches a query, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecallHit {
    /// Path of the file.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Score, which is meaningful only in comparison.
    pub score: f64,
    /// Words of the query that the note has.
    pub terms: Vec<String>,
    /// Fields with these words: `title`, `aliases`, `headings`, `tags`, `path`, `body`.
    pub fields: Vec<String>,
    /// First and last line of the passage, counted from 1; empty if the text is not available.
    pub lines: Vec<u32>,
    /// Passage that matches best.
    pub passage: String,
    /// Path of the newer note that supersedes this one.
    pub superseded_by: Option<String>,
    /// Parts of the score, if requested.
    pub parts: Vec<ScorePart>,
    /// Origin of its text, if the text is kept out of prompts until a person approves it.
    pub unapproved: Option<Provenance>,
}

/// A part of a score.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScorePart {
    /// Word of the query, or another reason: `phrase`, `proximity`, `coverage`, `inherited`, `superseded`.
    pub reason: String,
    /// Field that has the word; empty if the reason has no field.
    pub field: String,
    /// Amount that is added; a factor for `superseded`.
    pub amount: f64,
}

impl Request for Recall {
    type Reply = RecallReply;
    const NAME: &'static str = "recall";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let recall = |query: &str| Self {
            query: query.into(),
            limit: 3,
            offset: 0,
            filter: NoteFilter::default(),
            sort: Vec::new(),
            explain: true,
            assume_unchanged: true,
        };
        alloc::vec![recall(SAMPLE_TEXT), recall(name)]
    }
}

impl Run<NotebookCall<'_>> for Recall {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RecallReply, Error> {
        recall(with.call, with.notebook, &Self { filter: self.filter.below_notebook(&with.call.scope), ..self }).await
    }
}

/// Finds notes. Brings the index up to date first, unless the host guarantees that nothing changed.
pub(super) async fn recall(call: &Call, notebook: &Arc<Notebook>, request: &Recall) -> Result<RecallReply, Error> {
    recall_of(call, notebook, request, Reach::All).await
}

/// Finds notes that no other one supersedes.
pub(super) async fn recall_current(
    call: &Call,
    notebook: &Arc<Notebook>,
    request: &Recall,
) -> Result<RecallReply, Error> {
    recall_of(call, notebook, request, Reach::Current).await
}

/// Finds notes that may go into a prompt.
pub(super) async fn recall_approved(
    call: &Call,
    notebook: &Arc<Notebook>,
    request: &Recall,
) -> Result<RecallReply, Error> {
    recall_of(call, notebook, request, Reach::Prompt).await
}

/// Notes that a recall may return.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Every note.
    All,
    /// Notes that no other one supersedes.
    Current,
    /// Approved notes that no other one supersedes.
    Prompt,
}

async fn recall_of(
    call: &Call,
    notebook: &Arc<Notebook>,
    request: &Recall,
    reach: Reach,
) -> Result<RecallReply, Error> {
    let only_approved = reach == Reach::Prompt;
    if request.query.len() > MAX_RECALL_BYTES {
        let message = format!("query has {} bytes, the limit is {MAX_RECALL_BYTES}", request.query.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "ask a shorter question"));
    }
    let query = Query::parse(&request.query, Joining::Any)
        .map_err(|error| Error::invalid_argument(error.to_string(), "ask a question, or give a few words"))?;
    let is_known = notebook.corpus.borrow().is_loaded() && known_config(notebook).is_some();
    let needs_notes = request.filter != NoteFilter::default() || !request.sort.is_empty();
    let needed = if needs_notes { Needed::Everything } else { Needed::Words(&query) };
    if !(request.assume_unchanged && is_known && has(call, notebook, needed).await) {
        catch_up_for(call, notebook, needed).await?;
    }
    let mut attempt = 0;
    // Notes that are approved in the index but not in their files.
    let mut refused: Vec<DocId> = Vec::new();
    // Ratings of the host. If the notes are sorted by another key, no ratings are needed.
    let rescore = call.scope.rescore && request.sort.is_empty();
    let mut scored: Option<Result<Scored, FsError>> = None;
    loop {
        attempt += 1;
        let mut accepted = accepted(call, notebook, &request.filter, only_approved).await?;
        if let Some(accepted) = &mut accepted {
            accepted.retain(|id| !refused.contains(id));
        }
        let superseded = successions(call, &notebook.corpus.borrow(), &refused, only_approved);
        let is_accepted = |id: u32| {
            let is_out = reach != Reach::All && is_superseded(&superseded, id);
            !is_out && accepted.as_deref().is_none_or(|ids| ids.binary_search(&id).is_ok())
        };
        let mut ranking = rank(call, notebook, &query, request, &is_accepted, &superseded);
        if !request.sort.is_empty() {
            ranking.hits = sorted(&notebook.corpus.borrow(), ranking.hits, &request.sort);
        }
        let mut to_read: Vec<DocId> = Vec::new();
        if rescore && scored.is_none() {
            to_read.extend(ranking.hits.iter().take(CANDIDATES).map(|hit| hit.doc));
        }
        let best = if rescore && scored.is_none() { ranking.hits.clone() } else { Vec::new() };
        if let Some(Ok(scored)) = &scored {
            ranking.hits = fused(ranking.hits, scored);
            newer_first(&mut ranking.hits, &superseded, CANDIDATES);
        }
        let page = ranking.hits.into_iter().skip(request.offset as usize).take(request.limit as usize);
        let page: Vec<Ranked> = page.collect();
        to_read.extend(page.iter().map(|hit| hit.doc));
        let missing: Vec<DocId> = {
            let corpus = notebook.corpus.borrow();
            let has_no_text = |id: &DocId| corpus.files.doc(*id).is_some_and(|doc| doc.text.is_none());
            to_read.into_iter().filter(has_no_text).collect()
        };
        if rescore && scored.is_none() && (missing.is_empty() || attempt >= MAX_ATTEMPTS) {
            let texts = texts(&notebook.corpus.borrow(), &query, &best);
            scored = Some(score(call, &request.query, texts).await);
            // Notes may have changed meanwhile, so they are ranked once more.
            attempt = attempt.min(MAX_ATTEMPTS - 1);
            continue;
        }
        if missing.is_empty() || attempt >= MAX_ATTEMPTS {
            let (page, others): (Vec<Ranked>, Vec<Ranked>) = {
                let corpus = notebook.corpus.borrow();
                page.into_iter().partition(|hit| !only_approved || is_approved(&corpus, hit.doc))
            };
            if others.is_empty() || attempt >= MAX_ATTEMPTS {
                let mut reply = reply(call, notebook, &query, request, &page, ranking.total)?;
                if let Some(Err(error)) = &scored {
                    let message =
                        format!("the hits are in the engine's own order, as the host does not rate them: {error}");
                    reply.warnings.push(Warning::new("", message));
                }
                return Ok(reply);
            }
            refused.extend(others.iter().map(|hit| hit.doc));
            continue;
        }
        load_texts(call, &notebook.corpus, &missing).await;
        notebook.corpus.borrow_mut().index_notes();
    }
}

/// A hit for a prompt.
pub(crate) struct PromptHit {
    pub(crate) hit: RecallHit,
    /// Date in the frontmatter, else the time of the last change, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    pub(crate) date: u64,
    /// True if the session has seen the note before. Then the hit has no passage.
    pub(crate) is_known: bool,
}

/// Finds notes for a prompt. Returns the hits, best first, and the rarity of a word that one note has.
///
/// Notes that are known or that nobody has approved take no place from others, and are returned beside them. Notes that
/// are `skipped` are not looked for. The host is not asked to rate the hits, as a prompt waits for the answer.
pub(crate) async fn recall_for_prompt(
    call: &Call,
    notebook: &Arc<Notebook>,
    request: &Recall,
    passage_bytes: usize,
    is_skipped: &(dyn Fn(&str) -> bool + Sync),
    is_known: &(dyn Fn(&str) -> bool + Sync),
) -> Result<(Vec<PromptHit>, f32), Error> {
    // A prompt without words finds nothing.
    let Ok(query) = Query::parse(&request.query, Joining::Any) else { return Ok((Vec::new(), 0.0)) };
    catch_up_for(call, notebook, Needed::Words(&query)).await?;
    let mut passed: Vec<DocId> = Vec::new();
    // Notes that are approved in the index but not in their files.
    let mut refused: Vec<DocId> = Vec::new();
    let mut others: Vec<PromptHit> = Vec::new();
    for attempt in 1..=MAX_ATTEMPTS {
        let page: Vec<Ranked> = {
            let corpus = notebook.corpus.borrow();
            let is_out = |path: &str| call.scope.layout.below_notebook(path).is_some_and(is_skipped);
            // One page names unapproved notes. However many there are, the next one is of others.
            let names_unapproved = others.iter().any(|other| other.hit.unapproved.is_some());
            let approved = names_unapproved.then(|| corpus.files.approved());
            let superseded = successions(call, &corpus, &refused, true);
            let is_accepted = |id: u32| {
                let is_refused = approved.as_ref().is_some_and(|ids| ids.binary_search(&id).is_err());
                let is_passed = passed.contains(&id) || is_superseded(&superseded, id);
                !is_refused && !is_passed && !corpus.files.path(id).is_some_and(is_out)
            };
            rank(call, notebook, &query, request, &is_accepted, &superseded).hits
        };
        let missing: Vec<DocId> = {
            let corpus = notebook.corpus.borrow();
            let needs_text = |doc: &IndexedFile| doc.text.is_none() && !is_known(&call.scope.display_path(&doc.path));
            page.iter().map(|hit| hit.doc).filter(|&id| corpus.files.doc(id).is_some_and(needs_text)).collect()
        };
        if !missing.is_empty() && attempt < MAX_ATTEMPTS {
            load_texts(call, &notebook.corpus, &missing).await;
            notebook.corpus.borrow_mut().index_notes();
            continue;
        }
        let corpus = notebook.corpus.borrow();
        let mut passages = Passages::new(corpus.ranked(), &query);
        let mut hits: Vec<PromptHit> = Vec::new();
        let before = others.len();
        for ranked in &page {
            let document = ranked_document(&corpus, ranked)?;
            let is_known = is_known(&call.scope.display_path(&document.path));
            let hit = hit(call, &corpus, &mut passages, ranked, document, (false, passage_bytes));
            if !is_known && document.text.is_some() && hit.unapproved.is_none() {
                let dated = corpus.note_of_text(document).and_then(|note| note.created());
                hits.push(PromptHit { hit, date: dated.unwrap_or(document.modified), is_known });
            } else {
                passed.push(ranked.doc);
                refused.extend(hit.unapproved.map(|_| ranked.doc));
                others.push(PromptHit { hit, date: 0, is_known });
            }
        }
        if others.len() == before || attempt == MAX_ATTEMPTS {
            let rarity = corpus.ranked().greatest_rarity();
            hits.extend(others.into_iter().filter(|other| other.is_known || other.hit.unapproved.is_some()));
            order::sort_slice(&mut hits, |a, b| b.hit.score.total_cmp(&a.hit.score));
            return Ok((hits, rarity));
        }
    }
    Err(Error::internal("a recall for a prompt had no attempt"))
}

/// Returns the numbers of the notes that match a filter, ascending; `None` for all.
async fn accepted(
    call: &Call,
    notebook: &Arc<Notebook>,
    filter: &NoteFilter,
    only_approved: bool,
) -> Result<Option<Vec<DocId>>, Error> {
    if *filter == NoteFilter::default() {
        return Ok(only_approved.then(|| notebook.corpus.borrow().files.approved()));
    }
    if filter.needs_text() {
        read_texts(call, notebook, |snapshot| Ok(snapshot.ids.clone())).await?;
    }
    let mut ids = look(notebook, call, |snapshot| selected(call, snapshot, filter))?;
    if only_approved {
        let corpus = notebook.corpus.borrow();
        ids.retain(|&id| corpus.files.doc(id).is_some_and(|document| document.unapproved.is_none()));
    }
    order::sort_slice(&mut ids, Ord::cmp);
    Ok(Some(ids))
}

/// Returns true if the file of a note permits it in a prompt.
fn is_approved(corpus: &Corpus, id: DocId) -> bool {
    let text = corpus.files.doc(id).and_then(|document| document.text.as_deref());
    text.is_some_and(|text| TrustState::from_text(text).unapproved().is_none())
}

fn rank(
    call: &Call,
    notebook: &Notebook,
    query: &Query,
    request: &Recall,
    is_accepted: &dyn Fn(u32) -> bool,
    superseded: &[Succession],
) -> Ranking {
    let corpus = notebook.corpus.borrow();
    let best = if call.scope.rescore { CANDIDATES } else { 0 };
    let limit = match request.sort.is_empty() {
        true => (request.offset as usize).saturating_add(request.limit as usize).max(best),
        // The first note by another key may be the last by its score.
        false => usize::MAX,
    };
    let mut ranking = corpus.ranked().search(query, limit, is_accepted, superseded, &|id| corpus.tie(id));
    // Others may have written the index, and named files there that are not notes.
    ranking.hits.retain(|hit| corpus.files.doc(hit.doc).is_some_and(|document| corpus.is_note(&document.path)));
    ranking
}

/// Sorts the hits by the notes' fields. Equal ones stay in the order of their scores.
fn sorted(corpus: &Corpus, hits: Vec<Ranked>, keys: &[SortKey]) -> Vec<Ranked> {
    let mut known: Vec<(Ranked, Option<(&IndexedFile, Note)>)> = hits
        .into_iter()
        .map(|hit| {
            let document = corpus.files.doc(hit.doc);
            let known = document.and_then(|document| Some((document, corpus.files.note(document)?)));
            (hit, known)
        })
        .collect();
    order::sort_slice(&mut known, |(_, a), (_, b)| match (a, b) {
        (Some(a), Some(b)) => SortKey::compare(keys, &sort_fields(a), &sort_fields(b)),
        _ => b.is_some().cmp(&a.is_some()),
    });
    known.into_iter().map(|(hit, _)| hit).collect()
}

fn sort_fields<'a>((document, note): &'a (&IndexedFile, Note)) -> SortFields<'a> {
    SortFields {
        created: note.created(),
        modified: document.modified,
        path: document.path.as_str(),
        title: &note.title,
        word_count: note.word_count,
    }
}

/// Returns the note that supersedes a note. An unapproved note supersedes nothing.
fn superseded_by<'a>(call: &Call, corpus: &'a Corpus, path: &str) -> Option<&'a IndexedFile> {
    let below = call.scope.layout.below_notebook(path)?;
    corpus.newer(below, |newer| newer.path.as_str() != path && newer.unapproved.is_none())
}

fn reply(
    call: &Call,
    notebook: &Notebook,
    query: &Query,
    request: &Recall,
    page: &[Ranked],
    total: u32,
) -> Result<RecallReply, Error> {
    let corpus = notebook.corpus.borrow();
    let mut passages = Passages::new(corpus.ranked(), query);
    let hits = page.iter().map(|ranked| {
        let document = ranked_document(&corpus, ranked)?;
        Ok(hit(call, &corpus, &mut passages, ranked, document, (request.explain, PASSAGE_BYTES)))
    });
    let hits: Vec<RecallHit> = hits.collect::<Result<_, Error>>()?;
    Ok(RecallReply {
        rendered: render(&hits),
        hits,
        total,
        rarity: f64::from(corpus.ranked().greatest_rarity()),
        warnings: warnings(call, notebook),
        skipped: corpus.skipped(|path| call.scope.display_path(path)),
    })
}

/// Returns the file of a hit. A hit that the index no longer has would silently be missing from the reply.
fn ranked_document<'a>(corpus: &'a Corpus, ranked: &Ranked) -> Result<&'a IndexedFile, Error> {
    corpus.files.doc(ranked.doc).ok_or_else(|| Error::internal(format!("hit {} is not in the index", ranked.doc)))
}

fn hit(
    call: &Call,
    corpus: &Corpus,
    passages: &mut Passages,
    ranked: &Ranked,
    document: &IndexedFile,
    (explain, passage_bytes): (bool, usize),
) -> RecallHit {
    // Others may have written the index, so the text to show is read from the file.
    let note = corpus.note_of_text(document);
    let path = document.path.as_str();
    let shown = match (document.text.as_deref(), &note) {
        (Some(text), Some(note)) => Some((without_older(text, note), note)),
        _ => None,
    };
    let passage = shown.as_ref().and_then(|(text, note)| best_passage(passages, text, note, passage_bytes));
    let text = passage.as_ref().zip(shown.as_ref()).and_then(|(passage, (text, _))| text.get(passage.range.clone()));
    // Passage and text are of the same file. A hit without its passage is still a hit.
    debug_assert_eq!(text.is_some(), passage.is_some(), "a broken invariant: a passage outside of its text");
    RecallHit {
        path: call.scope.display_path(&document.path),
        title: title_or_stem(note.as_ref().map_or("", |note| note.title.as_str()), path),
        score: f64::from(ranked.score),
        terms: ranked.terms.clone(),
        fields: ranked.fields.iter().map(|field| field.name().to_string()).collect(),
        lines: passage.as_ref().map(|passage| alloc::vec![passage.lines.0, passage.lines.1]).unwrap_or_default(),
        passage: text.unwrap_or_default().to_string(),
        superseded_by: superseded_by(call, corpus, path).map(|newer| call.scope.display_path(&newer.path)),
        parts: if explain { parts(ranked) } else { Vec::new() },
        unapproved: document.text.as_deref().and_then(|text| TrustState::from_text(text).unapproved()),
    }
}

fn parts(ranked: &Ranked) -> Vec<ScorePart> {
    let words = ranked.parts.iter().map(|part| ScorePart {
        reason: format!("{} (tf {}, idf {:.3})", part.term, part.tf, part.idf),
        field: part.field.name().to_string(),
        amount: f64::from(part.amount),
    });
    let bonuses = [
        ("coverage", ranked.coverage),
        ("phrase", ranked.phrase),
        ("proximity", ranked.proximity),
        ("inherited", ranked.inherited),
    ];
    let bonuses = bonuses.into_iter().filter(|(_, amount)| *amount != 0.0);
    let factor = (ranked.weight != 1.0).then_some(("superseded, as a factor", ranked.weight));
    let others = bonuses.chain(factor).map(|(reason, amount)| ScorePart {
        reason: reason.to_string(),
        field: String::new(),
        amount: f64::from(amount),
    });
    words.chain(others).collect()
}

/// Renders the hits for a model: each with its source, its lines and its passage.
fn render(hits: &[RecallHit]) -> ForModel {
    let blocks = hits.iter().map(|hit| {
        let lines = match hit.lines.as_slice() {
            [first, last] if first != last => format!(":{first}-{last}"),
            [first, ..] => format!(":{first}"),
            [] => String::new(),
        };
        let newer = hit.superseded_by.as_ref().map(|newer| format!(" (superseded by {newer})")).unwrap_or_default();
        let mark = hit.unapproved.map(|from| format!(" (unapproved: {from})")).unwrap_or_default();
        let block = format!("{}{lines}  {}{newer}{mark}\n{}", hit.path, hit.title, hit.passage.trim_end());
        ForModel::escaped(&block)
    });
    let mut rendered = ForModel::default();
    for block in blocks {
        if !rendered.is_empty() {
            rendered.push_ours("\n\n");
        }
        rendered.push(&block);
    }
    rendered
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, call_at, day};
    use super::*;
    use crate::search::SkipKind;

    async fn ask(call: Call, notebook: Arc<Notebook>) -> Result<RecallReply, Error> {
        recall(&call, &notebook, &Recall::samples("zebra").remove(1)).await
    }

    #[test]
    fn a_hit_whose_file_is_not_text_any_more_is_named_and_not_shown_empty() {
        let (mut store, notebook) = (Store::with(&[("facts/port.md", "# Port\n\nzebra\n")]), Arc::default());
        let hits = |store: &mut Store| {
            let notebook = Arc::clone(&notebook);
            store.run(|fs| ask(call_at(fs, day()), notebook)).expect("answered")
        };
        assert_eq!(hits(&mut store).hits.len(), 1);
        notebook.corpus.borrow_mut().files.drop_texts(0);
        store.corrupt("facts/port.md", b"zebra \xff\n".to_vec());
        let reply = hits(&mut store);
        assert_eq!(reply.hits, [], "{reply:?}");
        let skipped: Vec<_> = reply.skipped.iter().map(|file| (file.path.as_str(), file.kind)).collect();
        assert_eq!(skipped, [("facts/port.md", SkipKind::NotText)]);
    }

    #[test]
    fn a_note_that_was_unreadable_when_the_index_was_written_is_found_by_another_process_once_it_can_be_read() {
        let mut store = Store::with(&[]);
        for number in 0..200 {
            store.put(&alloc::format!("facts/n{number:03}.md"), b"# N\n\nhorse\n".to_vec());
        }
        store.put("facts/z.md", b"\xff\n".to_vec());
        assert_eq!(hits_of_new_process(&mut store), Vec::<String>::new());
        assert!(store.names().iter().any(|name| name.starts_with(".saddlebag/index/")), "{:?}", store.names());
        store.put("facts/z.md", b"# Z\n\nzebra\n".to_vec());
        assert_eq!(hits_of_new_process(&mut store), ["facts/z.md"]);
    }

    #[test]
    fn a_file_that_is_not_a_note_is_not_found_whatever_the_index_file_says() {
        let mut store = Store::with(&[(".zk/config.toml", "[note]\n"), ("facts/z.md", "# Z\n\nzebra\n")]);
        for number in 0..200 {
            store.put(&alloc::format!("facts/n{number:03}.md"), b"# N\n\nhorse\n".to_vec());
        }
        assert_eq!(hits_of_new_process(&mut store), ["facts/z.md"]);
        // The index file claims to have been made under this configuration.
        store.corrupt(".zk/config.toml", b"[note]\nexclude = [\"facts/z.md\"]\n".to_vec());
        assert_eq!(hits_of_new_process(&mut store), Vec::<String>::new());
    }

    fn hits_of_new_process(store: &mut Store) -> Vec<String> {
        let reply = store.run(|fs| async move {
            let mut call = call_at(fs, day());
            let scope = Arc::get_mut(&mut call.scope).expect("nobody else has it");
            scope.index_file = true;
            ask(call, Arc::default()).await
        });
        reply.expect("answered").hits.into_iter().map(|hit| hit.path).collect()
    }
}
