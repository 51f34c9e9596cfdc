//! A host that breaks the contract gets an error, and changes nothing.

use saddlebag::catalogue::SAMPLE_NAME;
use saddlebag::context::{Context, Overflow, PromptCommand, PromptReply};
use saddlebag::entries::{EntriesCommand, ExportEntries, PurgeEntries, RetainEntries};
use saddlebag::exchange::{ExchangeCommand, ImportSource};
use saddlebag::items::{Edit, Forget, ItemKind, ItemsCommand, NewItem, Restore, Show, Tag};
use saddlebag::journal::{JournalCommand, JournalReply, Status, StatusReply, Target};
use saddlebag::notebook::NotebookCommand;
use saddlebag::protocol::{
    AppendOutcome, CommandId, Entry, EntryKind, ErrorCode, FileContent, FsError, FsOp, FsOutcome, FsResult, LeftOut,
    LeftOutName, ListOutcome, Listing, Precondition, ReadOutcome, RemoveOutcome, RenameOutcome, ResultError,
    SubmitError, Version, WriteOutcome,
};
use saddlebag::store::Timestamp;
use saddlebag::tools::{ToolsCommand, ToolsReply};
use saddlebag::{Command, Config, Limits, Reply, Submission, Submit};
use saddlebag_host::{EngineError, Executor, Simulator};
use support::arbitrary::every_fs_error;
use support::drive::{Drive, drive};
use support::{Kind, agent_config, ask, both_engines, commands, each, path, project_config, today};

fn listing(entries: Vec<Entry>, next: Option<saddlebag::store::RelPath>) -> FsOutcome {
    FsOutcome::ListDirectory(ListOutcome::Page(Listing { entries, next, left_out: LeftOut::default(), version: None }))
}

/// Returns a page that has only names that no path may have.
fn left_out(names: &[&str], count: u32) -> FsOutcome {
    let names = names.iter().map(|name| LeftOutName { path: path(name), kind: EntryKind::File }).collect();
    let left_out = LeftOut { names, count };
    FsOutcome::ListDirectory(ListOutcome::Page(Listing { entries: Vec::new(), next: None, left_out, version: None }))
}

fn version(text: &str) -> Version {
    Version(text.into())
}

/// Passes a result that must be refused. Returns the error.
fn refusal(drive: &mut Drive<Simulator>, key: &str, outcome: FsOutcome) -> ResultError {
    match drive.engine.handle_memory_result(FsResult { key: key.into(), outcome: Ok(outcome) }) {
        Err(EngineError::Result(error)) => error,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// Passes an outcome for the one pending request. It must be refused and the request stay owed. Returns the reason.
fn refused_outcome(drive: &mut Drive<Simulator>, outcome: FsOutcome) -> String {
    let owed = drive.pending[0].key.to_string();
    let ResultError::InvalidResult { key, reason } = refusal(drive, &owed, outcome) else {
        panic!("expected an invalid result")
    };
    assert_eq!(key, owed);
    reason
}

/// The component trusts a host no more than the host trusts it: a wrong key, a result of another
/// kind, a listing that is not a page of the folder and an invalid path change nothing.
#[both_engines(every_change)]
fn a_key_that_no_request_has_is_refused_and_the_command_goes_on(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[]);
    let id = drive.submit(ask::append(Target::Scratchpad, "- [ ] a"));
    let owed = drive.pending[0].key.to_string();
    let done = || FsOutcome::Append(AppendOutcome::Written(version("x")));

    for unknown in ["", "x", "append/1.1.1", "write/1.1.2.3", "write/1.2.1", "write/a.1.1", "write/1.1"] {
        let error = refusal(&mut drive, unknown, done());
        assert_eq!(error, ResultError::UnknownKey(unknown.into()), "{unknown}");
    }
    for foreign in ["write/2.1.1", "write/0.1.1"] {
        assert_eq!(refusal(&mut drive, foreign, done()), ResultError::ForeignKey(foreign.into()));
    }
    assert!(drive.finished.is_empty());

    drive.settle();
    assert!(drive.finished[&id].is_ok());
    assert_eq!(refusal(&mut drive, &owed, done()), ResultError::UsedKey(owed.clone()));
    // None of these is the key of a request.
    for never in ["write/1.1.9", "write/1.1.0", "append/1.1.1", "write/1.01.1"] {
        assert_eq!(refusal(&mut drive, never, done()), ResultError::UnknownKey(never.into()));
    }
    assert_eq!(drive.executor.files()["projects/proj/SCRATCHPAD.md"], b"- [ ] a\n");
}

#[both_engines(every_change)]
fn the_wrong_kind_of_result_is_refused_and_the_request_still_owed(kind: Kind) {
    let outcomes = || {
        [
            FsOutcome::Read(ReadOutcome::Absent),
            FsOutcome::Write(WriteOutcome::Unknown),
            FsOutcome::Append(AppendOutcome::Stale(None)),
            listing(Vec::new(), None),
            FsOutcome::Remove(RemoveOutcome::Done),
            FsOutcome::Rename(RenameOutcome::Done),
            FsOutcome::MakeDirectory,
        ]
    };
    let overwrite = ask::overwrite(Target::Note("n".into()), "x");
    let delete = ask::forget(Target::Note("n".into()));
    let mut drive = drive(kind, project_config(), &[("projects/proj/notes/n.md", b"old")]);
    for command in
        commands![ask::append(Target::Scratchpad, "a"), ask::search("old"), overwrite.clone(), delete.clone()]
    {
        let id = drive.submit(command);
        while !drive.pending.is_empty() {
            let asked = drive.pending[0].op.name();
            for outcome in outcomes().into_iter().filter(|outcome| outcome.name() != asked) {
                let reason = refused_outcome(&mut drive, outcome.clone());
                assert_eq!(reason, format!("an outcome of {}, but {asked} was requested", outcome.name()));
            }
            drive.answer(0);
        }
        assert!(drive.finished[&id].is_ok());
    }
}

#[both_engines(every_change)]
fn a_change_without_a_condition_is_never_stale(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[]);
    let id = drive.submit(ask::append(Target::Scratchpad, "a"));
    // It reads the rejected values first.
    drive.answer(0);
    assert!(matches!(drive.pending[0].op, FsOp::Append { precondition: Precondition::Any, .. }), "{:?}", drive.pending);
    for stale in [None, Some(version("v"))] {
        let reason = refused_outcome(&mut drive, FsOutcome::Append(AppendOutcome::Stale(stale)));
        assert_eq!(reason, "stale, but the precondition `any` is always met");
    }
    drive.settle();
    assert!(drive.finished[&id].is_ok());
    assert_eq!(drive.executor.files()["projects/proj/SCRATCHPAD.md"], b"a\n");
}

#[both_engines(every_change)]
fn a_read_must_fit_what_was_asked(kind: Kind) {
    let content = |bytes: usize, size: u64| {
        let content = FileContent { bytes: vec![b'x'; bytes], version: version("v"), size };
        FsOutcome::Read(ReadOutcome::Content(content))
    };
    let mut drive = drive(kind, project_config(), &[("MEMORY.md", b"text")]);
    let id = drive.submit(ask::show_part(Target::LongTerm, 0, 8));
    let FsOp::Read { max_bytes, .. } = drive.pending[0].op else { panic!("a read is asked for") };
    assert_eq!(max_bytes, 11);

    for (given, size, wanted) in [(12, 12, 11), (4, 3, 3), (3, 4, 4), (0, 4, 4), (10, 12, 11)] {
        let reason = refused_outcome(&mut drive, content(given, size));
        let expected = format!("{given} bytes, but at most 11 from 0 on of a file of {size} are {wanted}");
        assert_eq!(reason, expected);
    }

    drive.settle();
    assert!(drive.finished[&id].is_ok());
}

#[both_engines(every_change)]
fn a_listing_must_be_a_page_of_the_folder(kind: Kind) {
    let entry =
        |file: &str| Entry { path: path(file), kind: EntryKind::File, size: 1, version: version("v"), modified: 0 };
    let page = |files: &[&str], next: Option<&str>| listing(files.iter().copied().map(entry).collect(), next.map(path));
    let limits = Limits { max_list_entries: 2, ..Limits::default() };
    let mut drive = drive(kind, Config { limits, ..project_config() }, &[]);
    let id = drive.submit(ask::search("x"));
    for token in ["", "two words", "\u{e9}", &"x".repeat(256)] {
        let reason = refused_outcome(&mut drive, FsOutcome::Generation(token.into()));
        assert!(reason.ends_with("it has 1 to 255 visible ASCII characters"), "{reason}");
    }
    drive.answer(0);
    assert!(matches!(&drive.pending[0].op, FsOp::ListDirectory { folder: None, limit: 2, .. }));

    let mut nameless = entry("a.md");
    nameless.version = version("");
    let nameless = listing(vec![nameless], None);
    for (outcome, reason) in [
        (page(&["a.md", "b.md", "c.md"], None), "3 entries, the limit is 2"),
        (page(&["b.md", "a.md"], None), "`a.md` is not sorted after the previous entry"),
        (page(&["a.md", "a.md"], None), "`a.md` is not sorted after the previous entry"),
        (page(&["notes/a.md"], None), "`notes/a.md` is not in the folder"),
        (page(&["a.md"], Some("b.md")), "the cursor is not the last entry"),
        (page(&[], Some("b.md")), "a cursor, but no entries"),
        (nameless, "`a.md` has no version"),
        (left_out(&["notes/a.md"], 1), "`notes/a.md`, which is left out, is not in the folder"),
        (left_out(&["a.md", "b.md"], 1), "2 of 1 left-out names are given, the limit is 64"),
        (left_out(&["a.md"; 65], 65), "65 of 65 left-out names are given, the limit is 64"),
    ] {
        assert_eq!(refused_outcome(&mut drive, outcome), reason);
    }

    let key = drive.pending.remove(0).key;
    drive.hand_in(key.as_str(), Ok(page(&["a.md", "b.md"], Some("b.md"))));

    // A page of one folder must not name a file of another.
    for foreign in ["a.md", "projects/proj", "projects/projx/a.md", "projects/proj/notes/a.md"] {
        let reason = refused_outcome(&mut drive, page(&[foreign], None));
        assert_eq!(reason, format!("`{foreign}` is not in the folder"));
    }
    // The project and the notes for all projects have no files.
    for _ in 0..2 {
        let key = drive.pending.remove(0).key;
        drive.hand_in(key.as_str(), Ok(page(&[], None)));
    }

    // The next page must not begin before the cursor.
    assert_eq!(refused_outcome(&mut drive, page(&["b.md"], None)), "`b.md` is not sorted after the previous entry");
    let late = refused_outcome(&mut drive, left_out(&["c.md"], 1));
    assert_eq!(late, "left-out names belong on the first page");
    drive.settle();
    assert!(drive.finished[&id].is_ok());
}

#[both_engines(every_change)]
fn command_ids_must_grow(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[]);
    let mut give = |id: u64| drive.engine.submit(CommandId(id), today(), ask::list().submission());
    assert!(give(5).is_ok());
    for given in [5, 4, 0] {
        let expected = EngineError::Submit(SubmitError::CommandIdNotNew { given, last: 5 });
        assert_eq!(give(given).unwrap_err(), expected);
    }
    assert!(give(6).is_ok() && give(u64::MAX).is_ok());
}

#[both_engines(every_change)]
fn commands_in_flight_are_bounded(kind: Kind) {
    let limits = Limits { max_commands: 2, ..Limits::default() };
    let mut drive = drive(kind, Config { limits, ..project_config() }, &[]);
    drive.submit(ask::append(Target::Scratchpad, "a"));
    drive.submit(ask::append(Target::Scratchpad, "b"));

    let third = drive.try_submit(ask::append(Target::Scratchpad, "c")).unwrap_err();

    assert_eq!(third, EngineError::Submit(SubmitError::TooManyCommands(2)));
    drive.settle();
    assert!(drive.run(ask::append(Target::Scratchpad, "d")).is_ok());
    assert_eq!(drive.executor.files()["projects/proj/SCRATCHPAD.md"], b"a\nb\nd\n");
}

#[both_engines(every_change)]
fn requests_in_flight_are_bounded(kind: Kind) {
    let limits = Limits { max_requests: 2, ..Limits::default() };
    let files: Vec<String> = (0..9).map(|i| format!("projects/proj/notes/{i}.md")).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|file| (file.as_str(), b"word".as_slice())).collect();
    let mut drive = drive(kind, Config { limits, ..project_config() }, &files);
    let id = drive.submit(ask::search("word"));
    drive.submit(ask::append(Target::Scratchpad, "a"));
    while !drive.pending.is_empty() {
        assert!(drive.pending.len() <= 2);
        drive.answer(drive.pending.len() - 1);
    }
    let Ok(saddlebag::Reply::Journal(saddlebag::journal::JournalReply::Search(found))) = &drive.finished[&id] else {
        panic!("the search ends")
    };
    assert_eq!(found.total_files, 9);
}

#[both_engines(every_change)]
fn a_moment_out_of_range_is_refused(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[]);
    for bad in [
        Timestamp { nanoseconds: 1_000_000_000, ..today() },
        Timestamp { utc_offset_seconds: 86_400, ..today() },
        Timestamp { utc_offset_seconds: i32::MIN, ..today() },
        Timestamp { seconds: i64::MAX, ..today() },
        Timestamp { seconds: i64::MIN, ..today() },
        Timestamp { seconds: -62_135_596_801, ..today() },
        Timestamp { seconds: 253_402_300_800, ..today() },
        Timestamp { seconds: 253_402_300_799, nanoseconds: 0, utc_offset_seconds: 1 },
    ] {
        let step = drive.engine.submit(CommandId(1), bad, Status.submission());
        assert_eq!(step.unwrap_err(), EngineError::Submit(SubmitError::InvalidTime), "{bad:?}");
    }
    // The id was not used up.
    let last = Timestamp { seconds: 253_402_300_799, nanoseconds: 999_999_999, utc_offset_seconds: 0 };
    assert!(drive.engine.submit(CommandId(1), last, Status.submission()).is_ok());
}

#[both_engines(every_change)]
fn a_cancelled_command_ends_and_late_results_are_taken_once(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[]);
    let id = drive.submit(ask::append(Target::Scratchpad, "late"));
    let key = drive.pending.remove(0).key.into_string();

    let step = drive.engine.cancel(CommandId(id)).unwrap();

    assert_eq!(step.finished.len(), 1);
    assert_eq!(step.finished[0].error.as_ref().unwrap().code, ErrorCode::Cancelled);
    assert_eq!(drive.engine.cancel(CommandId(id)).unwrap(), Default::default(), "a second time says nothing");
    assert_eq!(drive.engine.cancel(CommandId(99)).unwrap(), Default::default());
    let late = || FsOutcome::Append(AppendOutcome::Written(version("v")));
    let step = drive.engine.handle_memory_result(FsResult { key: key.clone(), outcome: Ok(late()) }).unwrap();
    assert_eq!(step, Default::default());
    assert_eq!(refusal(&mut drive, &key, late()), ResultError::UsedKey(key));
    assert!(drive.run(ask::append(Target::Scratchpad, "next")).is_ok());
}

/// An entry that the host cannot read is not said to be absent.
#[both_engines(every_change)]
fn an_entry_that_cannot_be_read_is_not_said_to_be_absent(kind: Kind) {
    let files: [(&str, &[u8]); 2] = [
        ("agents/a/entries/core/k.md", b"---\nkey: k\ncategory: core\n---\n\nthe text of k"),
        ("agents/a/entries/core/t.md", b"---\nkey: t\nforgotten: 2026-05-25T09:00:00Z\n---\n\nforgotten"),
    ];
    let verbs = commands![
        ask::entry("k"),
        ask::forget_entry("k"),
        PurgeEntries { key: Some("t".into()) },
        PurgeEntries { key: None },
        ExportEntries { forgotten: true, cursor: None },
        RetainEntries { imported: Vec::new(), dry_run: false },
    ];
    for command in verbs.clone() {
        let mut calm = drive(kind, agent_config(), &files);
        let expected = calm.run(command.clone()).unwrap();
        for operation in each("operation", 0..calm.executor.operations()) {
            let mut drive = drive(kind, agent_config(), &files);
            drive.executor.fail_at(operation, FsError::TimedOut);
            match drive.run(command.clone()) {
                Ok(reply) => assert!(
                    reply == expected || format!("{reply:?}").contains("could not be read: timed out"),
                    "{command:?} at {operation}: {reply:?}"
                ),
                Err(error) => assert_eq!(error.code, ErrorCode::MemoryUnavailable, "{command:?} at {operation}"),
            }
        }
    }
}

/// Answers every operation with a function of the test, so that any host can be imitated.
struct Nightmare<F>(F);

impl<F: FnMut(&FsOp) -> Result<FsOutcome, saddlebag::protocol::FsError>> Executor for Nightmare<F> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, saddlebag::protocol::FsError> {
        (self.0)(op)
    }
}

/// Every command ends, even if the host's folders or changes never do.
#[both_engines(every_change)]
fn a_folder_without_end_ends_in_an_error(kind: Kind) {
    let mut count = 0_u64;
    let endless = Nightmare(|op: &FsOp| {
        let FsOp::ListDirectory { folder, limit, .. } = op else { panic!("only lists: {op:?}") };
        let prefix = folder.as_ref().map(|folder| format!("{folder}/")).unwrap_or_default();
        let entries: Vec<Entry> = (0..*limit)
            .map(|_| {
                count += 1;
                let path = path(&format!("{prefix}{count:09}"));
                Entry { path, kind: EntryKind::Other, size: 0, version: version(""), modified: 0 }
            })
            .collect();
        let next = entries.last().map(|entry| entry.path.clone());
        Ok(listing(entries, next))
    });
    let mut drive = Drive::new(kind, project_config(), endless);

    let error = drive.run(ask::list_files(None, 9)).unwrap_err();

    assert_eq!(error.code, ErrorCode::TooLarge, "{error:?}");
}

#[both_engines(every_change)]
fn a_file_that_always_changes_ends_in_contention(kind: Kind) {
    let note = || Target::Note("n".into());
    for command in commands![
        ask::edit(note(), "x", "y"),
        ask::slash("clear note:n"),
        ask::overwrite(note(), "z"),
        ask::append(Target::LongTerm, "z"),
        ask::restore(note()),
    ] {
        let mut changes = 0_u32;
        let restless = Nightmare(|op: &FsOp| {
            let stale = Some(version("v2"));
            Ok(match op {
                FsOp::Read { .. } => {
                    let content = FileContent { bytes: b"x".to_vec(), version: version("v1"), size: 1 };
                    FsOutcome::Read(ReadOutcome::Content(content))
                }
                FsOp::Write { precondition: Precondition::Any, .. } => {
                    FsOutcome::Write(WriteOutcome::Written(version("b")))
                }
                FsOp::Write { .. } => {
                    changes += 1;
                    FsOutcome::Write(WriteOutcome::Stale(stale))
                }
                FsOp::Append { .. } => FsOutcome::Append(AppendOutcome::Stale(stale)),
                FsOp::Remove { precondition: Precondition::Any, .. } => FsOutcome::Remove(RemoveOutcome::Done),
                FsOp::Remove { .. } => FsOutcome::Remove(RemoveOutcome::Stale(version("v2"))),
                _ => panic!("{op:?}"),
            })
        });
        let mut drive = Drive::new(kind, project_config(), restless);

        let error = drive.run(command.clone()).unwrap_err();

        assert_eq!(error.code, ErrorCode::Contention, "{command:?}: {error:?}");
    }
}

#[both_engines(every_change)]
fn an_append_that_cannot_be_confirmed_ends_in_contention(kind: Kind) {
    let forgetful = Nightmare(|op: &FsOp| {
        Ok(match op {
            FsOp::Append { .. } => FsOutcome::Append(AppendOutcome::Unknown(0)),
            _ => FsOutcome::Read(ReadOutcome::Absent),
        })
    });
    let mut drive = Drive::new(kind, project_config(), forgetful);

    assert_eq!(drive.run(ask::append(Target::Scratchpad, "x")).unwrap_err().code, ErrorCode::Contention);
}

/// Returns the samples of every command that asks the host for something. Commands that continue a run are left out,
/// because a failing host cannot open one.
fn every_command() -> Vec<Submission<Command>> {
    let asks = |given: &Submission<Command>| match &given.command {
        Command::Notebook(NotebookCommand::MemoryContext(_)) => false,
        Command::Entries(command) => !matches!(command, EntriesCommand::Checkpoint(_) | EntriesCommand::CloseRun(_)),
        _ => true,
    };
    support::every_command(SAMPLE_NAME).into_iter().filter(asks).collect()
}

/// An error of the host is never a trap of the component.
#[both_engines(every_change)]
fn every_error_of_the_host_is_an_error_of_the_command_and_never_a_trap(kind: Kind) {
    let commands = every_command();
    for answer in every_fs_error() {
        let failing = Nightmare(|_: &FsOp| Err(answer.clone()));
        let mut drive = Drive::new(kind, agent_config(), failing);
        for given in commands.iter().cloned().chain([Context::default().submission()]) {
            let command = &given.command;
            match (command, drive.run(given.clone())) {
                // A block without the files that cannot be read is still useful.
                (Command::Prompt(PromptCommand::Context(request)), Ok(Reply::Prompt(PromptReply::Context(reply)))) => {
                    let more = [request.entries.is_some(), request.overflow == Overflow::Balanced];
                    let more = more.into_iter().filter(|more| *more).count();
                    assert_eq!(reply.left_out.len(), 6 + more, "{reply:?}");
                }
                (
                    Command::Prompt(PromptCommand::Preamble(request)),
                    Ok(Reply::Prompt(PromptReply::Preamble(reply))),
                ) => {
                    let more = usize::from(request.memory.entries.is_some());
                    let more = more + usize::from(request.memory.overflow == Overflow::Balanced);
                    assert_eq!(reply.left_out.len(), 6 + more, "{reply:?}");
                }
                // So are the other counts.
                (
                    Command::Journal(JournalCommand::Status(_)),
                    Ok(Reply::Journal(JournalReply::Status(StatusReply { skipped, .. }))),
                ) => {
                    assert!(skipped.len() == 4 && skipped[0].reason.contains(&answer.to_string()), "{skipped:?}");
                }
                (Command::Journal(JournalCommand::Slash(_)), Ok(Reply::Journal(JournalReply::Slash(reply)))) => {
                    assert_eq!(reply.text.matches("skipped ").count(), 4, "{reply:?}");
                }
                (Command::Tools(ToolsCommand::CallTool(call)), Ok(Reply::Tools(ToolsReply::CallTool(reply)))) => {
                    assert!(reply.is_error, "{call:?}: {reply:?}");
                }
                (_, Err(error)) => {
                    let is_of_entries = match &command {
                        Command::Items(
                            ItemsCommand::Show(Show { kind, .. })
                            | ItemsCommand::Edit(Edit { kind, .. })
                            | ItemsCommand::Tag(Tag { kind, .. })
                            | ItemsCommand::Forget(Forget { kind, .. })
                            | ItemsCommand::Restore(Restore { kind, .. }),
                        ) => *kind == Some(ItemKind::Entry),
                        Command::Items(ItemsCommand::ListItems(list)) => list.kinds == [ItemKind::Entry],
                        Command::Items(ItemsCommand::Write(write)) => matches!(write.item, NewItem::Entry(_)),
                        Command::Exchange(ExchangeCommand::ImportItems(import)) => {
                            !matches!(import.source, ImportSource::Notes(_))
                        }
                        command => {
                            matches!(command, Command::Entries(_) | Command::AgentsMd(_) | Command::Exchange(_))
                        }
                    };
                    let code = if is_of_entries { ErrorCode::MemoryUnavailable } else { ErrorCode::Storage };
                    assert_eq!(error.code, code, "{kind:?}: {command:?}");
                    assert!(error.message.contains(&answer.to_string()), "{error:?}");
                }
                (_, done) => panic!("{kind:?}: {command:?} gave {done:?}"),
            }
        }
    }
}
