//! The notebook's subcommands as a person runs them.

use std::fs;
use std::thread;

use sha2::{Digest, Sha256};

use crate::support::{NOW, Run, Store, TODAY, engine, run};

/// A memory with notes of all kinds.
fn notebook() -> Store {
    let store = Store::new();
    store.run(&["setup", "--templates"]).exits(0);
    for arguments in [
        &["remember", "The database", "We run Postgres.", "--tag", "db,ops"][..],
        &["remember", "Port", "It listens on 5432.", "-t", "db", "--link", "The database"],
        &["remember", "Use Postgres", "It is boring.", "--template", "decision"],
    ] {
        store.run(arguments).exits(0);
    }
    store
}

/// Runs a command that must not show where the store is. Returns what it prints, with paths in the memory.
#[track_caller]
fn says(store: &Store, arguments: &[&str], code: i32) -> String {
    let run = store.run(arguments).exits(code);
    let root = store.root.to_str().expect("text");
    assert!(!run.stdout.contains(root) && !run.stderr.contains(root), "{run:?}");
    store.without_memory(&run.stdout)
}

#[test]
fn a_notebook_is_made_once() {
    let store = Store::new();
    let first = says(&store, &["setup", "--templates"], 0);
    assert!(first.starts_with("Made the notebook") && first.contains(".zk/config.toml"), "{first}");
    let tree = store.tree();
    assert!(says(&store, &["setup", "--templates"], 0).contains("is complete"));
    assert_eq!(store.tree(), tree);
}

#[test]
fn a_remembered_note_is_recalled() {
    let store = notebook();
    let text = says(&store, &["recall", "where", "does", "the", "database", "listen"], 0);
    assert!(text.contains("facts/port.md") && text.contains("It listens on 5432."), "{text}");
    assert!(
        says(&store, &["remember", "Port", "It listens on 5432."], 0).contains("Already remembered in facts/port.md")
    );
    assert!(says(&store, &["remember", "Port", "It listens on 5433."], 0).contains("facts/port-2.md"));
    let new = says(&store, &["remember", "Port", "It listens on 5434.", "--supersede"], 0);
    assert!(new.contains("supersedes facts/port-2.md"), "{new}");
    let text = says(&store, &["recall", "port"], 0);
    assert!(text.contains("superseded by facts/port-3.md"), "{text}");
    assert_eq!(says(&store, &["recall", "zebra"], 1), "Nothing found.\n");
    store.run_with(&["remember", "Piped", "-"], "from a pipe — 記憶\n".as_bytes()).exits(0);
    assert!(says(&store, &["recall", "pipe"], 0).contains("記憶"));
}

#[test]
fn options_may_follow_the_words_of_a_query() {
    let store = notebook();
    for arguments in [
        &["--json", "recall", "the", "port", "--explain", "--limit", "1"][..],
        &["recall", "--explain", "-n1", "the port", "--json"],
        &["recall", "the", "port", "-n", "1", "--json", "--explain", "-t", "db"],
    ] {
        let found = store.run(arguments).exits(0).json();
        let hits = found["hits"].as_array().expect("hits");
        assert_eq!(hits.len(), 1, "{arguments:?}: {found}");
        assert_eq!(hits[0]["path"], store.printed("facts/port.md"), "{found}");
        assert!(hits[0]["score"].as_f64().expect("a score") > 0.0, "{found}");
        assert_eq!(hits[0]["lines"].as_array().expect("lines").len(), 2, "{found}");
        let parts: f64 =
            hits[0]["parts"].as_array().expect("parts").iter().filter_map(|part| part["amount"].as_f64()).sum();
        assert!((parts - hits[0]["score"].as_f64().expect("a score")).abs() < 1e-3, "{found}");
    }
    assert!(says(&store, &["recall", "--explain", "port"], 0).contains("score "));
    let without = store.run(&["recall", "--json", "--", "postgres", "-boring"]).exits(0).json();
    assert_eq!(without["hits"].as_array().expect("hits").len(), 1, "{without}");
    store.refuses(&["recall", "port", "--explian"], 2, "--explian");
}

