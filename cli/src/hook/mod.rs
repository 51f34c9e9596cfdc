//! `saddlebag hook`: memory that works by itself, at the events of a client.
//!
//! A client runs the program at an event of a session and writes a JSON object to its standard input. [`input`] reads
//! it, [`payload`] finds the client and makes one [`event::Event`] of it, with [`tools`] and [`paths`] for the tools.
//! [`once`] drops the second report of the same moment, [`commands`] runs the commands of the memory, and [`answer`]
//! writes their text in the client's format.
//!
//! Some clients run the program alone where their configuration has a list of arguments. So a run without arguments is
//! a hook too, if standard input has an event; any other input ends it in silence.
//!
//! A hook never blocks a client. Whatever fails, the exit code is 0, nothing is printed, and [`log`] has a line about
//! it, which [`notice`] reports at the next start. [`guard`] bounds the time, and catches faults of the program.

mod answer;
mod args;
mod commands;
mod event;
pub(crate) mod files;
mod guard;
mod input;
pub(crate) mod log;
mod notice;
mod once;
mod paths;
mod payload;
mod tools;
mod trouble;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use serde_json::Value;

pub(crate) use args::HookArgs;
pub(crate) use event::Client;
pub(crate) use tools::acting_tools;

use crate::failure::ProgramCode;
use crate::output::{self, JsonLine};
use crate::prelude::*;
use event::Event;
use guard::Run;
use log::{Line, Log};
use notice::Notice;
use payload::Given;
use trouble::Trouble;

/// Environment variable that switches hooks off.
const SWITCH: &str = "SADDLEBAG_HOOKS";
/// Values of [`SWITCH`] that switch hooks off.
const OFF: [&str; 4] = ["off", "0", "false", "no"];
/// Value of [`SWITCH`] with the effect of the option of this name.
const WITHOUT_BEFORE_TOOL: &str = "without-before-tool";
/// Number of failures that `hook log` prints.
const SHOWN_FAILURES: usize = 50;

/// Failures of hooks, from the log.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Failures {
    /// Number of failures in the log.
    total: u32,
    /// Last failures, the oldest first.
    failures: Vec<Line>,
}

impl Subcommand for HookArgs {
    type Json = Failures;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if self.prints_log() {
            return print_log(output);
        }
        guard::silence_faults();
        let limit = guard::limit(self.event.as_deref(), self.client);
        let switch = std::env::var(SWITCH).unwrap_or_default().to_ascii_lowercase();
        let is_off = OFF.contains(&switch.as_str());
        let without_before_tool = self.without_before_tool || switch == WITHOUT_BEFORE_TOOL;
        let args = Self { without_before_tool, ..self };
        let of_run = global.clone();
        let ended = guard::run(limit, move |run| if is_off { ignored() } else { answered(&args, &of_run, run) });
        let printed = ended.and_then(|answer| answer.map_or(Ok(()), |answer| printed(&answer)));
        // A run without arguments may be anyone's. Only an event makes it that of a hook.
        if let Err(trouble) = printed
            && (!is_bare() || trouble.code != Trouble::TIME_LIMIT || guard::knows_event())
        {
            guard::log(&trouble);
            if trouble.code == Trouble::TIME_LIMIT {
                guard::index_later(global);
            }
        }
        Ok(Exit::Done)
    }
}

/// Returns the arguments of the process, or the arguments of a hook for a run without any, except on a terminal.
pub(crate) fn arguments(given: Vec<OsString>) -> Vec<OsString> {
    if is_bare() && !io::stdin().is_terminal() { ["saddlebag", "hook"].map(OsString::from).to_vec() } else { given }
}

/// Returns true for a run without arguments.
fn is_bare() -> bool {
    std::env::args_os().len() <= 1
}

