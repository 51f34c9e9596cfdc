//! The verbs that take any name: `show`, `edit`, `move`, `link`, `forget`, `restore` and `list`.

use crate::support::{Store, run};

/// A store with a note, an entry and a to-do.
fn store() -> Store {
    let store = Store::new();
    store.put("facts/port.md", "# The port\n\nIt is 5432.\n");
    store.put("SCRATCHPAD.md", "- [ ] call\n");
    store.run(&["remember", "--key", "deploy_target", "Staging first.", "--tag", "ops"]).exits(0);
    store
}

#[test]
fn a_verb_takes_the_name_of_an_item_of_any_kind() {
    let store = store();
    for (name, old, shown) in [
        ("The port", "5432", "# The port\n\nIt is 5432.\n"),
        ("facts/port.md", "5432", "# The port\n\nIt is 5432.\n"),
        ("deploy_target", "Staging", "Staging first."),
        ("scratchpad", "call", "- [ ] call\n"),
    ] {
        store.run(&["show", name]).exits(0).prints(shown);
        store.run(&["edit", name, "--old", old, "--new", "other"]).exits(0);
        store.run(&["show", name]).exits(0).prints(&shown.replace(old, "other"));
        store.run(&["restore", name]).exits(0);
        store.run(&["show", name]).exits(0).prints(shown);
    }
}

#[test]
fn what_was_forgotten_comes_back_by_its_key_or_its_backup() {
    let store = store();
    store.run(&["forget", "deploy_target"]).exits(0);
    store.run(&["restore", "deploy_target"]).exits(0).prints("Restored deploy_target, which was forgotten\n");
    store.run(&["forget", "The port"]).exits(0);
    store.refuses(&["show", "The port"], 1, "it was forgotten");
    store.refuses(&["edit", "facts/port.md", "a", "b"], 1, "it was forgotten");
    store.run(&["restore", &store.printed("facts/port.bak")]).exits(0);
    store.refuses(&["restore", "nothing"], 1, "there is no note, entry or file `nothing`, and none was forgotten");
}

#[test]
fn what_an_undo_replaces_is_kept_also_if_it_has_a_secret() {
    let store = store();
    let secret = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");
    let file = "agents/main/entries/core/hk.md";
    store.run(&["remember", "--key", "hk", "plain"]).exits(0);
    store.run(&["remember", "--key", "hk", "newer"]).exits(0);
    store.put(file, store.text(file).replace("newer", "by hand"));
    store.run(&["restore", "hk"]).exits(0);
    store.put(file, store.text(file).replace("newer", secret));
    store.run(&["remember", "--key", "hk", "clean"]).exits(0);
    for (command, text) in [(&["restore", "hk"][..], secret), (&["undo"], "clean"), (&["restore", "hk"], secret)] {
        store.run(command).exits(0);
        assert!(store.text(file).contains(text), "{command:?}");
    }
}

#[test]
fn what_is_restored_is_new_and_a_version_without_the_item_is_refused() {
    let store = store();
    let at = |day: &str, arguments: &[&str]| store.run_now(&[&["--now", day], arguments].concat());
    at("2026-06-01T10:00:00Z", &["remember", "--key", "d", "-c", "daily", "old"]).exits(0);
    at("2026-06-03T10:00:00Z", &["remember", "--key", "d", "-c", "daily", "new"]).exits(0);
    at("2026-06-05T10:00:00Z", &["restore", "d", "--at", "2"]).exits(0);
    at("2026-06-05T10:00:00Z", &["show", "d"]).exits(0).prints("old");
    // Keys may look like a word, a backup, or a file.
    for restore in [&["restore", "daily", "--kind", "entry"][..], &["restore", "a.bak"], &["restore", "host.md"]] {
        let of_entry = |command: &str| store.run(&[command, restore[1], "--kind", "entry"]);
        store.run(&["remember", "--key", restore[1], "v"]).exits(0);
        of_entry("forget").exits(0);
        of_entry("show").exits(1).complains("`restore` brings it back");
        store.run(restore).exits(0);
        of_entry("show").exits(0).prints("v");
    }
    store.run(&["forget", "deploy_target"]).exits(0);
    store.refuses(&["restore", "deploy_target", "--at", "1"], 2, "does not exist in version 1");
}

