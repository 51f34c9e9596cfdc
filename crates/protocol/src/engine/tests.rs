//! Tests of the engine with small commands. Each test plays the host.

use super::*;
use crate::{FileContent, Precondition, ReadOutcome, Version, help_after};
use saddlebag_collections::prelude::*;

const EPOCH: u64 = 7;

fn path(text: &str) -> RelPath {
    RelPath::new(text).expect("valid")
}

fn engine<R: 'static>(limits: Limits) -> Engine<R> {
    Engine::new(EPOCH, limits, |path| path.as_str().starts_with("cache/"))
}

fn content(text: &str) -> Result<FsOutcome, FsError> {
    let content = FileContent { bytes: text.into(), version: Version("v".into()), size: text.len() as u64 };
    Ok(FsOutcome::Read(ReadOutcome::Content(content)))
}

fn written() -> Result<FsOutcome, FsError> {
    Ok(FsOutcome::Write(WriteOutcome::Written(Version("v".into()))))
}

fn answer(request: &FsRequest, outcome: Result<FsOutcome, FsError>) -> FsResult {
    FsResult { key: request.key.to_string(), outcome }
}

/// Reads the files at once, and joins their contents.
async fn read_all(fs: Fs, names: &'static [&'static str]) -> Result<String, Error> {
    let reads = names.iter().map(|name| fs.read(&path(name), 0, 100)).collect();
    let mut joined = String::new();
    for answer in join(reads).await {
        if let ReadOutcome::Content(content) = answer.map_err(|error| Error::storage(None, &error))? {
            joined.push_str(&String::from_utf8_lossy(&content.bytes));
        }
    }
    Ok(joined)
}

/// Writes one file, and fails at the next.
async fn write_two(fs: Fs, names: [&'static str; 2]) -> Result<(), Error> {
    for name in names {
        let written = fs.write(&path(name), vec![b'x'], Precondition::Absent, None, None).await;
        written.map_err(|error| Error::storage(Some(&path(name)), &error))?;
    }
    Ok(())
}

#[test]
fn the_order_of_results_is_not_seen() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut engine = engine(Limits::default());
        let step = engine.start(CommandId(1), "read", |fs| read_all(fs, &["a", "b", "c"])).expect("started");
        let keys: Vec<&str> = step.requests.iter().map(|request| request.key.as_str()).collect();
        assert_eq!(keys, ["read/7.1.1", "read/7.1.2", "read/7.1.3"]);
        let mut finished = Vec::new();
        for place in order {
            assert_eq!(finished, [], "finished before everything was answered");
            let result = answer(&step.requests[place], content(["a", "b", "c"][place]));
            finished = engine.handle_result(result).expect("taken").finished;
        }
        assert_eq!(finished, [Finished { id: CommandId(1), changed: false, error: None, answer: None }]);
        assert_eq!(engine.take(CommandId(1), Ok), Ok("abc".to_string()));
    }
}

#[test]
fn used_foreign_and_unknown_keys_are_distinguished() {
    let mut engine = engine(Limits::default());
    let step = engine.start(CommandId(3), "read", |fs| read_all(fs, &["a"])).expect("started");
    let _ = engine.handle_result(answer(&step.requests[0], content("a"))).expect("taken");
    let refused = |engine: &mut Engine<String>, key: &str| {
        engine.handle_result(FsResult { key: key.into(), outcome: content("a") }).expect_err("refused")
    };
    assert_eq!(refused(&mut engine, "read/7.3.1"), ResultError::UsedKey("read/7.3.1".into()));
    assert_eq!(refused(&mut engine, "read/6.3.1"), ResultError::ForeignKey("read/6.3.1".into()));
    for unknown in ["read/7.3.2", "write/7.3.1", "read/7.4.1", "read/7.3", "read", ""] {
        assert_eq!(refused(&mut engine, unknown), ResultError::UnknownKey(unknown.into()));
    }
}

