//! `recall-for-prompt`: finds what memory knows about a prompt, and records the start of the prompt.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use saddlebag_words::words;

use super::client_text::prompt_of;
use super::note::MAX_PROMPT_CHARS;
use super::screened::{Screening, first_chars};
use super::state::{Event, Line, Recorded, State, record};
use super::types::{SessionCall, SessionName, is_of_sessions, searchable};
use crate::changes::Call;
use crate::context::{BlockForm, Overflow, Section, SectionContent, SectionItem, SectionKind, block_in};
use crate::document::{head, one_line};
use crate::notebook::{PromptHit, PromptHits, PromptRecall, Recall, WithheldHit, recall_for_prompt};
use crate::order;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run, SAMPLE_TEXT};
use crate::store::Timestamp;
use crate::trust::{Approved, ForModel, without_private};

/// Default size limit of the text in bytes.
pub const DEFAULT_PROMPT_BYTES: u32 = 1_500;

/// Default minimum score in thousandths. With it, 85 of 100 questions about a project get a note that answers them, and
/// 5 of 100 questions about something else get any note; docs/hooks.md has the measurement.
pub const DEFAULT_MIN_SCORE: u32 = 2_600;

/// Number of words from which on the hits of a prompt need a higher score.
const SHORT_PROMPT_WORDS: usize = 12;

/// Number of words from which on the score does not grow any more.
const MAX_COUNTED_WORDS: usize = 80;

/// Share of the minimum score that each further word adds.
const MORE_PER_WORD: f64 = 0.046;

/// Minimum score of a hit, as a share of the score of the best.
const SHARE_OF_BEST: f64 = 0.7;

/// Minimum number of words of the prompt that a hit has.
const MIN_TERMS: usize = 2;

/// Maximum size of a passage in bytes.
const PASSAGE_BYTES: usize = 400;

/// Number of bytes of a prompt that are searched for.
const MAX_QUESTION_BYTES: usize = 8 << 10;

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
    /// Minimum score of a hit, in thousandths of the rarity of a word that only one note has; `None` is
    /// [`DEFAULT_MIN_SCORE`], 0 is every hit.
    pub min_score: Option<u32>,
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

impl Request for RecallForPrompt {
    type Reply = RecallForPromptReply;
    const NAME: &'static str = "recall-for-prompt";
    const EFFECT: Effect = Effect::Appends;

    fn samples(name: &str) -> Vec<Self> {
        let recall = |prompt: &str| Self {
            session: name.into(),
            prompt: prompt.into(),
            max_bytes: DEFAULT_PROMPT_BYTES,
            min_score: Some(0),
            form: None,
        };
        [SAMPLE_TEXT, name].map(recall).to_vec()
    }
}

/// A note or an entry that matches.
struct Hit {
    /// Name for the reply: path of the note, or key of the entry.
    source: String,
    path: String,
    score: f64,
    /// The item, or the reason why it must not be shown.
    found: Result<PromptHit, NotShownReason>,
}