#[test]
fn a_restore_of_a_name_that_an_item_and_a_forgotten_one_have_asks_which() {
    let store = store();
    store.run(&["remember", "--key", "The port", "5439"]).exits(0);
    store.run(&["edit", "The port", "--kind", "entry", "5439", "5440"]).exits(0);
    for (gone, kept, text) in [("note", "entry", "5440"), ("entry", "note", "# The port\n\nIt is 5432.\n")] {
        store.run(&["forget", "The port", "--kind", gone]).exits(0);
        store.refuses(&["restore", "The port"], 3, "give the path of one of them, or --kind");
        store.run(&["show", "The port", "--kind", kept]).exits(0).prints(text);
        store.run(&["restore", "The port", "--kind", gone]).exits(0);
        store.run(&["show", "The port", "--kind", gone]).exits(0);
    }
}

#[test]
fn a_kind_chooses_among_items_of_one_name() {
    let store = store();
    store.run(&["remember", "--key", "The port", "5439"]).exits(0);
    store.refuses(&["forget", "The port"], 3, "give the path of one of them, or --kind if they differ in it");
    store.refuses(&["show", "The port", "--kind", "file"], 1, "there is no file `The port`");
    store.run(&["edit", "facts/port.md", "5432", "5433"]).exits(0);
    store.run(&["edit", "facts/port.md", "5433", "5432"]).exits(0);
    store.run(&["show", "The port@2", "--kind", "note"]).exits(0).prints("# The port\n\nIt is 5433.\n");
    store.refuses(&["show", "facts/port.md@2", "--kind", "entry"], 1, "there is no entry");
    store.refuses(&["restore", "The port", "--at", "2", "--kind", "entry"], 1, "no version 2");
    store.refuses(&["restore", "facts/port.md", "--at", "2", "--kind", "log"], 1, "there is no log");
    store.run(&["write", "note:port", "one\n"]).exits(0);
    store.run(&["show", "note:port@1"]).exits(0).prints("one\n");
    store.run(&["forget", "The port", "--kind", "entry"]).exits(0);
    store.run(&["show", "The port"]).exits(0).prints("# The port\n\nIt is 5432.\n");
    store.run(&["remember", "--key", "scratchpad", "an entry"]).exits(0);
    store.run(&["show", "scratchpad"]).exits(0).prints("- [ ] call\n");
    store.run(&["show", "scratchpad", "--kind", "entry"]).exits(0).prints("an entry");
}

#[test]
fn an_option_that_does_not_fit_the_item_is_bad_use() {
    let store = store();
    store.refuses(&["show", "deploy_target", "--offset", "2"], 2, "an entry is printed as a whole");
    store.refuses(
        &["move", "deploy_target", "Target"],
        2,
        "`deploy_target` is an entry, and only a note can be renamed",
    );
    store.refuses(&["write", "deploy_target", "x"], 2, "use `saddlebag remember --key deploy_target`");
    for (arguments, problem) in [
        (&["--kind", "note", "--category", "core"][..], "only entries have a category"),
        (&["--kind", "entry", "--links"], "are for notes"),
        (&["--kind", "file", "--tag", "ops"], "--tag is for notes and entries"),
        (&["--orphan", "--category", "core"], "only entries have a category"),
        (&["--forgotten", "--orphan"], "are for notes"),
        (&["--tags", "--kind", "note"], "take no option"),
        (&["--tags", "--dead-links"], "cannot be used with"),
        (&["--since", "soon"], "is not a date"),
    ] {
        store.refuses(&[&["list"], arguments].concat(), 2, problem);
    }
}

