//! The notebook through both engines: each command, and the result of races with editors and of crashes.

mod change;
mod hostile;
mod journal;
mod look;
mod recall;
mod remember;
mod session;
mod waiting;

use saddlebag::items::RecallReply;
use saddlebag::items::{ItemList, ListItems};
use saddlebag::notebook::{NoteFilter, NotebookReply};
use saddlebag::protocol::Error;
use saddlebag::{Answered, Config, Reply, ReplyTo, Request, Submit};
use saddlebag_host::{Executor, Simulator};
use support::drive::{Drive, changes, drive};
use support::{Kind, ask};

/// The root is the notebook.
fn config() -> Config {
    Config { epoch: 1, ..Config::default() }
}

fn open(kind: Kind, files: &[(&str, &str)]) -> Drive<Simulator> {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    drive(kind, config(), &files)
}

fn run<X: Executor>(drive: &mut Drive<X>, command: impl Submit) -> Reply {
    let command = command.submission();
    drive.run(command.clone()).unwrap_or_else(|error| panic!("{command:?}: {error:?}"))
}

fn notebook(reply: Reply) -> NotebookReply {
    match reply {
        Reply::Notebook(reply) => reply,
        other => panic!("{other:?}"),
    }
}

/// Runs a command that must be done.
fn call<X: Executor, A: Answered>(drive: &mut Drive<X>, request: A) -> ReplyTo<A> {
    drive.call(request).unwrap_or_else(|error| panic!("{} in {:?}: {error:?}", A::Request::NAME, drive.kind))
}

/// Runs a command that must be refused without any attempt to change a file.
fn refused(drive: &mut Drive<Simulator>, command: impl Submit) -> Error {
    let command = command.submission();
    let (before, tried) = (drive.executor.files(), changes(&drive.executor).len());
    let error = match drive.run(command.clone()) {
        Err(error) => error,
        Ok(reply) => panic!("{command:?} gave {reply:?}"),
    };
    assert_eq!(drive.executor.files(), before, "{command:?}");
    assert_eq!(changes(&drive.executor).len(), tried, "{command:?}");
    assert!(!error.message.is_empty() && !error.message.ends_with('.'), "{error:?}");
    error
}

fn text(drive: &Drive<Simulator>, file: &str) -> String {
    let bytes = drive.executor.files().remove(file).unwrap_or_else(|| panic!("no {file}: {:?}", names(drive)));
    String::from_utf8(bytes).unwrap()
}

fn names(drive: &Drive<Simulator>) -> Vec<String> {
    drive.executor.files().into_keys().collect()
}

fn found(reply: &RecallReply) -> Vec<&str> {
    reply.hits.iter().map(|hit| hit.path.as_str()).collect()
}

fn list(drive: &mut Drive<Simulator>, filter: NoteFilter) -> Vec<String> {
    paths(call(drive, ListItems { filter, ..ask::list_notes() }))
}

fn paths(reply: ItemList) -> Vec<String> {
    reply.items.into_iter().map(|note| note.path).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_string()).collect()
}

fn library(kind: Kind) -> Drive<Simulator> {
    open(
        kind,
        &[
            (
                "facts/db.md",
                "---\ntitle: Database\ntags: [db, \"lang/rust\"]\ndate: 2026-01-02 10:00:00\n---\n\nWe run Postgres. #ops\n",
            ),
            ("facts/port.md", "---\ntitle: Port\ndate: 2026-02-03 10:00:00\ntags: [db]\n---\n\nOf the [[db]]: 5432.\n"),
            ("notes/ops.md", "# Operations\n\nThe Database needs care; so does the Port.\n\n[[nowhere]]\n[[port]]\n"),
            ("notes/alone.md", "# Alone\n\nNobody links here.\n"),
            ("notes/both.md", "# Both\n\n[[db]] and back.\n"),
            ("daily/2026-05-24.md", "# 2026-05-24\n\n- 10:00 [[both]] deployed\n"),
        ],
    )
}
