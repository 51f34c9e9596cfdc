//! Runs that are killed, and runs whose output is lost.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Home, PROGRAM};
use crate::support::run;

const CONFIG: &str = ".codex/config.toml";
const RECORD: &str = ".local/state/saddlebag/setup.json";
const TEMPORARY: &str = ".codex/.saddlebag-setup-0123456789abcdef.tmp";

impl Home {
    fn temporary_files(&self) -> Vec<String> {
        self.tree().into_keys().filter(|path| path.ends_with(".tmp")).collect()
    }

    /// Leaves what a killed run leaves: a temporary file that the record names.
    fn leave(&self, path: &str) {
        self.put(path, "token = \"0000\"\n");
        let mut record: Value = serde_json::from_str(&self.text(RECORD)).expect("JSON");
        record["temporary"] = json!([self.path.join(path)]);
        self.put(RECORD, &record.to_string());
    }
}

#[test]
fn the_next_run_removes_the_temporary_files_of_a_killed_one() {
    let runs: [&[&str]; 4] = [
        &["setup", "codex", "--yes", "--command", PROGRAM],
        &["setup", "codex", "--remove", "--yes"],
        &["setup", "zed", "--yes"],
        &["setup", "--uninstall", "--yes"],
    ];
    for arguments in runs {
        let home = Home::new();
        home.put(CONFIG, "token = \"0000\"\n");
        home.add("codex", &[]).exits(0);
        home.leave(TEMPORARY);
        home.put(".local/state/saddlebag/.saddlebag-setup-0123456789abcdef.tmp", "half a record");
        home.put(".local/state/saddlebag/setup/.saddlebag-setup-0123456789abcdef.tmp", "token");
        home.setup(&["codex", "--dry-run"]).exits(0);
        assert_eq!(home.temporary_files().len(), 3, "a dry run removes nothing");
        run(&mut home.command(arguments), None).exits(0);
        assert_eq!(home.temporary_files(), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn a_temporary_file_that_is_in_use_or_that_nobody_wrote_down_stays() {
    let home = Home::new();
    home.put(CONFIG, "");
    home.add("codex", &[]).exits(0);
    home.leave(TEMPORARY);
    let theirs = ".codex/.saddlebag-setup-fedcba9876543210.tmp";
    home.put(theirs, "theirs");
    let used = fs::File::open(home.path.join(TEMPORARY)).expect("there");
    used.lock().expect("locked");
    home.add("codex", &[]).exits(0);
    assert_eq!(home.temporary_files(), [TEMPORARY, theirs]);
    drop(used);
    home.add("codex", &[]).exits(0);
    assert_eq!(home.temporary_files(), [theirs]);
}

#[test]
fn a_planted_record_removes_no_other_file_as_a_temporary_one() {
    let home = Home::new();
    home.put(CONFIG, "");
    home.add("codex", &[]).exits(0);
    home.put("kept", "theirs");
    for path in ["notes.md", ".saddlebag-1-1-1.tmp", ".saddlebag-setup-0123.tmp"] {
        home.leave(path);
        home.add("codex", &[]).exits(0);
        assert!(home.path.join(path).exists(), "{path}");
    }
    let link = ".saddlebag-setup-0123456789abcdef.tmp";
    home.leave(link);
    fs::remove_file(home.path.join(link)).expect("removed");
    std::os::unix::fs::symlink("kept", home.path.join(link)).expect("linked");
    home.add("codex", &[]).exits(0);
    assert!(home.path.join("kept").exists() && home.path.join(link).is_symlink());
}

#[test]
fn runs_that_are_killed_leave_nothing_once_another_has_ended() {
    let home = Home::new();
    let large = format!("# {}\ntoken = \"0000\"\n", "x".repeat(2 << 20));
    home.put(CONFIG, &large);
    for round in 0_u64..40 {
        let add: &[&str] = &["setup", "codex", "--yes", "--command", PROGRAM];
        let remove: &[&str] =
            if round % 4 == 1 { &["setup", "--uninstall", "--yes"] } else { &["setup", "--remove", "--yes"] };
        let mut killed = home.command(if round % 2 == 0 { add } else { remove }).spawn().expect("it runs");
        std::thread::sleep(Duration::from_micros(3_000 + round * 977 % 30_000));
        // `kill` fails if the process has already ended.
        let _ = killed.kill();
        killed.wait().expect("it ends");
    }
    home.add("codex", &[]).exits(0);
    assert_eq!(home.temporary_files(), Vec::<String>::new());
    home.remove("codex", &[]).exits(0);
    assert_eq!(home.text(CONFIG), large);
}

#[test]
fn what_a_killed_sync_of_agents_md_left_is_removed_by_the_next_one_and_by_uninstall() {
    for arguments in
        [&["agents-md", "sync", "--key", "k", "--yes", "--engine", "native"][..], &["setup", "--uninstall", "--yes"]]
    {
        let home = Home::new();
        home.put("shop/AGENTS.md", "# Rules\n");
        home.put("shop/.saddlebag-1-1-1.tmp", "# Rules of the killed run\n");
        home.put("shop/.saddlebag/locks-3/07", "held\t1\tsaddlebag\t0\nstaged\t.saddlebag-1-1-1.tmp\tAGENTS.md\n");
        let shop: PathBuf = home.path.join("shop");
        home.put(".local/state/saddlebag/syncing/0123456789abcdef", shop.to_str().expect("text"));
        run(&mut home.command(arguments), None).exits(0);
        assert_eq!(home.temporary_files(), Vec::<String>::new(), "{arguments:?}");
        assert!(!home.path.join(".local/state/saddlebag/syncing").exists(), "{arguments:?}");
        assert_eq!(home.text("shop/AGENTS.md"), "# Rules\n");
    }
}

#[test]
fn a_run_that_is_done_and_cannot_print_says_that_it_is_done() {
    let home = Home::new();
    home.put(CONFIG, "");
    let lost = |arguments: &[&str]| {
        let full = fs::File::options().write(true).open("/dev/full").expect("it is there");
        let ended = home.command(arguments).stdout(full).output().expect("it runs");
        assert_eq!(ended.status.code(), Some(3), "{arguments:?}: {ended:?}");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains("no space left on the device"), "{arguments:?}: {said}");
        said.contains("the command was done, but its output could not be written")
    };
    let has_entry = || home.text(CONFIG).contains("saddlebag");
    for arguments in [&["setup", "codex", "--yes"][..], &["setup", "codex", "--json", "--dry-run"]] {
        // The changes are shown before they are made.
        assert!(!lost(arguments) && !has_entry(), "{arguments:?}");
    }
    assert!(lost(&["setup", "codex", "--yes", "--json"]) && has_entry());
    assert!(lost(&["setup", "codex", "--yes"]), "nothing was left to do");
    assert!(!lost(&["setup", "--uninstall", "--yes"]) && has_entry());
    assert!(lost(&["setup", "--uninstall", "--yes", "--json"]) && !has_entry());
}

#[test]
fn a_fault_of_the_disk_is_said_in_the_words_of_the_store() {
    let home = Home::new();
    let config = format!("# {}\n", "x".repeat(64 << 10));
    home.put(CONFIG, &config);
    let program = env!("CARGO_BIN_EXE_saddlebag");
    let line =
        format!("trap '' XFSZ; ulimit -f 16; exec {program} setup codex --yes --without-hooks --command {PROGRAM}");
    let mut limited = std::process::Command::new("/bin/sh");
    limited.args(["-c", &line]).current_dir(home.path.join("shop")).stdin(std::process::Stdio::null()).env_clear();
    limited.env("HOME", &home.path);
    run(&mut limited, None).exits(3).complains("larger than the file system or the user's limit");
    assert_eq!(home.text(CONFIG), config);
    assert_eq!(home.temporary_files(), Vec::<String>::new());
}
