//! [`Report`]: what the kit found, one line for each case.

use schemars::JsonSchema;
use serde::Serialize;

use super::driver::Hello;
use crate::failure::{Exit, Failure};
use crate::output::{Output, STRONG};

/// Reason why a case did not succeed.
#[derive(Debug)]
pub(super) enum Ended {
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
    pub(super) fn within(self, place: &str, end: &str) -> Self {
        match self {
            Self::Failed(reason) => Self::Failed(format!("{place}: {reason}{end}")),
            left_out => left_out,
        }
    }
}

/// Result of a case.
pub(super) type Ran = Result<(), Ended>;

/// Returns the end of a case that does not concern this host.
pub(super) fn left_out(reason: &str) -> Ran {
    Err(Ended::LeftOut(reason.into()))
}

/// Ends a case as failed unless the condition holds.
macro_rules! check {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err($crate::conform::report::Ended::Failed(format!($($reason)+)));
        }
    };
}
pub(super) use check;

/// Result of checking a host.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ConformJson {
    /// Description of the host.
    host: Hello,
    /// Cases, in the order in which they ran.
    cases: Vec<CaseJson>,
    /// Number of cases that failed.
    failed: u64,
}

/// Result of a case.
#[derive(Serialize, JsonSchema)]
struct CaseJson {
    /// Part that the case belongs to.
    part: &'static str,
    /// Name of the case.
    name: String,
    /// `ok`, `failed` or `left-out`.
    result: &'static str,
    /// Reason why it failed or was left out, or `null`.
    reason: Option<String>,
}

/// What the kit found so far. A run without `--json` prints each line at once.
pub(super) struct Report<'a> {
    output: &'a mut Output,
    cases: Vec<CaseJson>,
}

impl<'a> Report<'a> {
    pub(super) fn new(output: &'a mut Output) -> Self {
        Self { output, cases: Vec::new() }
    }

    /// Adds a case.
    pub(super) fn add(&mut self, part: &'static str, name: impl Into<String>, ran: Ran) -> Result<(), Failure> {
        let (result, reason) = match ran {
            Ok(()) => ("ok", None),
            Err(Ended::Failed(reason)) => ("failed", Some(reason)),
            Err(Ended::LeftOut(reason)) => ("left-out", Some(reason)),
        };
        let case = CaseJson { part, name: name.into(), result, reason };
        if !self.output.is_json() {
            let CaseJson { part, name, reason, .. } = &case;
            match reason {
                None => self.output.line(&format!("ok        {part}: {name}"))?,
                Some(reason) if result == "failed" => {
                    self.output.styled(STRONG, &format!("FAILED    {part}: {name}: {reason}"))?;
                }
                Some(reason) => self.output.line(&format!("left out  {part}: {name}: {reason}"))?,
            }
            self.output.flush()?;
        }
        self.cases.push(case);
        Ok(())
    }

    /// Returns the cases that failed, with their reasons.
    #[cfg(test)]
    pub(super) fn failed(&self) -> Vec<String> {
        let failed = self.cases.iter().filter(|case| case.result == "failed");
        failed.map(|case| format!("{}: {}", case.name, case.reason.as_deref().unwrap_or_default())).collect()
    }

    /// Prints the end of the report.
    pub(super) fn end(self, host: Hello) -> Result<Exit, Failure> {
        let count = |result| self.cases.iter().filter(|case| case.result == result).count();
        let (failed, left) = (count("failed"), count("left-out"));
        let exit = if failed == 0 { Exit::Done } else { Exit::Nothing };
        if self.output.is_json() {
            self.output.object(&ConformJson { host, cases: self.cases, failed: failed as u64 })?;
        } else {
            let total = self.cases.len();
            let said = if failed == 0 { "conforms".to_string() } else { format!("does not conform: {failed} failed") };
            self.output.line(&format!("{}: {said}; {total} cases, {left} left out", host.name))?;
        }
        Ok(exit)
    }
}
