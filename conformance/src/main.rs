//! `saddlebag-conformance`: checks a host through its driver, is the driver of the host on the local disk, or replays a trace.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use saddlebag::trust::for_terminal;
use saddlebag_conformance::{HostDriver, Options, Part, Program, check, native, replay};
use saddlebag_host::Durability;

/// Check a host, or a recorded trace, against the contract of the memory
#[derive(Debug, Parser)]
#[command(version, after_help = "Example: saddlebag-conformance -- python3 driver.py")]
struct Arguments {
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
    #[arg(long, value_name = "COMMAND")]
    with: Vec<String>,
    /// Number of drivers in the races
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
    races: u32,
    /// Number of appends and edits of each racing driver
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Number of times to kill a driver during each kind of change; one that leases its locks then blocks the next for seconds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    kills: u32,
    /// Seconds to wait for an answer of the driver
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    patience: u64,
    /// Be the driver of the host on the local disk, with this durability
    #[arg(long, value_name = "DURABILITY", num_args = 0..=1, require_equals = true, default_missing_value = "full",
        value_parser = ["full", "fast"], conflicts_with = "command")]
    driver: Option<String>,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            let _ = writeln!(Output::Error, "error: {reason}");
            ExitCode::from(2)
        }
    }
}

/// Returns false if the host, or the trace, does not conform.
fn run(arguments: Arguments) -> Result<bool, String> {
    let Arguments { command, replay: trace, only, with, races, rounds, kills, patience, driver } = arguments;
    if let Some(trace) = trace {
        return replay(&trace, &mut Output::Normal, &mut Output::Error);
    }
    if let Some(durability) = driver {
        let durability = if durability == "fast" { Durability::Fast } else { Durability::Full };
        // JSON has no control characters.
        #[allow(clippy::disallowed_methods, reason = "only a program reads it")]
        let output = io::stdout().lock();
        return HostDriver::local(durability, native)
            .serve(io::stdin().lock(), output)
            .map(|()| true)
            .map_err(|error| error.to_string());
    }
    let patience = Duration::from_secs(patience);
    let mut programs = vec![Program { command, patience }];
    for command in with {
        let words = shlex::split(&command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| format!("--with {command}: a quote is not closed, or it is empty"))?;
        programs.push(Program { command: words.into_iter().map(OsString::from).collect(), patience });
    }
    check(&programs, &Options { only, races, rounds, kills }, &mut Output::Normal)
}

/// Standard output or standard error. It shows the characters that a terminal would obey: a driver may say anything.
enum Output {
    Normal,
    Error,
}

impl Write for Output {
    #[allow(clippy::disallowed_methods, reason = "control characters are shown")]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = for_terminal(&String::from_utf8_lossy(bytes));
        match self {
            Self::Normal => io::stdout().write_all(text.as_bytes())?,
            Self::Error => io::stderr().write_all(text.as_bytes())?,
        }
        Ok(bytes.len())
    }

    #[allow(clippy::disallowed_methods, reason = "nothing is written")]
    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}
