//! An installed program, used as its user would.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::made::Made;
use crate::tool::run;

/// Gives a command an empty home.
pub(crate) fn in_home<'c>(command: &'c mut Command, home: &Path) -> &'c mut Command {
    command.current_dir(home).env("HOME", home).env("USERPROFILE", home).env_remove("SADDLEBAG_ROOT")
}

/// Uses a program that `start` starts: its version, a fact remembered and recalled, and a first answer of the MCP server.
#[track_caller]
pub(crate) fn use_program(made: &Made, start: impl Fn() -> Command) {
    let home = tempfile::tempdir().expect("a folder");
    let store = home.path().join("memory");
    fs::create_dir(&store).expect("a folder");
    let run_with = |arguments: &[&str]| {
        let mut command = start();
        run(in_home(&mut command, home.path()).arg("--root").arg(&store).arg("--notebook").args(arguments))
    };
    let version = run_with(&["--version"]);
    // A released program says more about itself on later lines.
    assert_eq!(version.lines().next(), Some(format!("saddlebag {}", made.release.version).as_str()), "{version}");
    run_with(&["remember", "Deploy window", "Deploys run on workdays before 16:00."]);
    let recalled = run_with(&["recall", "when may we deploy?"]);
    assert!(recalled.contains("before 16:00"), "{recalled}");
    let mut server = start();
    in_home(&mut server, home.path()).arg("--root").arg(&store).args(["--notebook", "mcp"]);
    let answer = answer_of_server(server);
    assert_eq!(answer["result"]["serverInfo"]["name"], "saddlebag", "{answer}");
    let names: Vec<_> =
        files_beside(home.path(), &store).iter().map(|path| path.file_name().map(OsStr::to_owned)).collect();
    assert_eq!(
        names,
        [Some("machine".into())],
        "the program writes into the store, and the name of the machine beside it"
    );
}

/// Returns the files below a folder that are not in the store.
fn files_beside(folder: &Path, store: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true if path == store => {}
            true => found.extend(files_beside(&path, store)),
            false => found.push(path),
        }
    }
    found
}

/// Starts a server, says hello, and returns its first answer. The server must end when its input ends.
#[track_caller]
pub(crate) fn answer_of_server(mut command: Command) -> Value {
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let mut input = server.stdin.take().expect("an input");
    writeln!(input, "{hello}").expect("written");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("an output")).read_line(&mut line).expect("a line");
    drop(input);
    let status = server.wait().expect("the server ends");
    assert!(status.success(), "{command:?}: {status}, after {line:?}");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{command:?} answered {line:?}: {error}"))
}
