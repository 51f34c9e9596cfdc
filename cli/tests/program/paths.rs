//! Every command accepts the paths, titles and keys that another one prints.

use std::collections::BTreeSet;

use crate::support::{NOW, Run, Store, engine, run};

/// The ways to open a store: as a notebook, and for a project.
const PLACES: [&[&str]; 2] = [&["--notebook"], &["--project", "."]];

/// A store with files of every kind, opened in one of these ways.
struct Opened<'a> {
    store: Store,
    place: &'a [&'a str],
}

impl<'a> Opened<'a> {
    fn new(place: &'a [&'a str]) -> Self {
        let opened = Self { store: Store::notebook(), place };
        for arguments in [
            &["write", "long_term", "Releases of the port are on Thursdays."][..],
            &["--scope", "project", "write", "long_term", "The port of this project is 5432."],
            &["write", "scratchpad", "- [ ] open the port"],
            &["write", "note:harbour", "The port is a harbour."],
            &["log", "moved the port", "It is 5433."],
            &["remember", "The port", "It is 5432."],
            &["remember", "The host", "The port is open on db1.", "--link", "The port"],
            &["remember", "A mention", "The port is named here."],
            &["--provenance", "tool", "remember", "A page", "The port is said to be 9."],
            &["--provenance", "tool", "--scope", "all", "remember", "--key", "page key", "The port of a page"],
        ] {
            opened.run(arguments).exits(0);
        }
        opened
    }

    /// The path of a file of the notebook relative to the root.
    fn of_notebook(&self, path: &str) -> String {
        let folder = std::fs::read_dir(self.store.root.join("projects")).ok().and_then(|mut folders| folders.next());
        match folder {
            Some(Ok(folder)) => format!("projects/{}/{path}", folder.file_name().to_string_lossy()),
            _ => path.to_string(),
        }
    }

    fn absolute(&self, path: &str) -> String {
        self.store.root.join(path).display().to_string()
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = self.store.bare(self.place);
        command.args(["--now", NOW, "--durability", "fast", "--engine", &engine(), "--root"]).arg(&self.store.root);
        run(command.args(arguments), None)
    }
}

/// The words of text that are paths of Markdown files, with the lines after them.
fn paths(text: &str) -> BTreeSet<String> {
    let is_of_path = |c: char| c.is_alphanumeric() || "/._-:,".contains(c);
    let words = text.split(|c: char| !is_of_path(c)).map(|word| word.trim_end_matches([':', ',', '.']));
    words.filter(|word| word.contains(".md")).map(str::to_string).collect()
}

/// The path without the lines after it.
fn bare(path: &str) -> &str {
    path.find(".md").map_or(path, |at| &path[..at + 3])
}

#[test]
fn every_path_that_is_printed_is_taken() {
    for place in PLACES {
        let opened = Opened::new(place);
        let mut seen = BTreeSet::new();
        for arguments in [
            &["recall", "port"][..],
            &["search", "port"],
            &["list", "--kind", "note"],
            &["list", "--kind", "file"],
            &["related", "The port"],
            &["list", "--orphan"],
            &["related", "--mentions", "The port"],
            &["list", "--links"],
            &["context", "--sources"],
        ] {
            let printed = opened.run(arguments).exits(0).stdout;
            let found = paths(&printed);
            assert!(!found.is_empty(), "{arguments:?} prints no path: {printed}");
            seen.extend(found);
        }
        assert!(seen.iter().any(|path| path.contains(".md:")), "{seen:?} has no path with lines");
        for path in &seen {
            for command in [&["show"][..], &["show", "--path"]] {
                let shown = opened.run(&[command, &[path]].concat());
                assert_eq!(shown.code, 0, "{place:?} {command:?} {path}: {shown:?}");
            }
            let text = opened.run(&["show", path]).stdout;
            let line = text.lines().rfind(|line| !line.is_empty() && text.matches(*line).count() == 1).expect("a line");
            let edited = opened.run(&["edit", path, "--old", line, "--new", &format!("{line}!")]);
            assert_eq!(edited.code, 0, "{place:?} file edit {path}: {edited:?}");
            let absolute = opened.run(&["show", "--path", path]).stdout;
            assert!(absolute.trim_end().ends_with(bare(path)), "{place:?} {path} is {absolute}");
            assert!(std::path::Path::new(absolute.trim_end()).exists(), "{place:?} {path} is {absolute}");
        }
    }
}

