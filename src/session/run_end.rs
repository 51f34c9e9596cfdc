//! The end of a run of a command line. Its exit code decides; if the line hides the exit code of tests, their summary does.
//!
//! No other part of the output is kept. It is text of a tool, which does not go into a prompt.

use saddlebag_collections::{prelude::*, words};

use super::shell::{Ran, commands};

/// Number of lines at the end of an output that are searched.
const MAX_LINES: usize = 60;

/// Starts of lines that say that tests have passed, and that they have failed, in lower case.
const PASSES: &str = "ok |ok\t|pass |build success|all tests passed|all checks passed|success: no issues|passed!|\
    ✓ built|finished |compiled successfully";
const FAILS: &str = "fail |fail\t|failed |failed!|--- fail|not ok |build fail|npm err|make: ***|error: test failed|\
    error: could not compile|error[|test result: failed|panic: |some tests failed|error during build|error: failed to|\
    segmentation fault";
/// First words of lines that count results. Other such lines begin with a number.
const COUNTS: &str = "errors|executed|failed|fail|found|pass|summary|tests";
/// Programs that show only a part of what tests print.
const PARTS: [&str; 8] = ["awk", "cut", "grep", "head", "jq", "rg", "sed", "wc"];
/// Commands that change the sources.
const OTHER_SOURCES: &str = "git stash|git checkout|git switch|git bisect";
const FAILED: &str = "fail|failed|failing|failure|failures|error|errors";
const PASSED: &str = "pass|passed|passing";

/// End of a run of a command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// It succeeded. What a pipe or a list hides may have failed.
    #[default]
    Succeeded,
    /// It succeeded, and the tests in it say that they passed.
    TestsPassed,
    /// It succeeded, and the tests in it printed nothing that says how they ended.
    Unsaid,
    /// It failed, or its tests say so.
    Failed,
}

words!(RunEnd, "end of a run" {
    Succeeded = "succeeded",
    TestsPassed = "tests-passed",
    Unsaid = "unsaid",
    Failed = "failed",
});

impl RunEnd {
    /// Returns how a run ended, by its exit code and by what it printed, if that is known.
    ///
    /// ```
    /// use saddlebag::session::RunEnd;
    ///
    /// assert_eq!(RunEnd::of("npm test | tail -5", false, Some("Tests: 2 failed, 50 passed")), RunEnd::Failed);
    /// assert_eq!(RunEnd::of("npm test", false, Some("Tests: 2 failed, 50 passed")), RunEnd::Succeeded);
    /// ```
    pub fn of(command: &str, failed: bool, output: Option<&str>) -> Self {
        if failed {
            return Self::Failed;
        }
        let is_part =
            commands(command).iter().any(|ran| ran.words.first().is_some_and(|word| PARTS.contains(&word.as_str())));
        match output.filter(|_| Self::needs_output(command)).map(have_passed) {
            Some(Some(true)) if is_part => Self::Unsaid,
            Some(Some(true)) => Self::TestsPassed,
            Some(Some(false)) => Self::Failed,
            Some(None) => Self::Unsaid,
            None => Self::Succeeded,
        }
    }

    /// Returns true if the exit code of a command does not say how its tests ended.
    pub fn needs_output(command: &str) -> bool {
        commands(command).iter().any(|ran| ran.is_test() && !ran.decides)
    }

    /// Returns the commands of a line that have passed, and the tests that do not say how they ended, which decide nothing. On other
    /// sources, such as those of before, none decides anything.
    pub(super) fn passed(self, line: &str) -> impl Iterator<Item = Ran> {
        let is_elsewhere = OTHER_SOURCES.split('|').any(|command| line.contains(command));
        self.commands(line)
            .filter(move |ran| self != Self::Failed && ran.decides || self == Self::Unsaid && ran.is_test())
            .map(move |ran| Ran { decides: ran.decides && !is_elsewhere, ..ran })
    }

