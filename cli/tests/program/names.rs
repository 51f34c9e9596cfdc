//! Names of notes: each command takes what another printed, and refuses a name that could mean several notes.

use crate::support::Store;

fn notebook() -> Store {
    let store = Store::new();
    store.put(
        "facts/lb.md",
        "---\ntitle: Load balancer\naliases: [the balancer]\ndate: 2026-05-01\n---\n\nTwo nodes.\n",
    );
    store.put("facts/deploy.md", "---\ntitle: Deploy steps\ndate: 2026-05-02\n---\n\nSee [[lb]]. Never by hand.\n");
    store.put("facts/by-hand.md", "---\ntitle: By hand\ndate: 2026-05-03\n---\n\nThe Load balancer is not.\n");
    store
}

/// Each list of a store with one edge: the option, a note named by title, alias, file name and path, and the result.
const FILTERS: [(&str, [&str; 4], &str); 5] = [
    ("--link-to", ["Load balancer", "the balancer", "lb", "facts/lb.md"], "facts/deploy.md  Deploy steps\n"),
    ("--linked-by", ["Deploy steps", "deploy steps", "deploy", "facts/deploy.md"], "facts/lb.md  Load balancer\n"),
    ("--mention", ["Load balancer", "the balancer", "lb", "facts/lb.md"], "facts/by-hand.md  By hand\n"),
    ("--mentioned-by", ["By hand", "by hand", "by-hand", "facts/by-hand.md"], "facts/lb.md  Load balancer\n"),
    ("--mentioned-by", ["Deploy steps", "deploy steps", "deploy", "facts/deploy.md"], "facts/by-hand.md  By hand\n"),
];

#[test]
fn a_filter_takes_a_note_by_title_alias_file_name_and_path() {
    let store = notebook();
    for (option, names, listed) in FILTERS {
        for name in names {
            store.run(&["list", "--kind", "note", option, name]).exits(0).prints(&store.printed(listed));
        }
    }
    for (option, names, _) in FILTERS {
        let by_path = store.run(&["--json", "list", "--links", option, names[3]]).exits(0).json();
        assert_eq!(store.run(&["--json", "list", "--links", option, names[0]]).exits(0).json(), by_path);
        let recalled = |name: &str| store.run(&["--json", "recall", "hand balancer nodes", option, name]).json();
        assert_eq!(recalled(names[0]), recalled(names[3]), "{option}");
    }
    store.run(&["list", "--kind", "note", "--no-link-to", "Load balancer", "--path", "facts/deploy.md"]).exits(0);
    store.run(&["list", "--kind", "note", "--link-to", "Nothing such"]).complains("there is no note `Nothing such`");
}

#[test]
fn a_part_of_a_file_name_still_names_all_notes_that_have_it() {
    let store = notebook();
    store
        .run(&["list", "--kind", "note", "--linked-by", "depl"])
        .exits(0)
        .prints(&store.printed("facts/lb.md  Load balancer\n"));
}

#[test]
fn a_title_that_two_notes_have_is_refused_with_both_paths() {
    for (first, second, name) in [
        ("facts/twin.md", "people/other.md", "Twin"),
        ("facts/twin.md", "people/other.md", "twin"),
        ("a.md", "b.md", "Twin"),
        ("twin.md", "people/twin-2.md", "twin"),
    ] {
        let store = Store::new();
        store.put(first, "# Twin\n\none\n");
        store.put(second, "# Twin\n\ntwo\n");
        for arguments in [
            &["show", name][..],
            &["forget", name],
            &["move", name, "Zwilling"],
            &["edit", name, "--old", "one", "--new", "three"],
            &["restore", name],
            &["related", name],
            &["related", "--mentions", name],
            &["link", name, first],
            &["remember", "New", "text", "--link", name],
        ] {
            store.refuses(arguments, 3, first);
            store.refuses(arguments, 3, second);
            let error = store.run(&[&["--json"][..], arguments].concat()).exits(3).stderr;
            assert!(error.contains("ambiguous-name"), "{arguments:?}: {error}");
        }
        store.run(&["show", first]).exits(0);
        store.run(&["forget", second]).exits(0);
        store.run(&["show", name]).exits(0);
    }
}

#[test]
fn a_note_that_supersedes_the_other_of_its_title_has_the_title() {
    let store = Store::new();
    store.run(&["remember", "Port", "5432"]).exits(0);
    store.run(&["remember", "Port", "5433", "--supersede"]).exits(0);
    assert!(store.run(&["show", "Port"]).exits(0).stdout.contains("5433"));
}

#[test]
fn notes_without_a_date_come_after_those_with_one_in_either_order() {
    let store = notebook();
    store.put("facts/undated.md", "# Undated hand\n");
    for (order, paths) in [
        ("created", ["facts/by-hand.md", "facts/deploy.md", "facts/lb.md", "facts/undated.md"]),
        ("created+", ["facts/lb.md", "facts/deploy.md", "facts/by-hand.md", "facts/undated.md"]),
    ] {
        let paths = paths.map(|path| store.printed(path));
        let listed = store.run(&["list", "--kind", "note", "--sort", order]).exits(0).stdout;
        let listed: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(listed, paths, "{order}");
        let recalled = store.run(&["--json", "recall", "hand balancer", "--sort", order]).exits(0).json();
        let recalled: Vec<&str> =
            recalled["hits"].as_array().unwrap().iter().filter_map(|hit| hit["path"].as_str()).collect();
        assert_eq!(recalled, paths, "{order}");
    }
}

