//! Runs the commands of the memory for an event.

use std::path::PathBuf;

use saddlebag::context::BlockForm;
use saddlebag::session::{BeginSession, BeginSource, EndSession, RecallForPrompt, RecallForTool, RecordToolUse};
use saddlebag::trust::ForModel;
use saddlebag::{Answered, Origin, ReplyTo, Request, Submission};

use super::answer::{PROMPT_BYTES, START_BYTES, room, start_rooms, takes_text_with_a_prompt};
use super::args::HookArgs;
use super::event::{Client, Detail, Event, Moment, Source, ToolUse};
use super::once::Once;
use super::paths::Paths;
use super::trouble::Trouble;
use crate::prelude::*;
use crate::project::{others, told};
use crate::store::{Root, Store};

/// Score that is higher than any hit's, in thousandths. It lets a prompt be recorded without any note counting as
/// shown.
const NO_HIT: u32 = u32::MAX;

/// Performs an event, and returns the text for the model if there is one. `reserved` bytes of the room for it are for
/// other text.
pub(crate) fn perform(
    event: &Event,
    args: &HookArgs,
    global: &Global,
    reserved: u32,
) -> Result<Option<String>, Trouble> {
    let (folder, project) = folders(event, global)?;
    let global = Global { project: (!global.notebook).then(|| project.clone()), ..global.of_agent() };
    let paths = || Paths::new(&project, &folder, &args.exclude);
    let is_off = args.without_before_tool;
    let used = match &event.detail {
        Detail::BeforeTool(_) if is_off || room(event, args.max_bytes).is_none() => return Ok(None),
        Detail::BeforeTool(used) => {
            let paths = paths();
            let used = kept(used, &paths, |file| paths.asked(file));
            if !used.has_effect() {
                return Ok(None);
            }
            Some(used)
        }
        Detail::Tool(used) => {
            let paths = paths();
            Some(kept(used, &paths, |file| paths.kept(file)))
        }
        _ => None,
    };
    if let Some(once) = Once::of_user() {
        if matches!(event.detail, Detail::Start(..)) {
            once.sweep();
        }
        // Without a folder for it, a moment that is reported twice is recorded twice.
        let place = place(&global);
        if !once.is_first(event, &place).unwrap_or(true) {
            return Ok(None);
        }
        if let Some(prompt) = first_prompt(event) {
            // The start records it, so its own event, which follows at once, must not. If it cannot be marked, both do.
            let own = Event { detail: Detail::Prompt(prompt.to_string()), ..event.clone() };
            let _ = once.is_first(&own, &place);
        }
    }
    // Looked for before the session leaves its first file.
    let hint = event.begins_session().then(|| told(&others(&global))).flatten();
    let store = Store::open(&global).map_err(|failure| Trouble::opening(&failure))?;
    let mut session = Session { store, event, output: Output::new(false), project, folder };
    let reserved = reserved + hint.as_ref().map_or(0, |hint| u32::try_from(hint.len() + 1).unwrap_or(u32::MAX));
    let text = answered(args, &mut session, reserved, used)?;
    Ok(match (text, hint) {
        (Some(text), Some(hint)) => Some(format!("{text}\n{hint}")),
        (text, hint) => text.or(hint),
    })
}

/// Runs the commands of an event, and returns their text.
fn answered(
    args: &HookArgs,
    session: &mut Session<'_>,
    reserved: u32,
    used: Option<ToolUse>,
) -> Result<Option<String>, Trouble> {
    let event = session.event;
    let room = room(event, args.max_bytes).map(|room| room.saturating_sub(reserved));
    match &event.detail {
        Detail::Start(source, _) => {
            let Some(prompt) = first_prompt(event) else { return session.begin(*source, room) };
            let (of_block, of_recalled) = start_rooms(event.client, args.max_bytes);
            let begun = session.begin(*source, Some(of_block.saturating_sub(reserved)))?;
            let recalled = session.recall(prompt, Some(of_recalled), args)?;
            let texts: Vec<String> = begun.into_iter().chain(recalled).collect();
            Ok((!texts.is_empty()).then(|| texts.join("\n")))
        }
        Detail::Prompt(prompt) => session.recall(prompt, room, args),
        Detail::BeforeTool(_) | Detail::Tool(_) => {
            let Some(used) = used else { return Ok(None) };
            // What is said must not know yet that the tool ran. What was used is recorded even if nothing can be said.
            let said = match room.filter(|_| !args.without_before_tool) {
                Some(room) => session.recall_for_tool(&used, room),
                None => Ok(None),
            };
            if event.moment() == Moment::Tool {
                session.record(used)?;
            }
            said
        }
        Detail::Compact => {
            session.end(false, None)?;
            room.map_or(Ok(None), |room| session.begin(Source::Compact, Some(room)))
        }
        Detail::Stop(answer) => {
            // An answer may name what must not be recorded.
            let paths = Paths::new(&session.project, &session.folder, &args.exclude);
            session.end(false, answer.clone().filter(|answer| !paths.names_an_excluded_path(answer)))
        }
        Detail::End => session.end(true, None),
    }
}

/// Returns the first prompt of a session that begins, if the client takes text then and not with the prompt itself.
fn first_prompt(event: &Event) -> Option<&str> {
    let Detail::Start(_, Some(prompt)) = &event.detail else { return None };
    (!takes_text_with_a_prompt(event.client)).then_some(prompt)
}

/// Open store, and the session that its commands belong to.
struct Session<'a> {
    store: Store,
    event: &'a Event,
    output: Output,
    /// Folder of the project, and that of the event.
    project: PathBuf,
    folder: PathBuf,
}