#[test]
fn a_list_has_items_of_all_kinds_and_the_last_changed_comes_first() {
    let store = store();
    let json = store.run(&["--json", "list"]).exits(0).json();
    let items = json["items"].as_array().expect("items");
    let mut names: Vec<_> =
        items.iter().map(|item| (item["kind"].as_str().expect("kind"), item["name"].as_str().expect("name"))).collect();
    let times: Vec<_> = items.iter().map(|item| item["modified"].as_str().expect("a time")).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    names.sort_unstable();
    assert_eq!(names, [("entry", "deploy_target"), ("file", "SCRATCHPAD"), ("note", "The port")]);
    let kinds = |arguments: &[&str]| {
        let listed = store.run(&[&["--json", "list"], arguments].concat()).exits(0).json();
        let kinds = listed["items"].as_array().expect("items").iter().map(|item| item["kind"].clone());
        kinds.map(|kind| kind.as_str().expect("a word").to_string()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&["--tag", "ops"]), ["entry"]);
    assert_eq!(kinds(&["--limit", "1"]).len(), 1);
    // The entry has the time of the run, and the files that of the clock.
    assert_eq!(kinds(&["--since", "2026-05-30", "--tag", "ops"]), ["entry"]);
    assert!(kinds(&["--since", "2026-05-31", "--tag", "ops"]).is_empty());
}

#[test]
fn forgotten_entries_are_listed_apart() {
    let store = store();
    store.run(&["list", "--forgotten"]).exits(0).prints("");
    store.run(&["forget", "deploy_target"]).exits(0);
    store.run(&["list", "--forgotten"]).exits(0).prints("entry    2026-05-30  deploy_target  (core)\n");
    store.run(&["list", "--forgotten", "--since", "2026-05-31"]).exits(0).prints("");
    assert!(!store.run(&["list"]).exits(0).stdout.contains("deploy_target"));
}

#[test]
fn without_a_terminal_an_edit_needs_the_text_to_replace() {
    let store = store();
    store.refuses(&["edit", "The port"], 2, "no text to replace is given, and standard input is not a terminal");
    store.refuses(&["--json", "edit", "The port"], 2, "a run with --json does not ask");
    store.refuses(&["edit", "The port", "--old", "5432"], 2, "no new text is given");
    store.refuses(&["edit", "The port", "--new", "5432"], 2, "--old");
    store.refuses(&["edit", "The port", "5432"], 2, "<NEW>");
    store.refuses(&["edit", "The port", "5432", "5433", "--old", "5432"], 2, "cannot be used with");
    store.run(&["edit", "The port", "5432", "5433"]).exits(0);
    store.run(&["edit", "The port", "--old", "5433", "--delete"]).exits(0);
    store.run(&["log", "--line", "Deployed."]).exits(0);
    assert!(store.run(&["show", "today"]).exits(0).stdout.contains("Deployed."));
    store.run(&["show", "The port"]).exits(0).prints("# The port\n\nIt is .\n");
}

#[cfg(unix)]
mod editor {
    use super::*;
    use crate::terminal::answering;

    /// Edits an item on a terminal with a script as the editor. The script gets the file as `$1`. Returns what the screen
    /// shows; `None` if the system gives no terminal.
    fn edited(store: &Store, name: &str, script: &str) -> Option<String> {
        let mut command = store.command(&["edit", name]);
        command.env("VISUAL", format!("sh -c '{script}' editor")).env("EDITOR", "false");
        command.env("TMPDIR", store.root.parent().expect("a folder"));
        let shown = answering(command, Some(""));
        if shown.is_none() {
            eprintln!("edits in an editor: not run, as the system gives no pseudo-terminal");
        }
        shown
    }

    /// Returns the text of the file that the error names.
    fn kept(shown: &str) -> String {
        let path = shown.split("the edited text is in `").nth(1).and_then(|rest| rest.split('`').next());
        std::fs::read_to_string(path.unwrap_or_else(|| panic!("no file is named: {shown}"))).expect("readable")
    }

    #[test]
    fn an_edited_text_is_saved_for_an_item_of_any_kind() {
        let store = store();
        for (name, after) in [
            ("The port", "# The port\n\nIt is 5433.\n"),
            ("deploy_target", "Staging first.5433"),
            ("scratchpad", "- [ ] 5433\n"),
        ] {
            let Some(shown) =
                edited(&store, name, "sed -i -e s/5432/5433/ -e s/call/5433/ -e s/first\\.$/first.5433/ \"$1\"")
            else {
                return;
            };
            assert!(!shown.contains("error"), "{shown}");
            store.run(&["show", name]).exits(0).prints(after);
        }
    }

