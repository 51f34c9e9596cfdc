//! `setup --uninstall`: nothing is left but the memory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Home;
use crate::support::{Run, run};

/// Mark near the end of compiled code.
const CODE_MARK: &str = "saddlebag code 2";
/// Line of the log of hooks.
const LOG_LINE: &str = "{\"time\":\"2026-11-02T09:00:00Z\",\"code\":\"input\",\"message\":\"x\"}\n";

/// Returns the path of compiled code.
fn code() -> String {
    format!(".cache/saddlebag/{}-{}.cwasm", "0".repeat(64), "1".repeat(16))
}

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
        used.home.put(&code(), &format!("code{CODE_MARK}{}", "t".repeat(32)));
        used.home.put(&format!(".cache/saddlebag/new-{}.cwasm", "0".repeat(16)), "half");
        used.home.put(".local/share/saddlebag-code-key", &"k".repeat(32));
        used.home.put(".local/share/saddlebag-mcp-token", &format!("{}\n", "a-Z_0".repeat(9).split_at(43).0));
        for private in [".local/share/saddlebag-code-key", ".local/share/saddlebag-mcp-token"] {
            fs::set_permissions(used.home.path.join(private), fs::Permissions::from_mode(0o600)).expect("set");
        }
        used.home.put(".local/state/saddlebag/hook.log", LOG_LINE);
        used.home.put(".local/state/saddlebag/hook-told", "2026-11-02T09:00:00Z");
        used.home.put(&format!(".local/state/saddlebag/hook-seen/{}", "0".repeat(32)), "");
        used.home.put(".codex/config.toml", "model = \"gpt-5\"\n");
        used.run(&["setup", "codex", "zed", "--yes"]).exits(0);
        used
    }

    fn run(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(arguments), None)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.home.path).stdin(Stdio::null());
        super::without_clients(&mut command);
        for name in ["SADDLEBAG_CODE_CACHE", "SADDLEBAG_CODE_KEY", "SADDLEBAG_LOG", "CARGO_HOME"] {
            command.env_remove(name);
        }
        command.env("HOME", &self.home.path);
        command
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
    let shown = used.run(&["setup", "--uninstall", "--yes"]).exits(0).stdout;
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
    used.run(&["setup", "--uninstall", "--memory"]).exits(3).complains("standard input is not a terminal");
    assert!(used.has_memory());
    used.run(&["setup", "--uninstall", "--memory", "--yes"]).exits(0);
    assert!(!used.has_memory());
    assert_eq!(used.files(), [".codex/config.toml"]);
}

#[test]
fn a_folder_that_the_user_named_is_not_deleted() {
    let used = Used::new("bin");
    used.home.put("notes/mine.md", "# Mine\n");
    used.run(&["--root", "notes", "setup", "--uninstall", "--memory", "--yes"]).exits(0);
    assert_eq!(used.home.text("notes/mine.md"), "# Mine\n");
    assert!(used.has_memory());
}

#[test]
fn a_dry_run_and_a_run_without_an_answer_remove_nothing() {
    let used = Used::new("bin");
    let before = used.home.tree();
    used.run(&["setup", "--uninstall", "--dry-run", "--memory"]).exits(0);
    used.run(&["setup", "--uninstall"]).exits(3).complains("--yes");
    assert_eq!(used.home.tree(), before);
}

#[test]
fn a_program_of_a_package_manager_stays_and_its_command_is_named() {
    let used = Used::new(".cargo/bin");
    used.home.put(".cargo/.crates.toml", "[v1]\n\"saddlebag-cli 0.1.0 (path+file:///src)\" = [\"saddlebag\"]\n");
    let shown = used.run(&["setup", "--uninstall", "--yes"]).exits(0).stdout;
    assert!(shown.contains("`cargo uninstall saddlebag-cli`"), "{shown}");
    assert!(used.program.exists());
}