#[test]
fn the_day_is_made_from_its_template_and_grows_by_lines() {
    let store = notebook();
    assert_eq!(says(&store, &["today"], 0), "# 2026-05-30\n\n");
    assert!(says(&store, &["log", "--line", "deployed v2"], 0).contains("- 09:15 deployed v2"));
    store.run_with(&["log", "--line", "-"], b"two\nlines\n").exits(0);
    assert_eq!(says(&store, &["today"], 0), "# 2026-05-30\n\n- 09:15 deployed v2\n- 09:15 two\n  lines\n");
    assert_eq!(store.text(TODAY), says(&store, &["today"], 0));
    store.refuses(&["log", "--line", ""], 2, "the entry is empty");
    let made = store.run(&["--json", "today"]).exits(0).json();
    assert_eq!((made["path"].as_str(), made["created"].as_bool()), (Some(store.printed(TODAY).as_str()), Some(false)));
}

#[test]
fn notes_are_listed_by_what_they_are() {
    let store = notebook();
    assert_eq!(
        says(&store, &["list", "--kind", "note", "--tag", "db"], 0),
        "facts/port.md  Port\nfacts/the-database.md  The database\n"
    );
    assert_eq!(
        says(&store, &["list", "--kind", "note", "--tag", "NOT db"], 0),
        "decisions/use-postgres.md  Use Postgres\n"
    );
    store
        .run(&["list", "--kind", "note", "--tag", "nope"])
        .exits(0)
        .prints("")
        .complains("nothing passes the filters with the tag `nope`; `saddlebag list --tags` lists the tags of notes");
    assert_eq!(says(&store, &["list", "--kind", "note", "--sort", "modified", "--limit", "1"], 0).lines().count(), 1);
    assert_eq!(says(&store, &["list", "--kind", "note", "--sort", "modified"], 0).lines().count(), 3);
    assert_eq!(says(&store, &["list", "--tags"], 0), "2  db\n1  ops\n");
    assert_eq!(
        says(&store, &["list", "--kind", "note", "--path", "decisions"], 0),
        "decisions/use-postgres.md  Use Postgres\n"
    );
    assert_eq!(
        says(&store, &["list", "--kind", "note", "--linked-by", "facts/port.md"], 0),
        "facts/the-database.md  The database\n"
    );
    assert_eq!(
        says(&store, &["list", "--kind", "note", "-s", "path-", "-n", "2"], 0),
        "facts/the-database.md  The database\nfacts/port.md  Port\n"
    );
    assert_eq!(says(&store, &["list", "--kind", "note", "--created", "2026-05-30", "--orphan"], 0).lines().count(), 2);
    assert_eq!(says(&store, &["list", "--kind", "note", "--created-before", "2020"], 0), "");
    store.refuses(&["list", "--kind", "note", "--created", "someday"], 2, "not a date: `someday`");
    store.refuses(&["list", "--kind", "note", "--link-to", "nope"], 1, "there is no note `nope`");
    store.refuses(&["list", "--kind", "note", "--sort", "size"], 2, "unknown sorting key: size");
    store.refuses(&["list", "--kind", "note", "--max-distance", "2"], 2, "--recursive");
}

