//! `uninstall`: nothing is left but the memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Home;
use crate::support::{Run, run};

/// A home in which the program was installed and used.
struct Used {
    home: Home,
    program: PathBuf,
}

impl Used {
    /// Installs the program into a folder of an empty home, and uses it.
    fn new(folder: &str) -> Self {
        let home = Home::new();
        fs::remove_dir_all(home.path.join("shop")).expect("the project is there");
        let program = home.path.join(folder).join("saddlebag");
        fs::create_dir_all(home.path.join(folder)).expect("made");
        let built = env!("CARGO_BIN_EXE_saddlebag");
        // A link takes no space, but both places must be on one disk.
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(|_| ())).expect("installed");
        let used = Self { home, program };
        used.run(&["--engine", "native", "remember", "A fact", "Its text."]).exits(0);
        used.home.put(".cache/saddlebag/0123.cwasm", "code");
        used.home.put(".local/share/saddlebag-code-key", "key");
        used.home.put(".local/share/saddlebag-mcp-token", "token");
        used.home.put(".local/state/saddlebag/hook.log", "{}\n");
        used.home.put(".codex/config.toml", "model = \"gpt-5\"\n");
        used.run(&["setup", "codex", "zed", "--yes"]).exits(0);
        used
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.home.path).stdin(Stdio::null());
        super::without_clients(&mut command);
        for name in ["SADDLEBAG_CODE_CACHE", "SADDLEBAG_CODE_KEY", "SADDLEBAG_LOG", "CARGO_HOME"] {
            command.env_remove(name);
        }
        run(command.env("HOME", &self.home.path), None)
    }

    /// Returns the paths of all files, except those of the memory.
    fn files(&self) -> Vec<String> {
        let tree = self.home.tree().into_iter();
        tree.filter(|(path, text)| text.is_some() && !is_memory(path)).map(|(path, _)| path).collect()
    }

    fn has_memory(&self) -> bool {
        self.home.tree().iter().any(|(path, text)| text.is_some() && path.ends_with("a-fact.md"))
    }
}

fn is_memory(path: &str) -> bool {
    Path::new(path).starts_with(".local/share/saddlebag")
}

#[test]
fn after_uninstall_nothing_is_left_but_the_memory() {
    let used = Used::new("bin");
    let shown = used.run(&["uninstall", "--yes"]).exits(0).stdout;
    for named in ["hook.log", ".codex/config.toml", "saddlebag-code-key", "--memory", "bin/saddlebag"] {
        let is_named = shown.contains(named) || (named == "hook.log" && shown.contains("log of hooks"));
        assert!(is_named, "{named} is not in {shown}");
    }
    assert_eq!(used.files(), [".codex/config.toml"]);
    assert_eq!(used.home.text(".codex/config.toml"), "model = \"gpt-5\"\n");
    assert!(used.has_memory());
    let folders: Vec<String> =
        used.home.tree().into_keys().filter(|path| !is_memory(path) && !path.starts_with(".codex")).collect();
    assert_eq!(folders, [".local", ".local/share", "bin"], "no folder of the program is left");
}

#[test]
fn the_memory_goes_only_if_it_is_asked_for() {
    let used = Used::new("bin");
    used.run(&["uninstall", "--memory"]).exits(3).complains("nobody can be asked");
    assert!(used.has_memory());
    used.run(&["uninstall", "--memory", "--yes"]).exits(0);
    assert!(!used.has_memory());
    assert_eq!(used.files(), [".codex/config.toml"]);
}

#[test]
fn a_folder_that_the_user_named_is_not_deleted() {
    let used = Used::new("bin");
    used.home.put("notes/mine.md", "# Mine\n");
    used.run(&["--root", "notes", "uninstall", "--memory", "--yes"]).exits(0);
    assert_eq!(used.home.text("notes/mine.md"), "# Mine\n");
    assert!(used.has_memory());
}

#[test]
fn a_dry_run_and_a_run_without_an_answer_remove_nothing() {
    let used = Used::new("bin");
    let before = used.home.tree();
    used.run(&["uninstall", "--dry-run", "--memory"]).exits(0);
    used.run(&["uninstall"]).exits(3).complains("--yes");
    assert_eq!(used.home.tree(), before);
}

#[test]
fn a_program_of_a_package_manager_stays_and_its_command_is_named() {
    let used = Used::new(".cargo/bin");
    used.home.put(".cargo/.crates.toml", "[v1]\n\"saddlebag-cli 0.1.0 (path+file:///src)\" = [\"saddlebag\"]\n");
    let shown = used.run(&["uninstall", "--yes"]).exits(0).stdout;
    assert!(shown.contains("`cargo uninstall saddlebag-cli`"), "{shown}");
    assert!(used.program.exists());
}