/// Returns true if the arguments ask for a hook, even if they are not valid otherwise.
pub(crate) fn is_asked_for(line: &clap::Command, arguments: &[OsString]) -> bool {
    let lenient = line.clone().ignore_errors(true).try_get_matches_from(arguments);
    if let Some(name) = lenient.ok().as_ref().and_then(clap::ArgMatches::subcommand_name) {
        return name == "hook";
    }
    let is_command = |word: &&str| line.get_subcommands().any(|command| command.get_name() == *word);
    arguments.iter().skip(1).filter_map(|word| word.to_str()).find(is_command) == Some("hook")
}

/// Reports a command line of a hook that cannot be used. An exit code other than 0 could erase the user's prompt.
pub(crate) fn refused(error: &clap::Error) -> ExitCode {
    let message = error.render().to_string();
    let message = message.lines().next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    output::warn(&format!("the hook does nothing: {message}"));
    guard::log(&Trouble::usage(message));
    Exit::Done.into()
}

/// Reads the input to its end, so that the client can write it.
fn ignored() -> Result<Option<Value>, Trouble> {
    // An input that cannot be read is not needed.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    Ok(None)
}

/// Performs the event on standard input, and returns the answer if there is one.
fn answered(args: &HookArgs, global: &Global, run: &Run) -> Result<Option<Value>, Trouble> {
    let payload = match input::object(io::stdin().lock()) {
        Ok(payload) if is_bare() && !payload::names_an_event(&payload) => return Ok(None),
        Err(_) if is_bare() => return Ok(None),
        payload => payload?,
    };
    let given = Given { event: args.event.clone(), client: args.client };
    let Some(event) = payload::event(&payload, &given)? else { return Ok(None) };
    run.is_about(&event);
    let text = match event.begins_session() {
        true => started(&event, args, global),
        false => commands::perform(&event, args, global, 0)?,
    };
    Ok(text.map(|text| answer::answer(&event, &text)))
}

/// Performs the start of a session, and adds the notice about earlier failures. A start that fails has the notice alone.
fn started(event: &Event, args: &HookArgs, global: &Global) -> Option<String> {
    let room = answer::room(event, args.max_bytes).unwrap_or_default();
    let notice = Notice::of_user().filter(|notice| notice.bytes(room) > 0);
    let reserved = notice.as_ref().map_or(0, |notice| notice.bytes(room));
    let text = commands::perform(event, args, global, reserved).unwrap_or_else(|trouble| {
        guard::log(&trouble);
        None
    });
    let texts: Vec<String> = text.into_iter().chain(notice.map(Notice::tell)).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn printed(answer: &Value) -> Result<(), Trouble> {
    let line = format!("{}\n", JsonLine::new(answer));
    output::print(&line).map_err(|error| {
        Trouble::output(format!("cannot write to standard output: {}", saddlebag_host::io_cause(&error)))
    })
}

fn print_log(output: &mut Output) -> Result<Exit, Failure> {
    let lines = match Log::of_user().map(|log| log.lines()) {
        Some(lines) => lines.map_err(|error| {
            let message = format!("the log of the hooks cannot be read: {}", saddlebag_host::io_cause(&error));
            Failure::new(
                ProgramCode::Input,
                message,
                "it is `hook.log` in the folder of states, and must be a regular file",
            )
        })?,
        None => Vec::new(),
    };
    let total = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let failures = lines[lines.len().saturating_sub(SHOWN_FAILURES)..].to_vec();
    if output.is_json() {
        output.object(&Failures { total, failures })?;
        return Ok(Exit::Done);
    }
    for Line { time, client, event, code, message } in &failures {
        let unknown = || "-".to_string();
        let (client, event) = (client.clone().unwrap_or_else(unknown), event.clone().unwrap_or_else(unknown));
        output.line(&output::single_line(&format!("{time} {client} {event} {code}: {message}")))?;
    }
    if failures.is_empty() {
        output.flush()?;
        output.note("no hook has failed");
    }
    Ok(Exit::Done)
}
