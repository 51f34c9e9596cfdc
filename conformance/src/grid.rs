//! The table of operations: each operation on each state of a path.

use std::io;

use saddlebag::protocol::Version;
use serde_json::Value;

use crate::bench::{Bench, Stores};
use crate::driver::Driver;
use crate::ops::{append, list, make_directory, matches, read, remove, remove_directory, rename, word, write};
use crate::report::{Ended, Part, Ran, Report, check, left_out};
use crate::table::{Row, STATES, State, rows};

const PART: Part = Part::Table;

/// Checks every cell. A row is one case, and a state that the host cannot have another one.
pub(crate) fn run(driver: &mut Driver, stores: &Stores, report: &mut Report<'_>) -> io::Result<()> {
    for row in rows() {
        let name = format!("{}: {}", row.operation, row.precondition);
        let mut left = Vec::new();
        let mut failed = Vec::new();
        for (state, cell) in STATES.into_iter().zip(&row.cells) {
            // A version that a host does not compare changes no cell, so both are tried everywhere.
            for right in [true, false] {
                let ran = Bench::open(driver, stores).map_err(Ended::from);
                match ran.and_then(|mut bench| holds(&mut bench, &row, state, right, cell)) {
                    Ok(()) => {}
                    Err(Ended::Failed(reason)) => failed.push(format!("{}: {reason}", state_word(state))),
                    Err(Ended::LeftOut(reason)) => left.push(format!("{}: {reason}", state_word(state))),
                }
            }
        }
        failed.dedup();
        left.dedup();
        let ran = if failed.is_empty() { Ok(()) } else { Err(Ended::Failed(failed.join("; "))) };
        report.add(PART, name.clone(), ran)?;
        for reason in left {
            report.add(PART, name.clone(), left_out(&reason))?;
        }
    }
    Ok(())
}

fn state_word(state: State) -> &'static str {
    match state {
        State::Absent => "absent",
        State::File => "a file",
        State::Folder => "a folder",
        State::Link => "a link",
        State::Above => "a folder above is absent",
    }
}

/// Checks one cell. `right`: where the operation names a version, it is that of the file.
fn holds(bench: &mut Bench<'_>, row: &Row, state: State, right: bool, says: &[&str]) -> Ran {
    let says = of_host(bench, row, state, says)?;
    let path = match state {
        State::Absent => "no",
        State::File => "file",
        State::Folder => "folder",
        State::Link => "link",
        State::Above => "none/x",
    };
    let earlier = bench.put("file", "earlier")?;
    let current = bench.put("file", "text")?;
    bench.put("source", "text")?;
    match state {
        State::Folder => bench.put("folder/inner", "text").map(drop)?,
        State::Link => bench.link("source", "link")?,
        _ => {}
    }
    // The precondition of a move to a path is that of the file that is moved.
    let of_source = row.operation == "rename, of to";
    let version = if of_source {
        bench.content("source")?.version
    } else if right {
        current
    } else {
        earlier
    };
    let op = operation(row, path, &version);
    let answer = bench.perform(&op)?;

    let found = word(&answer);
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
    if let ("stale(v)", Some(version)) = (found, crate::ops::version(&answer)) {
        let again = write("file", b"more", matches(version));
        bench.expect(&again, &["written"])?;
    }
    if state == State::Above && bench.driver.hello().folders {
        let made = bench.paths(None)?.iter().any(|path| path == "none");
        check!(made == says_made, "the folder above was {}made", if made { "" } else { "not " });
    }
    unchanged(bench, row, state, found)
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
        ("write" | "append" | "remove" | "rename, of path", State::File) if !is_done && found != "stale(v)" => {
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
        _ => list(Some(path), None, 9, None),
    }
}
