//! A store in a fresh folder, and the program run on it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use saddlebag_host::project_slug;

/// Engine of the tests, unless `SADDLEBAG_TEST_ENGINE` names another. The golden files are those of the component.
const ENGINE: &str = "native";

/// Time of every run.
pub(crate) const NOW: &str = "2026-05-30T09:15:00+02:00";
pub(crate) const TODAY: &str = "daily/2026-05-30.md";

/// Returns the texts that have broken a page, a terminal or a prompt before, with their names. The page is tested with the
/// same table.
pub(crate) fn hostile_texts() -> Vec<(String, String)> {
    #[derive(serde::Deserialize)]
    struct Hostile {
        name: String,
        text: String,
    }
    let texts: Vec<Hostile> = serde_json::from_str(include_str!("../hostile.json")).expect("a table");
    texts.into_iter().map(|Hostile { name, text }| (name, text)).collect()
}

/// Returns one of [`hostile_texts`].
pub(crate) fn hostile_text(wanted: &str) -> String {
    let found = hostile_texts().into_iter().find(|(name, _)| name == wanted);
    found.unwrap_or_else(|| panic!("the table has no text named {wanted}")).1
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Checks the exit code, and returns the run.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Checks that standard error contains the text.
    #[track_caller]
    pub(crate) fn complains(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is missing: {self:?}");
        self
    }

    /// Checks that standard output is equal to the text.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert_eq!(self.stdout, text, "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).expect("one JSON object")
    }
}

/// A store as a person has it after `saddlebag setup`: the program runs in the folder of a project, for the agent `main`.
pub(crate) struct Store {
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    /// Folder that the program runs in.
    pub(crate) here: PathBuf,
    /// Folder of the project's memory, as it is printed before the path of a note; empty in a notebook.
    pub(crate) memory: String,
}

impl Store {
    pub(crate) fn new() -> Self {
        let store = Self::notebook();
        fs::create_dir(store.here.join(".git")).expect("made");
        Self { memory: format!("projects/{}/", project_slug(&store.here)), ..store }
    }

    /// A store whose root is the notebook, with `--notebook` in every command.
    pub(crate) fn notebook() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = fs::canonicalize(folder.path()).expect("it exists");
        let (root, here) = (path.join("store"), path.join("here"));
        fs::create_dir(&root).expect("made");
        fs::create_dir(&here).expect("made");
        Self { _folder: folder, root, here, memory: String::new() }
    }

    /// Returns the program with the options of the store before `arguments`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(&["--engine", &engine()], arguments)
    }

    /// Returns the program with the options of the store without the engine, then `options`, before `arguments`.
    pub(crate) fn command_of(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.bare(&["--now", NOW, "--durability", "fast"]);
        if self.memory.is_empty() {
            command.arg("--notebook");
        }
        command.args(options).arg("--root").arg(&self.root).args(arguments);
        command
    }

    /// Returns the program in a project of this name.
    pub(crate) fn project_command(&self, project: &str, arguments: &[&str]) -> Command {
        let folder = self.here.join(project);
        fs::create_dir_all(folder.join(".git")).expect("made");
        let mut command = self.bare(&["--now", NOW, "--durability", "fast", "--engine", &engine(), "--project"]);
        command.arg(folder).arg("--root").arg(&self.root).args(arguments);
        command
    }

    /// Runs the program in a project of this name.
    pub(crate) fn run_in(&self, project: &str, arguments: &[&str]) -> Run {
        run(&mut self.project_command(project, arguments), None)
    }

    /// Returns the program with only `arguments`, isolated from the environment of this machine.
    pub(crate) fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saddlebag"));
        command.args(arguments).current_dir(&self.here).stdin(Stdio::null());
        let of_program = ["ROOT", "LOG", "AGENT", "WORKSPACE", "MCP_TOKEN", "SCOPE", "PROVENANCE", "SECRETS"]
            .map(|name| format!("SADDLEBAG_{name}"));
        // The log of this user's own hooks is not part of a test.
        command.env("XDG_STATE_HOME", self.here.with_file_name("state")).env("SADDLEBAG_MACHINE", "laptop");
        for name in of_program.iter().map(String::as_str).chain(["NO_COLOR", "CLICOLOR_FORCE"]) {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(arguments), None)
    }

    /// Runs the program with the clock of this machine. Two processes then have other numbers for their commands.
    pub(crate) fn run_now(&self, arguments: &[&str]) -> Run {
        let mut command = self.bare(&["--durability", "fast", "--engine", &engine(), "--root"]);
        command.arg(&self.root).args(arguments);
        run(&mut command, None)
    }

    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Run {
        run(&mut self.command(arguments), Some(input))
    }

    /// Returns a path as the program prints it. Entries, projects and the shared `MEMORY.md` are below the root, any other
    /// file is below the folder of the project's memory.
    pub(crate) fn printed(&self, path: &str) -> String {
        let is_of_all = ["agents/", "workspaces/", "projects/"].iter().any(|start| path.starts_with(start));
        if is_of_all || path == "MEMORY.md" { path.into() } else { format!("{}{path}", self.memory) }
    }

    /// Returns what was printed with paths in the memory instead of paths below the root.
    pub(crate) fn without_memory(&self, printed: &str) -> String {
        if self.memory.is_empty() { printed.into() } else { printed.replace(&self.memory, "") }
    }

    /// Returns where a file is, by its [`printed`](Self::printed) path.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.root.join(self.printed(path))
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.file(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, bytes).expect("written");
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.file(path)).expect("readable")
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).expect("text")
    }

    /// Returns every file and folder with its content, without the host's own.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        tree_of(&self.root)
    }

    /// Checks that a run is refused with a message and changes nothing.
    #[track_caller]
    pub(crate) fn refuses(&self, arguments: &[&str], code: i32, message: &str) {
        let before = self.tree();
        self.run(arguments).exits(code).complains(message).prints("");
        assert_eq!(self.tree(), before, "{arguments:?} changed the store");
    }
}

pub(crate) fn engine() -> String {
    std::env::var("SADDLEBAG_TEST_ENGINE").unwrap_or_else(|_| ENGINE.to_string())
}

pub(crate) fn run(command: &mut Command, input: Option<&[u8]>) -> Run {
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        // The program may end before it has read everything.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().expect("the program ends");
    Run {
        code: output.status.code().expect("an exit code"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Returns every file and folder with its content, without the host's own.
pub(crate) fn tree_of(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tree = BTreeMap::new();
    walk(folder, &mut tree);
    tree
}

fn walk(folder: &Path, tree: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        if entry.file_name() == ".saddlebag" {
            continue;
        }
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            tree.insert(entry.path(), Vec::new());
            walk(&entry.path(), tree);
        } else if kind.is_file() && entry.metadata().expect("a size").len() < 1 << 20 {
            tree.insert(entry.path(), fs::read(entry.path()).expect("readable"));
        } else {
            // A link by its target, a large file by its size.
            let size = entry.metadata().expect("a size").len().to_string();
            let seen = fs::read_link(entry.path()).map_or(size, |target| target.display().to_string());
            tree.insert(entry.path(), seen.into_bytes());
        }
    }
}
