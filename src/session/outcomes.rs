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

    /// Returns the failures that still have to be mentioned: the session, the line and the time of each.
    pub(super) fn failing(&self, now: i64) -> Vec<(String, String, When)> {
        let failed = self.0.iter().filter(|outcome| outcome.failed);
        let open = failed.filter(|outcome| self.still_fails(&outcome.session, &outcome.line, outcome.when, now));
        open.map(|outcome| (outcome.session.clone(), outcome.line.clone(), outcome.when)).collect()
    }

    /// Returns true if a line that failed in a session, at the latest at the time of its note, still has to be mentioned.
    pub(super) fn still_fails(&self, session: &str, line: &str, noted: When, now: i64) -> bool {
        let age = now.saturating_sub(self.failed_at(session, line, noted).0);
        let is_old = age > MAX_FAILURE_AGE_SECONDS && !to_pass(line).iter().any(Ran::is_test);
        let ran_again = || self.later(session, line, noted).any(|outcome| outcome.line == line && !outcome.failed);
        !is_old && self.passed_as(session, line, noted).is_none() && !ran_again()
    }

    /// Returns the line with which one that failed in a session has passed in another one since.
    pub(super) fn passed_as(&self, session: &str, line: &str, noted: When) -> Option<&str> {
        let mut open = to_pass(line);
        let later = self.later(session, line, noted).filter(|_| !open.is_empty());
        let mut later: Vec<&Outcome> = later.collect();
        crate::order::sort_slice(&mut later, |a, b| a.when.cmp(&b.when));
        let mut passed = later.into_iter().filter(|outcome| {
            open.retain(|open| !outcome.passed.iter().any(|passed| passed.covers(open)));
            open.is_empty()
        });
        passed.next().map(|outcome| outcome.line.as_str())
    }

    /// Returns the last line that ran without a failure in another session since, and says something about one that failed; with its
    /// time in seconds.
    pub(super) fn like(&self, session: &str, line: &str, noted: When) -> Option<(&str, i64)> {
        let open = to_pass(line);
        let is_like = |passed: &Ran| open.iter().any(|open| passed.is_like(open));
        let like = self.later(session, line, noted).filter(|outcome| outcome.passed.iter().any(is_like));
        like.max_by_key(|outcome| outcome.when).map(|outcome| (outcome.line.as_str(), outcome.when.0))
    }

    /// Returns what other sessions did after a line failed in one.
    fn later(&self, session: &str, line: &str, noted: When) -> impl Iterator<Item = &Outcome> {
        let failed = self.failed_at(session, line, noted);
        self.0.iter().filter(move |outcome| outcome.when > failed && outcome.session != session)
    }

    /// Returns the time of the last failure of a line in a session: that of its note, unless its state is known.
    pub(super) fn failed_at(&self, session: &str, line: &str, noted: When) -> When {
        let is_it = |outcome: &&Outcome| outcome.is_exact && outcome.failed && outcome.session == session;
        let exact = self.0.iter().filter(is_it).filter(|outcome| outcome.line == line).map(|outcome| outcome.when);
        exact.max().unwrap_or(noted)
    }
}
