//! The table of operations: each operation on each state of a path.

use std::io;

use saddlebag::protocol::Version;
use serde_json::Value;

use crate::bench::{Bench, Stores};
use crate::driver::Driver;
use crate::ops::{append, list, make_directory, matches, read, remove, remove_directory, rename, version, word, write};
use crate::report::{Ended, Part, Ran, Report, check};
use crate::table::{Row, STATES, State, rows};

const PART: Part = Part::Table;

/// Checks every cell, each as one case.
pub(crate) fn run(driver: &mut Driver, stores: &Stores, report: &mut Report<'_>) -> io::Result<()> {
    for row in rows() {
        for ((state, name, path), cell) in STATES.into_iter().zip(&row.cells) {
            // A version that a host does not compare changes no cell, so both are tried everywhere.
            let ran = [true, false].into_iter().try_for_each(|right| {
                let mut bench = Bench::open(driver, stores)?;
                holds(&mut bench, &row, state, path, right, cell)
            });
            report.add(PART, format!("{}: {}, {name}", row.operation, row.precondition), ran)?;
        }
    }
    Ok(())
}

/// Checks one cell, for a path of its state. `right`: where the operation names a version, it is that of the file.
fn holds(bench: &mut Bench<'_>, row: &Row, state: State, path: &str, right: bool, says: &[&str]) -> Ran {
    let says = of_host(bench, row, state, says)?;
    let earlier = bench.put("file", "earlier")?;
    let current = bench.put("file", "text")?;
    bench.put("source", "text")?;
    match state {
        State::Folder => bench.put("folder/inner", "text").map(drop)?,
        State::Link => bench.link("source", "link")?,
        _ => {}
    }
    let op = operation(row, path, if right { &current } else { &earlier });
    let answer = bench.perform(&op)?;

    let found = &*word(&answer);
    let detail = answer.as_ref().err().map(|error| format!(" ({error})")).unwrap_or_default();
    let says_made = says.contains(&"made");
    check!(
        says.contains(&found) || (found == "done" && says == ["made"]),
        "`{found}`{detail} instead of `{}`",
        says.join("` or `")
    );
    // A wrong version matters only if there is a file with another version.
    if row.precondition == "matches" && says.contains(&"stale(v)") {
        check!(
            found.starts_with("stale") != right,
            "`{found}` for the {} version",
            if right { "right" } else { "wrong" }
        );
    }
    unchanged(bench, row, state, found)?;
    if let ("stale(v)", Some(version)) = (found, version(&answer)) {
        bench.expect(&write("file", b"more", matches(&version)), &["written"])?;
    }
    if state == State::Above && bench.driver.hello().folders {
        let made = bench.paths(None)?.iter().any(|path| path == "none");
        check!(made == says_made, "the folder above was {}made", if made { "" } else { "not " });
    }
    Ok(())
}

/// What a cell says for this host: a store without folders is told apart where its answers differ.
fn of_host<'a>(bench: &Bench<'_>, row: &Row, state: State, says: &[&'a str]) -> Result<Vec<&'a str>, Ended> {
    if bench.driver.hello().folders {
        return Ok(says.to_vec());
    }
    match (row.operation, state) {
        ("make-directory", State::Absent | State::Above) => Ok(vec!["done"]),
        ("remove-directory", State::Absent | State::Above) => Ok(vec!["absent"]),
        ("list-directory", State::Folder) => Ok(says.to_vec()),
        (_, State::Folder) | ("make-directory" | "remove-directory" | "list-directory", State::File) => {
            Err(Ended::LeftOut("the store has no folders".into()))
        }
        _ => Ok(says.to_vec()),
    }
}

/// Checks that an operation that was not performed has changed nothing.
fn unchanged(bench: &mut Bench<'_>, row: &Row, state: State, found: &str) -> Ran {
    let is_done = matches!(found, "written" | "done");
    match (row.operation, state) {
        ("write" | "append" | "remove" | "rename, of path", State::File) if !is_done => {
            bench.holds("file", Some("text"))
        }
        ("rename, of to", State::File | State::Folder | State::Link) => bench.holds("source", Some("text")),
        ("read" | "make-directory" | "remove-directory", State::File) => bench.holds("file", Some("text")),
        (_, State::Folder) => bench.holds("folder/inner", Some("text")),
        (_, State::Link) => bench.holds("source", Some("text")),
        _ => Ok(()),
    }
}

fn operation(row: &Row, path: &str, version: &Version) -> Value {
    let precondition = if row.precondition == "matches" { matches(version) } else { row.precondition.into() };
    match row.operation {
        "read" => read(path, 0, 9),
        "write" => write(path, b"new", precondition),
        "append" => append(path, b"new", true, precondition),
        "remove" => remove(path, precondition),
        "rename, of path" => rename(path, "free", precondition),
        "rename, of to" => rename("source", path, precondition),
        "make-directory" => make_directory(path),
        "remove-directory" => remove_directory(path),
        _ => list(Some(path), 9),
    }
}
