//! `recall-for-prompt`: finds what memory knows about a prompt, and records the start of the prompt.

use saddlebag_collections::{order, prelude::*, words};

use super::client_text::prompt_of;
use super::news::news;
use super::note::MAX_PROMPT_CHARS;
use super::question::{asks, question};
use super::screened::{Excluded, Screening, first_chars};
use super::state::{Event, LastChange, Line, Recorded, State, mark_of, record};
use super::types::{SessionCall, SessionName, searchable};
use crate::changes::Call;
use crate::context::{BlockForm, Overflow, Section, SectionContent, SectionItem, SectionKind, block_in};
use crate::items::{
    Dated, TimeAsked, beginning, beginning_of, entries_of, has_name, latest_asked, notes_of, time_asked, time_of,
};
use crate::notebook::{
    ItemKind, ListedItem, NoteFilter, PromptHit, PromptHits, PromptRecall, Recall, SESSION, WithheldHit, newer_note,
    recall_for_prompt, title_or_stem, without_time,
};
use crate::request::{Run, SAMPLE_TEXT, request};
use crate::search::SearchableEntry;
use crate::search::ranked::{Fit, RULE};
use crate::store::{DECISIONS_FOLDER, RelPath, Timestamp, is_fact, is_in_folder, is_of_sessions};
use crate::trust::{Approved, ForModel, without_private};
use saddlebag_markdown::{Note, TagSyntax, one_line};
use saddlebag_protocol::Error;

/// Default size limit of the text in bytes.
pub const DEFAULT_PROMPT_BYTES: u32 = 1_500;

/// Default minimum score of a hit in thousandths; docs/hooks.md has the measurement.
pub const DEFAULT_MIN_SCORE: u32 = 1_000;

/// Score of a hit as a share of that of the best that it must have, unless it is about other words of the prompt than better ones.
const SHARE_OF_BEST: f32 = 0.7;
/// Size in bytes from which a file is judged as a page, wherever it is: a fact says one thing.
const PAGE_BYTES: usize = 1_000;
/// Maximum number of items that are only named, and maximum size of their names in bytes.
const MAX_NAMED: usize = 3;
const MAX_NAMES_BYTES: usize = 150;
/// Bytes around the text of an item of a time.
const FRAME_BYTES: usize = 300;

/// Maximum size of a passage in bytes.
const PASSAGE_BYTES: usize = 400;

/// Maximum number of hits of each kind.
const MAX_HITS: u32 = 12;

/// Finds what memory knows about a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallForPrompt {
    /// Name of the session.
    pub session: String,
    /// The prompt. The syntax of queries has no meaning in it. Text that a client has written is left out: see
    /// [`prompt_of`].
    pub prompt: String,
    /// Size limit of the whole text in bytes.
    pub max_bytes: u32,
    /// Minimum score of a hit, in thousandths of what the rules ask for; `None` is [`DEFAULT_MIN_SCORE`], 0 is every hit.
    pub min_score: Option<u32>,
    /// Globs of notes that are not recalled, relative to the notebook. A glob without `/` matches a name in any folder.
    pub keep_out: Vec<String>,
    /// If set, only report what would be added; nothing is recorded.
    pub dry_run: bool,
    /// Form of the text; `None` is that for Claude.
    pub form: Option<BlockForm>,
}

/// Notes and entries about a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecallForPromptReply {
    /// Text to add to the prompt; `None` if nothing was found.
    pub text: Option<ForModel>,
    /// Paths of the notes and keys of the entries in the text, best first.
    pub sources: Vec<String>,
    /// Hits that are not in the text, best first.
    pub not_shown: Vec<NotShown>,
    /// Parts of the prompt that were not recorded, with the reasons.
    pub unrecorded: Vec<String>,
}

/// A hit that is not in the text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotShown {
    /// Path of the note, or key of the entry.
    pub source: String,
    /// Reason why it is not in the text.
    pub reason: NotShownReason,
}

/// Reason why a hit is not in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotShownReason {
    /// Nobody has approved the text of a tool or an import.
    Unapproved,
    /// An agent wrote the entry in another project, and nobody has approved it for all.
    OtherProject,
    /// The budget is used up.
    Budget,
    /// The session has seen it before.
    AlreadyShown,
    /// The state of the session is full.
    StateFull,
}

words!(NotShownReason, "reason why a hit is not shown" {
    Unapproved = "unapproved",
    OtherProject = "other-project",
    Budget = "budget",
    AlreadyShown = "already-shown",
    StateFull = "state-full",
});

