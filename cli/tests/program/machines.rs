//! Machines with a store each, which meet through a repository of git.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{Run, Store, engine, run};

/// Machines with a store each, and a repository that all of them reach.
pub(crate) struct Machines {
    /// Its folders are those of the project and of the home.
    pub(crate) store: Store,
    pub(crate) folder: PathBuf,
}

impl Machines {
    /// Returns machines whose stores are in work trees; `None` if git is missing.
    pub(crate) fn new(names: &[&str]) -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("skipped: git is missing");
            return None;
        }
        let store = Store::new();
        let folder = store.here.parent().expect("a folder").to_path_buf();
        let machines = Self { store, folder };
        fs::create_dir(machines.folder.join("home")).expect("made");
        let settings = "[user]\n\tname = Ana\n\temail = ana@example.org\n[init]\n\tdefaultBranch = main\n";
        fs::write(machines.folder.join("home/.gitconfig"), settings).expect("written");
        machines.git(".", &["init", "--quiet", "--bare", "hub"]);
        for name in names {
            fs::create_dir(machines.root(name)).expect("made");
            machines.git(name, &["init", "--quiet"]);
            let hub = machines.folder.join("hub");
            machines.git(name, &["remote", "add", "origin", hub.to_str().expect("text")]);
        }
        Some(machines)
    }

    /// Returns machines that share the memory of the project, and have it.
    pub(crate) fn sharing(names: &[&str]) -> Option<Self> {
        let machines = Self::new(names)?;
        for name in names {
            machines.run(name, &["setup", "git", "--yes"]).exits(0);
            machines.sync(name);
        }
        Some(machines)
    }

    pub(crate) fn root(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn isolate(&self, command: &mut Command) {
        let home = self.folder.join("home");
        command.env("HOME", &home).env("USERPROFILE", &home).env("XDG_CONFIG_HOME", &home);
        command.env("GIT_CONFIG_NOSYSTEM", "1");
    }

    pub(crate) fn try_git(&self, name: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.root(name)).args(arguments).stdin(Stdio::null());
        self.isolate(&mut command);
        command.output().expect("git runs")
    }

    pub(crate) fn git(&self, name: &str, arguments: &[&str]) -> String {
        let output = self.try_git(name, arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim_end().to_string()
    }

    pub(crate) fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let options = ["--durability", "fast", "--machine", name, "--engine", &engine(), "--root"];
        let mut command = self.store.bare(&options);
        command.arg(self.root(name)).args(arguments);
        self.isolate(&mut command);
        command
    }

    pub(crate) fn run(&self, name: &str, arguments: &[&str]) -> Run {
        run(&mut self.command(name, arguments), None)
    }

    pub(crate) fn sync(&self, name: &str) -> Value {
        self.run(name, &["--json", "sync"]).exits(0).json()
    }

    /// Synchronises until nothing more is sent or received.
    pub(crate) fn settle(&self, names: &[&str]) {
        for name in [names, names].concat() {
            self.sync(name);
        }
    }

    pub(crate) fn tree(&self, name: &str) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        let root = self.root(name);
        walk(&root, &root, &mut files);
        files
    }

    /// Returns where a file of the project's memory is.
    pub(crate) fn file(&self, name: &str, path: &str) -> PathBuf {
        self.root(name).join(&self.store.memory).join(path)
    }

    pub(crate) fn text(&self, name: &str, path: &str) -> String {
        fs::read_to_string(self.file(name, path)).unwrap_or_else(|error| panic!("{path} of {name}: {error}"))
    }

    pub(crate) fn put(&self, name: &str, path: &str, text: &str) {
        let file = self.file(name, path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    }
}

fn walk(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        match entry.file_type().expect("a kind").is_dir() {
            true if name == ".saddlebag" || name == ".git" => {}
            true => walk(root, &path, files),
            false => {
                let text = fs::read_to_string(&path).expect("text");
                files.insert(path.strip_prefix(root).expect("below").to_path_buf(), text);
            }
        }
    }
}
