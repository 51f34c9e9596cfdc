//! Finds items for every kind of recall: brings the indexes up to date, ranks, and reads the text of the hits.

use super::super::index::{Notebook, catch_up_for, known_config, look, read_texts};
use super::super::list_notes::selected;
use super::super::note_filter::NoteFilter;
use super::super::select::{asks_for_latest, time_of};
use super::super::types::{SortFields, SortKey};
use super::corpora::{Corpora, Reach, Selection, counts_for_prompt};
use super::succession::{newer_first, successions};
use super::texts::{Contest, Texts};
use super::types::{MAX_RECALL_BYTES, NOTES, Recall};
use crate::changes::Call;
use crate::search::ranked::{self, Field, Grams, Query, Question, Ranked, Ranking, Source, near_words};
use crate::search::{
    Corpus, DocId, IndexedFile, Needed, SearchableEntries, SearchableEntry, load_texts, read_needed_of_index,
};
use crate::store::LocalTime;
use crate::trust::Approved;
use saddlebag_collections::{order, part::SlicePart, prelude::*};
use saddlebag_markdown::Note;
use saddlebag_protocol::{Error, ErrorCode};

/// Number of items whose passages compete for a budget.
const COMPETING: u32 = 64;

/// Number of best hits that are ordered by their passages, too.
const REREAD: usize = 20;

/// Weight of the best passage of a hit beside its own score, each as a share of the greatest.
const PASSAGE_WEIGHT: f32 = 1.0;

/// Weight of the likeness of the best passage and the question in their groups of letters. Tried with the sets in the tree and with
/// chats: 0.1 to 0.4 is better in all of them, 1.0 is worse in chats.
const LIKENESS_WEIGHT: f32 = 0.4;

/// Factor for the score of a note whose best passage is the question itself.
const ONLY_ASKS: f32 = 0.5;

/// Factor for the note of a session: of two that fit nearly as well, what somebody kept comes before what somebody did.
const SESSION: f32 = 0.9;

/// Factor for a page where most hits are pages: with so many, one of them often fits nearly as well as a fact of few words.
const ONE_OF_MANY_PAGES: f32 = 0.75;

/// Number of pages among the hits for each other one, from which on there are many.
const MANY_PAGES: usize = 3;

/// Factor for an item of the time that the question names.
const OF_THE_TIME: f32 = 1.3;

/// Evidence that an item must have to answer a question of several words: more than one everyday word.
const LEAST_EVIDENCE: f32 = 0.5;

/// Fields that name a note.
const NAMES: [Field; 2] = [Field::Title, Field::Aliases];

/// Maximum number of attempts if notes change while they are read.
const MAX_ATTEMPTS: u32 = 8;

/// A recall, and what its caller knows.
pub(super) struct Asked<'a> {
    pub(super) call: &'a Call,
    pub(super) notebook: &'a Arc<Notebook>,
    pub(super) entries: Option<&'a SearchableEntries>,
    pub(super) request: &'a Recall,
    pub(super) reach: Reach,
    /// Predicate for paths of notes, relative to the notebook, that are not looked for.
    pub(super) is_left_out: &'a (dyn Fn(&str) -> bool + Sync),
    /// Predicate for paths, as replies show them, of items that the caller has. They are hits beside the limit, without
    /// their text.
    pub(super) is_known: &'a (dyn Fn(&str, u64) -> bool + Sync),
    /// Maximum number of such items.
    pub(super) known: usize,
}

/// Items that a recall has found.
pub(super) struct Found {
    pub(super) query: Query,
    /// The best hits, whose blocks have competed.
    contest: Option<Contest>,
    selection: Selection,
    /// Hits of the page, best first.
    pub(super) page: Vec<Ranked>,
    /// Number of items that match.
    pub(super) total: u32,
    /// Says what the operators of the query leave out, or that they were read as text.
    pub(super) remark: Option<String>,
}