#[test]
fn a_result_that_does_not_fit_is_refused_and_still_owed() {
    let mut engine = engine(Limits::default());
    let step = engine.start(CommandId(1), "read", |fs| read_all(fs, &["a"])).expect("started");
    for wrong in [written(), content(&"x".repeat(101))] {
        let refused = engine.handle_result(answer(&step.requests[0], wrong)).expect_err("refused");
        assert!(matches!(refused, ResultError::InvalidResult { .. }), "{refused}");
    }
    let step = engine.handle_result(answer(&step.requests[0], content("a"))).expect("taken");
    assert_eq!(step.finished[0].error, None);
    assert_eq!(engine.take(CommandId(1), Ok), Ok("a".to_string()));
}

#[test]
fn requests_wait_until_others_are_answered() {
    let mut engine = engine(Limits { max_requests: 2, ..Limits::default() });
    let first = engine.start(CommandId(1), "read", |fs| read_all(fs, &["a", "b", "c"])).expect("started");
    assert_eq!(first.requests.len(), 2);
    let second = engine.start(CommandId(2), "read", |fs| read_all(fs, &["d"])).expect("started");
    assert_eq!(second.requests, []);
    let next = engine.handle_result(answer(&first.requests[1], content("b"))).expect("taken");
    assert_eq!(next.requests.iter().map(|request| request.key.as_str()).collect::<Vec<_>>(), ["read/7.1.3"]);
    let next = engine.handle_result(answer(&first.requests[0], content("a"))).expect("taken");
    assert_eq!(next.requests.iter().map(|request| request.key.as_str()).collect::<Vec<_>>(), ["read/7.2.1"]);
}

#[test]
fn commands_over_the_limit_and_old_ids_are_refused() {
    let mut engine = engine(Limits { max_commands: 1, ..Limits::default() });
    let start = |engine: &mut Engine<String>, id| engine.start(CommandId(id), "read", |fs| read_all(fs, &["a"]));
    let step = start(&mut engine, 5).expect("started");
    assert_eq!(start(&mut engine, 6), Err(SubmitError::TooManyCommands(1)));
    let _ = engine.handle_result(answer(&step.requests[0], content("a"))).expect("taken");
    // The reply of the last command was not taken yet.
    assert_eq!(start(&mut engine, 6), Err(SubmitError::TooManyCommands(1)));
    assert_eq!(engine.take(CommandId(5), Ok), Ok("a".to_string()));
    assert_eq!(start(&mut engine, 5), Err(SubmitError::CommandIdNotNew { given: 5, last: 5 }));
    assert!(start(&mut engine, 6).is_ok());
}

#[test]
fn a_cancelled_command_takes_each_result_once_and_counts_until_then() {
    let mut engine = engine(Limits { max_requests: 1, ..Limits::default() });
    let step = engine.start(CommandId(1), "read", |fs| read_all(fs, &["a"])).expect("started");
    let cancelled = engine.cancel(CommandId(1));
    assert_eq!(cancelled.finished[0].error.as_ref().map(|error| error.code), Some(ErrorCode::Cancelled));
    assert_eq!(engine.cancel(CommandId(1)), Step::default());
    let waiting = engine.start(CommandId(2), "read", |fs| read_all(fs, &["b"])).expect("started");
    assert_eq!(waiting.requests, []);
    let next = engine.handle_result(answer(&step.requests[0], content("a"))).expect("taken");
    assert_eq!(next.requests[0].key.as_str(), "read/7.2.1");
    let again = engine.handle_result(answer(&step.requests[0], content("a")));
    assert_eq!(again, Err(ResultError::UsedKey("read/7.1.1".into())));
}

