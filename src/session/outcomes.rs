//! What all sessions of a project say about a command together: one that failed in an earlier session may have passed since.

use alloc::string::String;
use alloc::vec::Vec;

use super::note::{FAILING, NOT_FAILED, PASSED, command_of, to_pass, with_headings};
use super::run_end::RunEnd;
use super::shell::Ran;
use super::state::{Event, State};

/// Age in seconds after which the failure of a command other than a test of the project is not mentioned any more.
const MAX_FAILURE_AGE_SECONDS: i64 = 7 * 24 * 3_600;

/// Time in seconds, and that of the file in nanoseconds, which tells two of the same second apart.
pub(super) type When = (i64, u64);

/// Outcomes of commands.
#[derive(Default)]
pub(super) struct Outcomes(Vec<Outcome>);

struct Outcome {
    session: String,
    line: String,
    /// Commands that have passed, and tests that do not say how they ended.
    passed: Vec<Ran>,
    failed: bool,
    when: When,
    /// True if it is from a state, which has the time of each command.
    is_exact: bool,
}

impl Outcomes {
    /// Adds what the note of a session says.
    pub(super) fn add_note(&mut self, session: &str, body: &str, when: When) {
        for (heading, line) in
            with_headings(body).filter(|(heading, _)| [FAILING, PASSED, NOT_FAILED].contains(heading))
        {
            if let Some(line) = command_of(line) {
                let end = match heading {
                    FAILING => RunEnd::Failed,
                    PASSED => RunEnd::TestsPassed,
                    _ => RunEnd::Unsaid,
                };
                self.add(session, line, when, end, false);
            }
        }
    }

    /// Adds what happened in a session.
    pub(super) fn add_state(&mut self, session: &str, state: &State, modified: u64) {
        for used in state.of(Event::Tool) {
            if let Some(line) = &used.command {
                self.add(session, line, (used.at, modified), used.end, true);
            }
        }
    }

    fn add(&mut self, session: &str, line: &str, when: When, end: RunEnd, is_exact: bool) {
        let (failed, passed) = (end == RunEnd::Failed, end.passed(line).collect());
        self.0.push(Outcome { session: session.into(), line: line.into(), passed, failed, when, is_exact });
    }

    /// Returns the lines that still have to be mentioned as failing.
    pub(super) fn failing(&self, now: i64) -> Vec<String> {
        let failed = self.0.iter().filter(|outcome| outcome.failed);
        let open = failed.filter(|outcome| self.still_fails(&outcome.session, &outcome.line, outcome.when, now));
        let mut lines: Vec<String> = open.map(|outcome| outcome.line.clone()).collect();
        crate::order::sort_slice(&mut lines, Ord::cmp);
        lines.dedup();
        lines
    }

    /// Returns true if a line that failed in a session, at the latest at the time of its note, still has to be mentioned.
    pub(super) fn still_fails(&self, session: &str, line: &str, noted: When, now: i64) -> bool {
        let age = now.saturating_sub(self.failed_at(session, line, noted).0);
        let is_old = age > MAX_FAILURE_AGE_SECONDS && !to_pass(line).iter().any(Ran::is_test);
        !is_old && !self.has_passed(session, line, noted, false)
    }

    /// Returns true if a line that failed in a session has passed in another one since; with `surely`, in the same folder.
    pub(super) fn has_passed(&self, session: &str, line: &str, noted: When, surely: bool) -> bool {
        let failed = self.failed_at(session, line, noted);
        let later = |outcome: &&Outcome| outcome.when > failed && outcome.session != session;
        let passed = |open: &Ran| {
            let covers = |passed: &Ran| if surely { passed.covers_surely(open) } else { passed.covers(open) };
            self.0.iter().filter(later).flat_map(|outcome| &outcome.passed).any(covers)
        };
        let open = to_pass(line);
        !open.is_empty() && open.iter().all(passed)
    }

    fn failed_at(&self, session: &str, line: &str, noted: When) -> When {
        let is_it = |outcome: &&Outcome| outcome.is_exact && outcome.failed && outcome.session == session;
        let exact = self.0.iter().filter(is_it).filter(|outcome| outcome.line == line).map(|outcome| outcome.when);
        exact.max().unwrap_or(noted)
    }
}