#[test]
fn links_are_written_followed_and_rewritten() {
    let store = notebook();
    assert!(
        says(&store, &["related", "Port"], 0).starts_with("facts/the-database.md  The database  (linked from here)")
    );
    assert!(says(&store, &["related", "Use Postgres"], 1).is_empty());
    assert!(says(&store, &["link", "Use Postgres", "The database", "the base"], 0).contains("|the base]]"));
    assert!(says(&store, &["link", "Use Postgres", "The database"], 0).contains("already"));
    store.refuses(&["link", "Port", "Port"], 2, "itself");
    store.refuses(&["link", "Port", "nope"], 1, "there is no note `nope`");
    let renamed = says(&store, &["move", "The database", "Storage: main"], 0);
    assert_eq!(renamed, "Renamed facts/the-database.md to facts/storage-main.md; 2 links rewritten in 2 notes\n");
    assert!(store.text("facts/port.md").contains("[[facts/storage-main"), "{}", store.text("facts/port.md"));
    assert_eq!(says(&store, &["list", "--dead-links"], 0), "");
    let graph = says(&store, &["list", "--links"], 0);
    assert!(graph.contains("facts/port.md  Port\n  -> facts/storage-main.md\n"), "{graph}");
    assert_eq!(
        says(&store, &["list", "--orphan", "--sort", "path"], 0),
        "decisions/use-postgres.md  Use Postgres\nfacts/port.md  Port\n"
    );
    let forgotten = says(&store, &["forget", "Storage: main"], 0);
    assert!(forgotten.contains("`restore` brings it back; 2 notes still link to it"), "{forgotten}");
    assert_eq!(says(&store, &["list", "--dead-links"], 0).lines().count(), 2);
    store.refuses(&["forget", "Storage: main"], 1, "there is no note");
    store.put("notes/x.md", "# X\n\nThe Port is open.\n");
    assert_eq!(says(&store, &["related", "--mentions", "Port"], 0), "notes/x.md:3  X\n");
}

#[test]
fn invalid_arguments_change_nothing() {
    let store = notebook();
    store.refuses(&["remember", "T", "x", "--template", "nope"], 2, "unknown template: nope");
    store.refuses(&["remember", "T", "x", "--link", "nope"], 1, "there is no note `nope`");
    store.refuses(&["remember", "", "x"], 2, "the title is empty");
    store.refuses(&["remember", " "], 2, "the text is empty");
    store.refuses(&["recall", " "], 2, "ask a question");
    store.refuses(&["move", "Port", ""], 2, "the title is empty");
    store.put("templates/fact.md", "{{sh \"touch /tmp/x\"}}");
    store.refuses(&["remember", "T", "x"], 2, "templates/fact.md: line 1: `{{sh ");
    store.put("templates/fact.md", "---\ntitle: {{json title}}\n---\n{{content}}\n");
    store.put(".zk/config.toml", "[note\n");
    store.refuses(&["remember", "T", "x"], 3, ".zk/config.toml: line 1, column");
    store.run(&["recall", "postgres"]).exits(0).complains(".zk/config.toml: line 1");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let store = notebook();
    store.put("facts/bytes.md", b"caf\xe9 postgres");
    store.put("facts/yaml.md", "---\na: [\n---\npostgres\n");
    let run = store.run(&["recall", "postgres"]).exits(0).complains("facts/bytes.md").complains("facts/yaml.md");
    assert!(run.stdout.contains("facts/yaml.md"), "{run:?}");
}

#[test]
fn eight_processes_on_one_notebook_lose_nothing() {
    const PROCESSES: usize = 8;
    const ROUNDS: usize = 4;
    let store = Store::new();
    store.run(&["setup", "--templates"]).exits(0);
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let store = &store;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    store.run(&["today"]).exits(0);
                    store.run(&["log", "--line", &format!("entry {process}-{round}")]).exits(0);
                    store.run(&["remember", "Port", &format!("content {process}-{round}")]).exits(0);
                    store.run(&["remember", "Same", "the same"]).exits(0);
                }
            });
        }
    });
    let day = store.text(TODAY);
    assert!(day.starts_with("# 2026-05-30\n\n- 09:15 "), "{day}");
    assert_eq!(day.matches("# 2026-05-30").count(), 1, "{day}");
    let facts: Vec<String> = store
        .tree()
        .into_iter()
        .filter(|(path, bytes)| path.starts_with(store.file("facts")) && !bytes.is_empty())
        .map(|(_, bytes)| String::from_utf8(bytes).expect("text"))
        .collect();
    for process in 0..PROCESSES {
        for round in 0..ROUNDS {
            assert_eq!(day.matches(&format!("- 09:15 entry {process}-{round}\n")).count(), 1, "{day}");
            let content = format!("content {process}-{round}\n");
            assert_eq!(facts.iter().filter(|fact| fact.contains(&content)).count(), 1, "{content}");
        }
    }
    assert_eq!(facts.len(), PROCESSES * ROUNDS + 1);
}

