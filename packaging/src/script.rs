//! Programs for tests: scripts that answer as the real program does.

#![allow(clippy::expect_used, reason = "tests alone use it")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a script. Another process writes it: the system refuses to start a file that is open for writing, and a process that
/// another test starts at the same time inherits what this one has open.
pub(crate) fn write_program(path: &Path, script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut shell = shell.spawn().expect("a shell");
    shell.stdin.take().expect("an input").write_all(script.as_bytes()).expect("written");
    assert!(shell.wait().expect("the shell ends").success());
}