#[test]
fn a_memory_in_a_folder_of_the_program_stays() {
    for folder in [".local/state/saddlebag", ".local/state/saddlebag/setup", ".cache/saddlebag", ".local/state"] {
        let used = Used::new("bin");
        used.home.put(&format!("{folder}/plan.md"), "# Plan\n");
        used.home.put(&format!("{folder}/facts/cents.md"), "half to even\n");
        let root = used.home.path.join(folder);
        let root = root.to_str().expect("text");
        let shown = used.run(&["--root", root, "setup", "--uninstall", "--yes"]).exits(0).stdout;
        assert!(
            shown.contains("Memory: ") && shown.contains("other files stay") != (folder == ".local/state"),
            "{shown}"
        );
        assert_eq!(used.home.text(&format!("{folder}/plan.md")), "# Plan\n", "{folder}");
        assert_eq!(used.home.text(&format!("{folder}/facts/cents.md")), "half to even\n", "{folder}");
        let left: Vec<String> = used.files().into_iter().filter(|path| !path.starts_with(folder)).collect();
        assert_eq!(left, [".codex/config.toml"], "{folder}");
    }
}

#[test]
fn the_default_memory_stays_where_it_shares_its_folder_with_the_state() {
    let used = Used::new("bin");
    let mut command = used.command(&["setup", "--uninstall", "--yes"]);
    run(command.env("XDG_STATE_HOME", used.home.path.join(".local/share")), None).exits(0);
    assert!(used.has_memory());
}

#[test]
fn variables_that_once_named_compiled_code_delete_nothing() {
    for variable in ["SADDLEBAG_CODE_KEY", "SADDLEBAG_CODE_CACHE", "SADDLEBAG_MCP_TOKEN"] {
        let used = Used::new("bin");
        used.home.put("photos/a.jpg", "a photo");
        used.home.put("photos/b.cwasm", "not ours");
        let mut command = used.command(&["setup", "--uninstall", "--yes"]);
        run(command.env(variable, used.home.path.join("photos")), None).exits(0);
        assert_eq!(used.home.text("photos/a.jpg"), "a photo", "{variable}");
        assert_eq!(used.home.text("photos/b.cwasm"), "not ours", "{variable}");
    }
}

#[test]
fn files_of_others_under_our_names_stay_and_are_counted() {
    let used = Used::new("bin");
    let theirs = [
        (".local/share/saddlebag-code-key", "my own key, which is not random"),
        (".local/share/saddlebag-mcp-token", "a token that I have written myself, longer than one of ours\n"),
        (".local/state/saddlebag/hook.log.old", "notes about hooks\n"),
        (".local/state/saddlebag/hook-seen/plan.md", "# Plan\n"),
        (".local/state/saddlebag/setup/letter.txt", "Dear Ada\n"),
        (".cache/saddlebag/notes.cwasm", "not ours"),
    ];
    for (path, text) in theirs {
        used.home.put(path, text);
    }
    let code = code().replace("1111", "2222");
    used.home.put(&code, "without a mark");
    let shown = used.run(&["setup", "--uninstall", "--yes"]).exits(0).stdout;
    assert!(shown.contains("; 3 other files stay)") && shown.contains("did not make the files there"), "{shown}");
    for (path, text) in theirs {
        assert_eq!(used.home.text(path), text);
    }
    assert!(used.home.path.join(&code).exists());
    assert_eq!(used.files().len(), theirs.len() + 2, "{:?}", used.files());
}

#[test]
fn a_link_in_the_place_of_the_memory_is_kept_and_named() {
    let used = Used::new("bin");
    let root = used.home.path.join(".local/share/saddlebag");
    fs::rename(&root, used.home.path.join("vault")).expect("moved");
    std::os::unix::fs::symlink("../../vault", &root).expect("linked");
    let shown = used.run(&["setup", "--uninstall", "--memory", "--yes"]).exits(0).stdout;
    assert!(shown.contains("kept: it is a link"), "{shown}");
    assert!(root.is_symlink() && used.has_memory());
}
