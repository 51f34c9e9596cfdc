//! Runs `git log`. A repository may be hostile, so nothing that its configuration names is run, and nothing is fetched.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use super::commits::{self, Commit};
use crate::failure::{Failure, ProgramCode};

/// Maximum number of commits that are read, the newest first.
const MAX_COMMITS: usize = 20_000;

/// Maximum size of the output of git, in bytes.
const MAX_OUTPUT: u64 = 64 << 20;

/// Maximum size of an error of git, in bytes.
const MAX_ERROR: u64 = 2_048;

/// Settings that win over those of the repository. Each names something that git would run, read or fetch.
const SETTINGS: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "log.showSignature=false",
    "log.mailmap=false",
    "log.follow=false",
    "protocol.allow=never",
    "diff.ignoreSubmodules=all",
];

const OPTIONS: [&str; 12] = [
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
    let mut child = command(repository).spawn().map_err(|error| {
        let message = format!("cannot run git: {}", saddlebag_host::io_cause(&error));
        Failure::new(ProgramCode::Input, message, "install git, or add it to PATH; nothing was imported")
    })?;
    let (output, error) = outputs(&mut child).map_err(|error| unreadable(repository, &error.to_string()))?;
    let is_cut = output.len() as u64 > MAX_OUTPUT;
    if is_cut {
        // It may have exited already.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| unreadable(repository, &error.to_string()))?;
    if !status.success() && !is_cut {
        if error.contains("does not have any commits") {
            return Ok(Log { commits: Vec::new(), cut: None });
        }
        return Err(unreadable(repository, error.trim().trim_start_matches("fatal: ")));
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
    Failure::new(ProgramCode::Input, message, "name the folder of a git repository; nothing was imported")
}

fn command(repository: &Path) -> Command {
    let mut command = Command::new("git");
    // Variables of a hook or of a shell could lead to another repository or to another program.
    for (name, _) in std::env::vars_os() {
        let is_of_git = name.to_str().is_some_and(|name| name.starts_with("GIT_") && !name.starts_with("GIT_CONFIG"));
        if is_of_git {
            command.env_remove(name);
        }
    }
    command.envs([
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("LC_ALL", "C"),
    ]);
    command.arg("-C").arg(repository).args(["--no-pager", "--no-optional-locks"]);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.arg("log").args(OPTIONS).arg(commits::FORMAT).arg(format!("--max-count={MAX_COMMITS}")).arg("--");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Reads both outputs, up to one byte over the limit of the first.
fn outputs(child: &mut Child) -> io::Result<(Vec<u8>, String)> {
    let errors = child.stderr.take();
    let errors = thread::spawn(move || {
        let Some(mut pipe) = errors else { return Vec::new() };
        let mut kept = Vec::new();
        // An unreadable error is an empty one. The rest is read too, because a full pipe would stop git.
        let _ = (&mut pipe).take(MAX_ERROR).read_to_end(&mut kept);
        let _ = io::copy(&mut pipe, &mut io::sink());
        kept
    });
    let mut output = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        pipe.take(MAX_OUTPUT + 1).read_to_end(&mut output)?;
    }
    let errors = errors.join().unwrap_or_default();
    Ok((output, String::from_utf8_lossy(&errors).into_owned()))
}
