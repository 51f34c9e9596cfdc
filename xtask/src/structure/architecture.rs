//! Checks of ARCHITECTURE.md: the dependencies of rooms, the names of tests there and in docs/weaknesses.md, the length.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::graph::Graph;
use super::invariants::Tests;
use super::tests::base;

/// Maximum number of words of the page: ten minutes of a reader.
const MOST_WORDS: usize = 2_300;

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

/// The rows of the table below a heading: the name in the first column, and the last column.
fn rows(page: &str, heading: &str) -> Vec<(String, String)> {
    let table = page.split(heading).nth(1).expect("the section is there");
    let table = table.split("\n#").next().expect("it ends");
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let name = cells[0].trim_matches('`').trim_end_matches('/').trim_end_matches(".rs").to_string();
        (name, cells.last().expect("a last column").to_string())
    };
    table.lines().filter(|line| line.starts_with("| `")).map(row).collect()
}

fn is_above(rows: &[(String, String)], name: &str, of: &str) -> bool {
    rows.iter().map(|(row, _)| row).take_while(|row| *row != of).any(|row| row == name)
}

#[test]
fn the_table_says_which_room_knows_which_and_those_are_above_it() {
    let rows = rows(&page(), "### The rooms of the component");
    let found: BTreeMap<String, BTreeSet<String>> = rooms();
    let written = rows.iter().map(|(room, known)| {
        let known = known.split(", ").filter(|known| *known != "nothing").map(str::to_string);
        (room.clone(), known.collect())
    });
    let written: BTreeMap<String, BTreeSet<String>> = written.collect();
    let wrong: Vec<_> = found.iter().filter(|(room, known)| written.get(*room) != Some(known)).collect();
    let gone: Vec<&String> = written.keys().filter(|room| !found.contains_key(*room)).collect();
    assert!(wrong.is_empty() && gone.is_empty(), "ARCHITECTURE.md should say\n{wrong:#?}\nand has no {gone:?}");
    for (room, known) in &found {
        let below: Vec<&String> = known.iter().filter(|known| !is_above(&rows, known, room)).collect();
        assert!(below.is_empty(), "`{room}` knows {below:?}, which should be above it");
    }
}

#[test]
fn a_crate_knows_only_those_above_it_in_the_table() {
    let rows = rows(&page(), "### The crates");
    let folders = fs::read_dir(base().join("crates")).expect("the crates").flatten().map(|folder| folder.path());
    let mut crates = 0;
    for folder in folders.chain([base()]) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let own = manifest.split("name = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a name");
        assert!(rows.iter().any(|(row, _)| row == own), "ARCHITECTURE.md has no row for `{own}`");
        let sections = manifest.split("\n[").filter(|section| section.starts_with("dependencies]"));
        let names = sections.flat_map(str::lines).filter_map(|line| line.split([' ', '.']).next());
        for known in names.filter(|name| name.starts_with("saddlebag")) {
            assert!(is_above(&rows, known, own), "`{own}` knows `{known}`, which should be above it");
        }
        crates += 1;
    }
    assert_eq!(crates, rows.len(), "ARCHITECTURE.md has a row for a crate that does not exist");
}

/// The words in backquotes that have the form of a test's name.
fn named_tests(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|name| {
        name.len() > 12
            && name.contains('_')
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    })
}

#[test]
fn every_test_that_a_page_names_exists() {
    let tests = Tests::read();
    let weaknesses = fs::read_to_string(base().join("docs/weaknesses.md")).expect("docs/weaknesses.md is there");
    // The last cell of a row has the tests; a name that ends in `…` begins those of several.
    let rows = weaknesses.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.rsplit("| ").next());
    let contributing = fs::read_to_string(base().join("CONTRIBUTING.md")).expect("CONTRIBUTING.md is there");
    let acceptance = fs::read_to_string(base().join("docs/acceptance.md")).expect("docs/acceptance.md is there");
    let pages = page() + &contributing + &acceptance;
    let names: Vec<&str> = named_tests(&pages).chain(rows.flat_map(named_tests)).collect();
    assert!(names.len() > 200, "{} names of tests", names.len());
    let gone: Vec<&&str> = names.iter().filter(|name| !tests.names.contains(**name)).collect();
    assert!(gone.is_empty(), "no such test: {gone:?}");
}

#[test]
fn every_invariant_of_the_page_names_a_test() {
    let page = page();
    let section = page.split("## What always holds?\n").nth(1).expect("the section is there");
    let items: Vec<&str> = section.split("\n1. ").skip(1).collect();
    assert_eq!(items.len(), 15, "the page has the invariants that shape the design, docs/invariants.md the others");
    let unchecked: Vec<&&str> = items.iter().filter(|item| named_tests(item).next().is_none()).collect();
    assert!(unchecked.is_empty(), "no test is named: {unchecked:?}");
}

#[test]
fn the_page_is_short_enough_to_be_read() {
    let words = page().split_whitespace().count();
    assert!(words <= MOST_WORDS, "{words} words, the limit is {MOST_WORDS}");
}
