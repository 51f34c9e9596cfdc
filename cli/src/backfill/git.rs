//! Runs `git log`.

use std::path::Path;

use super::commits::{self, Commit};
use crate::failure::{Failure, ProgramCode};
use crate::git::{Ended, LIMIT, MAX_OUTPUT, command, run, said};

/// Maximum number of commits that are read, the newest first.
const MAX_COMMITS: usize = 20_000;

const OPTIONS: [&str; 13] = [
    // An order of files that the repository names would be read.
    "-O/dev/null",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-mailmap",
    "--no-notes",
    "--no-decorate",
    "--no-renames",
    "--no-relative",
    "--encoding=UTF-8",
    "--name-only",
    "--diff-merges=off",
];

/// Commits of a repository.
pub(super) struct Log {
    /// Commits, the newest first.
    pub(super) commits: Vec<Commit>,
    /// Reason why older commits are missing, if some may be.
    pub(super) cut: Option<String>,
}

/// Reads the commits that lead to the checked-out one.
pub(super) fn log(repository: &Path) -> Result<Log, Failure> {
    let mut git = command(repository);
    git.arg("log").args(OPTIONS).arg(commits::FORMAT).arg(format!("--max-count={MAX_COMMITS}")).arg("--");
    let Ended { output, error, status } = run(&mut git, &[])?;
    let is_cut = output.len() as u64 > MAX_OUTPUT;
    let Some(status) = status else {
        let message = format!("git did not read the commits of `{}` in {} s", repository.display(), LIMIT.as_secs());
        let help = "run `git log` there to see why";
        return Err(Failure::new(ProgramCode::Input, message, help));
    };
    if !status.success() && !is_cut {
        if error.contains("does not have any commits") {
            return Ok(Log { commits: Vec::new(), cut: None });
        }
        return Err(unreadable(repository, &said(&error, status)));
    }
    let (commits, broken) = commits::parse(&output);
    let cut = if is_cut {
        Some(format!("older than the first {} MiB of `git log`", MAX_OUTPUT >> 20))
    } else if commits.len() == MAX_COMMITS {
        Some(format!("older than the newest {MAX_COMMITS} commits"))
    } else {
        (broken > 0).then(|| format!("{broken} records of `git log` could not be read"))
    };
    Ok(Log { commits, cut })
}

fn unreadable(repository: &Path, reason: &str) -> Failure {
    let message = format!("the commits of `{}` cannot be read: {}", repository.display(), reason.trim());
    Failure::new(ProgramCode::Input, message, "name the folder of a git repository")
}
