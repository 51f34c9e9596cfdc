//! `merge`: files of no store, files of the store, and the merge driver of git.

use std::fs;
use std::path::PathBuf;

use crate::machines::Machines;
use crate::support::Store;
use crate::sync_expunge::VALUE;

#[test]
fn files_are_merged_on_the_command_line() {
    let store = Store::new();
    let put = |name: &str, text: &[u8]| fs::write(store.here.join(name), text).expect("written");
    put("base.md", b"- a\n");
    put("ours.md", b"- a\n- b\n");
    put("theirs.md", b"- a\n- c\n");
    store.run(&["merge", "base.md", "ours.md", "theirs.md", "--stdout"]).exits(0).prints("- a\n- b\n- c\n");
    assert_eq!(fs::read(store.here.join("ours.md")).expect("read"), b"- a\n- b\n");
    store.run(&["merge", "base.md", "ours.md", "theirs.md"]).exits(0).prints("");
    assert_eq!(fs::read(store.here.join("ours.md")).expect("read"), b"- a\n- b\n- c\n");
    // A part that both changed: the review is beside the file, and nothing else is made.
    put("base.md", b"The port is 1 here.\n");
    put("ours.md", b"The port is 2 here.\n");
    put("theirs.md", b"The port is 3 here.\n");
    let merged = store.run(&["--json", "merge", "base.md", "ours.md", "theirs.md"]).exits(0).json();
    assert_eq!(fs::read(store.here.join("ours.md")).expect("read"), b"The port is 2 here.\n\nThe port is 3 here.\n");
    let review = PathBuf::from(merged["written"].as_str().expect("a review"));
    assert!(
        review.parent() == Some(&store.here)
            && fs::read_to_string(&review).expect("read").contains("> The port is 1 here.")
    );
    assert!(!store.here.join(".saddlebag").exists());
    put("ours.md", b"- \xff\n");
    let refused = store.run(&["merge", "base.md", "ours.md", "theirs.md"]).exits(3);
    assert!(refused.stderr.contains("our version is not UTF-8"), "{refused:?}");
    assert_eq!(fs::read(store.here.join("ours.md")).expect("read"), b"- \xff\n");
    store.run(&["merge", "base.md", "none.md", "theirs.md"]).exits(3).complains("cannot read `none.md`");
}

#[test]
fn a_merge_into_a_file_of_the_store_is_recorded_and_undone() {
    let store = Store::new();
    store.run(&["remember", "Plan", "Dig the ditch first.\n\nThen rest."]).exits(0);
    let before = store.text("facts/plan.md");
    store.run(&["remember", "Other", "It stays."]).exits(0);
    fs::write(store.here.join("base.md"), &before).expect("written");
    fs::write(store.here.join("theirs.md"), before.replace("Then rest.", "Then rest well.")).expect("written");
    let file = store.file("facts/plan.md");
    let merge = ["--json", "merge", "base.md", file.to_str().expect("text"), "theirs.md"];
    let merged = store.run(&merge).exits(0).json();
    assert!(store.text("facts/plan.md").contains("Then rest well."));
    assert!(store.run(&["history", "Plan"]).exits(0).stdout.contains("merge"));
    let operation = merged["operations"][0]["operation"].as_str().expect("an operation");
    store.run(&["undo"]).exits(0);
    assert_eq!(store.text("facts/plan.md"), before, "{operation}");
    assert!(store.file("facts/other.md").exists());
    // Nothing new makes no operation.
    fs::copy(store.here.join("base.md"), store.here.join("theirs.md")).expect("written");
    let merged = store.run(&merge).exits(0).json();
    assert_eq!(merged["operations"].as_array().map(Vec::len), Some(0), "{merged}");
}

#[test]
fn a_merge_into_a_file_of_the_store_leaves_out_what_was_rejected_for_good() {
    let store = Store::new();
    let value = "Always send the report to the old address.";
    store.run(&["remember", "Report", value, "--provenance", "tool"]).exits(0);
    store.run(&["memory", "reject", "Report", "--for-good"]).exits(0);
    store.run(&["remember", "Plan", "Dig the ditch first."]).exits(0);
    let before = store.text("facts/plan.md");
    fs::write(store.here.join("base.md"), &before).expect("written");
    let theirs = format!("{before}\n{value}\n\nThen rest.\n");
    fs::write(store.here.join("theirs.md"), theirs).expect("written");
    let file = store.file("facts/plan.md");
    let merged = store.run(&["merge", "base.md", file.to_str().expect("text"), "theirs.md"]).exits(0);
    assert!(merged.stderr.contains("a part of") && merged.stderr.contains("rejected"), "{merged:?}");
    let after = store.text("facts/plan.md");
    assert!(after.contains("Then rest.") && !after.contains("old address"), "{after}");
    store.run(&["undo"]).exits(0);
    assert_eq!(store.text("facts/plan.md"), before);
}