#[test]
fn every_path_of_a_note_is_taken_by_the_commands_of_notes() {
    for place in PLACES {
        let opened = Opened::new(place);
        let mut seen = BTreeSet::new();
        for arguments in [&["recall", "port"][..], &["list", "--kind", "note"], &["related", "--mentions", "The port"]]
        {
            seen.extend(paths(&opened.run(arguments).exits(0).stdout));
        }
        assert!(seen.len() > 4, "{seen:?}");
        for path in &seen {
            opened.run(&["show", path]).exits(0);
            opened.run(&["list", "--kind", "note", "--path", bare(path)]).exits(0);
            assert!(opened.run(&["related", path]).code <= 1, "{path}");
            assert!(opened.run(&["related", "--mentions", path]).code <= 1, "{path}");
        }
        let of_port = seen.iter().find(|path| path.contains("the-port.md:")).expect("a path with lines");
        opened.run(&["edit", of_port, "--old", "5432", "--new", "5434"]).exits(0);
        opened.run(&["restore", of_port]).exits(0);
        assert!(opened.run(&["show", "The port"]).exits(0).stdout.contains("5432"));
        opened.run(&["link", of_port, "The host"]).exits(0);
        opened.run(&["move", of_port, "A port"]).exits(0);
        let renamed = of_port.replace("the-port", "a-port");
        let forgotten = opened.run(&["forget", &renamed]).exits(0).stdout;
        let printed = paths(&forgotten).into_iter().next().expect("the path that was forgotten");
        opened.run(&["show", &renamed]).exits(1);
        opened.run(&["restore", &printed]).exits(0);
        opened.run(&["show", &renamed]).exits(0);
    }
}

#[test]
fn what_waits_is_approved_by_each_name_that_is_printed() {
    for place in PLACES {
        let opened = Opened::new(place);
        for name in ["A page", "facts/a-page.md", "page key"] {
            let item =
                opened.run(&["--json", "list", &format!("--pending={name}")]).exits(0).json()["items"][0].clone();
            let path = item["path"].as_str().expect("a path");
            let names = [name, item["name"].as_str().expect("a name"), path, &opened.absolute(path)];
            let version = item["version"].as_str().expect("a version");
            for name in names {
                opened.run(&["list", &format!("--pending={name}")]).exits(0);
                opened.run(&["memory", "approve", name, "--base", version, "--dry-run"]).exits(0);
                opened.run(&["memory", "reject", name, "--dry-run"]).exits(0);
            }
        }
    }
}

