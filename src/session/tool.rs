//! `recall-for-tool`: finds what memory says about the file or the command that a tool is about to use.

use super::prompt::{NotShown, NotShownReason, dated, rendered};
use super::screened::{Excluded, is_name_of_file, shown_path};
use super::state::{Event, LastChange, Line, Recorded, State, record};
use super::subject::{Names, Subject, is_form};
use super::types::{SessionCall, SessionName, searchable};
use crate::context::{BlockForm, SectionItem};
use crate::notebook::{PromptHit, PromptHits, PromptRecall, Recall, recall_for_prompt};
use crate::request::{Run, request};
use crate::store::{DECISIONS_FOLDER, is_of_sessions};
use crate::trust::{Approved, ForModel, Provenance, sha256, without_private};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, head, one_line};
use saddlebag_protocol::Error;

/// Default size limit of the text in bytes.
pub const DEFAULT_TOOL_BYTES: u32 = 400;

/// Maximum number of files of a use that are asked about.
const MAX_FILES: usize = 8;
/// Maximum number of items that are looked at.
const MAX_HITS: u32 = 12;
/// Sizes in bytes to which the first text is cut until it fits.
const CUTS: [usize; 5] = [220, 160, 120, 80, 40];
/// Number of digits of a mark.
const MARK_DIGITS: usize = 16;
/// Category of entries that are decisions.
const DECISION: &str = "decision";

/// Finds what memory says about the file that a tool is about to write, or the command that it is about to run.
///
/// Text that names exactly this file or this command is found, each only once in a session. Without any, the best item that is called
/// as the names in the path or the command are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallForTool {
    /// Name of the session.
    pub session: String,
    /// Paths of the files, relative to the project. The first eight are asked about.
    pub files: Vec<String>,
    /// Command line. Only its first line counts.
    pub command: Option<String>,
    /// Size limit of the whole text in bytes.
    pub max_bytes: u32,
    /// Form of the text; `None` is that for Claude.
    pub form: Option<BlockForm>,
}

/// What memory says about a file or a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecallForToolReply {
    /// Text for the model; `None` if nothing was found, or if the session has it.
    pub text: Option<ForModel>,
    /// Paths of the notes and keys of the entries in the text, decisions first.
    pub sources: Vec<String>,
    /// Items that name the subject and are not in the text.
    pub not_shown: Vec<NotShown>,
}

request!(RecallForTool "recall-for-tool" => RecallForToolReply, Appends, |name| {
    let of = |files: &[&str], command: Option<&str>| Self {
        session: name.into(),
        files: files.iter().map(ToString::to_string).collect(),
        command: command.map(Into::into),
        max_bytes: DEFAULT_TOOL_BYTES,
        form: None,
    };
    vec![of(&[name, "src/lib.rs"], None), of(&[], Some("cargo test"))]
});

impl Run<SessionCall<'_>> for RecallForTool {
    async fn run(self, with: &SessionCall<'_>) -> Result<RecallForToolReply, Error> {
        let call = with.call;
        let session = SessionName::new(self.session)?;
        let state = State::load(call, &session).await?;
        let mut subjects = subjects(&self.files, self.command.as_deref())?;
        subjects.retain(|subject| !state.has_named(&subject.name()));
        // Without room in the state, the same would be said at each use.
        if subjects.is_empty() || state.is_cut {
            return Ok(RecallForToolReply::default());
        }
        let form = self.form.unwrap_or_default();
        let mut line = Line::new(call, Event::Subject);
        let mut reply = RecallForToolReply::default();
        let mut items: Vec<SectionItem> = Vec::new();
        for Found { source, item, is_whole } in found(with, &subjects, &state).await? {
            // Another line of the same item may be about another file.
            let mark = mark(&item);
            if state.has_shown(&mark, LastChange::default()) {
                continue;
            }
            let (path, bytes) = (item.path.clone(), item.text.as_str().len());
            match fitted(form, &mut items, item, self.max_bytes as usize) {
                Some(text) => {
                    let is_uncut = items.last().is_some_and(|shown| shown.text.as_str().len() == bytes);
                    reply.text = Some(text);
                    reply.sources.extend(source);
                    line.shown.push(mark);
                    // A prompt need not say it again.
                    line.shown.extend(Some(path).filter(|_| is_whole && is_uncut));
                }
                None => {
                    reply.not_shown.extend(source.map(|source| NotShown { source, reason: NotShownReason::Budget }))
                }
            }
        }
        if reply.text.is_none() {
            return Ok(reply);
        }
        line.files = subjects.iter().map(Subject::name).collect();
        match record(call, &session, line).await? {
            Recorded::Whole => {}
            // Without its text, the line does not say what was shown.
            Recorded::WithoutTexts | Recorded::Full => {
                let sources = core::mem::take(&mut reply.sources).into_iter();
                reply.not_shown.extend(sources.map(|source| NotShown { source, reason: NotShownReason::StateFull }));
                reply.text = None;
            }
        }
        Ok(reply)
    }
}

/// Returns the subjects of a use. What is never recorded is not asked about either.
fn subjects(files: &[String], command: Option<&str>) -> Result<Vec<Subject>, Error> {
    let excluded = Excluded::from_globs(&[])?;
    let files = files.iter().take(MAX_FILES).filter(|file| !excluded.has(file)).map(|file| shown_path(file));
    let files = files.filter(|file| !file.is_empty() && is_name_of_file(file)).map(Subject::File);
    let command = command.map(|command| without_private(command));
    let commands = command.filter(|command| !excluded.is_named_in(command));
    let commands = commands.map(|command| Subject::commands(&command)).unwrap_or_default();
    Ok(files.chain(commands).collect())
}