    /// Returns the commands of a line that say what has failed or passed.
    pub(super) fn commands(self, line: &str) -> impl Iterator<Item = Ran> {
        let mut ran: Vec<Ran> = commands(line).into_iter().filter(|ran| !ran.is_wrapped).collect();
        // What tests before the last one have printed may be cut off. The last one does not run if one before `||` passes.
        let may_be_skipped = line.contains("||") && ran.iter().filter(|ran| ran.is_test()).count() > 1;
        let says = self == Self::TestsPassed && !may_be_skipped;
        if let Some(last) = ran.iter_mut().rfind(|ran| ran.is_test()).filter(|_| says) {
            last.decides = true;
        }
        ran.into_iter()
    }
}

/// Returns what the last lines of tests say; `None` if they do not say if the tests have passed.
fn have_passed(output: &str) -> Option<bool> {
    let mut said = output.lines().rev().take(MAX_LINES).filter_map(line_says);
    let first = said.next()?;
    Some(first && said.all(|passed| passed))
}

fn line_says(line: &str) -> Option<bool> {
    let line = without_colours(line).to_ascii_lowercase();
    let line = line.trim_matches(|c: char| c.is_whitespace() || "=#*-ℹ✖".contains(c));
    let line = line.trim_start_matches("[info] ").trim_start_matches("test result: ok. ");
    if line.contains("no tests") {
        return None;
    }
    let first = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let is_number = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    let of_files = ["test suites", "test files"].iter().any(|start| line.starts_with(start));
    let counts = is_number || of_files || COUNTS.split('|').any(|word| word == first);
    let mut passed = None;
    for part in line.split([',', ';', '|', '(']).filter(|_| counts) {
        match (count_of(part, FAILED), count_of(part, PASSED)) {
            (Some(1..), _) => return Some(false),
            (None, Some(1..)) | (Some(0), _) => passed = Some(true),
            _ => {}
        }
    }
    let begins = |starts: &str| starts.split('|').any(|start| line.starts_with(start) || line == start.trim_end());
    let is_error = [": error:", ": error ts"].iter().any(|mark| line.contains(mark));
    passed.or_else(|| (is_error || begins(FAILS)).then_some(false)).or_else(|| begins(PASSES).then_some(true))
}

/// Returns the number before or after one of the words.
fn count_of(part: &str, names: &str) -> Option<u32> {
    let words = || part.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty() && *word != "tests");
    let number = |at: usize| words().nth(at)?.parse().ok();
    let named = words().enumerate().filter(|(_, word)| names.split('|').any(|name| name == *word));
    let mut named = named.map(|(at, _)| at);
    named.find_map(|at| at.checked_sub(1).and_then(number).or_else(|| number(at + 1)))
}

