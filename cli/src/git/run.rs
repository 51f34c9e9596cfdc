//! Runs git. A repository may be hostile, so no hook, pager or monitor that it names is run. [`command`] does not reach other machines;
//! [`network_command`] does.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::failure::{Failure, ProgramCode};

/// Maximum size of the output of git, in bytes.
pub(super) const MAX_OUTPUT: u64 = 64 << 20;

/// Maximum size of an error of git, in bytes.
const MAX_ERROR: u64 = 2_048;

/// Settings that win over the repository's own. Each names something that git would run, read or fetch.
const SETTINGS: [&str; 7] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "log.showSignature=false",
    "log.mailmap=false",
    "log.follow=false",
    "diff.ignoreSubmodules=all",
];

/// Variables of git that are kept: settings, and who the user is.
const KEPT: [&str; 3] = ["GIT_CONFIG", "GIT_AUTHOR_", "GIT_COMMITTER_"];

/// Further variables that are kept where git reaches other machines: how it connects, and asks for a password.
const KEPT_FOR_NETWORK: [&str; 4] = ["GIT_SSH", "GIT_ASKPASS", "GIT_PROXY", "GIT_SSL"];

/// Time limit of git where it reaches other machines.
pub(super) const NETWORK_LIMIT: Duration = Duration::from_secs(600);

/// Time limit of git. A repository may name a file that is a pipe.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// Maximum pause between two looks at git. The first pauses are shorter, because most runs are.
const PAUSE: Duration = Duration::from_millis(5);

/// First pause.
const FIRST_PAUSE: Duration = Duration::from_micros(500);

/// Output of git until it ended.
pub(crate) struct Ended {
    /// Standard output, up to one byte over its limit.
    pub(crate) output: Vec<u8>,
    pub(crate) error: String,
    /// `None` if it was stopped, because it took too long.
    pub(crate) status: Option<ExitStatus>,
}

/// Returns git for a folder, without a subcommand. It does not reach other machines.
pub(super) fn command(folder: &Path) -> Command {
    let mut command = offline_or_not(folder, &KEPT);
    command.envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")]);
    command.args(["-c", "protocol.allow=never"]);
    command
}

/// Returns git for a folder, without a subcommand. It may reach other machines as the user's git does.
pub(super) fn network_command(folder: &Path) -> Command {
    offline_or_not(folder, &[&KEPT[..], &KEPT_FOR_NETWORK].concat())
}

fn offline_or_not(folder: &Path, kept: &[&str]) -> Command {
    let mut command = Command::new("git");
    // Variables of a hook or of a shell could lead to another repository or to another program.
    for (name, _) in std::env::vars_os() {
        let is_kept = |name: &str| !name.starts_with("GIT_") || kept.iter().any(|kept| name.starts_with(kept));
        if name.to_str().is_some_and(|name| !is_kept(name)) {
            command.env_remove(name);
        }
    }
    command.envs([("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")]);
    command.arg("-C").arg(folder).args(["--no-pager", "--no-optional-locks"]);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

/// Runs git with an input, and waits for its end.
///
/// # Errors
///
/// git is missing or cannot be started. What git itself refuses is in its [`Ended::status`].
pub(super) fn run(command: &mut Command, input: &[u8]) -> Result<Ended, Failure> {
    run_within(LIMIT, command, input)
}

/// Runs git as [`run`] does, and waits at most for a time.
///
/// # Errors
///
/// As of [`run`].
pub(super) fn run_within(limit: Duration, command: &mut Command, input: &[u8]) -> Result<Ended, Failure> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| not_run(&error))?;
    let writer = child.stdin.take().map(|mut pipe| {
        let input = input.to_vec();
        // git may end before it has read everything; its exit status says if it failed.
        thread::spawn(move || drop(pipe.write_all(&input)))
    });
    let ended = ended(child, limit).map_err(|error| not_run(&error))?;
    if let Some(writer) = writer.filter(|_| ended.status.is_some()) {
        let _ = writer.join();
    }
    Ok(ended)
}

fn not_run(error: &io::Error) -> Failure {
    let message = format!("cannot run git: {}", saddlebag_host::io_cause(error));
    Failure::new(ProgramCode::Input, message, "install git, or add it to PATH")
}

/// Returns what git said, or how it ended if it said nothing.
pub(crate) fn said(error: &str, status: ExitStatus) -> String {
    let lines = error.lines().map(|line| line.trim().trim_start_matches("fatal: ").trim_start_matches("error: "));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { format!("git ended with {status} and said nothing") } else { lines.join("; ") }
}

/// Waits for git, but not for longer than a limit, and reads its outputs.
fn ended(mut child: Child, limit: Duration) -> io::Result<Ended> {
    let errors = child.stderr.take().map(|pipe| reader(pipe, MAX_ERROR));
    let output = child.stdout.take().map(|pipe| reader(pipe, MAX_OUTPUT + 1));
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if begun.elapsed() < limit => {
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSE);
            }
            None => {
                // It may have ended meanwhile.
                let _ = child.kill();
                child.wait()?;
                break None;
            }
        }
    };
    // After a limit, a process that git has started may hold the pipes open, so they are not waited for.
    let taken = |reader: Option<JoinHandle<Vec<u8>>>| match reader {
        Some(reader) if status.is_some() => reader.join().unwrap_or_default(),
        _ => Vec::new(),
    };
    let (output, error) = (taken(output), taken(errors));
    Ok(Ended { output, error: String::from_utf8_lossy(&error).into_owned(), status })
}

/// Reads a pipe to its end in a thread, and keeps the first bytes. A full pipe would stop git.
fn reader(mut pipe: impl Read + Send + 'static, limit: u64) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        // Output that cannot be read is missing; git's exit status says if it failed.
        let _ = (&mut pipe).take(limit).read_to_end(&mut kept);
        let _ = io::copy(&mut pipe, &mut io::sink());
        kept
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[allow(clippy::expect_used, reason = "a helper of tests")]
    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("a shell")
    }

    #[test]
    fn a_git_that_hangs_is_stopped() {
        let stopped = ended(shell("echo half; exec cat /dev/zero > /dev/null"), Duration::from_millis(50));
        assert_eq!(stopped.expect("ended").status, None);
    }

    #[test]
    fn what_git_said_is_the_reason() {
        let Ended { output, error, status } =
            ended(shell("echo out; echo 'fatal: detected dubious ownership' >&2; echo 'add it' >&2; exit 128"), LIMIT)
                .expect("ended");
        assert_eq!(output, b"out\n");
        assert_eq!(said(&error, status.expect("a status")), "detected dubious ownership; add it");
        let silent = ended(shell("kill -9 $$"), LIMIT).expect("ended");
        let said = said(&silent.error, silent.status.expect("a status"));
        assert!(said.contains("signal: 9") && said.contains("said nothing"), "{said}");
    }
}
