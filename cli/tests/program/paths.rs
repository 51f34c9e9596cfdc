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
        let opened = Self { store: Store::new(), place };
        for arguments in [
            &["file", "write", "long_term", "Releases of the port are on Thursdays."][..],
            &["--scope", "project", "file", "write", "long_term", "The port of this project is 5432."],
            &["file", "write", "scratchpad", "- [ ] open the port"],
            &["file", "write", "note:harbour", "The port is a harbour."],
            &["log", "moved the port", "It is 5433."],
            &["remember", "The port", "It is 5432."],
            &["remember", "The host", "The port is open on db1.", "--link", "The port"],
            &["remember", "A mention", "The port is named here."],
            &["--provenance", "tool", "remember", "A page", "The port is said to be 9."],
            &["--provenance", "tool", "--scope", "all", "entry", "store", "page key", "The port of a page"],
        ] {
            opened.run(arguments).exits(0);
        }
        opened
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
            &["note", "list"],
            &["file", "list"],
            &["note", "related", "The port"],
            &["note", "orphans"],
            &["note", "mentions", "The port"],
            &["note", "graph"],
            &["context", "--sources"],
        ] {
            let printed = opened.run(arguments).exits(0).stdout;
            let found = paths(&printed);
            assert!(!found.is_empty(), "{arguments:?} prints no path: {printed}");
            seen.extend(found);
        }
        assert!(seen.iter().any(|path| path.contains(".md:")), "{seen:?} has no path with lines");
        for path in &seen {
            for command in [&["file", "show"][..], &["file", "path"]] {
                let shown = opened.run(&[command, &[path]].concat());
                assert_eq!(shown.code, 0, "{place:?} {command:?} {path}: {shown:?}");
            }
            let text = opened.run(&["file", "show", path]).stdout;
            let line = text.lines().rfind(|line| !line.is_empty() && text.matches(*line).count() == 1).expect("a line");
            let edited = opened.run(&["file", "edit", path, line, &format!("{line}!")]);
            assert_eq!(edited.code, 0, "{place:?} file edit {path}: {edited:?}");
            let absolute = opened.run(&["file", "path", path]).stdout;
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
        for arguments in [&["recall", "port"][..], &["note", "list"], &["note", "mentions", "The port"]] {
            seen.extend(paths(&opened.run(arguments).exits(0).stdout));
        }
        assert!(seen.len() > 4, "{seen:?}");
        for path in &seen {
            opened.run(&["note", "show", path]).exits(0);
            opened.run(&["note", "list", "--path", bare(path)]).exits(0);
            assert!(opened.run(&["note", "related", path]).code <= 1, "{path}");
            assert!(opened.run(&["note", "mentions", path]).code <= 1, "{path}");
        }
        let of_port = seen.iter().find(|path| path.contains("the-port.md:")).expect("a path with lines");
        opened.run(&["note", "edit", of_port, "5432", "5434"]).exits(0);
        opened.run(&["note", "restore", of_port]).exits(0);
        assert!(opened.run(&["note", "show", "The port"]).exits(0).stdout.contains("5432"));
        opened.run(&["note", "link", of_port, "The host"]).exits(0);
        opened.run(&["note", "rename", of_port, "A port"]).exits(0);
        let renamed = of_port.replace("the-port", "a-port");
        let forgotten = opened.run(&["note", "forget", &renamed]).exits(0).stdout;
        let printed = paths(&forgotten).into_iter().next().expect("the path that was forgotten");
        opened.run(&["note", "show", &renamed]).exits(1);
        opened.run(&["note", "restore", &printed]).exits(0);
        opened.run(&["note", "show", &renamed]).exits(0);
    }
}

#[test]
fn what_waits_is_approved_by_each_name_that_is_printed() {
    for place in PLACES {
        for name in ["A page", "facts/a-page.md", "page key"] {
            let opened = Opened::new(place);
            let item = opened.run(&["--json", "memory", "pending", name]).exits(0).json()["items"][0].clone();
            for printed in [item["name"].as_str(), item["path"].as_str()].into_iter().flatten() {
                let version = item["version"].as_str().expect("a version");
                opened.run(&["memory", "pending", printed]).exits(0);
                opened.run(&["memory", "approve", printed, "--base", version, "--dry-run"]).exits(0);
            }
        }
    }
}

#[test]
fn a_note_is_named_by_path_name_title_or_alias_everywhere() {
    let opened = Opened::new(PLACES[0]);
    opened.store.put("facts/aliased.md", "---\ntitle: Postgres\naliases: [pg]\n---\n\nIt is 5432.\n");
    for name in ["facts/aliased.md", "aliased", "Postgres", "pg"] {
        assert!(opened.run(&["note", "show", name]).exits(0).stdout.contains("5432"), "{name}");
        opened.run(&["note", "edit", name, "It is", "It is"]).exits(0);
        opened.run(&["note", "related", name]);
        opened.run(&["note", "restore", name]).exits(0);
    }
    opened.run(&["note", "show", "Nothing"]).exits(1).complains("there is no note `Nothing`").prints("");
    opened.run(&["note", "restore", "Nothing"]).exits(1).complains("as `saddlebag note forget` printed it").prints("");
}