impl Found {
    /// Returns the words of the question that no item has, each with a word of the items that it may be a misspelling of.
    pub(super) fn near_words(&self, asked: &Asked<'_>) -> Vec<(String, String)> {
        let near = |sources: &[Source<'_>]| near_words(sources, &self.query);
        asked.corpora().with_sources(&self.selection, &|_| false, near)
    }

    /// Returns true if a hit of the page has a word in its title, its aliases or its key.
    pub(super) fn is_in_a_name(&self, corpora: &Corpora<'_>, word: &str) -> bool {
        let has = |name: &str| name.split(|c: char| !c.is_alphanumeric()).any(|part| part.to_lowercase() == word);
        self.page.iter().any(|ranked| {
            let Ok((document, entry)) = corpora.document(ranked) else { return false };
            let note = || corpora.note_of_text(ranked, document);
            let of_note = || note().is_some_and(|note| has(&note.title) || note.aliases.iter().any(|alias| has(alias)));
            entry.map_or_else(of_note, |entry| has(&entry.key))
        })
    }

    /// Returns true if no item of the page has more of the question than one everyday word, or just the words of a name.
    pub(super) fn is_doubtful(&self, corpora: &Corpora<'_>, texts: &mut Texts<'_>) -> bool {
        if !self.query.is_sentence() {
            return false;
        }
        let fits = texts.weighed();
        let answers = |(place, hit): (usize, &Ranked)| {
            let key = corpora.document(hit).ok().and_then(|(_, entry)| entry.map(|entry| entry.key.as_str()));
            let of_terms = texts.fit_of_terms(&fits, &hit.terms);
            let fit = texts.fit(&fits, place, key, true).unwrap_or(of_terms);
            let fit = if hit.inherited > 0.0 && of_terms.evidence > fit.evidence { of_terms } else { fit };
            fit.evidence >= LEAST_EVIDENCE || fit.is_name
        };
        !self.page.is_empty() && !self.page.iter().enumerate().any(answers)
    }

    /// Returns the texts of the page, whose blocks have competed.
    pub(super) fn texts<'c>(&mut self, asked: &Asked<'_>, corpora: &'c Corpora<'_>) -> Texts<'c> {
        let contest = self.contest.take().filter(|contest| contest.has_all(&self.page));
        let contest = contest.unwrap_or_else(|| asked.contest(corpora, &self.selection, &self.query, &self.page, None));
        Texts::new(corpora, contest, &self.page)
    }
}