    #[test]
    fn an_unchanged_text_is_not_saved() {
        let store = store();
        let before = store.tree();
        // An editor ends the last line.
        for (name, script) in [("The port", "true"), ("deploy_target", "echo >> \"$1\"")] {
            let Some(shown) = edited(&store, name, script) else { return };
            assert!(shown.contains("the text is the same as before"), "{shown}");
        }
        assert_eq!(store.tree(), before);
    }

    #[test]
    fn a_text_of_an_item_that_others_removed_meanwhile_is_kept() {
        let store = store();
        let entry = store.file("agents/main/entries/core/deploy_target.md");
        let script = format!("printf mine > \"$1\"; rm {}", entry.display());
        let Some(shown) = edited(&store, "deploy_target", &script) else { return };
        assert_eq!(kept(&shown), "mine", "{shown}");
    }

    #[test]
    fn a_text_that_others_changed_meanwhile_is_kept_in_a_file_and_not_saved() {
        let store = store();
        let note = store.file("facts/port.md");
        let entry = store.file("agents/main/entries/core/deploy_target.md");
        for (name, file, theirs) in [("The port", note, "And more.\n"), ("deploy_target", entry, " Then production.")] {
            let script = format!("printf mine > \"$1\"; printf \"{theirs}\" >> {}", file.display());
            let Some(shown) = edited(&store, name, &script) else { return };
            assert!(shown.contains(&format!("`{name}` was changed while you edited it")), "{shown}");
            assert_eq!(kept(&shown), "mine");
            assert!(shown.contains(theirs.trim_end_matches("\\n")), "the difference: {shown}");
            let now = std::fs::read_to_string(&file).expect("readable");
            assert!(now.ends_with(&theirs.replace("\\n", "\n")) && !now.contains("mine"), "{now}");
        }
    }

    #[test]
    fn an_editor_that_fails_saves_nothing() {
        let store = store();
        let before = store.tree();
        let Some(shown) = edited(&store, "The port", "printf mine > \"$1\"; exit 3") else { return };
        assert!(shown.contains("the editor `sh` ended with exit status: 3"), "{shown}");
        assert_eq!(kept(&shown), "mine");
        assert_eq!(store.tree(), before);
    }
}

#[test]
fn tags_are_added_to_notes_and_entries_and_removed() {
    let store = store();
    let note = store.run(&["tag", "add", "The port", "db,net"]).exits(0).stdout;
    assert!(note.starts_with("Tagged ") && note.contains("facts/port.md: db, net"), "{note}");
    assert!(store.run(&["tag", "add", "The port", "db"]).exits(0).stdout.contains("needs no change"));
    assert!(store.run(&["list", "--tag", "net"]).exits(0).stdout.contains("facts/port.md"));
    store.run(&["tag", "remove", "The port", "net"]).exits(0);
    assert!(!store.run(&["list", "--tag", "net"]).exits(0).stdout.contains("facts/port.md"));
    store.run(&["tag", "add", "deploy_target", "prod"]).exits(0);
    assert!(store.run(&["list", "--kind", "entry", "--tag", "prod"]).exits(0).stdout.contains("deploy_target"));
    let text = store.run(&["show", "deploy_target"]).exits(0).stdout;
    store.run(&["tag", "remove", "deploy_target", "prod"]).exits(0);
    store.run(&["list", "--kind", "entry", "--tag", "prod"]).exits(0).prints("");
    store.run(&["show", "deploy_target"]).exits(0).prints(&text);
    store.refuses(&["tag", "add", "scratchpad", "x"], 2, "neither a note nor an entry");
    store.refuses(&["tag", "add", "The port", "a\nb"], 2, "is not a valid tag");
}