#[test]
fn each_form_of_the_name_of_a_note_is_taken_by_each_command_that_takes_one() {
    for place in PLACES {
        let opened = Opened::new(place);
        opened
            .store
            .put(&opened.of_notebook("facts/pg.md"), "---\ntitle: Postgres\naliases: [the db]\n---\n\nIt is up.\n");
        opened.run(&["link", "A mention", "Postgres"]).exits(0);
        let path = opened.of_notebook("facts/pg.md");
        let absolute = opened.absolute(&path);
        let shown = opened.run(&["--absolute", "list", "--kind", "note", "--path", "facts/pg.md"]).exits(0).stdout;
        assert!(shown.starts_with(&absolute), "{shown} does not begin with {absolute}");
        let lines = format!("{path}:6");
        for name in ["Postgres", "the db", "pg", "facts/pg.md", "facts/pg", &path, &absolute, &lines] {
            for (arguments, printed) in [
                (&["show", name][..], "It is up."),
                (&["--absolute", "show", name], "It is up."),
                (&["show", name, "--kind", "note"], "It is up."),
                (&["show", "--path", name], "facts/pg.md"),
                (&["edit", name, "--old", "It is", "--new", "It was"], "Edited"),
                (&["edit", name, "--kind", "note", "--old", "It was", "--new", "It is"], "Edited"),
                (&["restore", name], "Restored"),
                (&["restore", name, "--kind", "note"], "Restored"),
                (&["related", name], "A mention"),
                (&["link", "A mention", name], "links to"),
                (&["link", name, "The host"], "to facts/the-host.md"),
                (&["remember", "A mention", "The port is named here.", "--link", name], "a-mention.md"),
            ] {
                let run = opened.run(arguments);
                assert_eq!(run.code, 0, "{place:?} {arguments:?}: {run:?}");
                let printed = printed.replace("to facts", &format!("to {}", opened.of_notebook("facts")));
                assert!(run.stdout.contains(&printed), "{place:?} {arguments:?}: {run:?}");
            }
            assert_eq!(opened.run(&["related", "--mentions", name]).code, 1, "{name}");
            for option in ["--link-to", "--mention", "--related"] {
                let run = opened.run(&["list", "--kind", "note", option, name]);
                assert!(
                    run.code <= 1 && run.stderr.is_empty() || run.stderr.contains("no such notes"),
                    "{option} {name}: {run:?}"
                );
            }
            let linking = opened.run(&["list", "--kind", "note", "--link-to", name]).exits(0).stdout;
            assert!(linking.contains("A mention"), "{name}: {linking}");
        }
        let forgotten = opened.run(&["--json", "forget", &absolute]).exits(0).json();
        assert!(forgotten["backup"].is_null(), "the history keeps the text");
        opened.run(&["show", "Postgres"]).exits(1);
        // The path that a backup would have names the note, too.
        let backup = match place {
            ["--notebook"] => ".saddlebag/backups/facts/pg.bak".to_string(),
            _ => opened.of_notebook("facts/pg.bak"),
        };
        for name in [&backup, &opened.absolute(&backup), &path, &absolute, "facts/pg"] {
            opened.run(&["restore", name]).exits(0);
            opened.run(&["forget", &absolute]).exits(0);
            opened.run(&["restore", name]).exits(0);
            opened.run(&["forget", "Postgres"]).exits(0);
        }
        opened.run(&["restore", &backup]).exits(0);
        opened.run(&["move", &absolute, "Databases"]).exits(0);
        opened
            .run(&["remember", "New", "It is down.", "--supersedes", &absolute.replace("pg.md", "databases.md")])
            .exits(0);
    }
}

#[test]
fn each_form_of_the_name_of_an_entry_is_taken_by_each_command_that_takes_one() {
    for place in PLACES {
        let opened = Opened::new(place);
        opened.run(&["remember", "--key", "release day", "It is Thursday."]).exits(0);
        opened.run(&["edit", "release day", "--old", "Thursday", "--new", "Friday"]).exits(0);
        let path = opened.run(&["--json", "show", "release day"]).exits(0).json()["path"].clone();
        let path = path.as_str().expect("a path");
        for name in ["release day", path, &opened.absolute(path)] {
            for (arguments, printed) in [
                (&["show", name][..], "It is Friday."),
                (&["show", name, "--kind", "entry"], "It is Friday."),
                (&["show", "--path", name], path),
                (&["edit", name, "--old", "Friday", "--new", "Monday"], "release day"),
                (&["restore", name], "Restored release day"),
                (&["entry", "hydrate", &format!("--explain={name}")], "release day"),
                (&["forget", name], "Forgot release day"),
                (&["restore", name], "Restored release day"),
            ] {
                let run = opened.run(arguments);
                assert_eq!(run.code, 0, "{place:?} {arguments:?}: {run:?}");
                assert!(run.stdout.contains(printed), "{place:?} {arguments:?}: {run:?}");
            }
            opened.run(&["write", name, "Monday"]).exits(2).complains("is an entry").complains(name);
            assert_ne!(opened.run(&["show", name, "--kind", "note"]).code, 0, "{name}");
        }
        let backup = path.replace(".md", ".bak");
        opened.run(&["edit", path, "--old", "Friday", "--new", "Monday"]).exits(0);
        opened.run(&["restore", &backup]).exits(0);
        opened.run(&["show", path]).exits(0).prints("It is Friday.");
    }
}