impl Asked<'_> {
    /// Finds items. The text of the hits is in memory then, except of known ones and of files that cannot be read.
    pub(super) async fn find(&self) -> Result<Found, Error> {
        let Self { call, notebook, request, .. } = *self;
        if request.query.len() > MAX_RECALL_BYTES {
            let message = format!("query has {} bytes, the limit is {MAX_RECALL_BYTES}", request.query.len());
            return Err(Error::new(ErrorCode::TooLarge, message, "ask a shorter question"));
        }
        let question = Question::parse(&request.query)
            .map_err(|error| Error::invalid_argument(error.to_string(), "ask a question, or give a few words"))?;
        let time = time_of(&request.query, call.now.timestamp());
        self.catch_up(&question).await?;
        // Notes that are approved in the index but not in their files.
        let mut refused: Vec<DocId> = Vec::new();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let selection = self.select(&refused).await?;
            // A literal search may have read notes meanwhile, and does not index their words.
            notebook.corpus.borrow_mut().index_notes();
            let (query, remark) = self.reading(&question, &selection);
            let mut ranking = self.rank(query, &selection);
            let reread = self.reread();
            let mut contest = None;
            if reread > 0 {
                let missing = self.missing(ranking.hits.iter().take(reread));
                if attempt < MAX_ATTEMPTS && self.read(missing).await {
                    continue;
                }
                let reread = reread.min(ranking.hits.len());
                let (best, grams) = (ranking.hits.part(..reread), Grams::new(&[&request.query]));
                let of_best = self.contest(&self.corpora(), &selection, query, best, Some(&grams));
                if let Some(best) = ranking.hits.get_mut(..reread) {
                    order_by_passages(best, &of_best, &self.corpora(), &|corpora, hit| {
                        time.as_ref()
                            .is_some_and(|time| corpora.time_of(call, hit).is_some_and(|at| time.contains(&at)))
                    });
                    if asks_for_latest(&request.query) {
                        latest_first(best, &self.corpora(), call);
                    }
                    newer_first(best, &selection.superseded);
                }
                contest = Some(of_best);
            }
            let page = self.page(ranking.hits);
            let missing = self.missing(page.iter());
            let is_last = attempt >= MAX_ATTEMPTS;
            if !is_last && self.read(missing).await {
                continue;
            }
            let (page, unapproved): (Vec<Ranked>, Vec<Ranked>) = {
                let corpora = self.corpora();
                page.into_iter().partition(|hit| self.reach != Reach::Prompt || self.may_be_shown(&corpora, hit))
            };
            if unapproved.is_empty() || is_last {
                let total = ranking.total;
                return Ok(Found { query: query.clone(), contest, selection, page, total, remark });
            }
            refused.extend(unapproved.iter().map(|hit| hit.doc));
        }
    }

    /// Finds items in the indexes as they are, without their text.
    pub(super) async fn find_in_index(&self, query: &Query) -> Result<Vec<Ranked>, Error> {
        let selection = self.select(&[]).await?;
        Ok(self.page(self.rank(query, &selection).hits))
    }

    fn contest(
        &self,
        corpora: &Corpora<'_>,
        selection: &Selection,
        query: &Query,
        hits: &[Ranked],
        question: Option<&Grams>,
    ) -> Contest {
        Contest::new(corpora, selection, &|path| self.leaves_out(path), query, hits, question)
    }

    pub(super) fn corpora(&self) -> Corpora<'_> {
        Corpora::new(&self.call.scope.layout, self.notebook.corpus.borrow(), self.entries)
    }

    /// Brings the index of the notes up to date, unless the host guarantees that nothing changed.
    async fn catch_up(&self, question: &Question) -> Result<(), Error> {
        let Self { call, notebook, request, .. } = *self;
        let ranges = |notes: &Corpus| {
            let approved = notes.files.approved();
            let counts_note = |id: DocId| counts_for_prompt(notes, &approved, &|path| self.leaves_out(path), id);
            let counts_note: &dyn Fn(DocId) -> bool = &counts_note;
            let tie = |id: DocId| notes.tie(id);
            let notes = Source {
                counted: Some(counts_note).filter(|_| self.reach == Reach::Prompt),
                ..Source::new(notes.ranked(), &tie)
            };
            let needed = |sources: &[Source<'_>]| {
                question.readings().flat_map(|query| Source::needed_ranges(sources, query)).collect()
            };
            let Some(entries) = self.entries else { return needed(&[notes]) };
            let corpus = entries.corpus.borrow();
            let tie = |id: DocId| corpus.tie(id);
            needed(&[notes, Source::new(corpus.ranked(), &tie)])
        };
        let needs_notes = request.filter != NoteFilter::default() || !request.sort.is_empty();
        let needed = if needs_notes { Needed::Everything } else { Needed::Ranges(&ranges) };
        let is_known = notebook.corpus.borrow().is_loaded() && known_config(notebook).is_some();
        if !(request.assume_unchanged && is_known && read_needed_of_index(call, &notebook.corpus, needed).await) {
            catch_up_for(call, notebook, needed).await?;
        }
        Ok(())
    }

    /// Selects the items that the recall may return.
    async fn select(&self, refused: &[DocId]) -> Result<Selection, Error> {
        let Self { call, notebook, request, reach, .. } = *self;
        let filter = &request.filter;
        let mut filtered = None;
        if *filter != NoteFilter::default() {
            if filter.needs_text() {
                read_texts(call, notebook, false, |snapshot| Ok(snapshot.ids.clone())).await?;
            }
            let mut ids = look(notebook, call, |snapshot| selected(call, snapshot, filter))?;
            order::sort_slice(&mut ids, Ord::cmp);
            filtered = Some(ids);
        }
        let corpus = notebook.corpus.borrow();
        let mut approved =
            if matches!(reach, Reach::All | Reach::Project) { Vec::new() } else { corpus.files.approved() };
        approved.retain(|id| !refused.contains(id));
        let superseded = successions(call, &corpus, refused, reach == Reach::Prompt);
        let kinds = request.kinds.clone();
        Ok(Selection { reach, kinds, filtered, approved, superseded })
    }

    /// Decides how the question is read, and says what its operators leave out.
    fn reading<'q>(&self, question: &'q Question, selection: &Selection) -> (&'q Query, Option<String>) {
        let corpora = self.corpora();
        let reading = corpora.with_sources(selection, &|path| self.leaves_out(path), |sources| question.read(sources));
        let name = |hit: &Ranked| {
            let (document, entry) = corpora.document(hit).ok()?;
            let path = || self.call.scope.display_path(&document.path);
            corpora.is_item(hit).then(|| entry.map_or_else(path, |entry| entry.key.clone()))
        };
        (reading.query, reading.remark(name))
    }

    fn rank(&self, query: &Query, selection: &Selection) -> Ranking {
        let Self { request, .. } = *self;
        let corpora = self.corpora();
        // The order of the best must not depend on the page.
        let best = self.reread();
        let limit = match request.sort.is_empty() {
            true => {
                (request.offset as usize).saturating_add(self.limit() as usize).saturating_add(self.known).max(best)
            }
            // The first item by another key may be the last by its score.
            false => usize::MAX,
        };
        let is_left_out = |path: &str| self.leaves_out(path);
        let mut ranking =
            corpora.with_sources(selection, &is_left_out, |sources| ranked::search(sources, query, limit));
        ranking.hits.retain(|hit| corpora.is_item(hit));
        if !request.sort.is_empty() {
            ranking.hits = sorted(&corpora, ranking.hits, &request.sort, self.call.now);
        }
        ranking
    }

    /// Returns the number of items whose passages are looked at.
    fn limit(&self) -> u32 {
        if self.request.max_bytes.is_some() { COMPETING } else { self.request.limit }
    }

    /// Returns the number of best hits that are ordered by their passages, too.
    fn reread(&self) -> usize {
        match self.reach {
            Reach::All | Reach::Project if self.request.sort.is_empty() => REREAD.max(self.competing()),
            _ => 0,
        }
    }

    /// Returns the number of items whose passages fill a budget.
    fn competing(&self) -> usize {
        if self.request.max_bytes.is_some() { COMPETING as usize } else { 0 }
    }

    fn leaves_out(&self, path: &str) -> bool {
        let below = self.call.scope.layout.below_any_notebook(path).map_or(path, |(below, _)| below);
        (self.is_left_out)(below)
    }

    /// Returns the page of hits, and the known ones before its end.
    fn page(&self, hits: Vec<Ranked>) -> Vec<Ranked> {
        let corpora = self.corpora();
        let mut rest = self.limit();
        let mut page = Vec::new();
        for hit in hits.into_iter().skip(self.request.offset as usize) {
            if !self.is_known_hit(&corpora, &hit) {
                let Some(less) = rest.checked_sub(1) else { break };
                rest = less;
            }
            page.push(hit);
        }
        page
    }

    pub(super) fn is_known_hit(&self, corpora: &Corpora<'_>, hit: &Ranked) -> bool {
        self.known > 0
            && corpora.document(hit).is_ok_and(|(document, _)| {
                (self.is_known)(&self.call.scope.display_path(&document.path), document.modified)
            })
    }

    /// Returns the hits whose text must be read: notes, and entries.
    fn missing<'h>(&self, hits: impl Iterator<Item = &'h Ranked>) -> [Vec<DocId>; 2] {
        let corpora = self.corpora();
        let has_no_text = |hit: &Ranked| corpora.document(hit).is_ok_and(|(document, _)| document.text.is_none());
        let mut missing = [Vec::new(), Vec::new()];
        for hit in hits.filter(|hit| has_no_text(hit) && !self.is_known_hit(&corpora, hit)) {
            let [notes, of_entries] = &mut missing;
            if hit.source == NOTES { notes } else { of_entries }.push(hit.doc);
        }
        missing
    }

    /// Reads the text of notes and of entries. Returns false if there are none.
    async fn read(&self, [notes, of_entries]: [Vec<DocId>; 2]) -> bool {
        let entries = self.entries.map(|entries| (&entries.corpus, &of_entries));
        for (corpus, ids) in
            [(&self.notebook.corpus, &notes)].into_iter().chain(entries).filter(|(_, ids)| !ids.is_empty())
        {
            load_texts(self.call, corpus, ids).await;
            corpus.borrow_mut().index_notes();
        }
        !(notes.is_empty() && of_entries.is_empty())
    }

    /// Returns true if the file of a hit permits it in a prompt. Entries are judged when they are parsed.
    fn may_be_shown(&self, corpora: &Corpora<'_>, hit: &Ranked) -> bool {
        let Ok((document, entry)) = corpora.document(hit) else { return false };
        let is_approved = |text: &str| Approved::judge(text.into()).is_ok();
        entry.is_some() || self.is_known_hit(corpora, hit) || document.text.as_deref().is_some_and(is_approved)
    }
}