#[test]
fn a_finished_command_says_whether_it_changed_anything() {
    let stale = || Ok(FsOutcome::Write(WriteOutcome::Stale(Some(Version("v".into())))));
    let unknown = || Ok(FsOutcome::Write(WriteOutcome::Unknown));
    let failed = || Err(FsError::NoSpace);
    let not_durable = || Err(FsError::NotDurable("fsync".into()));
    for (names, outcomes, expected) in [
        (["a", "b"], [written(), written()], (true, true)),
        (["a", "b"], [written(), failed()], (true, false)),
        (["cache/a", "b"], [written(), failed()], (false, false)),
        (["cache/a", "b"], [written(), stale()], (false, true)),
        (["cache/a", "b"], [written(), unknown()], (true, true)),
        (["cache/a", "b"], [written(), not_durable()], (true, false)),
        (["a", "cache/b"], [stale(), not_durable()], (false, false)),
    ] {
        let mut engine = engine(Limits::default());
        let mut step = engine.start(CommandId(1), "write", |fs| write_two(fs, names)).expect("started");
        for outcome in outcomes.clone() {
            step = engine.handle_result(answer(&step.requests[0], outcome)).expect("taken");
        }
        let Finished { changed, error, .. } = &step.finished[0];
        assert_eq!((*changed, error.is_none()), expected, "{names:?} {outcomes:?}");
    }
}

#[test]
fn a_cancelled_command_may_have_changed_what_it_was_about_to_change() {
    for (name, expected) in [("a", true), ("cache/a", false)] {
        let mut engine = engine(Limits::default());
        let _ = engine.start(CommandId(1), "write", |fs| write_two(fs, [name, "b"])).expect("started");
        assert_eq!(engine.cancel(CommandId(1)).finished[0].changed, expected, "{name}");
    }
}

#[test]
fn the_help_says_what_was_changed_if_the_command_could_have_changed_something() {
    assert_eq!(help_after("try again", true, true), "try again; changes from before the error stay");
    assert_eq!(help_after("try again", true, false), "try again; nothing was changed");
    assert_eq!(help_after("try again", false, false), "try again");
    assert_eq!(help_after("", false, true), "changes from before the error stay");
    assert_eq!(help_after("", true, false), "nothing was changed");
}

#[test]
fn a_command_that_waits_for_nothing_ends_with_an_error() {
    let mut engine: Engine<()> = engine(Limits::default());
    let step = engine.start(CommandId(1), "wait", |_| core::future::pending()).expect("started");
    assert_eq!(step.finished[0].error.as_ref().map(|error| error.code), Some(ErrorCode::Internal));
}

#[test]
fn an_engine_and_what_it_gives_move_between_threads() {
    fn moves<T: Send>() {}
    moves::<Engine<String>>();
    moves::<Step>();
    moves::<Operation<ReadOutcome>>();
}

#[test]
fn a_reply_is_taken_once_and_by_the_part_that_it_has() {
    let mut engine = engine(Limits::default());
    let code = |taken: Result<String, Error>| taken.map_err(|error| error.code);
    assert_eq!(code(engine.take(CommandId(1), Ok)), Err(ErrorCode::NotFound));
    let step = engine.start(CommandId(1), "read", |fs| read_all(fs, &["a"])).expect("started");
    assert_eq!(step.requests[0].command, CommandId(1));
    assert_eq!(code(engine.take(CommandId(1), Ok)), Err(ErrorCode::NotFinished));
    let _ = engine.handle_result(answer(&step.requests[0], content("a"))).expect("taken");
    assert_eq!(code(engine.take(CommandId(1), Err)), Err(ErrorCode::NotFound));
    assert_eq!(code(engine.take(CommandId(1), Ok)), Ok("a".to_string()));
    assert_eq!(code(engine.take(CommandId(1), Ok)), Err(ErrorCode::NotFound));
}

#[test]
fn the_reply_of_a_command_that_is_cancelled_late_is_dropped() {
    let mut engine = engine(Limits { max_commands: 1, ..Limits::default() });
    let step = engine.start(CommandId(1), "read", |fs| read_all(fs, &["a"])).expect("started");
    let _ = engine.handle_result(answer(&step.requests[0], content("a"))).expect("taken");
    assert_eq!(engine.cancel(CommandId(1)), Step::default());
    assert!(engine.take(CommandId(1), Ok).is_err());
    assert!(engine.start(CommandId(2), "read", |fs| read_all(fs, &["a"])).is_ok());
}
