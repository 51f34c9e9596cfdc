//! One rule for what does not exist: exit code 1, whichever command names it. Blank text is bad use.

use crate::support::Store;

/// Commands that name a thing which does not exist.
const MISSING: [&[&str]; 33] = [
    &["show", "nope"],
    &["show", "facts/nope.md"],
    &["forget", "nope"],
    &["move", "nope", "x"],
    &["restore", "nope"],
    &["restore", "facts/nope.md"],
    &["edit", "nope", "--old", "a", "--new", "b"],
    &["link", "nope", "nope2"],
    &["related", "nope"],
    &["related", "--mentions", "nope"],
    &["list", "--kind", "note", "--link-to", "nope"],
    &["list", "--links", "--related", "nope"],
    &["recall", "nope"],
    &["recall", "words", "--mention", "nope"],
    &["search", "nope"],
    &["remember", "New", "text", "--link", "nope"],
    &["show", "nope", "--kind", "entry"],
    &["forget", "nope", "--kind", "entry"],
    &["restore", "nope", "--kind", "entry"],
    &["edit", "nope", "--kind", "entry", "--old", "a", "--new", "b"],
    &["entry", "hydrate", "--explain=nope"],
    &["forget", "--purge", "nope"],
    &["recall", "--kind", "entry", "nope"],
    &["show", "scratchpad"],
    &["show", "note:nope"],
    &["show", "nope.md"],
    &["edit", "scratchpad", "--old", "a", "--new", "b"],
    &["edit", "facts/nope.md", "--old", "a", "--new", "b"],
    &["forget", "note:nope"],
    &["forget", "facts/nope.md"],
    &["forget", "nope.md"],
    &["restore", "scratchpad"],
    &["list", "--pending=nope"],
];

#[test]
fn what_does_not_exist_exits_with_1_and_changes_nothing() {
    let store = Store::new();
    store.run(&["remember", "There", "words"]).exits(0);
    let before = store.tree();
    for arguments in MISSING {
        let run = store.run(arguments);
        assert_eq!(run.code, 1, "{arguments:?}: {run:?}");
        assert!(!run.stderr.contains("os error") && !run.stderr.contains("UZ-"), "{arguments:?}: {run:?}");
    }
    assert_eq!(store.tree(), before);
}

#[test]
fn an_empty_list_is_a_success_and_a_search_without_a_match_is_none() {
    let lists: [&[&str]; 11] = [
        &["list", "--kind", "file"],
        &["list", "--kind", "note"],
        &["list", "--kind", "note", "--tag", "nope"],
        &["list", "--tags"],
        &["list", "--links"],
        &["list", "--dead-links"],
        &["list", "--orphan"],
        &["list", "--kind", "entry"],
        &["list", "--kind", "entry", "--tag", "nope"],
        &["list", "--pending"],
        &["project"],
    ];
    let questions: [&[&str]; 5] = [
        &["recall", "nope"],
        &["search", "nope"],
        &["recall", "--kind", "entry", "nope"],
        &["entry", "hydrate", "--explain"],
        &["context"],
    ];
    let store = Store::new();
    for (arguments, code) in lists.map(|list| (list, 0)).into_iter().chain(questions.map(|question| (question, 1))) {
        assert_eq!(store.run(arguments).code, code, "{arguments:?}");
        assert_eq!(store.run(&[&["--json"], arguments].concat()).code, code, "--json {arguments:?}");
    }
}

#[test]
fn a_blank_text_is_refused_by_every_command_that_adds_text() {
    let store = Store::new();
    for blank in ["", " ", "\n\t "] {
        for arguments in [
            &["log", blank][..],
            &["log", blank, "body"],
            &["log", blank, "--compaction"],
            &["remember", blank, "text"],
            &["remember", "title", blank],
            &["log", "--line", blank],
            &["write", "scratchpad", blank],
            &["write", "daily", blank],
            &["write", "note:n", blank],
            &["recall", blank],
            &["recall", "--kind", "entry", blank],
            &["search", blank],
        ] {
            store.refuses(arguments, 2, "");
        }
    }
    // The content of an entry is kept byte for byte, white space too.
    store.refuses(&["remember", "--key", "", "text"], 2, "key is empty");
    store.refuses(&["remember", "--key", "k", ""], 2, "content is empty");
    store.run_with(&["write", "scratchpad", "-"], b"\n").exits(2).complains("the text is empty");
    store.run(&["write", "scratchpad", "- [ ] one"]).exits(0);
    store.run(&["write", "scratchpad", "", "--mode", "overwrite"]).exits(0);
    assert_eq!(store.text("SCRATCHPAD.md"), "");
}

#[test]
fn a_path_that_cannot_be_written_says_what_can() {
    let store = Store::new();
    store.put("facts/old.md", "old\n");
    store.put("top.md", "# Top\n\ntext\n");
    for path in ["facts/new.md", "facts/old.md", "people/new.md", "top.md"] {
        store.refuses(&["write", path, "x"], 2, "`remember` makes another note, and `edit` changes one");
    }
    store.run(&["write", "notes/new.md", "x"]).exits(0);
    store.run(&["write", "daily/2026-05-30.md", "x"]).exits(0);
    assert_eq!((store.text("notes/new.md"), store.text("daily/2026-05-30.md")), ("x\n".into(), "x\n".into()));
}

#[test]
fn a_note_directly_in_the_notebook_is_taken_by_every_command_of_files() {
    let store = Store::notebook();
    store.put("top.md", "# Top\n\ntext\n");
    store.run(&["list", "--kind", "note"]).exits(0).prints("top.md  Top\n");
    store.run(&["show", "top.md"]).exits(0).prints("# Top\n\ntext\n");
    store.run(&["edit", "top.md", "--old", "text", "--new", "words"]).exits(0);
    assert!(store.run(&["show", "--path", "top.md"]).exits(0).stdout.ends_with("top.md\n"));
    let forgotten = store.run(&["--json", "forget", "top.md"]).exits(0).json();
    assert_eq!((&forgotten["path"], &forgotten["backup"]), (&"top.md".into(), &().into()));
    store.run(&["restore", "top.md"]).exits(0);
    store.run(&["show", "top.md"]).exits(0).prints("# Top\n\nwords\n");
    // A file that the configuration leaves out of the notebook has no name but its path.
    store.put("templates/fact.md", "text\n");
    store.run(&["show", "--path", "templates/fact.md"]).exits(0);
    store.run(&["edit", "templates/fact.md", "--old", "text", "--new", "words"]).exits(0);
    store.run(&["forget", "templates/fact.md"]).exits(0);
    store.run(&["restore", "templates/fact.md"]).exits(0);
    store.run(&["show", "templates/fact.md"]).exits(0).prints("words\n");
}
