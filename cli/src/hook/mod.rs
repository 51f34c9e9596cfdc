//! `saddlebag hook`: memory that works by itself, at the events of a client.
//!
//! A client runs the program at an event of a session and writes a JSON object to its standard input. [`input`] reads
//! it, [`payload`] finds the client and makes one [`event::Event`] of it, with [`tools`] and [`paths`] for the tools.
//! [`once`] drops the second report of the same moment, [`commands`] runs the commands of the memory, and [`answer`]
//! writes their text in the client's format.
//!
//! A hook never blocks a client. Whatever fails, the exit code is 0, nothing is printed, and [`log`] has a line about
//! it. [`guard`] bounds the time, and catches faults of the program.

mod answer;
mod args;
mod commands;
mod event;
mod guard;
mod input;
pub(crate) mod log;
mod once;
mod paths;
mod payload;
mod tools;
mod trouble;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub(crate) use args::HookArgs;

use crate::args::line;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::{self, JsonLine, Output};
use crate::subcommand::Subcommand;
use guard::Run;
use log::{Line, Log};
use payload::Given;
use trouble::Trouble;

/// Environment variable that switches hooks off.
const SWITCH: &str = "SADDLEBAG_HOOKS";
/// Values of [`SWITCH`] that switch hooks off.
const OFF: [&str; 4] = ["off", "0", "false", "no"];
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
        let limit = guard::limit(self.event.as_deref());
        let is_off = std::env::var(SWITCH).is_ok_and(|value| OFF.contains(&value.to_ascii_lowercase().as_str()));
        let global = global.clone();
        let ended = guard::run(limit, move |run| if is_off { ignored() } else { answered(&self, &global, run) });
        let printed = ended.and_then(|answer| answer.map_or(Ok(()), |answer| printed(&answer)));
        if let Err(trouble) = printed {
            guard::log(&trouble);
        }
        Ok(Exit::Done)
    }
}

/// Returns true if the arguments of the process ask for a hook, even if they are not valid otherwise.
pub(crate) fn is_asked_for(arguments: impl Iterator<Item = OsString>) -> bool {
    let arguments: Vec<OsString> = arguments.collect();
    let line = line();
    let lenient = line.clone().ignore_errors(true).try_get_matches_from(&arguments);
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
    let payload = input::object(io::stdin().lock())?;
    let given = Given { event: args.event.clone(), client: args.client };
    let Some(event) = payload::event(&payload, &given)? else { return Ok(None) };
    run.is_about(event.client, event.moment());
    let text = commands::perform(&event, args, global)?;
    Ok(text.map(|text| answer::answer(&event, &text)))
}

fn printed(answer: &Value) -> Result<(), Trouble> {
    let line = format!("{}\n", JsonLine::new(answer));
    output::print(&line).map_err(|error| {
        Trouble::output(format!("cannot write to standard output: {}", saddlebag_host::io_cause(&error)))
    })
}

fn print_log(output: &mut Output) -> Result<Exit, Failure> {
    let lines = match Log::of_user().map(|log| log.lines()) {
        Some(lines) => lines?,
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