#[test]
fn a_forgotten_note_is_listed_and_restored_by_its_title() {
    let store = Store::new();
    for template in ["fact", "decision"] {
        says(&store, &["remember", "Two words", template, "--template", template], 0);
        says(&store, &["forget", "Two words"], 0);
    }
    says(&store, &["remember", "Alone", "three"], 0);
    says(&store, &["forget", "Alone"], 0);
    let listed = says(&store, &["list", "--forgotten"], 0);
    assert_eq!((listed.matches("Two words").count(), listed.matches("Alone").count()), (2, 1), "{listed}");
    // What another program removed is not forgotten, and comes back as well.
    says(&store, &["remember", "Lost", "by an editor"], 0);
    fs::remove_file(store.file("facts/lost.md")).expect("removed");
    let restored = says(&store, &["restore", "Lost"], 0);
    assert!(restored.contains("Restored version 2"), "{restored}");
    assert!(says(&store, &["show", "Lost"], 0).contains("by an editor"));
    assert_eq!(says(&store, &["list", "--forgotten", "--kind", "entry"], 0), "");
    assert_eq!(says(&store, &["list", "--forgotten", "--kind", "file"], 0), "");
    says(&store, &["restore", "Alone"], 0);
    assert!(says(&store, &["show", "Alone"], 0).contains("three"));
    store.refuses(&["restore", "Two words"], 3, "could be");
    says(&store, &["unforget", "decisions/two-words"], 0);
    assert!(says(&store, &["show", "Two words"], 0).contains("decision"));
    says(&store, &["restore", "facts/two-words.md"], 0);
    store.refuses(&["restore", "Never"], 1, "and none was forgotten");
}

#[test]
fn a_note_that_a_rename_cannot_read_is_named_and_the_exit_code_says_so() {
    let store = Store::new();
    store.put("a.md", "# A\n");
    store.put("latin.md", b"[[a]] \xe9\n");
    let run = store.run(&["move", "a", "B"]).exits(3);
    let printed = store.without_memory(&run.stdout);
    assert!(printed.contains("Renamed a.md to b.md") && printed.contains("latin.md: not UTF-8"), "{run:?}");
    let reply = store.run(&["--json", "move", "b", "C"]).exits(3).json();
    assert_eq!(reply["not_rewritten"][0]["path"], store.printed("latin.md"), "{reply}");
}

#[test]
fn one_of_several_processes_that_rename_a_note_wins() {
    for round in 0..10 {
        let store = Store::new();
        store.put("port.md", "# Port\n");
        store.put("log.md", "[[port]]\n");
        let codes: Vec<i32> = thread::scope(|scope| {
            let renames = ["Web port", "DB port", "Mail port"].map(|title| {
                let store = &store;
                scope.spawn(move || store.run(&["move", "port.md", title]).code)
            });
            renames.map(|rename| rename.join().expect("it ran")).into()
        });
        assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "round {round}: {codes:?}");
        let notes = says(&store, &["list", "--kind", "note"], 0);
        assert_eq!(notes.lines().count(), 2, "round {round}: {notes}");
        says(&store, &["list", "--dead-links"], 0);
        assert!(!store.file(".saddlebag/rename.json").exists(), "round {round}");
    }
}

