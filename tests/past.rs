//! Commands that see the memory as it was at an earlier time.

use saddlebag::context::{Context, ContextEntries};
use saddlebag::entries::HydrationPolicy;
use saddlebag::history::{ListOperations, Snapshot, Undo};
use saddlebag::items::Restore;
use saddlebag::protocol::{Error, ErrorCode};
use saddlebag::{Answered, Config, Moment, Origin, ReplyTo, Submission};
use saddlebag_host::Simulator;

use crate::history::change;
use support::drive::{Drive, drive};
use support::{Kind, Random, agent_config, ask, both_engines, each, fact, path};

fn then<R>(at: i64, request: R) -> Submission<R> {
    Origin { at: Some(Moment::Second(at)), ..Origin::default() }.with(request)
}

fn at<R>(drive: &mut Drive<Simulator>, seconds: i64, request: R) -> Result<ReplyTo<Submission<R>>, Error>
where
    Submission<R>: Answered,
{
    drive.call(then(seconds, request))
}

fn titles(drive: &mut Drive<Simulator>, seconds: i64, query: &str) -> Vec<String> {
    let reply = at(drive, seconds, ask::recall(query)).unwrap();
    reply.hits.into_iter().map(|hit| hit.path).collect()
}

#[both_engines]
fn a_recall_at_a_time_finds_what_was_there_and_nothing_later(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let begin = drive.now.seconds;
    drive.run(fact("Port", "the port is 5432")).unwrap();
    drive.now.seconds = begin + 100;
    drive.run(fact("Harbour", "another port, 6543")).unwrap();
    drive.run(ask::forget("facts/port")).unwrap();
    drive.now.seconds = begin + 200;
    let port = "projects/proj/facts/port.md";
    assert_eq!(titles(&mut drive, begin + 50, "port"), [port]);
    assert_eq!(titles(&mut drive, begin + 150, "port"), ["projects/proj/facts/harbour.md"]);
    // What it found then stays out of the index of today.
    let now = drive.call(ask::recall("port")).unwrap();
    assert_eq!(now.hits.len(), 1, "{now:?}");
    let read = ask::show(port);
    assert!(at(&mut drive, begin + 50, read.clone()).unwrap().text.contains("5432"));
    assert!(drive.call(read).unwrap().text.is_empty());
}

#[both_engines]
fn the_past_cannot_be_changed_and_has_a_beginning_and_an_end(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let begin = drive.now.seconds;
    let none = at(&mut drive, begin, ask::recall("port")).unwrap_err();
    assert_eq!((none.code, none.message.as_str()), (ErrorCode::NotFound, "this memory has no history"));
    drive.run(fact("Port", "5432")).unwrap();
    let files = drive.executor.files();
    let changed = at(&mut drive, begin, fact("Port 2", "1")).unwrap_err();
    let early = at(&mut drive, begin - 1, ask::recall("port")).unwrap_err();
    let late = at(&mut drive, begin + 1, ask::recall("port")).unwrap_err();
    assert_eq!(
        [changed, early, late].map(|error| error.code),
        [ErrorCode::InvalidArgument, ErrorCode::NotFound, ErrorCode::InvalidArgument]
    );
    assert_eq!(drive.executor.files(), files);
}

#[both_engines]
fn two_operations_of_one_second_are_told_apart(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let file = "projects/proj/facts/port.md";
    drive.run(fact("Port", "5432")).unwrap();
    drive.now.nanoseconds += 1;
    drive.run(ask::edit("facts/port", "5432", "6543")).unwrap();
    let list = drive.call(ListOperations { limit: 9, ..ListOperations::default() }).unwrap().operations;
    let mut text = |operation: &str| {
        let origin = Origin { at: Some(Moment::Operation(operation.into())), ..Origin::default() };
        drive.call(origin.with(ask::show(file))).map(|reply| reply.text)
    };
    assert!(text(&list[0].operation).unwrap().contains("6543"));
    assert!(text(&list[1].operation).unwrap().contains("5432"));
    assert!(text(&list[1].operation[..8]).unwrap().contains("5432"));
    assert_eq!(text("zzzz").unwrap_err().code, ErrorCode::NotFound);
    let at = |at| Restore { at: Some(at), ..ask::restore(file) };
    let late = drive.call(at(Moment::Second(drive.now.seconds + 1))).unwrap_err();
    assert_eq!((late.code, late.message.contains("in the future")), (ErrorCode::InvalidArgument, true), "{late}");
    assert_eq!(drive.call(at(Moment::Operation(list[1].operation.clone()))).unwrap().version, Some(2));
    assert!(String::from_utf8_lossy(&drive.executor.files()[file]).contains("5432"));
}