#[test]
fn a_path_of_an_entry_names_it_even_if_agent_and_workspace_share_its_key() {
    let opened = Opened::new(PLACES[1]);
    let run = |arguments: &[&str]| opened.run(&[&["--workspace", "team"], arguments].concat());
    run(&["remember", "--key", "day", "of the team", "--category", "workspace"]).exits(0);
    opened.run(&["remember", "--key", "day", "of the agent"]).exits(0);
    run(&["show", "day"]).exits(0).prints("of the agent");
    let path = "workspaces/team/entries/day.md";
    run(&["show", path]).exits(0).prints("of the team");
    run(&["edit", path, "--old", "of the", "--new", "of all in the"]).exits(0);
    run(&["forget", path]).exits(0);
    run(&["show", "day"]).exits(0).prints("of the agent");
    run(&["restore", path]).exits(0);
    run(&["show", path]).exits(0).prints("of all in the team");
}

#[test]
fn the_files_with_names_of_their_own_are_taken_by_word_and_by_path() {
    for place in PLACES {
        let opened = Opened::new(place);
        let today = opened.of_notebook("daily/2026-05-30.md");
        for (words, path) in [
            (&["long_term", "long"][..], "MEMORY.md".to_string()),
            (&["scratchpad", "SCRATCHPAD.md"], opened.of_notebook("SCRATCHPAD.md")),
            (&["daily", "daily:2026-05-30", "2026-05-30", "daily/2026-05-30.md"], today.clone()),
            (&["note:harbour", "harbour", "notes/harbour.md"], opened.of_notebook("notes/harbour.md")),
        ] {
            let absolute = opened.absolute(&path);
            let text = opened.store.text(&path);
            for name in words.iter().chain([&path.as_str(), &absolute.as_str()]) {
                opened.run(&["show", name]).exits(0).prints(&text);
                opened.run(&["show", "--path", name]).exits(0).prints(&format!("{absolute}\n"));
            }
        }
        for name in ["daily", "daily:2026-05-30", &today] {
            assert!(opened.run(&["show", name]).exits(0).stdout.contains("moved the port"), "{name}");
        }
        opened.run(&["write", &opened.absolute(&opened.of_notebook("notes/new.md")), "new"]).exits(0);
        assert_eq!(opened.store.text(&opened.of_notebook("notes/new.md")), "new\n");
    }
}

#[test]
fn a_name_of_several_items_is_refused_with_their_paths_and_kinds() {
    for place in PLACES {
        let opened = Opened::new(place);
        opened.run(&["remember", "--key", "The port", "5439"]).exits(0);
        let note = opened.of_notebook("facts/the-port.md");
        for command in [&["show"][..], &["edit", "--old", "5", "--new", "6"], &["forget"], &["show", "--path"]] {
            let refused = opened.run(&[command, &["The port"]].concat()).exits(3);
            refused.complains(&format!(
                "`The port` could be agents/main/entries/core/%54he%20port.md (entry), {note} (note)"
            ));
        }
        assert!(opened.run(&["show", "The port", "--kind", "note"]).exits(0).stdout.contains("It is 5432."));
        opened.run(&["show", "The port", "--kind", "entry"]).exits(0).prints("5439");
        opened.run(&["show", "--path", &note]).exits(0);
        opened.run(&["show", "--path", "The prot of harbours"]).exits(1).complains("notes like it");
    }
}