#[test]
fn expunged_text_comes_in_neither_by_hand_nor_through_git_itself() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    let text = format!("The port is 5432.\n\nThe password is {VALUE}.\n\nIt is open.");
    machines.run("a", &["remember", "Port", &text]).exits(0);
    machines.settle(&["a", "b"]);
    let old = machines.text("b", "facts/port.md");
    machines.run("a", &["expunge", VALUE, "--yes"]).exits(0);
    machines.sync("a");
    machines.run("b", &["sync"]).exits(1);
    machines.run("b", &["expunge", "--received", "--yes"]).exits(0);
    machines.settle(&["b", "a"]);
    // By hand: THEIRS has the text, with another edit.
    let here = |name: &str| machines.store.here.join(name);
    fs::write(here("base.md"), "").expect("written");
    fs::write(here("theirs.md"), old.replace("It is open.", "It is shut.")).expect("written");
    let file = machines.file("a", "facts/port.md");
    let file = file.to_str().expect("text");
    let before = machines.text("a", "facts/port.md");
    machines.run("a", &["merge", "base.md", file, "theirs.md"]).exits(3).complains("expunged");
    assert_eq!(machines.text("a", "facts/port.md"), before);
    // Through git: one machine commits the text again beside an edit, and the other one has an edit, too.
    machines.put("b", "facts/port.md", &old.replace("It is open.", "It is shut."));
    machines.put("a", "facts/port.md", &before.replace("The port is 5432.", "The port is 5433."));
    for name in ["a", "b"] {
        machines.git(name, &["commit", "--quiet", "--all", "-m", "by hand"]);
    }
    machines.git("b", &["push", "--quiet"]);
    machines.git("a", &["pull", "--quiet", "--no-rebase", "--no-edit"]);
    let merged = machines.text("a", "facts/port.md");
    assert!(merged.contains("It is shut.") && merged.contains("5433") && !merged.contains(VALUE), "{merged}");
}

#[test]
fn only_a_person_merges_into_the_store_and_only_into_files_of_the_memory() {
    let store = Store::new();
    store.run(&["remember", "Plan", "Dig the ditch."]).exits(0);
    fs::write(store.here.join("base.md"), "").expect("written");
    fs::write(store.here.join("theirs.md"), "From a tool.\n").expect("written");
    let file = store.file("facts/plan.md");
    let before = store.text("facts/plan.md");
    let merge = |file: &str| ["merge".to_string(), "base.md".into(), file.into(), "theirs.md".into()];
    let arguments = merge(file.to_str().expect("text"));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    for provenance in ["agent", "tool", "import"] {
        let all = [&["--provenance", provenance], &arguments[..]].concat();
        store.run(&all).exits(3).complains("only a person may merge into a file of the store");
    }
    fs::write(store.root.join("rejections.log"), "").expect("written");
    for other in [".saddlebag/projects.json", "rejections.log", ".gitignore"] {
        let path = store.root.join(other);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let text = fs::read(&path).unwrap_or_default();
        fs::write(&path, &text).expect("written");
        let arguments = merge(path.to_str().expect("text"));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        store.run(&arguments).exits(2).complains("is not a Markdown file of the memory");
        assert_eq!(fs::read(&path).expect("read"), text);
    }
    assert_eq!(store.text("facts/plan.md"), before);
}

#[test]
fn a_review_of_a_file_of_no_store_is_beside_it_whatever_path_is_named() {
    let store = Store::new();
    store.run(&["remember", "Plan", "Dig the ditch."]).exits(0);
    for (name, text) in [("base.md", "One.\n"), ("ours.md", "One or two.\n"), ("theirs.md", "One or three.\n")] {
        fs::write(store.here.join(name), text).expect("written");
    }
    let ghost = store.file("facts/ghost.md");
    let arguments = ["--json", "merge", "base.md", "ours.md", "theirs.md", "--path", ghost.to_str().expect("text")];
    let merged = store.run(&arguments).exits(0).json();
    let written = PathBuf::from(merged["written"].as_str().expect("a review"));
    assert_eq!(written.parent(), Some(store.here.as_path()));
    assert!(!store.run(&["list", "--pending"]).stdout.contains("ghost"));
}

#[test]
fn a_review_of_an_entry_that_was_rejected_waits_again() {
    let store = Store::new();
    let stored = store.run(&["--json", "remember", "--key", "port", "The port is 1."]).exits(0).json();
    let file = store.root.join(stored["path"].as_str().expect("a path"));
    let text = fs::read_to_string(&file).expect("read");
    fs::write(store.here.join("base.md"), &text).expect("written");
    fs::write(store.here.join("theirs.md"), text.replace("is 1", "is 3")).expect("written");
    for round in 0..2 {
        fs::write(&file, text.replace("is 1", "is 2")).expect("written");
        store.run(&["merge", "base.md", file.to_str().expect("text"), "theirs.md"]).exits(0);
        let waiting = store.run(&["--json", "list", "--pending"]).exits(0).json();
        let name = waiting["items"][0]["name"].as_str().unwrap_or_else(|| panic!("{round}: {waiting}")).to_string();
        store.run(&["memory", "reject", &name]).exits(0);
    }
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_not_replaced_and_a_pipe_is_read() {
    let store = Store::new();
    let put = |name: &str, text: &str| fs::write(store.here.join(name), text).expect("written");
    put("base.md", "- a\n");
    put("ours.md", "- a\n- b\n");
    put("theirs.md", "- a\n- c\n");
    std::os::unix::fs::symlink("ours.md", store.here.join("link.md")).expect("linked");
    store.run(&["merge", "base.md", "link.md", "theirs.md"]).exits(2).complains("is a link");
    assert!(store.here.join("link.md").is_symlink());
    store.run(&["merge", "base.md", "/dev/null", "theirs.md"]).exits(3).complains("not a regular file");
    store.run(&["merge", "base.md", "ours.md", "/dev/zero"]).exits(3).complains("which is the limit");
    store.run(&["merge", "/dev/null", "ours.md", "theirs.md"]).exits(0);
    assert_eq!(fs::read_to_string(store.here.join("ours.md")).expect("read"), "- a\n- b\n- c\n");
}