/// An item that names a subject.
struct Found {
    /// Name for the reply; `None` for what the session itself says.
    source: Option<String>,
    item: SectionItem,
    /// True if the text is all that the item says.
    is_whole: bool,
}

/// Finds what names a subject: decisions, then what the session says, then other items, each best first.
async fn found(with: &SessionCall<'_>, subjects: &[Subject], state: &State) -> Result<Vec<Found>, Error> {
    let SessionCall { call, notebook, entries, .. } = *with;
    let searchable = searchable(call, entries).await?;
    let queries: Vec<String> = subjects.iter().map(Subject::query).collect();
    let excerpt =
        |title: &str, note: &Note, body: &str| subjects.iter().find_map(|subject| subject.excerpt(title, note, body));
    let recall = PromptRecall {
        request: &Recall { query: queries.join(" | "), limit: MAX_HITS, ..Recall::default() },
        passage_bytes: 0,
        excerpt: Some(&excerpt),
        is_left_out: &is_of_sessions,
        is_known: &|path, modified| state.has_prompted(path, LastChange::at(call, modified)),
        known: state.shown(),
    };
    let PromptHits { mut shown, .. } = recall_for_prompt(call, notebook, searchable.as_ref(), &recall).await?;
    let names = Names::of(subjects);
    if let Some(query) = names.query().filter(|_| shown.is_empty()) {
        let excerpt = |title: &str, note: &Note, body: &str| names.excerpt(title, note, body);
        // The index was brought up to date for the first question.
        let request = Recall { query, assume_unchanged: true, ..recall.request.clone() };
        let recall = PromptRecall { request: &request, excerpt: Some(&excerpt), ..recall };
        shown.extend(recall_for_prompt(call, notebook, searchable.as_ref(), &recall).await?.shown.into_iter().take(1));
    }
    let (decisions, others): (Vec<PromptHit>, Vec<PromptHit>) = shown.into_iter().partition(is_decision);
    let of_hit = |hit: PromptHit| {
        let date = dated(call, hit.date);
        let day = date.trim_start_matches([',', ' ']);
        let day = if day.is_empty() { String::new() } else { format!(" ({day})") };
        let heading = match hit.category {
            Some(_) => hit.name.map(|key| format!("entry {}{day}", one_line(key))),
            None => hit.name.map(|_| format!("{}{day}", hit.path)),
        };
        let source = if hit.category.is_some() { hit.name.as_str().into() } else { hit.path.clone() };
        let item = SectionItem { path: hit.path, key: Some(source.clone()), heading, text: hit.passage };
        Found { source: Some(source), item, is_whole: hit.is_whole }
    };
    let of_session = subjects.iter().filter_map(|subject| worked(subject, state));
    let decisions = decisions.into_iter().map(of_hit);
    Ok(decisions.chain(of_session).chain(others.into_iter().map(of_hit)).collect())
}

/// Returns a mark of the text of an item, for the state. It is not a path, so a prompt may still show an item of which this is a part.
fn mark(item: &SectionItem) -> String {
    let digest = sha256(item.text.as_str());
    format!("{}#{}", item.path, digest.get(..MARK_DIGITS).unwrap_or_default())
}

fn is_decision(hit: &PromptHit) -> bool {
    let mut folders = hit.path.rsplit('/').skip(1);
    hit.category.as_deref().map_or_else(|| folders.any(|folder| folder == DECISIONS_FOLDER), |name| name == DECISION)
}

/// Returns the form of a command that worked in the session after this form had failed.
fn worked(subject: &Subject, state: &State) -> Option<Found> {
    let Subject::Command(words) = subject else { return None };
    let mut failed = false;
    let mut form = None;
    // The agent wrote its commands. A line of another origin is not repeated.
    for line in state.of(Event::Tool).filter(|line| line.is_trusted_as(Provenance::Agent)) {
        match line.command.as_deref().map(|command| (command, Subject::command(command))) {
            Some((_, Some(Subject::Command(known)))) if known == *words => {
                failed = line.has_failed();
                form = None;
            }
            Some((command, Some(Subject::Command(known))))
                if failed && !line.has_failed() && is_form(&known, words) =>
            {
                form = Some(command);
            }
            _ => {}
        }
    }
    let text = format!("`{}` failed; then this worked: `{}`", words.join(" "), form?);
    let text = Approved::judge(one_line(&text)).ok()?;
    let item = SectionItem { path: String::new(), key: None, heading: "in this session".into(), text };
    Some(Found { source: None, item, is_whole: false })
}

/// Adds an item, and returns the text with all items. The first one is cut if it is too long. `None` if it does not fit.
fn fitted(form: BlockForm, items: &mut Vec<SectionItem>, item: SectionItem, max_bytes: usize) -> Option<ForModel> {
    let cuts: &[usize] = if items.is_empty() { &CUTS } else { &[] };
    let whole = item.text.clone();
    items.push(item);
    let text = rendered(form, items, max_bytes).or_else(|| {
        cuts.iter().filter(|&&cut| cut < whole.as_str().len()).find_map(|&cut| {
            let last = items.last_mut()?;
            last.text = whole.map(|text| format!("{}…", head(text, cut).trim_end_matches('…')));
            rendered(form, items, max_bytes)
        })
    });
    if text.is_none() {
        items.pop();
    }
    text
}