/// Returns a line without the sequences that colour it.
fn without_colours(line: &str) -> alloc::string::String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default();
    let rest = parts
        .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').get(1..).unwrap_or_default());
    core::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_tests_say_if_they_have_passed() {
        for (output, expected) in [
            ("Tests:       2 failed, 10 passed, 12 total", Some(false)),
            ("Test Suites: 3 passed, 3 total\nTests:       50 passed, 50 total\nTime: 2 s", Some(true)),
            ("PASS src/a.test.js\nFAIL src/b.test.js\nRan all test suites.", Some(false)),
            (" Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 9 passed (10)", Some(false)),
            ("      Tests  10 passed (10)", Some(true)),
            ("  10 passing (12ms)\n  2 failing", Some(false)),
            ("# tests 4\n# pass 4\n# fail 0", Some(true)),
            ("ℹ pass 3\nℹ fail 1", Some(false)),
            (" 10 pass\n 0 fail", Some(true)),
            ("\u{1b}[32m5 passed\u{1b}[0m in 0.12s", Some(true)),
            ("=== 1 failed, 4 passed in 0.12s ===", Some(false)),
            ("FAILED tests/test_a.py::test_x - assert 1 == 2", Some(false)),
            ("1 passed, 1 error in 0.1s", Some(false)),
            ("2 errors in 0.1s", Some(false)),
            ("test result: ok. 12 passed; 0 failed; 1 ignored", Some(true)),
            ("test result: FAILED. 1 passed; 1 failed\n\nerror: test failed, to rerun pass `--lib`", Some(false)),
            ("Summary [ 0.1s] 12 tests run: 12 passed, 0 skipped", Some(true)),
            ("ok  \texample.com/store\t0.1s", Some(true)),
            ("--- FAIL: TestX (0.00s)\nFAIL\texample.com/store\t0.1s\nFAIL", Some(false)),
            ("Ran 3 tests in 0.001s\n\nOK", Some(true)),
            ("Ran 3 tests in 0.001s\n\nFAILED (failures=1)", Some(false)),
            ("10 examples, 0 failures", Some(true)),
            ("10 runs, 20 assertions, 1 failures, 0 errors", Some(false)),
            ("[INFO] Tests run: 5, Failures: 0, Errors: 0\n[INFO] BUILD SUCCESS", Some(true)),
            ("Tests run: 5, Failures: 1, Errors: 0", Some(false)),
            ("BUILD SUCCESSFUL in 3s", Some(true)),
            ("All checks passed!", Some(true)),
            ("✓ built in 3.2s", Some(true)),
            ("    Finished `dev` profile [unoptimized] target(s) in 0.1s", Some(true)),
            ("Test Suites: 1 failed, 2 passed, 3 total\nTests:       60 passed, 60 total", Some(false)),
            (" Test Files  1 failed | 3 passed (4)\n      Tests  12 passed (12)", Some(false)),
            ("      Tests  12 passed (12)\n     Errors  1 error", Some(false)),
            ("Failed!  - Failed:     1, Passed:     3", Some(false)),
            ("00:05 +3 -1: Some tests failed.", None),
            ("ERROR: failed to solve: process \"/bin/sh -c make\"", Some(false)),
            ("Success: no issues found in 3 source files", Some(true)),
            ("Passed!  - Failed:     0, Passed:     5", Some(true)),
            ("100% tests passed, 0 tests failed out of 5", Some(true)),
            ("✖ 12 problems (3 errors, 9 warnings)", Some(false)),
            ("src/a.ts(3,4): error TS2322: Type 'string'", Some(false)),
            ("Found 2 errors in 1 file (checked 3 source files)", Some(false)),
            ("make: *** [Makefile:3: test] Error 1", Some(false)),
            ("not ok 2 - it adds\n# fail 1", Some(false)),
            ("  ✓ 2 errors are reported\n  ✓ returns 3 failures", None),
            ("test reads_2_failed_rows ... ok", None),
            ("Ran all test suites.", None),
            ("ok  \texample.com/store\t0.1s [no tests to run]", None),
            ("error[E0308]: mismatched types\nerror: could not compile `shop` (bin) due to 1 error", Some(false)),
            ("", None),
        ] {
            assert_eq!(have_passed(output), expected, "{output}");
        }
    }

    #[test]
    fn only_what_a_line_hides_is_judged_by_its_output() {
        for (command, failed, output, expected) in [
            ("npm test 2>&1 | tail -5", false, "Tests: 50 passed, 50 total", RunEnd::TestsPassed),
            ("npm test 2>&1 | tail -5", false, "Tests: 2 failed, 50 total", RunEnd::Failed),
            ("npm test | tail -1", false, "Ran all test suites.", RunEnd::Unsaid),
            ("npm test || true", false, "Tests: 2 failed, 50 total", RunEnd::Failed),
            ("npm test", false, "Tests: 2 failed, 50 total", RunEnd::Succeeded),
            ("npm test", true, "", RunEnd::Failed),
            ("cargo test | grep 'test result' | head -1", false, "test result: ok. 3 passed; 0 failed", RunEnd::Unsaid),
            ("cat report.txt | tail", false, "2 failed", RunEnd::Succeeded),
            ("cargo build 2>&1 | tail -3", false, "error: could not compile `shop`", RunEnd::Failed),
        ] {
            assert_eq!(RunEnd::of(command, failed, Some(output)), expected, "{command}: {output}");
        }
    }
}