request!(RecallForPrompt "recall-for-prompt" => RecallForPromptReply, Appends, |name| {
    let recall = |prompt: &str| Self {
        session: name.into(),
        prompt: prompt.into(),
        max_bytes: DEFAULT_PROMPT_BYTES,
        min_score: Some(0),
        keep_out: Vec::new(),
        dry_run: false,
        form: None,
    };
    [SAMPLE_TEXT, name].map(recall).to_vec()
});

/// A note or an entry that matches.
struct Hit {
    /// Name for the reply: path of the note, or key of the entry.
    source: String,
    path: String,
    score: f32,
    /// The item, or the reason why it must not be shown.
    found: Result<PromptHit, NotShownReason>,
    /// True if only the beginning of it is shown, so that a later prompt may bring another part.
    is_part: bool,
}

impl Run<SessionCall<'_>> for RecallForPrompt {
    async fn run(self, with: &SessionCall<'_>) -> Result<RecallForPromptReply, Error> {
        let call = with.call;
        let session = SessionName::new(self.session)?;
        let kept_out = Excluded::from_globs(&self.keep_out)?;
        let mut screening = Screening::new(call).await?;
        let prompt = without_private(&self.prompt);
        // What a client writes in the place of a prompt is neither recorded nor asked about.
        let Some(prompt) = prompt_of(&prompt) else { return Ok(RecallForPromptReply::default()) };
        let mut line = Line::new(call, Event::Prompt);
        let start = first_chars(prompt.trim(), MAX_PROMPT_CHARS).to_string();
        line.text = screening.text("prompt", start)?.filter(|text| !text.is_empty());
        let state = State::load(call, &session).await?;
        let of_time = of_time(with, prompt, self.max_bytes, &session, &kept_out, &state).await?;
        let min_score = self.min_score.unwrap_or(DEFAULT_MIN_SCORE);
        let (hits, perhaps) = match of_time {
            // A name may have a date in it.
            Some(of_time) => {
                let (mut hits, _) = found(with, prompt, 0, None, &kept_out, &state).await?;
                hits.retain(|hit| hit.found.as_ref().is_ok_and(|found| has_name(prompt, found.name.as_str())));
                let others = of_time.into_iter().filter(|other| !hits.iter().any(|hit| hit.path == other.path));
                let others: Vec<Hit> = others.collect();
                (hits.into_iter().chain(others).collect(), Vec::new())
            }
            None => found(with, prompt, min_score, Some(call.now.timestamp()), &kept_out, &state).await?,
        };
        let mut not_shown: Vec<NotShown> = Vec::new();
        let form = self.form.unwrap_or_default();
        let mut items: Vec<SectionItem> = Vec::new();
        let mut reply = RecallForPromptReply::default();
        for Hit { source, path, found, is_part, .. } in hits {
            let reason = match found {
                Err(reason) => Some(reason),
                Ok(_) if state.is_cut => Some(NotShownReason::StateFull),
                Ok(found) => {
                    let heading = heading(call, &found);
                    let (path, key) = (path.clone(), Some(source.clone()));
                    items.push(SectionItem { path, key, heading, text: found.passage });
                    match rendered(form, &items, self.max_bytes as usize) {
                        Some(text) => {
                            reply.text = Some(text);
                            None
                        }
                        None => {
                            items.pop();
                            Some(NotShownReason::Budget)
                        }
                    }
                }
            };
            match reason {
                Some(reason) => not_shown.push(NotShown { source, reason }),
                None => {
                    reply.sources.push(source);
                    line.shown.extend(Some(path).filter(|_| !is_part));
                }
            }
        }
        if let Some((item, named)) = perhaps_of(perhaps).filter(|_| !state.is_cut) {
            items.push(item);
            match rendered(form, &items, self.max_bytes as usize) {
                Some(text) => {
                    reply.text = Some(text);
                    line.shown.extend(named.iter().map(|path| mark_of(path)));
                }
                None => drop(items.pop()),
            }
        }
        // A client that takes no text with a prompt is not told.
        let is_told = self.min_score != Some(u32::MAX) && !state.is_cut;
        if let Some(news) = if is_told { news(with, &state, &line.shown).await? } else { None } {
            let source = news.item.path.clone();
            items.push(news.item);
            if let Some(text) = rendered(form, &items, self.max_bytes as usize) {
                (reply.text, line.newest) = (Some(text), news.newest);
                reply.sources.push(source);
            }
        }
        let recorded = if self.dry_run { Recorded::Whole } else { record(call, &session, line).await? };
        match recorded {
            Recorded::Whole => {}
            // Without its text, the line does not say what was shown.
            Recorded::WithoutTexts | Recorded::Full => {
                let sources = core::mem::take(&mut reply.sources).into_iter();
                not_shown.extend(sources.map(|source| NotShown { source, reason: NotShownReason::StateFull }));
                reply.text = None;
                screening.leave_out("the prompt: the state of the session is full");
            }
        }
        Ok(RecallForPromptReply { not_shown, unrecorded: screening.unrecorded, ..reply })
    }
}

