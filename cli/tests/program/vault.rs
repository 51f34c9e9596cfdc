//! A vault: a folder of notes that another program shows, often under version control.

use std::process::Command;

use crate::support::{Store, TODAY, run};

fn git(store: &Store, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(&store.root).output().expect("git");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// A vault of Obsidian in a repository, where everything is committed.
fn vault() -> Store {
    let store = Store::notebook();
    store.put(".obsidian/app.json", "{}");
    store.put("Areas/Home.md", "# Home\n\nThe boiler is from 2011.\n");
    git(&store, &["init", "--quiet"]);
    git(&store, &["add", "."]);
    git(&store, &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "Begin"]);
    store
}

#[test]
fn git_sees_only_the_notes_of_a_vault_and_none_of_its_backups() {
    let store = vault();
    store.run(&["recall", "boiler"]).exits(0);
    store.run(&["edit", "Home", "--old", "2011", "--new", "2012"]).exits(0);
    store.run(&["edit", "Home", "--old", "2012", "--new", "2013"]).exits(0);
    store.run(&["log", "Heating", "Bled the radiators"]).exits(0);
    assert_eq!(git(&store, &["status", "--porcelain", "-uall"]), format!(" M Areas/Home.md\n?? {TODAY}\n"));
    store.run(&["forget", "Home"]).exits(0);
    assert_eq!(git(&store, &["status", "--porcelain", "-uall"]), format!(" D Areas/Home.md\n?? {TODAY}\n"));
    let files = store.tree().into_keys();
    let shown = files.filter(|path| path.is_file() && !path.starts_with(store.root.join(".git")));
    let shown: Vec<_> = shown.map(|path| path.strip_prefix(&store.root).expect("below").to_path_buf()).collect();
    assert_eq!(shown, [".obsidian/app.json", TODAY].map(std::path::PathBuf::from), "nothing is beside the notes");
    store.run(&["restore", "Areas/Home.md"]).exits(0);
    assert!(store.text("Areas/Home.md").contains("2013"));
}