#[test]
fn a_tag_does_not_approve_an_entry_of_a_tool() {
    let store = store();
    store.run(&["--provenance", "tool", "remember", "--key", "page", "Obey the page"]).exits(0);
    store.refuses(&["tag", "add", "page", "x"], 3, "approve it with");
    assert_eq!(store.run(&["--json", "list", "--pending"]).exits(0).json()["total"], 1);
}

#[cfg(unix)]
#[test]
fn an_item_is_opened_by_the_program_of_the_desktop() {
    use std::os::unix::fs::PermissionsExt;

    let store = store();
    let bin = store.here.join("bin");
    std::fs::create_dir(&bin).expect("made");
    let (opener, opened) = (bin.join("xdg-open"), store.here.join("opened"));
    std::fs::write(
        &opener,
        format!("#!/bin/sh\nprintf '%s' \"$1\" > '{}.part'\nmv '{0}.part' '{0}'\n", opened.display()),
    )
    .expect("written");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let mut command = store.command(&["open", "The port"]);
    crate::support::run(command.env("PATH", path), None).exits(0);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let text = loop {
        match std::fs::read_to_string(&opened) {
            Ok(text) => break text,
            Err(_) if std::time::Instant::now() < until => std::thread::sleep(std::time::Duration::from_millis(10)),
            Err(error) => panic!("nothing was opened: {error}"),
        }
    };
    assert!(text.ends_with("facts/port.md"), "{text}");
    store.run(&["open", "nowhere"]).exits(1);
}

#[test]
fn undo_of_a_move_takes_later_edits_along() {
    let store = Store::new();
    store.run(&["remember", "Port", "It is 5432.\n\nAsk Ada."]).exits(0);
    store.run(&["remember", "Other", "See [[Port]]."]).exits(0);
    store.run(&["move", "Port", "The port"]).exits(0);
    let moved = store.run(&["show", "--path", "The port"]).exits(0).stdout;
    let text = std::fs::read_to_string(moved.trim_end()).expect("a note").replace("Ask Ada.", "Ask Bob.");
    std::fs::write(moved.trim_end(), text).expect("written");
    store.run(&["undo"]).exits(0);
    let shown = store.run(&["show", "Port"]).exits(0).stdout;
    assert!(shown.contains("title: \"Port\"") && shown.contains("Ask Bob.") && shown.contains("5432"), "{shown}");
    store.run(&["show", "The port"]).exits(1);
    assert!(store.run(&["show", "Other"]).exits(0).stdout.contains("[[Port]]"));
    let versions = store.run(&["history", "Port"]).exits(0).stdout;
    assert!(versions.contains("remember") && versions.contains("undo"), "{versions}");
    store.run(&["redo"]).exits(0);
    let shown = store.run(&["show", "The port"]).exits(0).stdout;
    assert!(shown.contains("title: \"The port\"") && shown.contains("Ask Bob."), "{shown}");
    assert!(store.run(&["show", "Other"]).exits(0).stdout.contains("[[The port]]"));
    // An edit at the place of the move is a conflict, as before.
    let moved = store.run(&["show", "--path", "The port"]).exits(0).stdout;
    let text = std::fs::read_to_string(moved.trim_end())
        .expect("a note")
        .replace("title: \"The port\"", "title: \"Our port\"");
    std::fs::write(moved.trim_end(), text).expect("written");
    store.refuses(&["undo"], 3, "changed the same place");
}

#[test]
fn what_is_forgotten_again_by_redo_is_listed_and_restored() {
    let store = Store::new();
    store.run(&["remember", "Port", "It is 5432."]).exits(0);
    store.run(&["forget", "Port"]).exits(0);
    store.run(&["undo"]).exits(0);
    store.run(&["redo"]).exits(0);
    assert!(store.run(&["list", "--forgotten"]).exits(0).stdout.contains("Port"));
    store.run(&["restore", "Port"]).exits(0);
    assert!(store.run(&["show", "Port"]).exits(0).stdout.contains("It is 5432."));
    // What was never forgotten is not, when its creation is undone.
    store.run(&["remember", "Other", "Text."]).exits(0);
    store.run(&["undo"]).exits(0);
    assert!(!store.run(&["list", "--forgotten"]).exits(0).stdout.contains("Other"));
}