#[both_engines]
fn an_edit_by_hand_counts_from_the_time_at_which_it_was_recorded(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let begin = drive.now.seconds;
    drive.run(fact("Port", "the port is 5432")).unwrap();
    let file = "projects/proj/facts/port.md";
    let text = drive.executor.files()[file].clone();
    drive.executor.insert(&path(file), "by hand\n");
    drive.now.seconds = begin + 100;
    drive.run(ask::edit("facts/port", "by hand", "more")).unwrap();
    drive.now.seconds = begin + 200;
    let read = ask::show(file);
    assert_eq!(at(&mut drive, begin + 50, read.clone()).unwrap().text.into_bytes(), text);
    assert_eq!(at(&mut drive, begin + 150, read).unwrap().text, "more\n");
}

#[both_engines]
fn a_snapshot_is_a_point_to_go_back_to(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", "5432")).unwrap();
    let files = support::without_history(drive.executor.files());
    let taken = drive.call(Snapshot { message: "before the import".into() }).unwrap();
    let list = drive.call(ListOperations { limit: 1, ..ListOperations::default() }).unwrap().operations;
    assert_eq!((&list[0].operation, list[0].reason.as_deref()), (&taken.operation, Some("before the import")));
    drive.run(fact("Harbour", "1")).unwrap();
    drive.call(Undo { after: Some(taken.operation.clone()), ..Undo::default() }).unwrap();
    assert_eq!(support::without_history(drive.executor.files()), files);
    for refused in ["", &"x".repeat(1025), concat!("AKIA", "QWERTYUIOPASDFGH")] {
        let error = drive.call(Snapshot { message: refused.into() }).unwrap_err();
        assert!([ErrorCode::InvalidArgument, ErrorCode::Secret].contains(&error.code), "{refused}: {error}");
    }
    // An undo goes past it, to the last change.
    let undone = drive.call(Undo::default()).unwrap();
    assert_eq!(undone.operations[0].command, "remember");
}

/// At each earlier time a command answers as it did then.
#[both_engines]
fn a_command_answers_at_an_earlier_time_as_it_did_then(kind: Kind) {
    let block = || Context {
        entries: Some(ContextEntries { max_bytes: 4096, policy: HydrationPolicy::default() }),
        ..Context::default()
    };
    let list = || ask::list_files(None, 1000);
    for seed in each("seed", 0..2) {
        // The history does not have the times of files, by which the names of a block are ordered.
        let mut drive =
            drive(kind, Config { map_bytes: Some(0), ..agent_config() }, &[("MEMORY.md", b"no line end\n")]);
        let mut random = Random(seed);
        let mut known = Vec::new();
        while known.len() < 30 {
            drive.now.seconds += 1;
            if drive.run(change(random.number())).is_ok() {
                let paths = |reply: saddlebag::items::FilePage| {
                    reply.files.into_iter().map(|file| (file.path, file.size)).collect::<Vec<_>>()
                };
                let listed = paths(drive.call(list()).unwrap());
                known.push((drive.now.seconds, drive.call(block()).unwrap(), listed));
            }
        }
        for (seconds, answered, listed) in known.iter().rev() {
            let reply = at(&mut drive, *seconds, block()).unwrap();
            assert_eq!(reply, *answered, "{kind:?}, {seed}, {seconds}");
            let files = at(&mut drive, *seconds, list()).unwrap().files;
            let files: Vec<_> = files.into_iter().map(|file| (file.path, file.size)).collect();
            assert_eq!(files, *listed, "{kind:?}, {seed}, {seconds}");
        }
    }
}
