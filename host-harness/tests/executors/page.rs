//! `docs/writing-a-host.md`, for authors of other hosts, held against the local disk.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use saddlebag::protocol::{
    AppendOutcome, FsError, FsOp, FsOutcome, ListOutcome, Precondition, ReadOutcome, RemoveDirectoryOutcome,
    RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
use saddlebag_host::Executor;

use crate::support::{Absent, Any, Ask, Matches, open, path};

/// The path of each column of the table, from the second on.
const STATES: [&str; 5] = ["no", "file", "folder", "link", "none/x"];

#[test]
fn each_operation_gives_what_the_page_says_on_each_state_of_a_path() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/writing-a-host.md");
    let page = fs::read_to_string(page).unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| Operation | Absent |")).skip(2);
    let (mut operations, mut checked) = (Vec::new(), 0);
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<String> = row.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
        let (named, precondition) = match cells[0].split_once(": ") {
            Some((named, precondition)) => (named, precondition),
            None if ["absent", "matches"].contains(&&*cells[0]) => ("", &*cells[0]),
            None => (&*cells[0], "any"),
        };
        if !named.is_empty() {
            // "rename, of path" is one operation, "write, append" are two.
            let one = named.contains(" of ");
            operations = if one { vec![named.to_owned()] } else { named.split(", ").map(str::to_owned).collect() };
        }
        for operation in &operations {
            for (at, says) in STATES.into_iter().zip(&cells[1..]) {
                for right in [true, false] {
                    holds(operation, precondition, at, right, says);
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 15 * STATES.len() * 2, "rows of the table");
}

/// `right`: where the operation names a version, it is that of the file.
fn holds(operation: &str, precondition: &str, at: &str, right: bool, says: &str) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("folder")).unwrap();
    fs::write(root.join("folder/inner"), "text").unwrap();
    symlink("folder/inner", root.join("link")).unwrap();
    let mut store = open(root);
    let version = if right { store.put("file", "text") } else { Version(format!("h{}", "0".repeat(64))) };
    store.put("file", "text");
    store.put("source", "text");
    let op = operation_of(operation, precondition_of(precondition, version), at);
    let is_there = root.join(at).exists();
    let outcome = store.perform(&op);

    let words: Vec<&str> = says.split(", ").collect();
    let context = format!("{operation} {precondition} {at}, {right}: {outcome:?}, the page says {says}");
    let word = word(&op, &outcome);
    assert!(words.contains(&word) || (word == "done" && words == ["made"]), "{context}");
    // A wrong version matters only if there is a file with another version.
    let two = words.contains(&"written") && words.contains(&"stale(v)") || words == ["done", "stale(v)"];
    if two && precondition == "matches" {
        assert_eq!(word == "stale(v)", !right, "{context}");
    }
    if at == "none/x" {
        assert_eq!(root.join("none").exists(), words.contains(&"made"), "{context}");
    } else if words == ["made"] {
        assert!(!is_there && root.join(at).is_dir(), "{context}");
    }
}

fn precondition_of(word: &str, version: Version) -> Precondition {
    match word {
        "any" => Any,
        "absent" => Absent,
        "matches" => Matches(version),
        other => panic!("no such precondition: {other}"),
    }
}

fn operation_of(name: &str, precondition: Precondition, at: &str) -> FsOp {
    let content = b"new".to_vec();
    let path = path(at);
    match name {
        "read" => FsOp::Read { path, offset: 0, max_bytes: 9 },
        "write" => FsOp::write(path, content, precondition),
        "append" => FsOp::Append { path, content, newline_first: true, precondition },
        "remove" => FsOp::remove(path, precondition),
        "rename, of path" => FsOp::Rename { path, to: crate::support::path("free"), precondition },
        "rename, of to" => FsOp::Rename { path: crate::support::path("source"), to: path, precondition },
        "make-directory" => FsOp::MakeDirectory { path },
        "remove-directory" => FsOp::RemoveDirectory { path },
        "list-directory" => FsOp::ListDirectory { folder: Some(path), after: None, limit: 9, unless: None },
        other => panic!("no such operation: {other}"),
    }
}

/// The outcome as the page spells it.
fn word(op: &FsOp, outcome: &Result<FsOutcome, FsError>) -> &'static str {
    match outcome {
        Ok(FsOutcome::Read(ReadOutcome::Content(_))) => "content",
        Ok(FsOutcome::Read(ReadOutcome::Absent) | FsOutcome::Rename(RenameOutcome::Absent)) => "absent",
        Ok(FsOutcome::Write(WriteOutcome::Written(_)) | FsOutcome::Append(AppendOutcome::Written(_))) => "written",
        Ok(FsOutcome::Write(WriteOutcome::Stale(None)) | FsOutcome::Append(AppendOutcome::Stale(None))) => {
            "stale(none)"
        }
        Ok(
            FsOutcome::Write(WriteOutcome::Stale(Some(_)))
            | FsOutcome::Append(AppendOutcome::Stale(Some(_)))
            | FsOutcome::Remove(RemoveOutcome::Stale(_))
            | FsOutcome::Rename(RenameOutcome::Stale(_)),
        ) => "stale(v)",
        Ok(FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::Absent)) => "absent",
        Ok(FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::NotEmpty)) => "not-empty",
        Ok(FsOutcome::Rename(RenameOutcome::Exists)) => "exists",
        Ok(
            FsOutcome::Remove(RemoveOutcome::Done) | FsOutcome::Rename(RenameOutcome::Done) | FsOutcome::MakeDirectory,
        ) => "done",
        Ok(FsOutcome::ListDirectory(ListOutcome::Page(page))) if page.entries.is_empty() => "a page without entries",
        Ok(FsOutcome::ListDirectory(ListOutcome::Page(_))) => "page",
        Err(FsError::IsDirectory) => "is-directory",
        Err(FsError::NotDirectory) => "not-directory",
        Err(FsError::SymbolicLink) => "symbolic-link",
        other => panic!("{op:?}: {other:?}"),
    }
}
