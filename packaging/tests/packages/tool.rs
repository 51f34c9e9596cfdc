//! Programs of others that the tests run, where they are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs a command that must succeed, and returns its standard output.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, shown(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// Writes a program. On Unix another process writes it: the system refuses to start a file that is open for writing, and a
/// process that another test starts at the same time inherits what this one has open.
pub(crate) fn place_program(bytes: &[u8], to: &Path) {
    #[cfg(unix)]
    {
        let data = to.with_extension("data");
        std::fs::write(&data, bytes).expect("written");
        run(Command::new("cp").arg(&data).arg(to));
        run(Command::new("chmod").arg("755").arg(to));
        std::fs::remove_file(data).expect("removed");
    }
    #[cfg(not(unix))]
    std::fs::write(to, bytes).expect("written");
}

pub(crate) fn shown(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Returns true if a program of the machine is installed; else names the check that it leaves out.
pub(crate) fn is_installed(program: &str, check: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("left out: {check}, because `{program}` is not installed");
    }
    found
}

/// Returns the path of a tool that `cargo xtask test --nightly` installs below `target/`; `None` if it did not, and names the check.
pub(crate) fn installed_below_target(root: &Path, tool: &str, check: &str) -> Option<PathBuf> {
    let path = root.join("target/clients/packaging").join(tool);
    if path.exists() {
        return Some(path);
    }
    eprintln!("left out: {check}, because {} is not there; `cargo xtask test --nightly` installs it", path.display());
    None
}

/// Returns where a tool of Python is below the folder of the tools.
pub(crate) fn of_python(tool: &str) -> String {
    if cfg!(windows) { format!("python/Scripts/{tool}.exe") } else { format!("python/bin/{tool}") }
}

/// The interpreter of Python.
pub(crate) const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };
