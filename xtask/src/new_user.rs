//! The test of a new user, in an empty home folder: install from an artefact, set up an agent, work, uninstall.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::install::{self, tool};
use crate::run::{command, root};

/// Folder of the script, and of the file that names the version of Claude Code.
const SOURCE: &str = "tests/clients/new_user";

/// Installs Claude Code below `target/`. [`run`] also needs the tools of the packages.
pub(crate) fn install() -> Result<(), String> {
    install::node(SOURCE, &install::folder("claude-code")?)
}

/// Tries the packages in a folder, each way of installing with recorded sessions, and one of them with Claude Code itself.
pub(crate) fn run(packages: &Path, ways: &[&str]) -> Result<(), String> {
    if cfg!(windows) {
        eprintln!("left out: the test of a new user, which needs `sh` and `tar`");
        return Ok(());
    }
    for way in ways {
        run_with(packages, way, None)?;
    }
    match (claude_code()?, ways.first()) {
        (Some(claude), Some(way)) => run_with(packages, way, Some(claude)),
        _ => {
            eprintln!("left out: the sessions of Claude Code, which is not installed below target/");
            Ok(())
        }
    }
}

fn run_with(packages: &Path, way: &str, claude: Option<PathBuf>) -> Result<(), String> {
    let script = root()?.join(SOURCE).join("new_user.py");
    let arguments = [script.into_os_string(), packages.into(), way.into()];
    let environment = [("PYTHONDONTWRITEBYTECODE", "1")];
    let arguments = arguments.into_iter().chain(claude.map(OsString::from));
    command(&tool("python")?, arguments, &environment)
}

/// Returns the program of Claude Code for this platform, which a separate package has.
fn claude_code() -> Result<Option<PathBuf>, String> {
    let packages = fs::read_dir(install::folder("claude-code")?.join("node_modules/@anthropic-ai"));
    let mut programs = packages.into_iter().flatten().flatten().map(|package| package.path().join("claude"));
    Ok(programs.find(|path| path.is_file()))
}