#[test]
fn every_command_takes_the_paths_that_others_print() {
    let store = Store::new();
    let of_project = |arguments: &[&str]| -> Run {
        let mut command = store.bare(&["--project", ".", "--now", NOW, "--durability", "fast"]);
        run(command.args(["--engine", &engine()]).arg("--root").arg(&store.root).args(arguments), None)
    };
    of_project(&["remember", "The port", "It is 5432."]).exits(0);
    of_project(&["remember", "The host", "It is db1.", "--link", "The port"]).exits(0);
    let notes = of_project(&["list", "--kind", "note"]).exits(0).stdout;
    let path = notes.lines().find(|line| line.contains("the-port")).and_then(|line| line.split("  ").next());
    let path = path.expect("a path").to_string();
    assert!(path.starts_with("projects/here-"), "{notes}");
    for path in [path.as_str(), "facts/the-port.md"] {
        assert!(of_project(&["related", path]).exits(0).stdout.contains("the-host"), "{path}");
        assert!(of_project(&["show", path]).exits(0).stdout.contains("5432"), "{path}");
        assert!(of_project(&["show", &format!("note:{path}")]).exits(0).stdout.contains("5432"), "{path}");
        assert!(of_project(&["list", "--kind", "note", "--path", path]).exits(0).stdout.contains("The port"), "{path}");
        assert!(
            of_project(&["list", "--kind", "note", "--link-to", path]).exits(0).stdout.contains("The host"),
            "{path}"
        );
        of_project(&["remember", "More", "x", "--link", path]).exits(0);
        of_project(&["edit", &format!("note:{path}"), "--old", "It is", "--new", "It is"]).exits(0);
        of_project(&["related", "--mentions", path]);
        let arguments = serde_json::json!({ "note": path }).to_string();
        assert!(of_project(&["tools", "notebook_related", &arguments]).exits(0).stdout.contains("the-host"), "{path}");
        of_project(&["link", path, "The host"]).exits(0);
    }
    of_project(&["related", "projects/other-0db23a35/facts/the-port.md"]).exits(1);
    of_project(&["show", "projects/other-0db23a35/facts/the-port.md"]).exits(1);
    of_project(&["move", &path, "A port"]).exits(0);
    of_project(&["forget", &path.replace("the-port", "a-port")]).exits(0);
}

#[test]
fn the_title_of_superseded_notes_means_the_newest() {
    let store = notebook();
    for content in ["It is 5433.", "It is 5434."] {
        store.run(&["remember", "Port", content, "--supersede"]).exits(0);
    }
    says(&store, &["link", "Port", "Use Postgres"], 0);
    assert!(store.text("facts/port-3.md").contains("decisions/use-postgres"), "{:?}", store.text("facts/port-3.md"));
    // A title of several words is not the name of a file.
    store.run(&["remember", "The web port", "a"]).exits(0);
    for content in ["b", "c"] {
        store.run(&["remember", "The web port", content, "--supersede"]).exits(0);
    }
    assert!(says(&store, &["link", "The web port", "Use Postgres"], 0).contains("Linked facts/the-web-port-3.md"));
    store.put("x.md", "[[Port]] [[The web port]]\n");
    assert!(says(&store, &["list", "--dead-links"], 0).is_empty());
    assert!(says(&store, &["related", "facts/port-3.md"], 0).contains("x.md"));
    assert!(says(&store, &["related", "port"], 0).contains("facts/port-2.md"), "a file is still named by its name");
}

#[test]
fn only_links_to_nothing_are_dead() {
    let store = Store::new();
    store.put("LICENSE", "x");
    store.put("img/a.png", "x");
    store.put("a.md", "[l](LICENSE) [i](img) ![[a.png]] ![x](img/a.png) b[^注]\n\n[^注]: 注釈\n");
    says(&store, &["list", "--dead-links"], 0);
    store.put("b.md", "# B\n\n![x](img/none.png) [y](none.pdf)\n![[gone.jpg]]\n");
    let dead = says(&store, &["list", "--dead-links"], 0);
    let lines: Vec<&str> = dead.lines().map(|line| line.split("  ").next().expect("a place")).collect();
    assert_eq!(lines, ["b.md:3", "b.md:3", "b.md:4"], "{dead}");
}

