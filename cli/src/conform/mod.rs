//! `conform`: checks a host through its driver, or is the driver of this program.
//!
//! [`driver`] speaks the protocol of `docs/writing-a-host.md` with another program, [`serve`] answers it. Each part of
//! the kit is a file: [`grid`] and [`cases`] check single operations, [`calls`] the loop, [`crashes`] hosts that are killed,
//! [`records`] what dead ones left, [`replay`] a recorded trace, [`races`] hosts that change one store together.

mod bench;
mod calls;
mod cases;
mod crashes;
mod driver;
mod grid;
mod host;
mod locks;
mod names;
mod ops;
mod races;
mod records;
mod replay;
mod report;
mod serve;
mod table;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use saddlebag::protocol::ErrorCode;
use schemars::JsonSchema;

use crate::engine::engine;
use crate::failure::{Exit, Failure, ProgramCode};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Subcommand;
use bench::Stores;
use driver::{Driver, Program};
use replay::ReplayJson;
use report::{ConformJson, Report};

/// Check a host, or a recorded trace, against the contract
#[derive(Debug, Args)]
#[command(after_help = example("conform -- python3 driver.py"))]
pub(crate) struct ConformArgs {
    /// Program that is the driver of the host, with its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND",
        required_unless_present_any = ["driver", "replay"]
    )]
    command: Vec<OsString>,
    /// Run the trace in this file again, without a store, and compare
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "only", "with", "driver"])]
    replay: Option<PathBuf>,
    /// Check only this part
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Driver of another host that changes the same store in the races, with its arguments; may be repeated
    #[arg(long, value_name = "COMMAND", value_parser = words)]
    with: Vec<Words>,
    /// Number of drivers in the races
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
    races: u32,
    /// Number of crashes between two changes, and of appends and edits of each racing driver
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Number of times to kill a driver during each kind of change; up to twice as often until one held a lock, and one that
    /// leases its locks then blocks the next for seconds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Seconds to wait for an answer of the driver
    #[arg(long, value_name = "SECONDS", default_value_t = 30, hide_short_help = true)]
    patience: u64,
    /// Be the driver of this program's own host
    #[arg(long, hide_short_help = true, conflicts_with = "command")]
    driver: bool,
}

/// Words of a command.
#[derive(Clone, Debug)]
struct Words(Vec<OsString>);

/// Splits a command into words, as a shell does.
fn words(command: &str) -> Result<Words, String> {
    let words =
        shlex::split(command).filter(|words| !words.is_empty()).ok_or("a quote is not closed, or it is empty")?;
    Ok(Words(words.into_iter().map(OsString::from).collect()))
}

/// Part of the kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Each operation on each state of a path
    Table,
    /// The other promises of the operations
    Operations,
    /// Calls of tools, whose requests and answers are those of this program
    Loop,
    /// Hosts that are killed between two changes, and during one
    Crashes,
    /// Changes that dead hosts had begun, as their locks record them
    Records,
    /// Hosts that change one store at the same time
    Races,
}

/// Result of checking a host, or of replaying a trace.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Conformed {
    Host(ConformJson),
    Trace(ReplayJson),
}

impl Subcommand for ConformArgs {
    type Json = Conformed;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if let Some(trace) = &self.replay {
            return replay::run(trace, global, output);
        }
        if self.driver {
            return serve::serve(global, output);
        }
        let commands = std::iter::once(self.command).chain(self.with.into_iter().map(|words| words.0));
        let patience = Duration::from_secs(self.patience);
        let programs: Vec<Program> = commands.map(|command| Program { command, patience }).collect();
        let mut driver = Driver::start(programs[0].clone()).map_err(|reason| {
            Failure::new(ProgramCode::Input, reason, "docs/writing-a-host.md has the protocol of a driver")
        })?;
        let stores = Stores::new().map_err(|reason| Failure::new(ErrorCode::Storage, reason, ""))?;
        let mut report = Report::new(output);
        let wants = |part| self.only.is_none_or(|only| only == part);
        if wants(Part::Table) {
            grid::run(&mut driver, &stores, &mut report)?;
        }
        if wants(Part::Operations) {
            cases::run(&mut driver, &stores, &mut report)?;
        }
        if wants(Part::Loop) {
            calls::run(&engine(global)?, &mut driver, &stores, &mut report)?;
        }
        if wants(Part::Crashes) {
            crashes::run(&engine(global)?, self.rounds, self.kills, &mut driver, &stores, &mut report)?;
        }
        if wants(Part::Records) {
            records::run(&mut driver, &stores, &mut report)?;
        }
        if wants(Part::Races) {
            let writers = self.races.max(programs.len() as u32);
            races::run(&programs, writers, self.rounds, &mut driver, &stores, &mut report)?;
        }
        report.end(driver.hello().clone())
    }
}