#[test]
fn an_absolute_path_of_another_memory_or_outside_of_the_root_names_nothing() {
    let opened = Opened::new(PLACES[1]);
    opened.store.run_in("other", &["remember", "Of another", "The secret port."]).exits(0);
    opened.run(&["--agent", "other", "remember", "--key", "of another", "The secret port."]).exits(0);
    let files: Vec<String> = opened.store.tree().into_keys().map(|path| path.display().to_string()).collect();
    let others = files.iter().filter(|path| path.contains("of-another.md") || path.contains("agents/other"));
    let outside = opened.store.here.join("outside.md").display().to_string();
    std::fs::write(&outside, "The secret port.").expect("written");
    let others: Vec<String> = others.map(|path| opened.absolute(path)).chain([outside]).collect();
    assert!(others.len() > 2, "{files:?}");
    for path in &others {
        for arguments in [
            &["show", path][..],
            &["show", path, "--kind", "note"],
            &["show", "--path", path],
            &["edit", path, "--old", "secret", "--new", "public"],
            &["forget", path],
            &["restore", path],
            &["show", path, "--kind", "entry"],
            &["forget", path, "--kind", "entry"],
            &["list", "--kind", "note", "--link-to", path],
            &["list", &format!("--pending={path}")],
        ] {
            let run = opened.run(arguments);
            assert!(run.code != 0 && !run.stdout.contains("secret"), "{arguments:?}: {run:?}");
        }
    }
}

/// Each form of a name is taken by the tools of a model.
#[cfg(feature = "server")]
#[test]
fn each_form_of_a_name_is_taken_by_each_tool_that_takes_one() {
    use serde_json::json;

    use crate::mcp::{client::Pipes, text};

    let store = Store::new();
    store.run_in("app", &["remember", "The host", "It is db1."]).exits(0);
    let path = store.run_in("app", &["--json", "remember", "The port", "It is 5432."]).exits(0).json()["path"].clone();
    let path = path.as_str().expect("a path");
    store.run_in("app", &["--provenance", "agent", "remember", "--key", "release day", "It is Thursday."]).exits(0);
    let entry = "agents/main/entries/core/release%20day.md";
    let absolute = |path: &str| store.root.join(path).display().to_string();
    let mut client = Pipes::start_in(&store, "app", &[]).open();
    let mut call = |tool: &str, arguments: serde_json::Value, printed: &str| {
        let result = client.call(tool, arguments.clone());
        assert!(result["isError"] != true && text(&result).contains(printed), "{tool} {arguments}: {result}");
    };
    for name in ["The port", "the-port", "facts/the-port.md", path, &absolute(path)] {
        call("memory_read", json!({ "source": "page", "name": name }), "It is 5432.");
        call(
            "memory_edit",
            json!({ "target": "page", "name": name, "old_str": "It is", "new_str": "It is" }),
            "Edited",
        );
        call("notebook_link", json!({ "source": "The host", "target": name }), "the-port.md");
        call("notebook_link", json!({ "source": name, "target": "The host" }), "the-port.md");
        call("notebook_related", json!({ "note": name }), "The host");
        call("notebook_remember", json!({ "title": "A mention", "content": "It.", "links": [name] }), "a-mention.md");
        call("mem_show", json!({ "name": name }), "It is 5432.");
        call("mem_edit", json!({ "name": name, "old_str": "It is", "new_str": "It is" }), "Edited");
        call("mem_link", json!({ "source": name, "target": "The host" }), "the-port.md");
        call("mem_related", json!({ "note": name }), "The host");
    }
    for name in ["release day", entry, &absolute(entry)] {
        call("memory_recall", json!({ "key": name }), "It is Thursday.");
        call("mem_show", json!({ "name": name }), "It is Thursday.");
        call("mem_edit", json!({ "name": name, "old_str": "It is", "new_str": "It is" }), "release day");
        let forget = if name == entry { ("memory_forget", "key") } else { ("mem_forget", "name") };
        call(forget.0, json!({ forget.1: name }), "release day");
        store.run_in("app", &["restore", name]).exits(0);
    }
}