#[test]
fn missing_files_are_named_as_files_and_can_be_left_out() {
    let store = Store::new();
    store.put("b.md", "# B\n\n![x](img/none.png) [y](none.pdf) ![[gone.jpg]] [[Node.js]] [[v1.2]] [z](none.md)\n");
    let dead = says(&store, &["list", "--dead-links"], 0);
    let meanings: Vec<&str> = dead.lines().map(|line| line.rsplit("  ").next().expect("a meaning")).collect();
    let (file, note) = ("(no such file)", "(no such note)");
    assert_eq!(meanings, [file, file, file, note, note, note], "{dead}");
    let dead = says(&store, &["list", "--dead-links", "--only-notes"], 0);
    let targets: Vec<&str> = dead.lines().filter_map(|line| line.split("  ").nth(1)).collect();
    assert_eq!(targets, ["Node.js", "v1.2", "none.md"], "{dead}");
    let json = store.run(&["--json", "list", "--dead-links"]).exits(0).json();
    assert_eq!((&json["links"][0]["is_file"], &json["links"][3]["is_file"]), (&true.into(), &false.into()));
}

#[test]
fn a_listing_reads_no_text_unless_it_is_asked_for() {
    let store = notebook();
    let listed = store.run(&["--json", "list", "--kind", "note", "--sort", "path"]).exits(0).json();
    assert_eq!((listed["total"].as_u64(), listed["items"].as_array().map(Vec::len)), (Some(3), Some(3)));
    assert_eq!((&listed["items"][1]["lead"], &listed["items"][1]["snippets"]), (&"".into(), &serde_json::json!([])));
    let listed = store.run(&["--json", "list", "--kind", "note", "--sort", "path", "--snippets"]).exits(0).json();
    assert_eq!(listed["items"][1]["lead"], "It listens on 5432.");
    let graph = store.run(&["--json", "list", "--links"]).exits(0).json();
    assert_eq!(
        (&graph["links"][0]["source"], &graph["links"][0]["snippet"]),
        (&store.printed("facts/port.md").into(), &"".into())
    );
    let graph = store.run(&["--json", "list", "--links", "--snippets"]).exits(0).json();
    assert!(graph["links"][0]["snippet"].as_str().is_some_and(|text| text.contains("[[facts/the-database")), "{graph}");
    // The text of each note is read, and not one page of them is left out.
    for number in 0..600 {
        store.put(&format!("many/{number}.md"), format!("# N{number:03}\n\ntext {number}\n"));
    }
    let listed = store.run(&["--json", "list", "--kind", "note", "--path", "many", "--snippets"]).exits(0).json();
    let leads = listed["items"].as_array().expect("notes").iter().map(|note| note["lead"].as_str().expect("a lead"));
    assert_eq!(leads.collect::<Vec<_>>(), (0..600).map(|number| format!("text {number}")).collect::<Vec<_>>());
}