#[test]
fn a_restore_after_a_rename_says_where_a_backup_is() {
    let store = notebook();
    store.run(&["edit", "Load balancer", "--old", "Two", "--new", "Three"]).exits(0);
    store.run(&["move", "Load balancer", "Balancers"]).exits(0);
    store.refuses(&["restore", "Balancers"], 1, "to undo a rename, rename the note again");
    store.run(&["restore", "facts/lb.md"]).exits(0);
    assert!(store.text("facts/lb.md").contains("Two nodes."));
}

#[test]
fn a_note_that_gets_the_title_of_another_is_named_with_it() {
    let store = Store::new();
    store.run(&["remember", "Staging port", "8443"]).exits(0);
    store.run(&["remember", "Test port", "8444"]).exits(0);
    let moved = store.run(&["move", "Test port", "Staging port"]).exits(0);
    let twin = store.printed("facts/staging-port.md has the same title, so a title now means both: use their paths");
    assert!(moved.stdout.contains(&twin), "{moved:?}");
    let moved = store.run(&["--json", "move", "facts/staging-port-2.md", "Test port"]).exits(0);
    assert!(!moved.json()["message"].as_str().unwrap().contains("same title"), "{moved:?}");
}

#[test]
fn the_kind_of_a_name_holds_for_a_word_too() {
    let store = Store::new();
    store.run(&["log", "Drill", "Restored."]).exits(0);
    store.run(&["remember", "Staging port", "8443"]).exits(0);
    for kind in ["note", "log"] {
        assert!(store.run(&["show", "daily", "--kind", kind]).exits(0).stdout.contains("Restored."), "{kind}");
    }
    store.run(&["show", "Staging port", "--kind", "note"]).exits(0);
    for (name, kind) in [("daily", "session"), ("daily", "file"), ("scratchpad", "log"), ("Staging port", "session")] {
        store.refuses(&["show", name, "--kind", kind], 1, &format!("there is no {kind} `{name}`"));
        store.refuses(&["forget", name, "--kind", kind], 1, &format!("there is no {kind} `{name}`"));
    }
}

#[test]
fn versions_are_counted_from_one() {
    let store = Store::new();
    store.run(&["remember", "--key", "port", "8443"]).exits(0);
    store.run(&["remember", "Staging port", "8443"]).exits(0);
    for name in ["port@0", "Staging port@0", "facts/staging-port.md@00"] {
        store.refuses(&["show", name], 2, "has no version 0: versions are counted from 1, which is the newest");
        let answer = store.run(&["tools", "mem_show", &serde_json::json!({ "name": name }).to_string()]);
        assert!(answer.stderr.contains("counted from 1") || answer.stdout.contains("counted from 1"), "{answer:?}");
    }
    store.refuses(&["show", "nothing@0"], 1, "nothing");
}

#[test]
fn a_title_that_differs_in_case_alone_is_named() {
    let store = Store::new();
    store.run(&["remember", "Staging port", "8443"]).exits(0);
    let twin = store.printed("facts/staging-port.md: has the same title in other case, so a title now means both");
    store.run(&["remember", "staging PORT", "8444"]).exits(0).complains(&twin);
    store.run(&["remember", "Test port", "8445"]).exits(0);
    let moved = store.run(&["move", "Test port", "STAGING port"]).exits(0);
    assert_eq!(moved.stdout.matches("has the same title in other case").count(), 2, "{moved:?}");
    // A change of case is not a second note.
    store.run(&["remember", "Other", "8446"]).exits(0);
    let moved = store.run(&["move", "Other", "OTHER"]).exits(0);
    assert!(!moved.stdout.contains("same title"), "{moved:?}");
}

#[test]
fn a_note_that_is_no_longer_superseded_is_named() {
    let store = Store::new();
    store.run(&["remember", "Port", "5432"]).exits(0);
    store.run(&["remember", "New port", "5433", "--supersedes", "Port"]).exits(0);
    let again = store.printed("; no longer superseded, so again in prompts: ") + &store.printed("facts/port.md");
    let again = again.trim_start_matches(&store.memory);
    let told = |arguments: &[&str]| store.run(arguments).exits(0).stdout.contains(again);
    assert!(told(&["forget", "New port"]));
    store.run(&["undo"]).exits(0);
    assert!(told(&["redo"]));
    store.run(&["undo"]).exits(0);
    let both = store.run(&["remember", "Newest port", "5434", "--supersedes", "Port"]).exits(0);
    let newer = store.printed("facts/new-port.md: supersedes ");
    both.complains(&format!("{newer}{} too, so both count", store.printed("facts/port.md")));
    // Another note still supersedes it.
    assert!(!told(&["undo"]));
    assert!(told(&["undo"]));
}

#[test]
fn a_note_whose_title_is_a_word_for_another_file_has_a_name() {
    let store = Store::new();
    let made = store.run(&["remember", "daily", "Water the plants."]).exits(0);
    made.complains(
        &store.printed("facts/daily.md: its title means another file: name the note `page:daily`, or by its path"),
    );
    assert!(store.run(&["show", "page:daily"]).exits(0).stdout.contains("Water"));
    store.run(&["remember", "Plants", "Two ferns.", "--link", "page:daily"]).exits(0);
    assert!(store.run(&["related", "page:daily"]).exits(0).stdout.contains("Plants"));
    store.run(&["move", "page:daily", "Every day"]).exits(0);
    let moved = store.run(&["move", "Every day", "scratchpad"]).exits(0);
    assert!(moved.stdout.contains("name the note `page:scratchpad`"), "{moved:?}");
    store.run(&["forget", "page:scratchpad"]).exits(0);
}

#[test]
fn a_change_of_case_is_told_as_a_title() {
    let store = Store::new();
    store.run(&["remember", "A", "One."]).exits(0);
    let path = store.printed("facts/a.md");
    store.run(&["move", "A", "a"]).exits(0).prints(&format!("Gave {path} the title `a`; no links to rewrite\n"));
}
