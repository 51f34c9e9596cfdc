//! The test of a new user, in an empty home folder: install from an artefact, set up an agent, work, uninstall.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::clients::{install_packages, tool_of_python, with_way_out};
use crate::run::{Output, command, root};

/// Folder of the script, and of the file that names the version of Claude Code.
const SOURCE: &str = "tests/clients/new_user";

/// Installs Claude Code below `target/`. [`run`] also needs the tools of the packages.
pub(crate) fn install(output: &mut Output) -> Result<(), String> {
    let root = root()?;
    install_packages(&root, &folder(&root), SOURCE, output).map_err(with_way_out)
}

/// Tries the packages in a folder, each way of installing with recorded sessions, and one of them with Claude Code itself.
pub(crate) fn run(packages: &Path, ways: &[&str]) -> Result<(), String> {
    if cfg!(windows) {
        eprintln!("left out: the test of a new user, which needs `sh` and `tar`");
        return Ok(());
    }
    let root = root()?;
    for way in ways {
        run_with(&root, packages, way, None)?;
    }
    match (claude_code(&root), ways.first()) {
        (Some(claude), Some(way)) => run_with(&root, packages, way, Some(claude)),
        _ => {
            eprintln!("left out: the sessions of Claude Code, which is not installed below target/");
            Ok(())
        }
    }
}

fn run_with(root: &Path, packages: &Path, way: &str, claude: Option<PathBuf>) -> Result<(), String> {
    let script = root.join(SOURCE).join("new_user.py");
    let arguments = [script.into_os_string(), packages.into(), way.into()];
    let environment = [("PYTHONDONTWRITEBYTECODE", "1")];
    let python = tool_of_python(root, "python");
    let arguments = arguments.into_iter().chain(claude.map(OsString::from));
    command(&python.to_string_lossy(), arguments, &environment, &mut Output::Inherited)
}

fn folder(root: &Path) -> PathBuf {
    root.join("target/clients/claude-code")
}

/// Returns the program of Claude Code for this platform, which a separate package has.
fn claude_code(root: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(folder(root).join("node_modules/@anthropic-ai")).ok()?;
    let mut programs = packages.filter_map(|package| Some(package.ok()?.path().join("claude")));
    programs.find(|path| path.is_file())
}