#[test]
fn a_single_entry_comes_before_a_note_only_if_it_answers_better() {
    let store = Store::new();
    let window = ["remember", "Deploy window", "Deploys run on workdays before 16:00.", "--tag", "deploy,ops"];
    store.run(&window).exits(0);
    store.run(&["remember", "Pin the base image", "An outage came with the tag latest."]).exits(0);
    store.run(&["remember", "--key", "deploy_target", "Staging first, then production.", "--tag", "ops"]).exits(0);
    let (note, entry) = ("facts/deploy-window.md", "entry deploy_target");
    for others in [0, 40] {
        for number in 0..others {
            store.put(&format!("garden/{number}.md"), format!("# Bed {number}\n\nCompost, then beans.\n"));
            store.run(&["remember", "--key", "gardener", "Comes on Mondays."]).exits(0);
        }
        for (question, first, second) in
            [("when may we deploy?", note, entry), ("what is the deploy target?", entry, note)]
        {
            let shown = says(&store, &["recall", question], 0);
            let place = |what: &str| shown.find(what).unwrap_or_else(|| panic!("{what} is missing: {shown}"));
            assert!(place(first) < place(second), "{question} {others}: {shown}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_named_and_fails_nothing_else() {
    let store = notebook();
    let today = store.printed(TODAY);
    store.put(TODAY, b"# 2026-05-30\n\n- 09:00 caf\xe9\n");
    store.put("facts/page.md", "---\nprovenance: tool\n---\n\n# Page\n\nThe port.\n");
    let version = {
        let pending = store.run(&["--json", "list", "--pending"]).exits(0).json();
        assert_eq!(pending["skipped"][0]["path"], today, "{pending}");
        pending["items"][0]["version"].as_str().expect("a version").to_string()
    };
    for (arguments, code) in [
        (&["status"][..], 0),
        (&["list", "--kind", "note"], 0),
        (&["list", "--links"], 0),
        (&["list", "--orphan"], 0),
        (&["list", "--dead-links"], 0),
        (&["list", "--tags"], 0),
        (&["related", "Port"], 0),
        (&["related", "--mentions", "Port"], 0),
        (&["list", "--pending"], 0),
    ] {
        let run = store.run(arguments).exits(code);
        assert_eq!(
            run.stderr.matches(&format!("skipped {today}: not UTF-8 text")).count(),
            1,
            "{arguments:?}: {run:?}"
        );
        let mut in_json = vec!["--json"];
        in_json.extend(arguments);
        let json = store.run(&in_json).exits(code).json();
        assert_eq!(json["skipped"][0]["path"], today, "{arguments:?}: {json}");
    }
    store
        .run(&["memory", "approve", &today, "--base", &version])
        .exits(3)
        .prints(&format!("skipped {today}: the file could not be read: not UTF-8 text\nApproved 0, skipped 1\n"));
    store.run(&["memory", "approve", "facts/page.md", "--base", &version]).exits(0);
}

#[test]
fn a_run_that_has_changed_something_does_not_exit_with_1_or_2() {
    let store = Store::new();
    store.put("a.md", "# A\n");
    store.put("b.md", "# B\n");
    store.put("c.md", "[[a]]\n");
    let digest = |text: &str| Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (made, removes) = (digest("# B\n"), digest("# A\n"));
    let intent = format!(
        r#"{{"format":1,"from":"a.md","to":"b.md","old_title":"A","new_title":"B","aliases":[],"made":"{made}"}}
{{"removes":{{"text":"{removes}","at":0}}}}"#
    );
    store.put(".saddlebag/rename.json", intent);
    let run = store.run(&["edit", "nope", "--kind", "note", "--old", "old", "--new", "new"]).exits(3);
    assert!(run.stderr.contains("there is no note `nope`"), "{run:?}");
    run.complains("changes from before the error stay");
    assert_eq!(store.text("c.md"), "[[b]]\n");
    store.refuses(&["edit", "nope", "--kind", "note", "--old", "old", "--new", "new"], 1, "there is no note `nope`");
}

#[test]
fn many_broken_frontmatters_are_one_warning() {
    let store = Store::new();
    for number in 0..28 {
        store.put(&format!("t{number:02}.md"), "---\ndate: {{date}}\n---\n\ntext\n");
    }
    let run = store.run(&["list", "--kind", "note"]).exits(0);
    assert_eq!(run.stderr.matches("frontmatter cannot be read").count(), 1, "{run:?}");
    assert!(store.without_memory(&run.stderr).contains("27 others, such as t01.md"), "{run:?}");
}

#[test]
fn the_history_of_an_item_follows_it_there_and_back() {
    let store = Store::new();
    says(&store, &["remember", "One", "first"], 0);
    says(&store, &["move", "One", "Two"], 0);
    says(&store, &["edit", "Two", "--old", "first", "--new", "second"], 0);
    says(&store, &["move", "Two", "One"], 0);
    let history = says(&store, &["history", "One"], 0);
    assert_eq!(history.lines().filter(|line| line.contains("move") || line.contains("edit")).count(), 3, "{history}");
    assert!(says(&store, &["show", "One@4"], 0).contains("first"));
    // The newest text before a version was brought back comes back first.
    says(&store, &["remember", "Plain", "p1"], 0);
    says(&store, &["edit", "Plain", "--old", "p1", "--new", "p2"], 0);
    says(&store, &["edit", "Plain", "--old", "p2", "--new", "p3"], 0);
    says(&store, &["restore", "Plain", "--at", "3"], 0);
    says(&store, &["restore", "Plain"], 0);
    assert!(says(&store, &["show", "Plain"], 0).contains("p3"));
    // An entry that changed its category is known by its key, also when it is forgotten.
    says(&store, &["remember", "--key", "pk", "one"], 0);
    says(&store, &["remember", "--key", "pk", "two", "-c", "custom"], 0);
    says(&store, &["forget", "pk"], 0);
    assert!(says(&store, &["history", "pk"], 0).contains("forget"));
    // A version without the item removes nothing.
    says(&store, &["restore", "pk"], 0);
    store.refuses(&["restore", "pk", "--at", "2"], 2, "does not exist in version 2");
    says(&store, &["remember", "Gone", "text"], 0);
    says(&store, &["forget", "Gone"], 0);
    says(&store, &["restore", "Gone"], 0);
    store.refuses(&["restore", "Gone", "--at", "2"], 2, "does not exist in version 2");
    assert!(says(&store, &["show", "Gone"], 0).contains("text"));
}

#[test]
fn an_agent_that_is_named_beside_a_time_is_undone_alone() {
    let store = Store::new();
    says(&store, &["remember", "Mine", "by a person"], 0);
    says(&store, &["--agent", "evil", "--provenance", "agent", "remember", "Theirs", "by an agent"], 0);
    let undone = says(&store, &["undo", "--agent", "evil", "--since", "2026-05-01"], 0);
    assert!(undone.contains("theirs.md") && !undone.contains("mine.md"), "{undone}");
    says(&store, &["show", "Mine"], 0);
    store.run(&["show", "Theirs"]).exits(1);
}

#[test]
fn undo_of_setup_removes_what_it_made_and_keeps_what_was_added() {
    for store in [Store::new(), Store::notebook()] {
        let names = |store: &Store| -> Vec<String> {
            let folder = std::fs::read_dir(store.file("x").parent().expect("a folder"));
            let names = folder.into_iter().flatten().map(|entry| entry.expect("read").file_name());
            names.map(|name| name.into_string().expect("text")).filter(|name| name != ".saddlebag").collect()
        };
        store.run(&["setup", "--templates"]).exits(0);
        store.run(&["undo"]).exits(0);
        let rest = names(&store);
        assert!(rest.iter().all(|name| ["daily", "decisions", "facts"].contains(&name.as_str())), "{rest:?}");
        store.run(&["redo"]).exits(0);
        assert!(store.file(".zk/config.toml").exists() && store.file("templates/fact.md").exists());
        store.put("facts/mine.md", "# Mine\n");
        store.put("templates/mine.md", "Mine\n");
        store.run(&["undo"]).exits(0);
        assert!(store.file("facts/mine.md").exists() && store.file("templates/mine.md").exists());
        assert!(!store.file(".zk").exists() && !store.file("templates/fact.md").exists());
    }
}

#[test]
fn undo_of_setup_beside_an_own_configuration_takes_back_the_templates_alone() {
    let store = Store::notebook();
    store.put(".zk/config.toml", "[note]\nlanguage = \"en\"\n");
    store.run(&["remember", "Keep me", "The text."]).exits(0);
    store.run(&["setup", "--templates"]).exits(0);
    store.run(&["undo"]).exits(0);
    assert!(store.file("facts/keep-me.md").exists() && store.file(".zk/config.toml").exists());
    assert!(!store.file("templates").exists() && !store.file(".zk/templates").exists());
}
