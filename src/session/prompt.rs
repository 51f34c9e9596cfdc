//! `recall-for-prompt`: finds what memory knows about a prompt, and records the start of the prompt.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use saddlebag_words::words;

use super::screened::{Screening, first_chars, one_line, without_private};
use super::state::{Event, Line, Recorded, State, record};
use super::types::{SessionCall, SessionName};
use crate::context::{BlockForm, Overflow, Section, SectionContent, SectionItem, SectionKind, block_in};
use crate::document::head;
use crate::entries::{self, FindEntries};
use crate::notebook::{NoteFilter, NotebookCall, Recall};
use crate::order;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::samples::SAMPLE_TEXT;
use crate::store::SESSIONS_FOLDER;
use crate::trust::{ForModel, Provenance};

/// Default size limit of the text in bytes.
pub const DEFAULT_PROMPT_BYTES: u32 = 1_500;

/// Default minimum score in thousandths.
pub const DEFAULT_MIN_SCORE: u32 = 4_000;

/// Maximum number of characters of a prompt that are recorded.
const MAX_PROMPT_CHARS: usize = 500;

/// Number of bytes of a prompt that are searched for.
const MAX_QUESTION_BYTES: usize = 8 << 10;

/// Maximum number of hits of each kind.
const MAX_HITS: u32 = 12;

/// Finds what memory knows about a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallForPrompt {
    /// Name of the session.
    pub session: String,
    /// The prompt. The syntax of queries has no meaning in it.
    pub prompt: String,
    /// Size limit of the whole text in bytes.
    pub max_bytes: u32,
    /// Minimum score of a hit in thousandths; `None` is [`DEFAULT_MIN_SCORE`].
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
    /// The budget is used up.
    Budget,
    /// The session has seen it before.
    AlreadyShown,
    /// The state of the session is full.
    StateFull,
}

words!(NotShownReason, "reason why a hit is not shown" {
    Unapproved = "unapproved",
    Budget = "budget",
    AlreadyShown = "already-shown",
    StateFull = "state-full",
});

impl Request for RecallForPrompt {
    type Reply = RecallForPromptReply;
    const NAME: &'static str = "recall-for-prompt";
    // It appends to the state of the session, which is not a file that people keep.
    const EFFECT: Effect = Effect::Reads;

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
    /// Name for the reply.
    source: String,
    path: String,
    heading: String,
    text: String,
    score: f64,
    unapproved: Option<Provenance>,
}

impl Run<SessionCall<'_>> for RecallForPrompt {
    async fn run(self, with: &SessionCall<'_>) -> Result<RecallForPromptReply, Error> {
        let call = with.call;
        let session = SessionName::new(call, self.session)?;
        let mut screening = Screening::new(call);
        let prompt = without_private(&self.prompt);
        let mut line = Line::new(call, Event::Prompt);
        let start = first_chars(prompt.trim(), MAX_PROMPT_CHARS).to_string();
        line.text = screening.text("prompt", start)?.filter(|text| !text.is_empty());
        let min_score = f64::from(self.min_score.unwrap_or(DEFAULT_MIN_SCORE)) / 1_000.0;
        let hits = match question(&prompt) {
            Some(question) => found(with, question, min_score).await?,
            None => Vec::new(),
        };
        let mut not_shown: Vec<NotShown> = Vec::new();
        let state = if hits.is_empty() { State::default() } else { State::load(call, &session).await? };
        let form = self.form.unwrap_or_default();
        let mut items: Vec<SectionItem> = Vec::new();
        let mut reply = RecallForPromptReply::default();
        for hit in hits {
            let reason = if hit.unapproved.is_some() {
                Some(NotShownReason::Unapproved)
            } else if state.is_cut {
                Some(NotShownReason::StateFull)
            } else if state.has_shown(&hit.path) {
                Some(NotShownReason::AlreadyShown)
            } else {
                let Hit { source, path, heading, text, .. } = &hit;
                items.push(SectionItem {
                    path: path.clone(),
                    key: source.clone(),
                    heading: heading.clone(),
                    text: text.clone(),
                });
                match rendered(form, &items, self.max_bytes as usize) {
                    Some(text) => {
                        reply.text = Some(text);
                        reply.sources.push(source.clone());
                        line.shown.push(path.clone());
                        None
                    }
                    None => {
                        items.pop();
                        Some(NotShownReason::Budget)
                    }
                }
            };
            not_shown.extend(reason.map(|reason| NotShown { source: hit.source, reason }));
        }
        match record(call, &session, line).await? {
            Recorded::Whole => {}
            // Without its texts, the line does not say what was shown.
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
    (!question.is_empty()).then_some(question)
}

/// Finds notes and entries, best first.
async fn found(with: &SessionCall<'_>, question: String, min_score: f64) -> Result<Vec<Hit>, Error> {
    let SessionCall { call, notebook, entries, origin } = *with;
    let filter = NoteFilter { exclude: alloc::vec![SESSIONS_FOLDER.into()], ..NoteFilter::default() };
    let request = Recall {
        query: question.clone(),
        limit: MAX_HITS,
        offset: 0,
        filter,
        sort: Vec::new(),
        explain: false,
        assume_unchanged: false,
    };
    let notes = request.run(&NotebookCall { call, notebook }).await?;
    let mut hits: Vec<Hit> = notes
        .hits
        .into_iter()
        .map(|hit| Hit {
            source: hit.path.clone(),
            heading: format!("{} ({})", hit.path, one_line(&hit.title)),
            path: hit.path,
            text: hit.passage,
            score: hit.score,
            unapproved: hit.unapproved,
        })
        .collect();
    if entries.agent().is_ok() {
        let request = FindEntries { query: question, limit: MAX_HITS };
        let found = entries::run(call, entries, origin, request).await?;
        hits.extend(found.hits.into_iter().filter(|hit| !hit.entry.path.is_empty()).map(|hit| Hit {
            heading: format!("entry {} ({})", one_line(&hit.entry.key), one_line(&hit.entry.category)),
            source: hit.entry.key,
            path: hit.entry.path,
            text: hit.passage,
            score: hit.score,
            unapproved: None,
        }));
    }
    hits.retain(|hit| hit.score >= min_score);
    order::sort_slice(&mut hits, |a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    Ok(hits)
}

/// Returns the text with all items whole; `None` if they do not fit.
fn rendered(form: BlockForm, items: &[SectionItem], max_bytes: usize) -> Option<ForModel> {
    let content = SectionContent::Items(items.to_vec());
    let section = Section { kind: SectionKind::Memories, path: String::new(), content };
    let reply = block_in(form, &[section], Overflow::Balanced, max_bytes);
    reply.block.filter(|_| reply.left_out.is_empty())
}