impl Run<SessionCall<'_>> for RecallForPrompt {
    async fn run(self, with: &SessionCall<'_>) -> Result<RecallForPromptReply, Error> {
        let call = with.call;
        let session = SessionName::new(self.session)?;
        let mut screening = Screening::new(call).await?;
        let prompt = without_private(&self.prompt);
        // What a client writes in the place of a prompt is neither recorded nor asked about.
        let Some(prompt) = prompt_of(&prompt) else { return Ok(RecallForPromptReply::default()) };
        let mut line = Line::new(call, Event::Prompt);
        let start = first_chars(prompt.trim(), MAX_PROMPT_CHARS).to_string();
        line.text = screening.text("prompt", start)?.filter(|text| !text.is_empty());
        let state = State::load(call, &session).await?;
        let hits = match question(prompt) {
            Some(question) => found(with, question, self.min_score.unwrap_or(DEFAULT_MIN_SCORE), &state).await?,
            None => Vec::new(),
        };
        let mut not_shown: Vec<NotShown> = Vec::new();
        let form = self.form.unwrap_or_default();
        let mut items: Vec<SectionItem> = Vec::new();
        let mut reply = RecallForPromptReply::default();
        for Hit { source, path, found, .. } in hits {
            let reason = match found {
                Err(reason) => Some(reason),
                Ok(_) if state.is_cut => Some(NotShownReason::StateFull),
                Ok(found) => {
                    let heading = heading(call, &found);
                    let (path, key) = (path.clone(), source.clone());
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
                    line.shown.push(path);
                }
            }
        }
        match record(call, &session, line).await? {
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

/// Returns the words of a prompt as a question, without the syntax of queries.
fn question(prompt: &str) -> Option<String> {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '’');
    let plain: String = head(prompt, MAX_QUESTION_BYTES).chars().map(|c| if is_of_word(c) { c } else { ' ' }).collect();
    let question = one_line(&plain);
    // One word can be two terms only in a script without spaces. Then nothing is listed nor read.
    let is_one_word = question.is_ascii() && !question.contains([' ', '_', '\'']);
    (!question.is_empty() && !is_one_word).then_some(question)
}

/// Minimum score of a hit for a prompt, for scores as multiples of the greatest rarity.
///
/// A long prompt has more words by chance in common with a note, so its hits need more.
fn least_score(question: &str, min_score: u32) -> f64 {
    let words = question.split(' ').count().min(MAX_COUNTED_WORDS);
    let more = u32::try_from(words.saturating_sub(SHORT_PROMPT_WORDS)).unwrap_or(0);
    f64::from(min_score) / 1_000.0 * (1.0 + MORE_PER_WORD * f64::from(more))
}

/// Finds notes and entries, best first.
async fn found(with: &SessionCall<'_>, question: String, min_score: u32, state: &State) -> Result<Vec<Hit>, Error> {
    let SessionCall { call, notebook, entries, .. } = *with;
    let least = least_score(&question, min_score);
    let searchable = searchable(call, entries).await?;
    let recall = PromptRecall {
        request: &Recall { query: question, limit: MAX_HITS, ..Recall::default() },
        passage_bytes: PASSAGE_BYTES,
        excerpt: None,
        is_left_out: &is_of_sessions,
        is_known: &|path| state.has_shown(path),
        known: state.shown(),
        may_rate: false,
    };
    let PromptHits { shown, withheld } = recall_for_prompt(call, notebook, searchable.as_ref(), &recall).await?;
    let best = shown.first().map_or(0.0, |found| found.score);
    let is_enough = |score: f64, share_of_best: f64, terms: usize| {
        min_score == 0 || score >= least && share_of_best >= SHARE_OF_BEST && terms >= MIN_TERMS
    };
    let is_shown = |found: &PromptHit| is_enough(found.score, found.score / best, found.terms);
    let shown = shown.into_iter().filter(is_shown).map(|found| {
        let (path, score) = (found.path.clone(), found.score);
        let source = if found.category.is_some() { found.name.as_str().into() } else { path.clone() };
        let found = if found.is_known { Err(NotShownReason::AlreadyShown) } else { Ok(found) };
        Hit { source, path, score, found }
    });
    let withheld = withheld.into_iter().filter(|hit| is_enough(hit.score, hit.share_of_best, hit.terms)).map(|hit| {
        let WithheldHit { path, key, score, is_of_other_project, .. } = hit;
        let reason = if is_of_other_project { NotShownReason::OtherProject } else { NotShownReason::Unapproved };
        Hit { source: key.unwrap_or_else(|| path.clone()), path, score, found: Err(reason) }
    });
    let mut hits: Vec<Hit> = shown.chain(withheld).collect();
    order::sort_slice(&mut hits, |a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    Ok(hits)
}

/// Returns the heading of an item: its name and its date.
fn heading(call: &Call, PromptHit { path, name, category, date, .. }: &PromptHit) -> Approved {
    let date = dated(call, *date);
    name.map(|name| match category {
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