impl Session<'_> {
    fn begin(&mut self, source: Source, room: Option<u32>) -> Result<Option<String>, Trouble> {
        let command = BeginSession {
            session: self.event.session.clone(),
            source: begin_source(source),
            max_bytes: room.unwrap_or(START_BYTES),
            form: Some(form(self.event.client)),
            dry_run: false,
        };
        Ok(self.call(command, None)?.text.map(ForModel::into_string))
    }

    /// Records a prompt, and returns the notes that answer it if the client takes text with a prompt.
    fn recall(&mut self, prompt: &str, room: Option<u32>, args: &HookArgs) -> Result<Option<String>, Trouble> {
        let command = RecallForPrompt {
            session: self.event.session.clone(),
            prompt: prompt.to_string(),
            max_bytes: room.unwrap_or(PROMPT_BYTES),
            min_score: if room.is_some() { args.min_score } else { Some(NO_HIT) },
            keep_out: args.keep_out.clone(),
            dry_run: false,
            form: Some(form(self.event.client)),
        };
        let text = self.call(command, None)?.text;
        Ok(text.filter(|_| room.is_some()).map(ForModel::into_string))
    }

    /// Returns what memory says about the files and the command of a tool.
    fn recall_for_tool(&mut self, used: &ToolUse, max_bytes: u32) -> Result<Option<String>, Trouble> {
        let command = RecallForTool {
            session: self.event.session.clone(),
            files: used.files.clone(),
            command: used.command.clone(),
            max_bytes,
            form: Some(form(self.event.client)),
        };
        Ok(self.call(command, None)?.text.map(ForModel::into_string))
    }

    fn record(&mut self, used: ToolUse) -> Result<(), Trouble> {
        let ToolUse { tool, files, command, failed, output, stored } = used;
        let session = self.event.session.clone();
        let name = tool.clone();
        // Excluded paths were left out before.
        let exclude = Vec::new();
        self.call(RecordToolUse { session, tool, files, command, failed, output, stored, exclude }, Some(name))?;
        Ok(())
    }

    fn end(&mut self, finished: bool, answer: Option<String>) -> Result<Option<String>, Trouble> {
        self.call(EndSession { session: self.event.session.clone(), finished, answer }, None)?;
        Ok(None)
    }

    fn call<A: Answered>(&mut self, command: A, tool: Option<String>) -> Result<ReplyTo<A>, Trouble> {
        let client = Some(self.event.client.to_string());
        let origin = Origin { client, session: Some(self.event.session.clone()), tool, ..Origin::default() };
        let Submission { command, .. } = command.submission();
        let reply = self.store.run(origin.with(command), &mut self.output)?;
        A::from_reply(reply).ok_or_else(|| Failure::wrong_reply(A::Request::NAME).into())
    }
}

fn begin_source(source: Source) -> BeginSource {
    match source {
        Source::Startup => BeginSource::Startup,
        Source::Resume => BeginSource::Resume,
        Source::Clear => BeginSource::Clear,
        Source::Compact => BeginSource::Compact,
        Source::Fork => BeginSource::Fork,
        Source::Subagent => BeginSource::Subagent,
    }
}

/// Returns the form that a client's models read best.
fn form(client: Client) -> BlockForm {
    match client {
        Client::Codex => BlockForm::Openai,
        _ => BlockForm::Claude,
    }
}

/// Returns the use of a tool with paths of the project, as `path` returns them, and without what is excluded.
fn kept(used: &ToolUse, paths: &Paths, path: impl Fn(&str) -> Option<String>) -> ToolUse {
    let may_be_kept = |text: &Option<String>| text.clone().filter(|text| !paths.names_an_excluded_path(text));
    let files: Vec<String> = used.files.iter().filter_map(|file| path(file)).collect();
    let is_excluded = files.is_empty() && !used.files.is_empty();
    ToolUse {
        tool: used.tool.clone(),
        files,
        command: may_be_kept(&used.command).map(|command| paths.in_folder(command)),
        failed: used.failed && !is_excluded,
        output: may_be_kept(&used.output).filter(|_| !is_excluded),
        stored: used.stored.clone(),
    }
}

/// Returns the folder that the event is about, and that of the project. The folder is the one on the command line, or the first that
/// the client names and that exists; the project is the one that the session began in.
fn folders(event: &Event, global: &Global) -> Result<(PathBuf, PathBuf), Trouble> {
    let typed = global.project.iter().chain(&event.folders).find(|folder| folder.is_absolute() && folder.is_dir());
    let folder = match typed {
        Some(folder) => Some(folder.clone()),
        None if global.project.is_none() && event.folders.is_empty() => std::env::current_dir().ok(),
        None => None,
    };
    let root = folder.as_deref().map(saddlebag_host::project_root);
    if global.project.is_none()
        && let Some(once) = Once::of_user()
    {
        let place = Root::from_options(global).map(|root| root.place()).unwrap_or_default();
        if let Some(project) = once.project_of(event, &format!("{place:?}"), root.as_deref()) {
            return Ok((folder.unwrap_or_else(|| project.clone()), project));
        }
    }
    let gone = || Trouble::input("none of the folders that the client names exists");
    folder.map(|folder| (folder.clone(), folder)).ok_or_else(gone)
}

/// Returns a name for the store and the scope of the run.
fn place(global: &Global) -> String {
    let root = Root::from_options(global).map(|root| root.place()).unwrap_or_default();
    let scope = global.project.as_deref().map(saddlebag_host::project_root);
    format!("{:?}", (root, scope, &global.agent, &global.workspace))
}