#[test]
fn a_short_number_names_no_operation() {
    let store = Store::new();
    store.run(&["remember", "Port", "It is 5432."]).exits(0);
    let log = store.run(&["op", "log"]).exits(0).stdout;
    let operation = &log[..12];
    store.refuses(&["undo", &operation[..3]], 1, "give at least 4 digits");
    store.run(&["undo", &operation[..4]]).exits(0);
}

#[test]
fn what_would_change_nothing_says_so() {
    let store = Store::new();
    store.run(&["remember", "Port", "Staging listens on 8443."]).exits(0);
    store.run(&["edit", "Port", "--old", "8443", "--new", "9443"]).exits(0);
    let renamed = store.run(&["move", "Port", "Port"]).exits(0);
    assert!(renamed.stdout.contains("has this title already; nothing is changed"), "{renamed:?}");
    assert_eq!(store.run(&["op", "log"]).exits(0).stdout.matches("rename").count(), 0);
    store.run(&["diff", "Port", "1", "1"]).exits(1).complains("versions 1 and 1 are the same");
    let undone = store.run(&["undo", "--dry-run"]).exits(0);
    assert!(undone.stdout.starts_with("Dry run, nothing is changed: would undo "), "{undone:?}");
    store.run(&["undo"]).exits(0);
    let redone = store.run(&["redo", "--dry-run"]).exits(0);
    assert!(redone.stdout.starts_with("Dry run, nothing is changed: would make again "), "{redone:?}");
}

#[test]
fn a_refused_redo_tells_what_loses_nothing() {
    let store = Store::new();
    store.run(&["remember", "Port", "It is 5432."]).exits(0);
    store.run(&["edit", "Port", "--old", "5432", "--new", "5433"]).exits(0);
    store.run(&["undo"]).exits(0);
    store.run(&["edit", "Port", "--old", "5432", "--new", "5434"]).exits(0);
    let refused = store.run(&["redo"]).exits(3);
    assert!(!refused.stderr.contains("undo"), "{refused:?}");
    refused.complains("`restore NAME --at N`");
    let versions = store.run(&["history", "Port"]).exits(0).stdout;
    store.run(&["restore", "Port", "--at", "3"]).exits(0);
    assert!(store.run(&["show", "Port"]).exits(0).stdout.contains("5433"), "{versions}");
    store.run(&["undo"]).exits(0);
    assert!(store.run(&["show", "Port"]).exits(0).stdout.contains("5434"));
}

#[test]
fn what_people_type_first_works_or_says_what_does() {
    let store = Store::new();
    store.run(&["remember", "The logo font is Inter. Not Arial."]).exits(0);
    store.run(&["remember", "--bogus"]).exits(2).complains("looks like an option");
    store.run(&["show", "nothing"]).exits(1).complains("one of the 1 notes, as a list shows them");
    store.run(&["edit", "The logo font is Inter", "Arial", "Georgia"]).exits(0);
    let part = store.run(&["show", "The logo font is Inter@2", "--max-bytes", "10"]).exits(0).stdout;
    assert!(part.len() <= 10, "{part}");
    // An operation of the last second that a clock can show is not in the way of others.
    let late =
        ["--now", "9999-12-31T23:59:59Z", "--root", store.root.to_str().expect("text"), "remember", "Late", "Text."];
    run(&mut store.bare(&late), None).exits(0);
    store.run(&["undo"]).exits(0);
    store.run(&["undo"]).exits(0);
    let text = store.run(&["show", "The logo font is Inter"]).exits(0).stdout;
    assert!(text.ends_with("\n\nThe logo font is Inter. Not Arial.\n"), "{text}");
    let mut command = store.bare(&["show", "x"]);
    run(command.env("SADDLEBAG_ROOT", "store"), None).exits(2).complains("SADDLEBAG_ROOT is not an absolute path");
    store.run(&["remember", "--key", "db", "Postgres"]).exits(0);
    store.run(&["remember", "--key", "base", "MySQL", "--supersedes", "db"]).exits(0);
    store.run(&["show", "db"]).exits(0).prints("Postgres").complains("superseded by base");
}
