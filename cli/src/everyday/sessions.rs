//! `sessions`: lists the sessions of agents, prints the note of one, and chooses what the next session begins with.

use clap::{Args, ValueEnum};
use saddlebag::items::{ItemKind, ItemList, ListItems, ListedItem, Show, Shown};
use saddlebag::notebook::{SortBy, SortKey};
use saddlebag::session::{ChooseHandOff, ChooseHandOffReply, HandOffChoice};
use saddlebag::store::utc_text;
use serde_json::Value;

use crate::input::shown_path;
use crate::note::shared::marked;
use crate::output::{single_line, warn_of_skipped};
use crate::prelude::*;

/// Number of sessions that are listed without `--limit`.
pub(crate) const LISTED: u32 = 20;
/// Number of the sessions in which one is looked for.
const SOUGHT: u32 = 1_000;

/// List the sessions of agents, show one, choose a hand-off
#[derive(Debug, Args)]
#[command(after_help = example("sessions show"))]
pub(crate) struct SessionsArgs {
    /// What to do
    #[arg(value_enum, default_value_t = Action::List)]
    action: Action,
    /// Name of a session, or path, name or title of its note [default: the last one]
    #[arg(value_parser = shown_path)]
    session: Option<String>,
    /// Maximum number of sessions to list
    #[arg(long, short = 'n', value_name = "N", default_value_t = LISTED, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// The last sessions, the newest first
    List,
    /// The note of a session; `edit` changes it
    Show,
    /// Let the next session begin with the note
    Resume,
    /// Let no session begin with the note
    Refuse,
}

/// Sessions, the note of one, or what becomes of the note.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, clippy::large_enum_variant, reason = "it is the schema of what is printed")]
pub(crate) enum SessionsJson {
    Listed(Sessions),
    Shown(Shown),
    Chosen(ChooseHandOffReply),
}

/// Sessions of agents, the newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sessions {
    sessions: Vec<Session>,
    /// Number of sessions; `sessions` has at most as many as --limit says.
    total: u32,
}

/// Session of an agent, as its note records it.
#[derive(Serialize, JsonSchema)]
struct Session {
    /// Name of the session; `null` if the note does not have it.
    session: Option<String>,
    /// Title of the note.
    title: String,
    /// Path of the note.
    path: String,
    /// Time of the last activity as RFC 3339.
    last: String,
    /// True if the session is over.
    finished: bool,
    /// Name of the session that began with the note; `null` if there is none.
    claimed_by: Option<String>,
    /// Choice of a person: `next` or `refused`; `null` if none was made.
    choice: Option<String>,
    /// Mark of text that waits for approval.
    #[serde(skip)]
    mark: String,
}

impl Subcommand for SessionsArgs {
    type Json = SessionsJson;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let choice = match self.action {
            Action::List => return list(self.limit, &mut store, output),
            Action::Show => {
                let path = found(self.session, &mut store, output)?;
                let note = store.call(Show::new(path), output)?;
                output.object_or_line(&note, note.text.as_str().trim_end())?;
                return Ok(Exit::Done);
            }
            Action::Resume => HandOffChoice::Next,
            Action::Refuse => HandOffChoice::Refused,
        };
        let session = match self.session {
            Some(session) => session,
            None => found(None, &mut store, output)?,
        };
        let reply = store.call(ChooseHandOff { session, choice }, output)?;
        output.object_or_line(&reply, reply.message.as_str())?;
        Ok(Exit::Done)
    }
}

fn list(limit: u32, store: &mut Store, output: &mut Output) -> Result<Exit, Failure> {
    let mut reply = store.call(newest(limit), output)?;
    let skipped = std::mem::take(&mut reply.skipped);
    let sessions = Sessions::of_notes(reply);
    if output.json(&sessions)? {
        return Ok(Exit::Done);
    }
    for session in &sessions.sessions {
        output.line(&session.line())?;
    }
    output.flush()?;
    warn_of_skipped(&skipped, output);
    match sessions.sessions.len() {
        0 => output.note("there are no sessions; `saddlebag setup` adds the hooks that record them"),
        shown if (shown as u64) < u64::from(sessions.total) => {
            output.note(&format!("{shown} of {}; --limit shows more", sessions.total));
        }
        _ => {}
    }
    Ok(Exit::Done)
}

/// Returns the path of the note of a session; of the last one without a name.
fn found(session: Option<String>, store: &mut Store, output: &mut Output) -> Result<String, Failure> {
    let limit = if session.is_some() { SOUGHT } else { 1 };
    let notes = store.call(newest(limit), output)?.items;
    let Some(name) = session else {
        return notes.into_iter().next().map(|note| note.path).ok_or_else(|| Failure::nothing("there are no sessions"));
    };
    let is_named = |note: &&ListedItem| Session::of_note((*note).clone()).session.as_deref() == Some(name.as_str());
    // Any other name is that of a note.
    Ok(notes.iter().find(is_named).map_or(name.clone(), |note| note.path.clone()))
}

/// Asks for the notes of sessions, the newest first.
pub(crate) fn newest(limit: u32) -> ListItems {
    ListItems {
        kinds: vec![ItemKind::Session],
        sort: vec![SortKey { by: SortBy::Modified, ascending: false }],
        limit: Some(limit),
        ..ListItems::default()
    }
}

impl Sessions {
    /// Returns the sessions that notes record.
    pub(crate) fn of_notes(reply: ItemList) -> Self {
        Self { sessions: reply.items.into_iter().map(Session::of_note).collect(), total: reply.total }
    }
}

impl Session {
    fn of_note(note: ListedItem) -> Self {
        let metadata: Value = serde_json::from_str(&note.metadata).unwrap_or_default();
        let text = |field: &str| metadata[field].as_str().filter(|text| !text.is_empty()).map(str::to_string);
        Self {
            session: text("session"),
            last: text("last").unwrap_or_else(|| utc_text(note.modified)),
            finished: metadata["finished"] == Value::Bool(true),
            claimed_by: text("claimed-by"),
            choice: text("hand-off"),
            title: note.name,
            path: note.path,
            mark: marked(&note.marks),
        }
    }

    fn line(&self) -> String {
        let state = match (self.choice.as_deref(), &self.claimed_by, self.finished) {
            (Some("next"), ..) => "next".to_string(),
            (Some("refused"), ..) => "refused".to_string(),
            (_, Some(by), _) => format!("handed to {by}"),
            (_, None, true) => "finished".to_string(),
            (_, None, false) => "open".to_string(),
        };
        let time = self.last.get(..16).unwrap_or(&self.last).replace('T', " ");
        single_line(&format!("{time}  {state}  {}  {}{}", self.path, self.title, self.mark))
    }
}