/// Orders the best hits by their own scores and those of their best passages: a long note may have an answer in few words. A
/// note in which somebody only asked the question has its words, and no answer.
fn order_by_passages(
    hits: &mut [Ranked],
    contest: &Contest,
    corpora: &Corpora<'_>,
    is_of_the_time: &dyn Fn(&Corpora<'_>, &Ranked) -> bool,
) {
    let passages: Vec<f32> = hits.iter().map(|hit| contest.best_score(hit)).collect();
    let most = |scores: &mut dyn Iterator<Item = f32>| scores.fold(0.0_f32, f32::max).max(f32::MIN_POSITIVE);
    let (most_hit, most_passage) = (most(&mut hits.iter().map(|hit| hit.score)), most(&mut passages.iter().copied()));
    let are_pages: Vec<bool> = hits.iter().map(|hit| corpora.is_page(hit)).collect();
    let pages = are_pages.iter().filter(|is_page| **is_page).count();
    let are_many = pages > MANY_PAGES * (hits.len() - pages);
    let mut scored: Vec<(f32, usize, Ranked)> = Vec::new();
    for (place, ((hit, passage), is_page)) in hits.iter().zip(passages).zip(are_pages).enumerate() {
        let asked = if contest.only_asks(hit) { ONLY_ASKS } else { 1.0 };
        let (own, passage) = (asked * hit.score / most_hit, passage / most_passage);
        // A name is an answer that no passage repeats, unless it is the question with which a session began.
        let is_session = corpora.is_session(hit);
        let is_named = !is_session && NAMES.into_iter().any(|field| hit.fields.contains(field));
        let passage = if is_named { passage.max(own) } else { passage };
        let factor = |applies: bool, factor: f32| if applies { factor } else { 1.0 };
        let weight = factor(is_session, SESSION)
            * factor(are_many && is_page, ONE_OF_MANY_PAGES)
            * factor(is_of_the_time(corpora, hit), OF_THE_TIME);
        let likeness = contest.likeness(hit);
        scored.push((weight * (own + PASSAGE_WEIGHT * passage + LIKENESS_WEIGHT * likeness), place, hit.clone()));
    }
    after_what_answers(&mut scored, corpora);
    order::sort_slice(&mut scored, |(a, one, _), (b, other, _)| b.total_cmp(a).then(one.cmp(other)));
    hits.iter_mut().zip(scored).for_each(|(hit, (.., ordered))| *hit = ordered);
}

/// Lowers the notes of sessions below every item that somebody kept and that has as many words of the question.
fn after_what_answers(scored: &mut [(f32, usize, Ranked)], corpora: &Corpora<'_>) {
    let kept: Vec<(f32, usize)> = scored
        .iter()
        .filter(|(.., hit)| !corpora.is_session(hit))
        .map(|(score, _, hit)| (*score, hit.terms.len()))
        .collect();
    for (score, _, hit) in scored.iter_mut().filter(|(.., hit)| corpora.is_session(hit)) {
        let answering = kept.iter().filter(|(_, terms)| *terms >= hit.terms.len()).map(|(score, _)| *score);
        // Of equal ones, the order of the search decides, so it must be lower.
        *score = answering.map(|other| other * (1.0 - f32::EPSILON)).fold(*score, f32::min);
    }
}

/// Puts the newest first of the hits that have the most words of the question, which asks for the latest.
fn latest_first(hits: &mut [Ranked], corpora: &Corpora<'_>, call: &Call) {
    let most = hits.iter().map(|hit| hit.terms.len()).max().unwrap_or_default();
    let of_subject = |hit: &Ranked| (hit.terms.len() == most).then(|| corpora.time_of(call, hit).unwrap_or_default());
    let mut ordered: Vec<(Option<u64>, usize, Ranked)> =
        hits.iter().enumerate().map(|(place, hit)| (of_subject(hit), place, hit.clone())).collect();
    order::sort_slice(&mut ordered, |(a, one, _), (b, other, _)| b.cmp(a).then(one.cmp(other)));
    hits.iter_mut().zip(ordered).for_each(|(hit, (.., ordered))| *hit = ordered);
}

/// Sorts the hits by the fields of their files. Equal ones stay in the order of their scores.
fn sorted(corpora: &Corpora<'_>, hits: Vec<Ranked>, keys: &[SortKey], now: LocalTime) -> Vec<Ranked> {
    let mut known: Vec<(Ranked, Option<Known<'_>>)> = hits
        .into_iter()
        .map(|hit| {
            let known = corpora.document(&hit).ok().and_then(|(document, entry)| {
                Some(Known { document, entry, note: corpora.indexed_note(&hit, document)?, now })
            });
            (hit, known)
        })
        .collect();
    order::sort_slice(&mut known, |(_, a), (_, b)| match (a, b) {
        (Some(a), Some(b)) => SortKey::compare(keys, &a.sort_fields(), &b.sort_fields()),
        _ => b.is_some().cmp(&a.is_some()),
    });
    known.into_iter().map(|(hit, _)| hit).collect()
}

/// A hit with its file.
struct Known<'a> {
    document: &'a IndexedFile,
    entry: Option<&'a SearchableEntry>,
    note: Note,
    now: LocalTime,
}

impl Known<'_> {
    fn sort_fields(&self) -> SortFields<'_> {
        let Self { document, entry, note, now } = self;
        let stated = || note.stated().map(|date| now.moment_of(date));
        SortFields {
            created: entry.map_or_else(stated, |entry| Some(entry.created)),
            modified: entry.map_or(document.modified, |entry| entry.updated),
            path: document.path.as_str(),
            title: entry.map_or(&note.title, |entry| &entry.key),
            word_count: note.word_count,
        }
    }
}
