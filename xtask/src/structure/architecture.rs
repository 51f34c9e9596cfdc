//! Checks of ARCHITECTURE.md: the dependencies of rooms and crates, and the tests that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::graph::Graph;
use super::{read, sources};
use crate::run::root;

fn page() -> String {
    read("ARCHITECTURE.md")
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
    // A room is a folder of `src/`, or a file in it.
    let graph = Graph::read(&root().expect("a root"), "src/lib.rs").rooms("src/");
    let names: Vec<&str> =
        graph.files.iter().map(|room| room["src/".len()..].trim_end_matches('/').trim_end_matches(".rs")).collect();
    let known = graph.edges.iter().map(|known| known.keys().map(|known| names[*known].to_string()).collect());
    let found: BTreeMap<String, BTreeSet<String>> = names.iter().map(ToString::to_string).zip(known).collect();
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
    let root = root().expect("a root");
    let folders = fs::read_dir(root.join("crates")).expect("the crates").flatten().map(|folder| folder.path());
    let mut crates = 0;
    for folder in folders.chain([root]) {
        let manifest = read(folder.join("Cargo.toml"));
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

/// Returns the names of the tests of all packages.
fn tests() -> BTreeSet<String> {
    let texts: Vec<String> = sources("").iter().map(read).collect();
    let attributes = ["#[test]", "#[nightly]", "#[both_engines"];
    let tests = attributes.iter().flat_map(|attribute| texts.iter().flat_map(|text| text.split(*attribute).skip(1)));
    let names = tests.filter_map(|rest| rest.split_once("fn ")?.1.split(['(', '<']).next());
    names.map(str::to_string).collect()
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
    let tests = tests();
    assert!(tests.len() > 1000, "only {} tests: the search looks in the wrong place", tests.len());
    let pages = page() + &read("CONTRIBUTING.md");
    let gone: Vec<&str> = named_tests(&pages).filter(|name| !tests.contains(*name)).collect();
    assert!(gone.is_empty(), "no such test: {gone:?}");
}
