//! What all sessions of a project say about a command together: one that failed in an earlier session may have passed since.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::note::{FAILING, PASSED, command_of, said, with_headings};
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
    ran: Vec<Ran>,
    when: When,
    passed: bool,
    /// True if it is from a state, which has the time of each command.
    is_exact: bool,
}

impl Outcomes {
    /// Adds what the note of a session says.
    pub(super) fn add_note(&mut self, session: &str, body: &str, when: When) {
        for (heading, line) in with_headings(body).filter(|(heading, _)| [FAILING, PASSED].contains(heading)) {
            if let Some(line) = command_of(line) {
                self.add(session, line, when, heading == PASSED, false);
            }
        }
    }

    /// Adds what happened in a session.
    pub(super) fn add_state(&mut self, session: &str, state: &State, modified: u64) {
        for used in state.of(Event::Tool) {
            if let Some(line) = &used.command {
                self.add(session, line, (used.at, modified), !used.failed, true);
            }
        }
    }

    fn add(&mut self, session: &str, line: &str, when: When, passed: bool, is_exact: bool) {
        let (session, line, ran) = (session.to_string(), line.to_string(), said(line));
        self.0.push(Outcome { session, line, ran, when, passed, is_exact });
    }

    /// Returns true if a command has failed in another session.
    pub(super) fn failed_elsewhere(&self, session: &str, passed: &[Ran]) -> bool {
        let failed = self.0.iter().filter(|outcome| !outcome.passed && outcome.session != session);
        failed.flat_map(|outcome| &outcome.ran).any(|failed| covers(passed, failed))
    }

    /// Returns true if a line that failed in a session, at the latest at the time of its note, still has to be mentioned.
    pub(super) fn still_fails(&self, session: &str, line: &str, noted: When, now: i64) -> bool {
        let is_it = |outcome: &&Outcome| outcome.is_exact && !outcome.passed && outcome.session == session;
        let exact = self.0.iter().filter(is_it).filter(|outcome| outcome.line == line).map(|outcome| outcome.when);
        let failed = exact.max().unwrap_or(noted);
        let ran = said(line);
        let later = |outcome: &&Outcome| outcome.passed && outcome.when > failed && outcome.session != session;
        let passed = |open: &Ran| self.0.iter().filter(later).any(|outcome| covers(&outcome.ran, open));
        // `cargo test | tail` fails by its test.
        let open: Vec<&Ran> = ran.iter().filter(|ran| !ran.only_looks()).collect();
        let is_repaired =
            !ran.is_empty() && if open.is_empty() { ran.iter().all(passed) } else { open.into_iter().all(passed) };
        let is_old = now.saturating_sub(failed.0) > MAX_FAILURE_AGE_SECONDS && !ran.iter().any(Ran::is_test);
        !is_repaired && !is_old
    }
}

fn covers(passed: &[Ran], failed: &Ran) -> bool {
    passed.iter().any(|passed| passed.decides && passed.covers(failed))
}
