//! Disks, signals and other programs that disturb a run.

use std::fs;
use std::path::PathBuf;

use crate::support::Store;

fn temporary_files(store: &Store) -> Vec<PathBuf> {
    let entries = fs::read_dir(&store.root).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|suffix| suffix == "tmp")).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_that_was_done_says_so_where_only_its_output_is_lost() {
    for json in [false, true] {
        let store = Store::new();
        let flags: &[&str] = if json { &["--json"] } else { &[] };
        let mut command = store.command(flags);
        let full = fs::File::options().write(true).open("/dev/full").expect("it is there");
        command.args(["write", "long_term", "kept"]).stdout(full);
        let done = command.output().expect("it runs");
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{stderr}");
        assert!(stderr.contains("the command was done, but its output could not be written"), "{stderr}");
        assert_eq!(store.text("MEMORY.md"), "kept\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_is_lost_before_anything_was_done_is_not_called_done() {
    let store = Store::new();
    let full = fs::File::options().write(true).open("/dev/full").expect("it is there");
    let done = store.command(&["completions", "bash"]).stdout(full).output().expect("it runs");
    assert_eq!(done.status.code(), Some(3));
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(!stderr.contains("was done"), "{stderr}");
}

#[test]
fn killed_writers_leave_no_temporary_file_once_another_has_written() {
    let store = Store::new();
    store.put("MEMORY.md", "version 0 of the fact\n");
    for round in 0_u64..60 {
        let text = format!("version {round} of the fact\n");
        let mut writer = store.command(&["write", "long_term", &text, "--mode", "overwrite"]).spawn().expect("it runs");
        std::thread::sleep(std::time::Duration::from_micros(round * 137 % 9_000));
        // `kill` fails if the process has already ended.
        let _ = writer.kill();
        writer.wait().expect("it ends");
    }
    store.run(&["write", "scratchpad", "- [ ] later"]).exits(0);
    assert_eq!(temporary_files(&store), Vec::<PathBuf>::new());
    assert!(!store.root.join(".saddlebag/recovered").exists(), "nobody else has written");
}

#[test]
fn a_text_that_is_recovered_is_named_once() {
    for json in [false, true] {
        let store = Store::notebook();
        store.put(".saddlebag-1-1-1.tmp", "PERSON");
        store.put(".saddlebag/locks-3/09", "1\tsaddlebag\t0\nplacing\t.saddlebag-1-1-1.tmp\tMEMORY.md\tno\tno\n");
        let flags: &[&str] = if json { &["--json"] } else { &[] };
        let write = || store.run(&[flags, &["write", "scratchpad", "- [ ] a"]].concat()).exits(0);
        write().complains("is kept in `.saddlebag/recovered/MEMORY.md.1`");
        assert_eq!(write().stderr, "");
        assert_eq!(store.text(".saddlebag/recovered/MEMORY.md.1"), "PERSON");
        assert_eq!(temporary_files(&store), Vec::<PathBuf>::new());
    }
}
