//! `saddlebag`: plain Markdown memory for agents, on the command line.
//!
//! [`args`] is the command line, [`help`] its help, and [`tips`] its suggestions for unknown words. [`global`] has
//! the options of all subcommands, [`engine`] has the engine and [`store`] opens the store that they name. A subcommand is one file that
//! implements [`subcommand::Subcommand`]: its arguments, its work and its output. A noun such as `note` is a folder.
//! [`output`] prints, and [`trace`] opens the file that records a run.

/// The allocator of musl is slow. See `docs/benchmarks.md`.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod args;
mod backfill;
mod client_json;
mod copy;
mod difference;
mod disk;
mod editor;
mod engine;
mod entry;
mod everyday;
mod export;
mod failure;
mod formats;
mod git;
mod global;
mod help;
mod history;
mod hook;
mod import;
mod input;
mod item;
mod list;
#[cfg(feature = "server")]
mod mcp;
mod memory;
mod merge;
mod note;
mod output;
mod past;
mod prelude;
mod program;

mod project;
mod prompt;
#[cfg(test)]
mod reference;
mod regular;
mod remote;
#[cfg(test)]
mod schemas;
#[cfg(feature = "server")]
mod server;
mod setup;
#[cfg(test)]
mod spellings;
mod store;
mod subcommand;
mod sync;
mod tips;
mod trace;
mod trust;
#[cfg(feature = "server")]
mod ui;
mod word;

use std::process::ExitCode;
use std::str::FromStr as _;

use args::Cli;
use failure::{Exit, Failure};
use output::Output;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

fn main() -> ExitCode {
    let arguments = hook::arguments(std::env::args_os().collect());
    let cli = match Cli::of_arguments(&arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && hook::is_asked_for(&args::line(), &arguments) => {
            return hook::refused(&error);
        }
        Err(error) => return refused_arguments(&error),
    };
    cli.global.color.write_global();
    start_logging();
    let mut output = Output::new(cli.global.json);
    let ended = cli.command.run(&cli.global, &mut output).and_then(|exit| {
        output.flush()?;
        Ok(exit)
    });
    match ended {
        Ok(exit) => exit.of_run(),
        Err(failure) => {
            let failure = failure.of_run();
            output.failure(&failure);
            failure.exit()
        }
    }
    .into()
}

/// Prints clap's answer: help, version, or the mistake in the arguments.
fn refused_arguments(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if error.use_stderr() && wants_json {
        let message = error.render().to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        let (message, help) = message.split_once("\n\n").unwrap_or((message, ""));
        Output::new(true).failure(&Failure::usage(message.trim(), help.trim()));
    } else if output::print_usage(error).is_err() {
        // The output is closed, so the mistake cannot be reported.
        return Exit::Failed.into();
    }
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}

/// Starts the log on standard error if `SADDLEBAG_LOG` is set. It has no content of the memory.
fn start_logging() {
    let Ok(filter) = std::env::var("SADDLEBAG_LOG") else { return };
    // The SDK logs messages with their content. It logs only if the filter names it.
    let filter = if filter.contains("rmcp") { filter } else { format!("{filter},rmcp=off") };
    // One that cannot be read logs nothing.
    let filter = Targets::from_str(&filter).unwrap_or_default();
    tracing_subscriber::registry()
        .with(tracing_subscriber::fmt::layer().with_writer(output::log).with_filter(filter))
        .init();
}
