//! `setup`: the configurations of clients before, after, and after `--remove`.
//!
//! [`clients`] has the files of each client. What setup writes is compared with the files in `cli/tests/golden/setup/`;
//! `SADDLEBAG_REWRITE=setup` writes them instead.

mod clients;
mod edits;
mod forms;
mod golden;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(unix)]
mod planted;
#[cfg(unix)]
mod questions;
#[cfg(target_os = "linux")]
mod uninstall;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Run, run};

/// Program that the entries name.
const PROGRAM: &str = "/opt/saddlebag/bin/saddlebag";

/// Removes the variables that name other folders of clients, and the search path that finds their programs.
pub(crate) fn without_clients(command: &mut Command) {
    let variables = [
        "APPDATA",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "LOCALAPPDATA",
        "OPENCLAW_CONFIG_PATH",
        "OPENCLAW_STATE_DIR",
        "PATH",
        "SADDLEBAG_ROOT",
        "SADDLEBAG_SCOPE",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
    ];
    for name in variables {
        command.env_remove(name);
    }
}

/// A home folder with a project in it.
pub(super) struct Home {
    folder: tempfile::TempDir,
    pub(super) path: PathBuf,
}

impl Home {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = fs::canonicalize(folder.path()).expect("it exists").join("home");
        fs::create_dir_all(path.join("shop/.git")).expect("made");
        Self { folder, path }
    }

    /// Returns the program in the project of this home.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saddlebag"));
        command.args(arguments).current_dir(self.path.join("shop")).stdin(Stdio::null());
        without_clients(&mut command);
        command.env("HOME", &self.path).env("USERPROFILE", &self.path);
        for name in ["SADDLEBAG_AGENT", "SADDLEBAG_WORKSPACE", "SADDLEBAG_LOG", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs `setup` with the arguments.
    pub(super) fn setup(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(&[&["setup"], arguments].concat()), None)
    }

    /// Sets a client up for a program with a fixed path.
    pub(super) fn add(&self, client: &str, arguments: &[&str]) -> Run {
        self.setup(&[&[client, "--yes", "--command", PROGRAM], arguments].concat())
    }

    /// Removes the entries of a client.
    pub(super) fn remove(&self, client: &str, arguments: &[&str]) -> Run {
        self.setup(&[&[client, "--yes", "--remove"], arguments].concat())
    }

    pub(super) fn put(&self, path: &str, text: &str) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("written");
    }

    pub(super) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path.join(path)).expect("text")
    }

    /// Returns every file with its text, and every folder, by their paths below the home.
    pub(super) fn tree(&self) -> BTreeMap<String, Option<String>> {
        let mut tree = BTreeMap::new();
        walk(&self.path, &self.path, &mut tree);
        tree
    }

    /// Returns the tree without the record of setup.
    pub(super) fn configurations(&self) -> BTreeMap<String, Option<String>> {
        let mut tree = self.tree();
        tree.retain(|path, _| !path.starts_with(".local"));
        tree
    }

    /// Replaces the path of this home in the text.
    pub(super) fn normal(&self, text: &str) -> String {
        text.replace(self.path.to_str().expect("text"), "<home>")
    }

    /// Returns the folder above the home.
    pub(super) fn above(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists")
    }
}

fn walk(root: &Path, folder: &Path, tree: &mut BTreeMap<String, Option<String>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(root).expect("below").to_string_lossy().replace('\\', "/");
        if path.is_dir() && !path.is_symlink() {
            tree.insert(name, None);
            walk(root, &path, tree);
        } else if path.is_dir() {
            let target = fs::read_link(&path).expect("a link");
            tree.insert(name, Some(target.display().to_string()));
        } else {
            tree.insert(name, Some(String::from_utf8_lossy(&fs::read(&path).expect("readable")).into_owned()));
        }
    }
}