/// Kinds of items that a prompt asks for, each on its own: pages must neither outrank facts nor count for their rarities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// Entries, long-term memory, and what `remember` wrote.
    Facts,
    /// All other notes.
    Pages,
}

impl Asked {
    /// Returns true for the path of a note, relative to its notebook.
    fn has(self, path: &str) -> bool {
        is_fact(path) == (self == Self::Facts)
    }
}

/// Returns the line with the names of items that may be of use, and their paths. `None` without any.
fn perhaps_of(mut perhaps: Vec<PromptHit>) -> Option<(SectionItem, Vec<String>)> {
    perhaps.truncate(MAX_NAMED);
    let mut heading = Approved::from("Perhaps, read with `mem_show NAME`: ");
    let mut paths = Vec::new();
    let mut room = MAX_NAMES_BYTES;
    for PromptHit { path, name, .. } in perhaps {
        let name = name.map(one_line);
        let Some(left) = room.checked_sub(name.as_str().len() + 3) else { continue };
        room = left;
        heading.push_ours(if paths.is_empty() { "" } else { " · " });
        heading.push(&name);
        paths.push(path);
    }
    let path = paths.first()?.clone();
    Some((SectionItem { key: Some(path.clone()), path, heading, text: Approved::default() }, paths))
}

/// Finds notes and entries: first facts, best first, then pages, best first; and facts of which only the name may be of use. With the
/// time of `now`, words of a time in the prompt say when, and not about what.
async fn found(
    with: &SessionCall<'_>,
    prompt: &str,
    min_score: u32,
    now: Option<Timestamp>,
    kept_out: &Excluded,
    state: &State,
) -> Result<(Vec<Hit>, Vec<PromptHit>), Error> {
    let SessionCall { call, notebook, entries, .. } = *with;
    let Some(question) = question(prompt) else { return Ok(Default::default()) };
    let (rest, time) = now.map_or_else(Default::default, |now| without_time(&question, now));
    let question = if rest.is_empty() { question } else { rest };
    let asks = asks(prompt);
    let least = min_score as f32 / 1_000.0;
    let searchable = searchable(call, entries).await?;
    let request = Recall { query: question, limit: MAX_HITS, ..Recall::default() };
    let (mut all, mut perhaps) = (Vec::new(), Vec::new());
    let least_of_names = RULE.name as f32 / RULE.fact as f32;
    for asked in [Asked::Facts, Asked::Pages] {
        // The index is brought up to date once.
        let request = Recall { assume_unchanged: asked != Asked::Facts, ..request.clone() };
        let recall = PromptRecall {
            request: &request,
            passage_bytes: PASSAGE_BYTES,
            excerpt: None,
            is_left_out: &|path| is_of_sessions(path) || !asked.has(path) || kept_out.matches(path),
            is_known: &|path, modified| state.has_shown(path, LastChange::at(call, modified)),
            known: state.shown(),
        };
        let entries = searchable.as_ref().filter(|_| asked == Asked::Facts);
        let PromptHits { shown, withheld } = recall_for_prompt(call, notebook, entries, &recall).await?;
        // How well an item fits: from 1 on it is shown.
        let score =
            |fit: &Fit, is_page: bool| RULE.score(fit, asks) / if is_page { RULE.page } else { RULE.fact } as f32;
        let is_page = asked == Asked::Pages;
        let says_something = |found: &PromptHit| found.is_known || !found.passage.as_str().is_empty();
        let shown = shown.into_iter().filter(says_something).map(|found| {
            let (path, fit) = (found.path.clone(), found.fit);
            let source = if found.category.is_some() { found.name.as_str().into() } else { path.clone() };
            let score = score(&fit, is_page || found.bytes > PAGE_BYTES);
            let found = if found.is_known { Err(NotShownReason::AlreadyShown) } else { Ok(found) };
            (fit, true, Hit { source, path, score, found, is_part: false })
        });
        let withheld = withheld.into_iter().map(|hit| {
            let WithheldHit { path, key, is_of_other_project, fit } = hit;
            let reason = if is_of_other_project { NotShownReason::OtherProject } else { NotShownReason::Unapproved };
            let source = key.unwrap_or_else(|| path.clone());
            (fit, false, Hit { source, path, score: score(&fit, is_page), found: Err(reason), is_part: false })
        });
        let mut hits: Vec<(Fit, bool, Hit)> = shown.chain(withheld).collect();
        order::sort_slice(&mut hits, |(.., a), (.., b)| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        let (mut best, mut words) = (0.0_f32, 0);
        for (fit, may_be_shown, hit) in hits {
            let is_enough = hit.score >= SHARE_OF_BEST * best || fit.is_mostly_beside(words);
            if hit.score < least || !is_enough {
                let may_be_named = !is_page && hit.score >= least_of_names * least.max(1.0);
                perhaps.extend(hit.found.ok().filter(|found| may_be_named && state.may_name(&found.path)));
                continue;
            }
            // Withheld items must not influence the others.
            if may_be_shown {
                // A name that is the whole prompt does not make other items worse.
                best = best.max(score(&Fit { is_name: false, ..fit }, is_page));
                words |= fit.together;
            }
            all.push(hit);
        }
    }
    let is_of_time =
        |hit: &Hit| time.as_ref().zip(hit.found.as_ref().ok()).is_some_and(|(time, found)| time.contains(&found.date));
    if all.iter().any(is_of_time) {
        all.retain(|hit| hit.found.is_err() || is_of_time(hit));
    }
    Ok((all, perhaps))
}

/// Finds what memory has of the time that a prompt asks about, such as "what did we do yesterday?" or "latest decisions": facts,
/// decisions and entries first, then logs, sessions and dated notes, each the newest first. `None` if the prompt is about more than
/// a time.
async fn of_time(
    with: &SessionCall<'_>,
    prompt: &str,
    max_bytes: u32,
    session: &SessionName,
    kept_out: &Excluded,
    state: &State,
) -> Result<Option<Vec<Hit>>, Error> {
    let SessionCall { call, notebook, entries, .. } = *with;
    let of_time = time_asked(prompt, call.now).filter(|asked| asked.is_past);
    let of_time = of_time.map(|TimeAsked { time, .. }| (time, Dated::default()));
    // "Do the last change" is work.
    let latest = || Some((0..u64::MAX, latest_asked(prompt).filter(|dated| !dated.has_entries())?));
    let Some((time, dated)) = of_time.or_else(latest) else { return Ok(None) };
    let mut notes = notes_of(call, notebook, NoteFilter::default(), &time).await?.items;
    let below = |path: &str| call.scope.below_notebook(path).unwrap_or(path).to_string();
    notes.retain(|note| {
        let file = call.scope.file(&note.path);
        let is_old = |file: &RelPath| newer_note(call, &notebook.corpus.borrow(), file.as_str()).is_some();
        // A page is of the time when it was written, not when it was copied here.
        let is_dated = note.kind != ItemKind::Note || is_fact(&below(&note.path)) || note.created != note.modified;
        dated.has(call, note)
            && is_dated
            && file.is_some_and(|file| !is_old(&file) && !kept_out.matches(&below(file.as_str())))
    });
    // Of two of the same time, the one that was listed last comes first.
    notes.reverse();
    let searchable = if dated.has_entries() { searchable(call, entries).await? } else { None };
    // "What did we decide?" is about decisions.
    let of_decisions = prompt.to_lowercase().contains("deci");
    let rank = |path: &str| match is_fact(&below(path)) {
        true if of_decisions && is_in_folder(&below(path), DECISIONS_FOLDER) => 2,
        is_fact => u8::from(is_fact),
    };
    let mut items: Vec<(u8, u64, OfTime)> =
        notes.into_iter().map(|note| (rank(&note.path), time_of(call, &note), OfTime::Note(Box::new(note)))).collect();
    if let Some(entries) = &searchable {
        // Copies, because the index must be free for other commands while the notes are read.
        let corpus = entries.corpus.borrow();
        let mut found = entries_of(&corpus, entries, &time);
        found.retain(|(entry, _)| entry.marks.superseded_by.is_none());
        let older = found.len().saturating_sub(MAX_HITS as usize);
        items.extend(found.into_iter().skip(older).map(|(entry, file)| {
            let text = file.text.as_deref().unwrap_or_default().into();
            let found = EntryOfTime { entry: entry.clone(), path: file.path.clone(), modified: file.modified, text };
            (1, entry.updated, OfTime::Entry(Box::new(found)))
        }));
    }
    order::sort_slice(&mut items, |(a, one, _), (b, other, _)| b.cmp(a).then(other.cmp(one)));
    items.truncate(MAX_HITS as usize);
    let room = (max_bytes as usize / items.len().max(1)).saturating_sub(FRAME_BYTES).max(PASSAGE_BYTES);
    let mut hits = Vec::new();
    for (_, date, item) in items {
        let hit = |source: String, path: String, is_part: bool, found: Result<PromptHit, NotShownReason>| {
            let found = match found {
                Ok(_) if state.has_shown(&path, LastChange::at(call, item.modified())) => {
                    Err(NotShownReason::AlreadyShown)
                }
                found => found,
            };
            Hit { source, path, score: 1.0, found, is_part }
        };
        let shown = |path: &str, name: Approved, category: Option<String>, passage: Approved| PromptHit {
            path: path.into(),
            name,
            category,
            passage,
            fit: Fit::default(),
            date,
            only_asks: false,
            is_known: false,
            is_whole: false,
            bytes: 0,
        };
        hits.push(match &item {
            OfTime::Note(note) => {
                let Some(file) = call.scope.file(&note.path) else { continue };
                let Some(text) = call.load_text(&file).await.ok().flatten() else { continue };
                let parsed = Note::parse(&text, TagSyntax::default());
                if parsed.frontmatter.texts(SESSION).any(|name| name == session.as_str()) {
                    continue;
                }
                let body = parsed.body;
                let is_part = body.len() > room;
                let found = Approved::judge(text).map_err(|_| NotShownReason::Unapproved).map(|text| {
                    let passage = text.map(|text| beginning(text.get(body).unwrap_or_default(), room));
                    shown(&note.path, text.map(|_| title_or_stem(&parsed.title, file.as_str())), None, passage)
                });
                hit(note.path.clone(), note.path.clone(), is_part, found)
            }
            OfTime::Entry(found) => {
                let EntryOfTime { entry, path, text, .. } = &**found;
                let (path, is_part) = (call.scope.display_path(path), text.len() > room);
                let text = Approved::judge(text.clone());
                let found = match text {
                    _ if entry.marks.unapproved.is_some() => Err(NotShownReason::Unapproved),
                    _ if entry.marks.is_withheld() => Err(NotShownReason::OtherProject),
                    Err(_) => Err(NotShownReason::Unapproved),
                    Ok(text) => {
                        let passage = text.map(|text| beginning_of(text, room));
                        Ok(shown(&path, text.map(|_| entry.key.clone()), Some(entry.category.clone()), passage))
                    }
                };
                hit(entry.key.clone(), path, is_part, found)
            }
        });
    }
    Ok(Some(hits))
}

/// An item of a time.
enum OfTime {
    Note(Box<ListedItem>),
    Entry(Box<EntryOfTime>),
}

struct EntryOfTime {
    entry: SearchableEntry,
    path: RelPath,
    modified: u64,
    text: String,
}

impl OfTime {
    fn modified(&self) -> u64 {
        match self {
            Self::Note(note) => note.modified,
            Self::Entry(found) => found.modified,
        }
    }
}

/// Returns the heading of an item: its name and its date.
fn heading(call: &Call, PromptHit { path, name, category, date, .. }: &PromptHit) -> Approved {
    let date = dated(call, *date);
    name.map(|name| match category {
        // The title of a log is its date.
        None if !date.is_empty() && date.ends_with(name) => format!("{path} ({})", one_line(name)),
        Some(category) => format!("entry {} ({}{date})", one_line(name), one_line(category)),
        None => format!("{path} ({}{date})", one_line(name)),
    })
}

/// Returns the day of a time, after a comma. A model must be able to tell an old text from a new one. Empty for an unknown time.
pub(super) fn dated(call: &Call, nanoseconds: u64) -> String {
    let seconds = i64::try_from(nanoseconds / 1_000_000_000).ok().filter(|seconds| *seconds > 0);
    let time = seconds.and_then(|seconds| Timestamp { seconds, nanoseconds: 0, ..call.now.timestamp() }.local());
    time.map(|time| format!(", {}", time.date())).unwrap_or_default()
}

/// Returns the text with all items whole; `None` if they do not fit.
pub(super) fn rendered(form: BlockForm, items: &[SectionItem], max_bytes: usize) -> Option<ForModel> {
    let content = SectionContent::Items(items.to_vec());
    let section = Section { kind: SectionKind::Memories, path: String::new(), content };
    let reply = block_in(form, &[section], Overflow::Balanced, max_bytes);
    reply.block.filter(|_| reply.left_out.is_empty())
}
