//! Checks of ARCHITECTURE.md: the dependencies of rooms, the names of tests there and in docs/weaknesses.md, the length.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::graph::Graph;
use super::tests::base;

/// Maximum number of words of the page. Nobody reads more.
const MOST_WORDS: usize = 4_000;

fn page() -> String {
    fs::read_to_string(base().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is there")
}

/// The rooms of the component, each with those that it knows: a folder or a file directly in `src/`.
fn rooms() -> BTreeMap<String, BTreeSet<String>> {
    let graph = Graph::read(&base(), &base().join("src/lib.rs")).expect("the crate is read");
    let room = |file: &str| -> Option<String> {
        let below = file.strip_prefix("src/")?;
        let room = below.split_once('/').map_or(below, |(folder, _)| folder);
        (room != "lib.rs").then(|| room.trim_end_matches(".rs").to_string())
    };
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, name) in graph.files.iter().enumerate() {
        let Some(own) = room(name) else { continue };
        let known = graph.edges[file].keys().filter_map(|known| room(&graph.files[*known]));
        rooms.entry(own.clone()).or_default().extend(known.filter(|known| *known != own));
    }
    rooms
}

/// The rows of the table of rooms: the name in the first column, the rooms in the last.
fn rows(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let table = page.split("### The rooms of the component").nth(1).expect("the section is there");
    let table = table.split("\n#").next().expect("it ends");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_string()).collect()
    };
    let lines = table.lines().filter(|line| line.starts_with("| `"));
    lines
        .map(|line| {
            let cells = cells(line);
            let name = cells[0].trim_matches('`').trim_end_matches('/').trim_end_matches(".rs").to_string();
            let known = cells.last().expect("a last column");
            let known = known.split(", ").filter(|room| *room != "nothing").map(str::to_string);
            (name, known.collect())
        })
        .collect()
}

#[test]
fn the_table_says_which_room_knows_which() {
    let (rooms, rows) = (rooms(), rows(&page()));
    let shown = |rooms: &BTreeMap<String, BTreeSet<String>>| -> Vec<String> {
        let row = |(room, known): (&String, &BTreeSet<String>)| {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            format!("{room}: {}", if known.is_empty() { "nothing".to_string() } else { known.join(", ") })
        };
        rooms.iter().map(row).collect()
    };
    let (found, written) = (shown(&rooms), shown(&rows));
    let wrong: Vec<&String> = found.iter().filter(|row| !written.contains(row)).collect();
    let gone: Vec<&String> = written.iter().filter(|row| !found.contains(row)).collect();
    assert!(wrong.is_empty() && gone.is_empty(), "ARCHITECTURE.md should say\n{wrong:#?}\nand says\n{gone:#?}");
}

/// Every name of a function in the sources of the project.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            functions(&path, found);
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path).expect("text");
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
            found.extend(names.map(str::to_string));
        }
    }
}

#[test]
fn every_test_that_a_page_names_exists() {
    let mut found = BTreeSet::new();
    functions(&base(), &mut found);
    let page = page();
    let invariants = page.split("\n\n").filter(|part| part.starts_with("**Architecture Invariant"));
    let weaknesses = fs::read_to_string(base().join("docs/weaknesses.md")).expect("docs/weaknesses.md is there");
    // The last cell of a row has the tests; a name that ends in `…` begins those of several.
    let rows = weaknesses.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.rsplit("| ").next());
    let parts: Vec<&str> = invariants.chain(rows).collect();
    let names = parts.iter().flat_map(|part| part.split('`').skip(1).step_by(2));
    let is_name = |name: &&str| {
        name.len() > 12
            && name.contains('_')
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    let names: Vec<&str> = names.filter(is_name).collect();
    assert!(names.len() > 300, "{} names of tests", names.len());
    let gone: Vec<&&str> = names.iter().filter(|name| !found.contains(**name)).collect();
    assert!(gone.is_empty(), "no such function: {gone:?}");
}

#[test]
fn the_page_is_short_enough_to_be_read() {
    let words = page().split_whitespace().count();
    assert!(words <= MOST_WORDS, "{words} words, the limit is {MOST_WORDS}");
}