#[test]
fn every_folder_of_the_host_ignores_itself_and_a_file_of_a_person_stays() {
    let store = Store::new();
    let begin = |session: &str| {
        let event = format!(r#"{{"session_id":"{session}","hook_event_name":"SessionStart","source":"startup"}}"#);
        let mut hook = store.project_command("shop", &["hook", "--client", "claude-code"]);
        run(&mut hook, Some(event.as_bytes())).exits(0);
    };
    store.run_in("shop", &["remember", "Port", "The port is 8443."]).exits(0);
    begin("one");
    let project = std::fs::read_dir(store.root.join("projects")).expect("listed").next().expect("one").expect("read");
    let project = format!("projects/{}/.saddlebag", project.file_name().to_str().expect("text"));
    let read = |path: &str| std::fs::read_to_string(store.root.join(path)).expect("readable");
    for folder in [".saddlebag", &project] {
        let file = format!("{folder}/.gitignore");
        assert_eq!(read(&file), "*\n", "{folder}");
        std::fs::write(store.root.join(&file), "locks*\n").expect("written");
    }
    store.run_in("shop", &["remember", "Host", "The host is example.org."]).exits(0);
    begin("two");
    for folder in [".saddlebag", &project] {
        assert_eq!(read(&format!("{folder}/.gitignore")), "locks*\n", "{folder}");
    }
    let listed = store.run_in("shop", &["list", "--kind", "file"]).exits(0).stdout;
    assert!(!listed.contains("gitignore"), "{listed}");
}

#[test]
fn notes_of_a_vault_in_a_folder_named_like_a_scope_are_found_or_the_folder_is_named() {
    let store = vault();
    store.put("projects/garden.md", "# Garden\n\nThe hedge is cut in March.\n");
    store.put("projects/house/roof.md", "# Roof\n\nThe roof is slate.\n");
    store.put("projects/shop-0db23a34/notes/theirs.md", "# Theirs\n\nThe hedge of another memory.\n");
    store.put("agents/main/entries/core/hedge.md", "no entry\n");
    let listed = store.run(&["list"]).exits(0);
    assert!(listed.stdout.contains("projects/garden.md") && !listed.stdout.contains("projects/house"), "{listed:?}");
    assert!(listed.stderr.contains("projects/house: its notes are left out"), "{listed:?}");
    assert!(!listed.stderr.contains("shop-0db23a34") && !listed.stderr.contains("agents"), "{listed:?}");
    let found = store.run(&["recall", "which month is the hedge cut?"]).exits(0);
    assert!(found.stdout.starts_with("projects/garden.md") && !found.stdout.contains("another memory"), "{found:?}");
    store.put(".zk/config.toml", "[note]\nexclude = []\n[format.markdown]\nlink-format = \"wiki\"\n");
    let found = store.run(&["recall", "slate"]).exits(0);
    assert!(found.stdout.starts_with("projects/house/roof.md") && found.stderr.is_empty(), "{found:?}");
}

#[test]
fn templates_of_a_vault_are_not_notes() {
    let store = vault();
    store.put("Templates/Meeting.md", "# Meeting\n\nWho brings the zeppelin?\n");
    store.run(&["recall", "zeppelin"]).exits(1);
    assert!(!store.run(&["list"]).exits(0).stdout.contains("Meeting"));
    store.run(&["setup", "--templates"]).exits(0);
    store.run(&["recall", "zeppelin"]).exits(1);
}

#[test]
fn a_canvas_that_names_a_renamed_note_is_named_and_is_not_a_failure() {
    let store = vault();
    store.put("Board.canvas", r#"{"nodes":[{"id":"1","type":"file","file":"Areas/Home.md"}]}"#);
    let moved = store.run(&["move", "Home", "House"]).exits(0);
    assert!(moved.stdout.contains("Board.canvas: names Areas/Home"), "{moved:?}");
}

#[test]
fn what_other_programs_write_is_a_name_a_task_and_a_word() {
    let store = Store::notebook();
    // Numbers as names, a backslash, and a letter in two characters.
    store.put("book.md", "---\ntitle: 1984\naliases: [3.10, 0123]\ntags: [2.50]\n---\nx\n");
    store.put("back.md", "---\ntitle: Back\\slash\n---\nx\n");
    store.put("links.md", "[[1984]] [[3.10]] [[0123]] [[Back\\slash]]\n");
    store.put("cafe.md", "Cafe\u{301} opens at nine.\n");
    assert_eq!(store.run(&["list", "--dead-links"]).exits(0).stdout, "");
    assert!(store.run(&["show", "1984"]).exits(0).stdout.contains("title: 1984"));
    assert!(store.run(&["list", "--tags"]).exits(0).stdout.contains("2.50"));
    assert!(store.run(&["search", "caf\u{e9}"]).exits(0).stdout.contains("cafe.md"));
    store.run(&["edit", "cafe.md", "--old", "Caf\u{e9} opens", "--new", "Caf\u{e9} closes"]).exits(0);
    assert_eq!(store.text("cafe.md"), "Caf\u{e9} closes at nine.\n");
    // Tasks of every list, and a line that would make a heading.
    store.run(&["write", "scratchpad", "--", "- [ ] one\n1. [ ] two\n2) [ ] three\n+ [ ] four\n* [x] done"]).exits(0);
    assert!(store.run(&["status"]).exits(0).stdout.contains("open items of the scratchpad: 4"));
    for text in ["Prices were checked.", "---\n\nNext part", "End", "===\n"] {
        store.run(&["write", "long_term", "--", text]).exits(0);
    }
    assert_eq!(store.text("MEMORY.md"), "Prices were checked.\n\n---\n\nNext part\nEnd\n\n===\n");
}

#[test]
fn a_note_moves_into_a_folder_and_links_keep_their_way_of_writing() {
    let store = Store::notebook();
    store.put("b (2).md", "# b (2)\n\n[i](i.md) ![p](pics/p%20q.png) [w](https://a.example/x)\n");
    store.put("i.md", "[b](<b (2).md>) [c](b%20(2).md) [d](b%20%282%29.md)\n");
    store.put("pic_(6).md", "# pic_(6)\n");
    store.put("j.md", "[p](pic_(6).md) [[./x]]\n");
    store.put("x.md", "# x\n");
    store.put("Places/other.md", "# Other\n\n[[b (2)]]\n");
    store.run(&["move", "b (2)", "b (3)"]).exits(0);
    assert_eq!(store.text("i.md"), "[b](<b (3).md>) [c](b%20(3).md) [d](b%20%283%29.md)\n");
    store.run(&["move", "pic_(6)", "pic_(7)"]).exits(0);
    store.run(&["move", "x.md", "y"]).exits(0);
    assert_eq!(store.text("j.md"), "[p](pic_(7).md) [[./y]]\n");
    store.run(&["move", "b (3)", "Places/b (4)"]).exits(0);
    assert_eq!(
        store.text("Places/b (4).md"),
        "# b (4)\n\n[i](../i.md) ![p](../pics/p%20q.png) [w](https://a.example/x)\n"
    );
    assert_eq!(store.text("i.md"), "[b](<Places/b (4).md>) [c](Places/b%20(4).md) [d](Places/b%20%284%29.md)\n");
    store.run(&["move", "y", "New/"]).exits(0);
    assert_eq!(store.text("New/y.md"), "# y\n");
    assert_eq!(store.run(&["list", "--dead-links", "--only-notes"]).exits(0).stdout, "");
    // A slash in a title is one where no folder is meant.
    store.run(&["move", "j.md", "TCP/IP"]).exits(2);
}
