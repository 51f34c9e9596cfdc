//! [`Report`]: what the kit found, one line for each case.

use std::fmt;
use std::io::{self, Write};
use std::thread;

use clap::ValueEnum;

use crate::driver::Hello;

/// Part of the kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Each operation on each state of a path
    Table,
    /// The other promises of the operations
    Operations,
    /// Calls of tools, whose requests and answers are those of the kit's own host
    Loop,
    /// Hosts that are killed between two changes, and during one
    Crashes,
    /// Changes that dead hosts had begun, as their locks record them
    Records,
    /// Hosts that change one store at the same time
    Races,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |word| f.write_str(word.get_name()))
    }
}

/// Reason why a case did not succeed.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The host is wrong, or its driver.
    Failed(String),
    /// The case does not concern this host.
    LeftOut(String),
}

impl From<String> for Ended {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

impl Ended {
    /// Says where a case failed, and what comes after the reason.
    pub(crate) fn within(self, place: &str, end: &str) -> Self {
        match self {
            Self::Failed(reason) => Self::Failed(format!("{place}: {reason}{end}")),
            left_out => left_out,
        }
    }
}

/// Result of a case.
pub(crate) type Ran = Result<(), Ended>;

/// Returns the end of a case that does not concern this host.
pub(crate) fn left_out(reason: &str) -> Ran {
    Err(Ended::LeftOut(reason.into()))
}

/// Does each work in its own thread, and returns the results in their order.
pub(crate) fn at_once<T: Send>(
    works: impl IntoIterator<Item = impl FnOnce() -> Result<T, Ended> + Send>,
) -> Vec<Result<T, Ended>> {
    thread::scope(|scope| {
        let threads: Vec<_> = works.into_iter().map(|work| scope.spawn(work)).collect();
        let panicked = |_| Err(Ended::Failed("a thread of the kit panicked".into()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
    })
}

/// Ends a case as failed unless the condition holds.
macro_rules! check {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err($crate::report::Ended::Failed(format!($($reason)+)));
        }
    };
}
pub(crate) use check;

/// Findings of the kit so far.
pub(crate) struct Report<'a> {
    output: &'a mut dyn Write,
    cases: u32,
    left_out: u32,
    failed: Vec<String>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(output: &'a mut dyn Write) -> Self {
        Self { output, cases: 0, left_out: 0, failed: Vec::new() }
    }

    /// Writes the line of a case.
    pub(crate) fn add(&mut self, part: Part, name: impl fmt::Display, ran: Ran) -> io::Result<()> {
        self.cases += 1;
        let line = match ran {
            Ok(()) => format!("ok        {part}: {name}"),
            Err(Ended::LeftOut(reason)) => {
                self.left_out += 1;
                format!("left out  {part}: {name}: {reason}")
            }
            Err(Ended::Failed(reason)) => {
                self.failed.push(format!("{name}: {reason}"));
                format!("FAILED    {part}: {name}: {reason}")
            }
        };
        self.line(&line)
    }

    /// Returns the cases that failed, with their reasons.
    pub(crate) fn into_failed(self) -> Vec<String> {
        self.failed
    }

    /// Writes the end of the report, and returns true if no case failed.
    pub(crate) fn end(mut self, host: &Hello) -> io::Result<bool> {
        let failed = self.failed.len();
        let said = if failed == 0 { "conforms".to_string() } else { format!("does not conform: {failed} failed") };
        self.line(&format!("{}: {said}; {} cases, {} left out", host.name, self.cases, self.left_out))?;
        Ok(failed == 0)
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.output.write_all(format!("{line}\n").as_bytes())?;
        self.output.flush()
    }
}
