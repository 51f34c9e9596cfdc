//! `conform`: checks a host through its driver, or is the driver of this program.
//!
//! [`driver`] speaks the protocol of `docs/writing-a-host.md` with another program, [`serve`] answers it. Each part of
//! the kit is a file: [`operations`] and [`cases`] check single operations, [`calls`] checks the loop.

mod bench;
mod calls;
mod cases;
mod driver;
mod host;
mod operations;
mod ops;
mod report;
mod serve;
mod table;

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, ValueEnum};
use saddlebag::protocol::ErrorCode;

use crate::engine::engine;
use crate::failure::{Exit, Failure, ProgramCode};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Subcommand;
use bench::Stores;
use driver::{Driver, Program};
use report::{ConformJson, Report};

/// Check that a host does what the contract says
#[derive(Debug, Args)]
#[command(after_help = example("conform -- python3 driver.py"))]
pub(crate) struct ConformArgs {
    /// Program that is the driver of the host, with its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "driver")]
    command: Vec<OsString>,
    /// Check only this part
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Seconds to wait for an answer of the driver
    #[arg(long, value_name = "SECONDS", default_value_t = 30, hide_short_help = true)]
    patience: u64,
    /// Be the driver of this program's own host
    #[arg(long, hide = true, conflicts_with = "command")]
    driver: bool,
}

/// Part of the kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Each operation on each state of a path, and the promises of each
    Operations,
    /// Calls of tools, whose requests and answers are those of this program
    Loop,
}

impl Subcommand for ConformArgs {
    type Json = ConformJson;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if self.driver {
            return serve::serve(global, output);
        }
        let program = Program { command: self.command.clone(), patience: Duration::from_secs(self.patience) };
        let mut driver = Driver::start(program).map_err(|reason| {
            Failure::new(ProgramCode::Input, reason, "docs/writing-a-host.md has the protocol of a driver")
        })?;
        let mut stores = Stores::new().map_err(|reason| Failure::new(ErrorCode::Storage, reason, ""))?;
        let mut report = Report::new(output);
        let wants = |part| self.only.is_none_or(|only| only == part);
        if wants(Part::Operations) {
            operations::run(&mut driver, &mut stores, &mut report)?;
            cases::run(&mut driver, &mut stores, &mut report)?;
        }
        if wants(Part::Loop) {
            calls::run(&engine(global)?, &mut driver, &mut stores, &mut report)?;
        }
        report.end(driver.hello().clone())
    }
}
