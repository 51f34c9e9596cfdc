//! What all sessions of a project say about a command together: one that failed in an earlier session may have passed since.

use super::note::{FAILING, command_of, to_pass, with_headings};
use super::run_end::RunEnd;
use super::shell::Ran;
use super::state::{Event, State};
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::parse_date;

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
    /// Commands that have to pass after it has failed.
    open: Vec<Ran>,
    /// Commands that have passed, and tests that do not say how they ended.
    passed: Vec<Ran>,
    failed: bool,
    when: When,
}

impl Outcomes {
    /// Adds what the note of a session says of the last run of each line: the field `runs`, and its list of failures.
    pub(super) fn add_note(&mut self, session: &str, runs: &[String], body: &str, noted: When) {
        for run in runs {
            let mut parts = run.splitn(3, ' ');
            let (end, time) = (parts.next().and_then(|end| end.parse().ok()), parts.next().and_then(parse_date));
            if let (Some(end), Some(time), Some(line)) = (end, time, parts.next()) {
                let seconds = i64::try_from(time / 1_000_000_000).unwrap_or(i64::MAX);
                self.add(session, line, (seconds, noted.1), end);
            }
        }
        // A person may have removed the field.
        for line in
            with_headings(body).filter(|(heading, _)| *heading == FAILING).filter_map(|(_, line)| command_of(line))
        {
            if !self.0.iter().any(|outcome| outcome.session == session && outcome.line == line) {
                self.add(session, line, noted, RunEnd::Failed);
            }
        }
    }

    /// Adds what happened in a session.
    pub(super) fn add_state(&mut self, session: &str, state: &State, modified: u64) {
        for used in state.of(Event::Tool) {
            if let Some(line) = &used.command {
                self.add(session, line, (used.at, modified), used.end);
            }
        }
    }

    fn add(&mut self, session: &str, line: &str, when: When, end: RunEnd) {
        // A line is parsed once: there are hundreds at a start.
        let failed = end == RunEnd::Failed;
        let (open, passed) =
            if failed { (to_pass(line), Vec::new()) } else { (Vec::new(), end.passed(line).collect()) };
        self.0.push(Outcome { session: session.into(), line: line.into(), open, passed, failed, when });
    }

    /// Returns true if a line that failed in a session has to be mentioned.
    pub(super) fn is_open(&self, session: &str, line: &str, now: i64) -> bool {
        let Some(failed) = self.failed_at(session, line) else { return false };
        let is_old = now.saturating_sub(failed.0) > MAX_FAILURE_AGE_SECONDS && !to_pass(line).iter().any(Ran::is_test);
        !is_old && self.passed_as(session, line).is_none()
    }

    /// Returns the line with which one that failed in a session has passed since.
    pub(super) fn passed_as(&self, session: &str, line: &str) -> Option<&str> {
        let mut open = to_pass(line);
        let mut later: Vec<&Outcome> = self.later(session, line).filter(|_| !open.is_empty()).collect();
        order::sort_slice(&mut later, |a, b| a.when.cmp(&b.when));
        let mut passed = later.into_iter().filter(|outcome| {
            open.retain(|open| !outcome.passed.iter().any(|passed| passed.covers(open)));
            open.is_empty()
        });
        passed.next().map(|outcome| outcome.line.as_str())
    }

    /// Returns the line that ran without a failure since and says most about one that failed in a session, and its time in seconds.
    pub(super) fn like(&self, session: &str, line: &str) -> Option<(&str, i64)> {
        let open = to_pass(line);
        let likeness = |outcome: &Outcome| {
            let all = || outcome.passed.iter().flat_map(|passed| open.iter().map(move |open| (passed, open)));
            all().filter(|(passed, open)| passed.is_like(open)).map(|(passed, open)| passed.likeness(open)).max()
        };
        let mut like: Vec<_> =
            self.later(session, line).filter_map(|outcome| Some((likeness(outcome)?, outcome.when, outcome))).collect();
        order::sort_slice(&mut like, |a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        let best = like.into_iter().rev().map(|(.., outcome)| outcome).find(|outcome| !self.fails(&outcome.line));
        best.map(|outcome| (outcome.line.as_str(), outcome.when.0))
    }

    /// Returns true if the last run of a line failed.
    pub(super) fn fails(&self, line: &str) -> bool {
        let (open, is_it) = (to_pass(line), |outcome: &&Outcome| outcome.line == line && !outcome.failed);
        let passed = self.0.iter().filter(is_it).map(|outcome| outcome.when).max();
        self.0.iter().any(|outcome| outcome.failed && Some(outcome.when) > passed && outcome.open == open)
    }

    /// Returns what ran after a line failed in a session.
    fn later(&self, session: &str, line: &str) -> impl Iterator<Item = &Outcome> {
        let failed = self.failed_at(session, line);
        self.0.iter().filter(move |outcome| failed.is_some_and(|failed| outcome.when > failed))
    }

    /// Returns the time of the last failure of a line in a session.
    pub(super) fn failed_at(&self, session: &str, line: &str) -> Option<When> {
        let is_it = |outcome: &&Outcome| outcome.failed && outcome.session == session && outcome.line == line;
        self.0.iter().filter(is_it).map(|outcome| outcome.when).max()
    }
}
