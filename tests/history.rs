//! The history: what is recorded, and that undo gives every byte back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use saddlebag::entries::NewEntry;
use saddlebag::history::{
    ChangeKind, CompareVersions, ListOperations, ListVersions, OperationInfo, ReplaceFile, SetHistoryPolicy, Undo,
    UndoReply,
};
use saddlebag::items::{ItemKind, ItemsCommand, ListItems, NewItem, Restore, Show, Write};
use saddlebag::journal::{Target, WriteFile};
use saddlebag::notebook::WriteNote;
use saddlebag::protocol::{Error, ErrorCode, FsOp, FsOutcome, ReadOutcome};
use saddlebag::trust::{Provenance, SecretPolicy, TrustConfig};
use saddlebag::{Command, Config, Origin, Submission, Submit};
use saddlebag_host::{Durability, Executor, LocalDir, LocalDirOptions, Simulator};

use support::drive::{Drive, drive};
use support::{Kind, Random, agent_config, ask, both_engines, each, fact, keep, nightly, path, today};

const NOTE: &str = "projects/proj/facts/port.md";

/// Returns the files that people keep: not our bookkeeping, and not the backups.
pub(crate) fn kept(store: &Simulator) -> BTreeMap<String, Vec<u8>> {
    let is_kept = |path: &str| !path.contains(".saddlebag/") && !path.ends_with(".bak");
    store.files().into_iter().filter(|(path, _)| is_kept(path)).collect()
}

fn pad(content: &str) -> WriteFile {
    ask::append(Target::Scratchpad, content)
}

fn undo(drive: &mut Drive<Simulator>) -> Result<UndoReply, Error> {
    drive.call(Undo::default())
}

fn operations(drive: &mut Drive<Simulator>) -> Vec<OperationInfo> {
    drive.call(ListOperations { limit: 1000, ..ListOperations::default() }).unwrap().operations
}

#[both_engines]
fn what_an_editor_replaced_is_shown_and_brought_back(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", "5432")).unwrap();
    let remembered = drive.executor.files()[NOTE].clone();
    drive.executor.insert(&path(NOTE), "by an editor\n");
    let list = drive.call(ListVersions { patch: true, ..ask::list_versions("facts/port") }).unwrap();
    let made: Vec<_> = list.versions.iter().map(|version| (version.kind, version.operation.is_some())).collect();
    assert_eq!(made, [(ChangeKind::Changed, false), (ChangeKind::Created, true)]);
    assert!(list.versions[0].patch.as_deref().unwrap().contains("+by an editor"), "{list:?}");
    let text = drive.call(ask::show_version("facts/port", 2)).unwrap().text;
    assert_eq!(text.into_bytes(), remembered);
    let diff = drive.call(CompareVersions { name: "facts/port".into(), ..CompareVersions::default() }).unwrap().diff;
    assert!(diff.contains("-5432") && diff.contains("+by an editor"), "{diff}");
    // The editor's text is in the way of an undo, and is never lost.
    let error = undo(&mut drive).unwrap_err();
    assert_eq!(
        (error.code, error.message.contains("an edit by another program")),
        (ErrorCode::Conflict, true),
        "{error}"
    );
    let restore = |version| ask::restore_version("facts/port", version);
    let dry = drive.call(Restore { dry_run: true, ..restore(2) }).unwrap();
    assert!(dry.operation.is_none() && dry.diff.contains("+5432"), "{dry:?}");
    drive.call(restore(2)).unwrap();
    assert_eq!(drive.executor.files()[NOTE], remembered);
    undo(&mut drive).unwrap();
    assert_eq!(drive.executor.files()[NOTE], b"by an editor\n");
    let missing = drive.call(ask::show_version("facts/port", 9)).unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound, "{missing}");
}

#[both_engines]
fn what_others_took_back_is_a_version_and_counts_as_undone(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", "5432")).unwrap();
    let remembered = drive.executor.files()[NOTE].clone();
    drive.run(ask::edit("facts/port", "5432", "6543")).unwrap();
    drive.executor.insert(&path(NOTE), std::str::from_utf8(&remembered).unwrap());
    let list = |drive: &mut Drive<Simulator>| {
        let list = drive.call(ask::list_versions("facts/port")).unwrap();
        list.versions.iter().map(|version| version.operation.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(list(&mut drive), [false, true, true]);
    // The edit is undone, and not what came before it.
    let edit = undo(&mut drive).unwrap();
    assert_eq!((edit.operations[0].command.as_str(), edit.files), ("edit", Vec::new()));
    assert!(edit.operation.is_some() && edit.message.contains("no file had to change"), "{}", edit.message);
    assert_eq!(drive.executor.files()[NOTE], remembered);
    assert_eq!(undo(&mut drive).unwrap().operations[0].command, "remember");
    assert!(!drive.executor.files().contains_key(NOTE));
    drive.call(ask::redo()).unwrap();
    let next = drive.executor.operations();
    drive.executor.edit_at(next, &path(NOTE), None);
    assert_eq!(list(&mut drive)[..2], [false, true]);
    drive.call(ask::restore_version(NOTE, 2)).unwrap();
    assert_eq!(drive.executor.files()[NOTE], remembered);
}

#[both_engines]
fn an_operation_tells_who_when_what_and_why(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let origin = Origin {
        client: Some("claude-code".into()),
        session: Some("s1".into()),
        tool: Some("mem_remember".into()),
        provenance: Some(Provenance::Agent),
        reason: Some("the port has moved".into()),
        ..Origin::default()
    };
    drive.run(origin.with(fact("Port", "5432"))).unwrap();
    let [one] = <[_; 1]>::try_from(operations(&mut drive)).unwrap();
    let OperationInfo { time, command, provenance, client, session, tool, reason, files, undone, .. } = one;
    assert_eq!(
        (time.as_str(), command.as_str(), provenance.as_str()),
        ("2026-05-25T12:00:00+00:00", "remember", "agent")
    );
    assert_eq!([client, session, tool].map(Option::unwrap), ["claude-code", "s1", "mem_remember"]);
    assert_eq!((reason.as_deref(), undone), (Some("the port has moved"), false));
    assert_eq!((files[0].path.as_str(), files[0].kind, files[0].before), (NOTE, ChangeKind::Created, 0));
    for (by, expected) in [("s1", 1), ("agent", 1), ("user", 0)] {
        let list = ListOperations { limit: 9, by: Some(by.into()), ..ListOperations::default() };
        assert_eq!(drive.call(list).unwrap().total, expected, "{by}");
    }
}

#[both_engines]
fn commands_of_one_operation_are_undone_together(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let before = kept(&drive.executor);
    let origin = || Origin { operation: Some("import-1".into()), ..Origin::default() };
    drive.run(origin().with(fact("Port", "5432"))).unwrap();
    drive.run(origin().with(keep("port", "5432", "core"))).unwrap();
    let undone = undo(&mut drive).unwrap();
    assert_eq!((undone.operations.len(), undone.files.len()), (1, 2), "{undone:?}");
    assert_eq!(kept(&drive.executor), before);
    let error = undo(&mut drive).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::NotFound, "there is nothing to undo"));
}

#[both_engines]
fn a_line_is_undone_below_later_ones_and_a_later_change_of_it_is_named(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(pad("- [ ] one")).unwrap();
    drive.run(pad("- [ ] two")).unwrap();
    let first = operations(&mut drive)[1].operation.clone();
    let named = |operation: &str| Undo { operations: vec![operation[..6].into()], ..Undo::default() };
    drive.call(named(&first)).unwrap();
    let text = |drive: &Drive<Simulator>| {
        String::from_utf8(drive.executor.files()["projects/proj/SCRATCHPAD.md"].clone()).unwrap()
    };
    assert_eq!(text(&drive), "- [ ] two\n");
    let twice = drive.call(named(&first)).unwrap_err();
    assert!(twice.message.contains("already undone"), "{twice}");
    drive.call(ask::redo()).unwrap();
    assert!(text(&drive).contains("one") && text(&drive).contains("two"), "{}", text(&drive));
    drive.run(ask::edit(Target::Scratchpad, "- [ ] one", "- [x] one")).unwrap();
    let later = operations(&mut drive)[0].operation.clone();
    let before = kept(&drive.executor);
    let error = drive.call(named(&first)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Conflict);
    assert!(error.message.contains(&later), "{error}");
    assert_eq!(kept(&drive.executor), before);
}

/// A command that changes files, chosen by a number.
pub(crate) fn change(random: u64) -> Submission<Command> {
    let (kind, number) = (random % 12, random / 12 % 5);
    let title = format!("Note {number}");
    let note = format!("facts/note-{number}");
    match kind {
        0 | 1 => fact(&title, format!("text {random}")).submission(),
        2 => pad(&format!("- [ ] item {random}")).submission(),
        3 => ask::append_daily("work", format!("line {random}")).submission(),
        4 => ask::edit(note, "text", "words").submission(),
        5 => ask::forget(note).submission(),
        6 | 7 => keep(format!("k{number}"), format!("value {random}"), "core").submission(),
        8 => ask::forget_entry(format!("k{number}")).submission(),
        9 => ask::tag(note, vec![format!("t{random}")], Vec::new()).submission(),
        10 => ask::rename(note, format!("Note {}", (number + 1) % 5)).submission(),
        _ => ask::link(note, format!("facts/note-{}", (number + 2) % 5)).submission(),
    }
}

/// Makes random changes, some of which are refused. Returns the files before each change that was made.
fn make_changes(drive: &mut Drive<Simulator>, random: &mut Random, count: usize) -> Vec<BTreeMap<String, Vec<u8>>> {
    let mut states = Vec::new();
    while states.len() < count {
        let before = kept(&drive.executor);
        drive.now.seconds += 1;
        let _ = drive.run(change(random.number()));
        if kept(&drive.executor) != before {
            states.push(before);
        }
    }
    states
}

/// Every operation can be undone, back to the first byte, and made again.
#[both_engines]
fn random_operations_are_undone_and_made_again(kind: Kind) {
    for seed in each("seed", 0..3) {
        let mut drive = drive(kind, agent_config(), &[("MEMORY.md", b"no line end")]);
        let states = make_changes(&mut drive, &mut Random(seed), 60);
        let last = kept(&drive.executor);
        for (number, state) in states.iter().enumerate().rev() {
            let undone = undo(&mut drive).unwrap_or_else(|error| panic!("{kind:?}, {seed}, {number}: {error}"));
            assert_eq!(kept(&drive.executor), *state, "{kind:?}, {seed}, {number}: {}", undone.message);
        }
        for _ in 0..states.len() {
            drive.call(ask::redo()).unwrap();
        }
        assert_eq!(kept(&drive.executor), last, "{kind:?}, {seed}");
    }
}

/// Reads the files that people keep below a folder of the disk.
fn kept_below(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with(".saddlebag") {
                kept_below(root, &path, files);
            }
        } else if path.extension().is_none_or(|extension| extension != "bak") {
            files.insert(path.strip_prefix(root).unwrap().into(), std::fs::read(&path).unwrap());
        }
    }
}

#[nightly]
fn ten_thousand_operations_are_undone_to_the_beginning_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let files = || {
        let mut files = BTreeMap::new();
        kept_below(folder.path(), folder.path(), &mut files);
        files
    };
    let notes = || std::fs::read_dir(folder.path().join("projects/proj/facts")).map_or(0, Iterator::count);
    let pad = folder.path().join("projects/proj/SCRATCHPAD.md");
    let open_items = || std::fs::metadata(&pad).map_or(0, |file| file.len());
    let options = LocalDirOptions { durability: Durability::Fast, ..LocalDirOptions::default() };
    let store = LocalDir::open(folder.path(), options).unwrap();
    let mut drive = Drive::new(Kind::Native, agent_config(), store);
    let first = files();
    let mut random = Random(1);
    let mut made = 0;
    while made < 10_000 {
        drive.now.seconds += 600;
        let change = change(random.number());
        // With more text the test would measure how files are read.
        let is_wanted = match &change.command {
            Command::Items(ItemsCommand::Write(Write { item: NewItem::Note(_) })) => notes() < 20,
            Command::Items(ItemsCommand::Write(Write { item: NewItem::File(_) })) => open_items() < 4096,
            _ => true,
        };
        if is_wanted {
            made += u32::from(drive.run(change).is_ok());
        }
    }
    let last = files();
    let undone = drive.call(Undo { since: Some(0), ..Undo::default() }).unwrap();
    assert!(undone.operations.len() > 5_000, "{}", undone.operations.len());
    assert_eq!(files(), first);
    drive.call(ask::redo()).unwrap();
    assert_eq!(files(), last);
}

/// An undo of several files that is interrupted at any point is finished by the next command, or was not
/// begun.
#[both_engines]
fn an_undo_that_is_interrupted_is_whole_or_nothing(kind: Kind) {
    let origin = || Origin { operation: Some("import-1".into()), ..Origin::default() };
    let prepared = || {
        let mut drive = drive(kind, agent_config(), &[("projects/proj/notes/a.md", b"old\n")]);
        for number in 0..3 {
            drive.run(origin().with(fact(format!("Note {number}"), "text"))).unwrap();
        }
        drive.run(origin().with(ask::edit("notes/a", "old", "new"))).unwrap();
        drive
    };
    let mut calm = prepared();
    let (begun, before) = (calm.executor.operations(), kept(&calm.executor));
    undo(&mut calm).unwrap();
    let after = kept(&calm.executor);
    for operation in each("operation", begun..calm.executor.operations()) {
        let mut broken = prepared();
        broken.executor.crash_at(operation);
        let is_done = undo(&mut broken).is_ok();
        broken.executor.restart();
        let mut drive = Drive::new(kind, Config { epoch: 2, ..agent_config() }, broken.executor);
        drive.run(pad("- [ ] a later change")).unwrap();
        let mut found = kept(&drive.executor);
        found.remove("projects/proj/SCRATCHPAD.md");
        found.retain(|path, _| !path.ends_with(".tmp"));
        assert!(found == after || (found == before && !is_done), "{kind:?}, crash at {operation}: {:?}", found.keys());
    }
}

/// An undo of one file that is interrupted at any point is made, or the next undo takes the same operation
/// back. It never takes an earlier one in its place.
#[both_engines]
fn an_undo_of_one_file_that_is_interrupted_is_not_passed_over(kind: Kind) {
    let prepared = || {
        let mut drive = drive(kind, agent_config(), &[]);
        for item in ["- [ ] one", "- [ ] two", "- [ ] three"] {
            drive.run(pad(item)).unwrap();
        }
        drive
    };
    let mut calm = prepared();
    let begun = calm.executor.operations();
    undo(&mut calm).unwrap();
    let mut recorded_alone = 0;
    for operation in each("operation", begun..calm.executor.operations()) {
        let mut broken = prepared();
        broken.executor.crash_at(operation);
        let is_done = undo(&mut broken).is_ok();
        broken.executor.restart();
        let mut drive = Drive::new(kind, Config { epoch: 2, ..agent_config() }, broken.executor);
        undo(&mut drive).unwrap();
        // The one that was not made, which says so, and this one.
        let undos = operations(&mut drive).iter().filter(|info| info.command == "undo").count();
        let text = drive.executor.files()["projects/proj/SCRATCHPAD.md"].clone();
        let once = text == b"- [ ] one\n- [ ] two\n" && !is_done;
        recorded_alone += u32::from(undos == 2 && once);
        assert!(once || text == b"- [ ] one\n", "{kind:?}, crash at {operation}: {}", String::from_utf8_lossy(&text));
    }
    assert!(recorded_alone > 0);
}

/// A rename that is interrupted at any point and finished by a later command is undone as one operation, and
/// apart from the later command.
#[both_engines]
fn a_rename_that_a_later_command_finishes_is_undone_on_its_own(kind: Kind) {
    let linking: &[(&str, &[u8])] = &[("projects/proj/notes/a.md", b"see [[port]]\n")];
    let prepared = || {
        let mut drive = drive(kind, agent_config(), linking);
        drive.run(fact("Port", "5432")).unwrap();
        drive
    };
    let rename = || ask::rename("Port", "DB port");
    let calm = || {
        let mut drive = prepared();
        let begun = drive.executor.operations();
        drive.run(rename()).unwrap();
        (begun..drive.executor.operations(), kept(&drive.executor))
    };
    let before = kept(&prepared().executor);
    let (points, renamed) = calm();
    let mut finished_later = 0;
    for operation in each("operation", points) {
        let mut broken = prepared();
        broken.executor.crash_at(operation);
        let is_done = broken.run(rename()).is_ok();
        broken.executor.restart();
        let mut drive = Drive::new(kind, Config { epoch: 2, ..agent_config() }, broken.executor);
        let notes = |drive: &Drive<Simulator>| {
            let mut found = kept(&drive.executor);
            found.retain(|path, _| !path.ends_with(".tmp") && !path.ends_with("SCRATCHPAD.md"));
            found
        };
        drive.run(fact("Later", "text")).unwrap();
        let later = undo(&mut drive).unwrap();
        let commands: Vec<&str> = later.operations.iter().map(|operation| operation.command.as_str()).collect();
        assert_eq!(commands, ["remember"], "{kind:?}, crash at {operation}: {later:?}");
        let found = notes(&drive);
        if found == before {
            assert!(!is_done, "{kind:?}, crash at {operation}");
            continue;
        }
        assert_eq!(found, renamed, "{kind:?}, crash at {operation}");
        finished_later += u32::from(!is_done);
        let undone = undo(&mut drive).unwrap();
        assert_eq!(undone.operations[0].command, "rename", "{kind:?}, crash at {operation}: {undone:?}");
        assert_eq!(notes(&drive), before, "{kind:?}, crash at {operation}: {undone:?}");
        drive.call(ask::redo()).unwrap();
        assert_eq!(notes(&drive), renamed, "{kind:?}, crash at {operation}");
    }
    assert!(finished_later > 5, "{finished_later}");
}

/// `undo` right after a rename that was interrupted at any point takes back the whole rename, which nobody
/// makes again.
#[both_engines]
fn an_interrupted_rename_is_undone_for_good(kind: Kind) {
    let linking: &[(&str, &[u8])] = &[("projects/proj/notes/a.md", b"see [[port]]\n")];
    let prepared = || {
        let mut drive = drive(kind, agent_config(), linking);
        drive.run(fact("Port", "5432")).unwrap();
        drive
    };
    let rename = || ask::rename("Port", "DB port");
    let notes = |drive: &Drive<Simulator>| {
        let mut found = kept(&drive.executor);
        found.retain(|path, _| !path.ends_with(".tmp") && !path.ends_with("SCRATCHPAD.md"));
        found
    };
    let before = notes(&prepared());
    let mut calm = prepared();
    let begun = calm.executor.operations();
    calm.run(rename()).unwrap();
    let mut undone_later = 0;
    for operation in each("operation", begun..calm.executor.operations()) {
        let mut broken = prepared();
        broken.executor.crash_at(operation);
        let is_done = broken.run(rename()).is_ok();
        broken.executor.restart();
        let mut drive = Drive::new(kind, Config { epoch: 2, ..agent_config() }, broken.executor);
        let undone = undo(&mut drive).unwrap();
        if undone.operations[0].command == "remember" {
            assert!(!is_done, "{kind:?}, crash at {operation}: {undone:?}");
            continue;
        }
        undone_later += u32::from(!is_done);
        assert_eq!(notes(&drive), before, "{kind:?}, crash at {operation}: {undone:?}");
        drive.run(fact("Later", "text")).unwrap();
        assert_eq!(undo(&mut drive).unwrap().operations[0].command, "remember", "{kind:?}, crash at {operation}");
        assert_eq!(notes(&drive), before, "{kind:?}, crash at {operation}");
    }
    assert!(undone_later > 5, "{undone_later}");
}

#[both_engines]
fn a_forgotten_note_is_listed_and_found_by_its_title(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let listed = |drive: &mut Drive<Simulator>, name: Option<&str>| -> Vec<(String, String)> {
        let list = drive.call(ListItems { forgotten: true, name: name.map(Into::into), ..ask::list() }).unwrap();
        assert_eq!(list.total as usize, list.items.len());
        list.items.into_iter().map(|note| (note.path, note.name)).collect()
    };
    for (title, text) in [("Two words", "one"), ("Renamed", "two"), ("Stays", "three")] {
        drive.run(fact(title, text)).unwrap();
    }
    drive.run(ask::tag("Renamed", vec!["a".into()], Vec::new())).unwrap();
    drive.run(ask::edit("facts/renamed", "two", "2")).unwrap();
    drive.run(ask::rename("Renamed", "Other")).unwrap();
    assert_eq!(listed(&mut drive, None), [], "a renamed note is not forgotten");
    drive.run(fact("Undone", "text")).unwrap();
    drive.run(ask::edit("facts/undone", "text", "texts")).unwrap();
    undo(&mut drive).unwrap();
    undo(&mut drive).unwrap();
    assert_eq!(listed(&mut drive, None), [], "nor is one whose creation was undone");
    drive.run(ask::forget("Two words")).unwrap();
    drive.executor.advance(std::time::Duration::from_secs(60));
    drive.run(ask::forget("Other")).unwrap();
    let path = |name: &str| format!("projects/proj/facts/{name}.md");
    let both = [(path("other"), "Other".to_string()), (path("two-words"), "Two words".to_string())];
    let mut all = listed(&mut drive, None);
    all.sort();
    assert_eq!(all, both);
    for name in ["two words", "Two words", "two-words", "facts/two-words.md", "projects/proj/facts/two-words.md"] {
        assert_eq!(listed(&mut drive, Some(name)), both[1..], "{name}");
    }
    assert_eq!(listed(&mut drive, Some("Stays")), []);
    drive.call(ask::unforget("Two words")).unwrap();
    assert_eq!(listed(&mut drive, None), both[..1]);
    // What a host without a history kept is in a file.
    let backup = "projects/proj/facts/old.bak";
    drive.executor.insert(&support::path(backup), "# An old one\n");
    assert_eq!(listed(&mut drive, Some("An old one")), [(path("old"), "An old one".to_string())]);
    drive.executor.insert(&support::path(&path("old")), "# Here\n");
    assert_eq!(listed(&mut drive, Some("An old one")), []);
}

#[both_engines]
fn a_redo_makes_the_operations_of_every_folder_again_and_each_can_be_undone(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(keep("k", "of the agent", "core")).unwrap();
    drive.run(fact("Port", "of the project")).unwrap();
    drive.run(ask::append(Target::LongTerm, "of all projects")).unwrap();
    let files = drive.executor.files();
    let made = |files: &BTreeMap<String, Vec<u8>>| files.keys().filter(|path| path.ends_with(".md")).count();
    let all = Undo { since: Some(0), ..Undo::default() };
    assert_eq!(drive.call(all.clone()).unwrap().operations.len(), 3);
    assert_eq!(made(&drive.executor.files()), 0);
    assert_eq!(drive.call(ask::redo()).unwrap().operations.len(), 3);
    assert_eq!(made(&drive.executor.files()), made(&files));
    let list = drive.call(ListOperations::default()).unwrap();
    let undone: Vec<_> = list.operations.iter().filter(|info| info.undone && info.undoes.is_empty()).collect();
    assert!(undone.is_empty(), "{undone:?}");
    for _ in 0..3 {
        undo(&mut drive).unwrap();
    }
    assert_eq!(made(&drive.executor.files()), 0);
}

/// The text of a forgotten note stays in reach of `restore`, whatever another note is called later.
#[both_engines]
fn a_renamed_note_does_not_take_the_path_of_a_forgotten_one(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", "the old text")).unwrap();
    drive.run(fact("Other", "another text")).unwrap();
    drive.run(ask::forget("Port")).unwrap();
    let renamed = drive.call(ask::rename("Other", "Port")).unwrap();
    assert_eq!(renamed.path, "projects/proj/facts/port-2.md");
    drive.run(ask::edit(&renamed.path, "another text", "a newer text")).unwrap();
    let restored = drive.call(ask::restore("facts/port.md")).unwrap();
    assert_eq!(restored.path, "projects/proj/facts/port.md");
    let text = drive.call(ask::show(&restored.path)).unwrap().text;
    assert!(text.contains("the old text"), "{text}");
    // Its own earlier path is free for a note.
    drive.run(ask::rename(&renamed.path, "Away")).unwrap();
    assert_eq!(drive.call(ask::rename("Away", "Other")).unwrap().path, "projects/proj/facts/other.md");
}

#[both_engines]
fn a_file_is_replaced_only_if_it_has_the_version_and_the_change_is_undone(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[("projects/proj/notes/a.md", b"one\n")]);
    let path = "projects/proj/notes/a.md";
    let replace = |version: Option<&str>, content: Option<&str>| ReplaceFile {
        path: path.into(),
        version: version.map(Into::into),
        content: content.map(|text| text.as_bytes().to_vec()),
    };
    let version = |drive: &mut Drive<Simulator>| match drive.executor.perform(&FsOp::Read {
        path: support::path(path),
        offset: 0,
        max_bytes: 9,
    }) {
        Ok(FsOutcome::Read(ReadOutcome::Content(found))) => found.version.0,
        other => panic!("{other:?}"),
    };
    for stale in [None, Some("another")] {
        let reply = drive.call(replace(stale, Some("two\n"))).unwrap();
        assert_eq!((reply.replaced, drive.executor.files()[path].as_slice()), (false, b"one\n".as_slice()));
    }
    let known = version(&mut drive);
    assert!(drive.call(replace(Some(&known), Some("two\n"))).unwrap().replaced);
    let known = version(&mut drive);
    assert!(drive.call(replace(Some(&known), None)).unwrap().replaced);
    assert!(!drive.executor.files().contains_key(path));
    assert!(drive.call(replace(None, Some("three\n"))).unwrap().replaced);
    for text in [None, Some("two\n"), Some("one\n")] {
        undo(&mut drive).unwrap();
        assert_eq!(drive.executor.files().get(path).map(Vec::as_slice), text.map(str::as_bytes));
    }
    for path in ["projects/other/notes/a.md", "projects/proj/.saddlebag/index/a.md", "projects/proj/a.txt", "../a.md"] {
        let error = drive.call(ReplaceFile { path: path.into(), ..replace(None, Some("x")) }).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound, "{path}: {error}");
    }
    let trust = TrustConfig { provenance: Provenance::Agent, ..TrustConfig::default() };
    let mut agent = Drive::new(kind, Config { trust, epoch: 3, ..agent_config() }, drive.executor);
    let error = agent.call(replace(None, Some("x"))).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotPermitted, "{error}");
}

/// Two processes that change one store undo what each of them did.
#[both_engines]
fn two_processes_undo_one_history(kind: Kind) {
    for seed in each("seed", 0..4) {
        let mut random = Random(seed);
        let mut store = Simulator::new(seed);
        let mut states = Vec::new();
        for epoch in 1..30 {
            let mut drive = Drive::new(kind, Config { epoch, ..agent_config() }, store);
            drive.now.seconds += i64::try_from(epoch).unwrap() * 1000;
            states.extend(make_changes(&mut drive, &mut random, 2));
            store = drive.executor;
        }
        let mut drive = Drive::new(kind, Config { epoch: 99, ..agent_config() }, store);
        for state in states.iter().rev() {
            undo(&mut drive).unwrap();
            assert_eq!(kept(&drive.executor), *state);
        }
    }
}

#[both_engines]
fn an_undo_of_many_leaves_what_later_changes_touch_and_names_it(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let of = |session: &str| Origin { session: Some(session.into()), ..Origin::default() };
    drive.run(fact("Port", "The port is 5432.")).unwrap();
    drive.run(fact("Host", "The host is a.")).unwrap();
    drive.run(of("s").with(ask::edit("facts/port", "5432", "1"))).unwrap();
    drive.run(of("s").with(ask::edit("facts/host", "is a", "is b"))).unwrap();
    drive.run(ask::edit("facts/port", "is 1", "is 9")).unwrap();
    let before = kept(&drive.executor);
    let all = || Undo { session: Some("s".into()), ..Undo::default() };
    assert_eq!(drive.call(all()).unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(kept(&drive.executor), before);
    let reply = drive.call(Undo { skip_conflicts: true, ..all() }).unwrap();
    assert_eq!((reply.operations.len(), reply.skipped.len()), (1, 1), "{reply:?}");
    assert!(reply.skipped[0].reason.contains("facts/port.md"), "{reply:?}");
    let files = kept(&drive.executor);
    let text = |path: &str| String::from_utf8(files[path].clone()).unwrap();
    assert!(text("projects/proj/facts/host.md").contains("is a."));
    assert!(text("projects/proj/facts/port.md").contains("is 9."));
    // Nothing but the conflict is left.
    let error = drive.call(Undo { skip_conflicts: true, ..all() }).unwrap_err();
    assert_eq!(error.code, ErrorCode::Conflict, "{error}");
}

#[both_engines]
fn an_agent_undoes_what_it_did_itself_and_nothing_else(kind: Kind) {
    let trust = TrustConfig { provenance: Provenance::Agent, ..TrustConfig::default() };
    let mut drive = drive(kind, Config { trust, ..agent_config() }, &[]);
    let client = |name: &str| Origin { client: Some(name.into()), session: Some("s".into()), ..Origin::default() };
    drive.run(client("one").with(fact("Port", "5432"))).unwrap();
    drive.run(client("two").with(fact("Host", "a"))).unwrap();
    assert_eq!(undo(&mut drive).unwrap_err().code, ErrorCode::NotPermitted);
    assert_eq!(drive.call(ask::redo()).unwrap_err().code, ErrorCode::NotPermitted);
    let own = || Undo { only_own: true, ..Undo::default() };
    drive.call(client("one").with(own())).unwrap();
    let left: Vec<String> = kept(&drive.executor).into_keys().collect();
    assert_eq!(left, ["projects/proj/facts/host.md"]);
    assert_eq!(drive.call(client("one").with(own())).unwrap_err().code, ErrorCode::NotFound);
}

#[both_engines]
fn an_agent_sees_no_history_of_others(kind: Kind) {
    let config = |agent: &str, provenance| {
        let mut config = agent_config();
        if let Some(entries) = &mut config.entries {
            entries.agent = agent.into();
        }
        Config { trust: TrustConfig { provenance, ..TrustConfig::default() }, ..config }
    };
    let mut other = drive(kind, config("b", Provenance::Agent), &[]);
    let origin =
        Origin { client: Some("secret-client".into()), session: Some("secret-session".into()), ..Origin::default() };
    other.run(origin.clone().with(keep("k", "v", "core"))).unwrap();
    other.run(origin.with(fact("Port", "5432"))).unwrap();
    let mut own = Drive::new(kind, config("a", Provenance::Agent), other.executor);
    let list = own.call(ListOperations { limit: 9, ..ListOperations::default() }).unwrap();
    assert_eq!(list.operations.iter().map(|info| info.command.as_str()).collect::<Vec<_>>(), ["remember"]);
    assert!(!format!("{list:?}").contains("secret"), "{list:?}");
    let mut person = Drive::new(kind, config("a", Provenance::User), own.executor);
    let list = operations(&mut person);
    assert!(format!("{list:?}").contains("secret-client"), "{list:?}");
}

#[both_engines]
fn a_secret_is_not_recorded(kind: Kind) {
    const KEY: &str = concat!("AKIA", "QWERTYUIOPASDFGH");
    let secret = format!("the key is {KEY}\n");
    let mut drive = drive(kind, agent_config(), &[("projects/proj/notes/a.md", secret.as_bytes())]);
    drive.run(ask::edit("notes/a", "the key", "a key")).unwrap();
    drive.run(ask::edit("notes/a", format!("a key is {KEY}"), "no key")).unwrap();
    drive.run(ask::edit("notes/a", "no key", "none")).unwrap();
    let list = drive.call(ListVersions { patch: true, ..ask::list_versions("notes/a") }).unwrap();
    let unkept: Vec<bool> = list.versions.iter().map(|version| version.unkept).collect();
    assert_eq!(unkept, [false, false, true, true], "{list:?}");
    assert!(!format!("{list:?}").contains(KEY));
    let error = drive.call(ask::show_version("notes/a", 4)).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound, "{error}");
    let origin = Origin { reason: Some(secret), ..Origin::default() };
    assert_eq!(drive.run(origin.with(pad("- [ ] x"))).unwrap_err().code, ErrorCode::Secret);
    // With the policy that allows secrets, everything is kept.
    let trust = TrustConfig { secrets: SecretPolicy::Allow, ..TrustConfig::default() };
    let mut allowing = Drive::new(kind, Config { trust, ..agent_config() }, drive.executor);
    allowing.run(fact("Key", KEY)).unwrap();
    let text = allowing.call(ask::show_version("facts/key", 1)).unwrap().text;
    assert!(text.contains(KEY));
}

#[both_engines]
fn a_moved_entry_goes_back_to_its_place(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(keep("k", "one", "core")).unwrap();
    let before = kept(&drive.executor);
    let moved = NewEntry::new("k", "two", "custom");
    drive.run(ask::store(moved)).unwrap();
    assert_ne!(kept(&drive.executor), before);
    undo(&mut drive).unwrap();
    assert_eq!(kept(&drive.executor), before);
    drive.run(ask::edit_entry("k", "one", "three")).unwrap();
    let texts: Vec<_> = (1..=2).map(|version| drive.call(ask::show_version("k", version)).unwrap().text).collect();
    assert!(texts[0].contains("three") && texts[1].contains("one"), "{texts:?}");
}

#[both_engines]
fn what_was_made_again_is_undone_first(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Alpha", "one")).unwrap();
    let first = operations(&mut drive)[0].operation.clone();
    drive.run(fact("Beta", "two")).unwrap();
    drive.call(Undo { operations: vec![first], ..Undo::default() }).unwrap();
    drive.call(ask::redo()).unwrap();
    undo(&mut drive).unwrap();
    let left: Vec<String> = kept(&drive.executor).into_keys().collect();
    assert_eq!(left, ["projects/proj/facts/beta.md"]);
    undo(&mut drive).unwrap();
    assert!(kept(&drive.executor).is_empty());
}

#[both_engines]
fn the_move_of_an_entry_that_an_editor_changed_since_is_undone(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(keep("k", "a\nb", "core")).unwrap();
    drive.run(keep("k", "a\nb", "custom")).unwrap();
    let moved = "agents/a/entries/custom/k.md";
    let text = String::from_utf8(drive.executor.files()[moved].clone()).unwrap();
    drive.executor.insert(&path(moved), format!("{text}\nby hand").as_str());
    undo(&mut drive).unwrap();
    let files = kept(&drive.executor);
    assert!(!files.contains_key(moved));
    let back = String::from_utf8(files["agents/a/entries/core/k.md"].clone()).unwrap();
    assert!(back.contains("by hand") && back.contains("category: core"), "{back}");
}

#[both_engines]
fn a_version_is_restored_as_of_an_operation_of_another_file(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", "one")).unwrap();
    drive.now.seconds += 10;
    drive.run(fact("Other", "x")).unwrap();
    let between = operations(&mut drive)[0].operation.clone();
    drive.now.seconds += 10;
    drive.run(ask::edit("facts/port", "one", "two")).unwrap();
    let at = Some(saddlebag::Moment::Operation(between));
    drive.call(Restore { at, ..ask::restore("facts/port") }).unwrap();
    assert!(String::from_utf8_lossy(&kept(&drive.executor)["projects/proj/facts/port.md"]).contains("one"));
}

#[both_engines]
fn versions_from_before_a_move_belong_to_the_item(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Alpha", "one")).unwrap();
    drive.run(ask::edit("facts/alpha", "one", "two")).unwrap();
    drive.run(ask::rename("Alpha", "Beta")).unwrap();
    drive.run(ask::edit("facts/beta", "two", "three")).unwrap();
    drive.run(ask::rename("Beta", "Gamma")).unwrap();
    let list = drive.call(ask::list_versions("Gamma")).unwrap();
    let commands: Vec<&str> =
        list.versions.iter().map(|version| version.operation.as_ref().unwrap().command.as_str()).collect();
    assert_eq!(commands, ["rename", "edit", "rename", "edit", "remember"], "{list:?}");
    assert!(list.versions.iter().all(|version| !version.unkept), "{list:?}");
    let text = |drive: &mut Drive<Simulator>, version| drive.call(ask::show_version("Gamma", version)).unwrap().text;
    let expected = [(1, "Gamma", "three"), (2, "Beta", "three"), (3, "Beta", "two"), (5, "Alpha", "one")];
    for (version, title, part) in expected {
        let text = text(&mut drive, version);
        assert!(text.contains(title) && text.contains(part), "{version}: {text}");
    }
    drive.call(ask::restore_version("Gamma", 5)).unwrap();
    let restored = drive.executor.files()["projects/proj/facts/gamma.md"].clone();
    assert!(String::from_utf8(restored).unwrap().contains("one"));

    drive.run(keep("k", "first", "core")).unwrap();
    drive.run(keep("k", "second", "custom")).unwrap();
    let old = drive.call(ask::show_version("k", 2)).unwrap();
    assert!(old.text.contains("first"));
}

#[both_engines]
fn a_version_has_the_marks_of_its_item_and_is_read_in_parts(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let tool = Origin { provenance: Some(Provenance::Tool), ..Origin::default() };
    drive.run(tool.with(fact("Of a tool", "5432"))).unwrap();
    assert_eq!(drive.call(ask::show("Of a tool@1")).unwrap().marks.unapproved, Some(Provenance::Tool));
    drive.run(fact("Port", "5432")).unwrap();
    drive.run(ask::edit("facts/port", "5432", "5433")).unwrap();
    drive.run(WriteNote { supersedes: Some("facts/port".into()), ..fact("New port", "6000") }).unwrap();
    let shown = drive.call(ask::show("Port@2")).unwrap();
    assert_eq!((shown.kind, shown.version, shown.name.as_str()), (ItemKind::Note, Some(2), "Port"), "{shown:?}");
    assert!(shown.text.contains("5432") && shown.marks.superseded_since.is_some(), "{shown:?}");
    assert_eq!(shown.marks.superseded_by, Some("projects/proj/facts/new-port.md".into()), "{shown:?}");
    let first = drive.call(Show { max_bytes: 9, ..ask::show_version("facts/port", 2) }).unwrap();
    let next = first.next_offset.expect("a next part");
    let rest = drive.call(Show { offset: next, ..ask::show_version("facts/port", 2) }).unwrap();
    assert_eq!(first.text + &rest.text, shown.text);

    drive.run(keep("old", "first", "core")).unwrap();
    drive.run(keep("old", "second", "core")).unwrap();
    drive
        .run(ask::store(NewEntry { supersedes: Some("old".into()), ..NewEntry::new("new", "third", "core") }))
        .unwrap();
    let shown = drive.call(ask::show("old@2")).unwrap();
    let entry = shown.entry.as_ref().expect("an entry");
    assert_eq!((shown.kind, entry.content.as_str()), (ItemKind::Entry, "first"), "{shown:?}");
    assert_eq!(shown.marks.superseded_by.as_deref(), Some("new"), "{shown:?}");
    let missing = drive.call(ask::show("Port@9")).unwrap_err();
    assert!(missing.message.contains("has no version 9"), "{missing}");
    // A name with such an end comes first.
    drive.run(fact("Port@2", "the note of that name")).unwrap();
    assert!(drive.call(ask::show("Port@2")).unwrap().text.contains("the note of that name"));
}

#[both_engines]
fn the_versions_of_a_forgotten_entry_are_found_by_any_key(kind: Kind) {
    for key in ["plain", "x/y", "Xa", "x\u{e9}"] {
        let mut drive = drive(kind, agent_config(), &[]);
        drive.run(keep(key, "the text", "core")).unwrap();
        drive.run(ask::forget_entry(key)).unwrap();
        let versions = drive.call(ask::list_versions(key)).unwrap().versions;
        assert_eq!(versions.len(), 2, "{key}: {versions:?}");
        let shown = drive.call(ask::show(format!("{key}@2"))).unwrap();
        assert_eq!(shown.entry.expect("an entry").content, "the text", "{key}");
        drive.call(ask::restore_version(key, 2)).unwrap();
        assert_eq!(drive.call(ask::entry(key)).unwrap().entry.expect("an entry").content, "the text");
    }
}

#[both_engines]
fn a_torn_line_of_the_log_is_counted_and_hides_nothing(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(pad("- [ ] one")).unwrap();
    let log = "projects/proj/.saddlebag/history/2026-05/laptop.log";
    let mut bytes = drive.executor.files()[log].clone();
    bytes.extend_from_slice(b"{\"operation\":\"torn");
    drive.executor.insert(&path(log), bytes);
    drive.run(pad("- [ ] two")).unwrap();
    let list = drive.call(ListOperations { limit: 9, ..ListOperations::default() }).unwrap();
    assert_eq!((list.total, list.damaged), (2, 1));
}

#[both_engines]
fn a_policy_removes_old_months_and_stops_the_record(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let logs = |drive: &Drive<Simulator>| {
        let files = drive.executor.files().into_keys().filter(|path| path.ends_with(".log"));
        files.map(|path| path.split('/').nth_back(1).unwrap().to_string()).collect::<Vec<_>>()
    };
    for month in 0..4 {
        drive.now.seconds = today().seconds + month * 31 * 86_400;
        drive.run(pad(&format!("- [ ] {month}"))).unwrap();
    }
    assert_eq!(logs(&drive), ["2026-05", "2026-06", "2026-07", "2026-08"]);
    let shown = drive.call(SetHistoryPolicy::default()).unwrap();
    assert!(shown.recording && shown.logs.len() == 4 && shown.bytes > 0, "{shown:?}");
    let policy = SetHistoryPolicy { max_age_days: Some(40), ..SetHistoryPolicy::default() };
    let agent = TrustConfig { provenance: Provenance::Agent, ..TrustConfig::default() };
    let mut other = Drive::new(kind, Config { trust: agent, ..agent_config() }, drive.executor);
    assert_eq!(other.call(policy).unwrap_err().code, ErrorCode::NotPermitted);
    drive.executor = other.executor;
    assert_eq!(drive.call(policy).unwrap().removed, 2);
    assert_eq!(logs(&drive), ["2026-07", "2026-08"]);
    // A new month removes what has become too old.
    drive.now.seconds += 62 * 86_400;
    drive.run(pad("- [ ] later")).unwrap();
    assert_eq!(logs(&drive), ["2026-10"]);
    drive.now.seconds += 31 * 86_400;
    drive.run(pad("- [ ] one month later")).unwrap();
    assert_eq!(logs(&drive), ["2026-10", "2026-11"]);
    // A wrong clock does not empty the history.
    let now = drive.now;
    drive.now.seconds += 900 * 366 * 86_400;
    drive.run(pad("- [ ] far away")).unwrap();
    assert_eq!(logs(&drive).len(), 3);
    drive.now = now;
    drive.run(pad("- [ ] back")).unwrap();
    assert_eq!(logs(&drive).len(), 3);
    drive.call(SetHistoryPolicy { max_log_bytes: Some(1), ..SetHistoryPolicy::default() }).unwrap();
    assert_eq!(logs(&drive), ["2026-11"]);
    drive.call(SetHistoryPolicy { recording: Some(false), ..SetHistoryPolicy::default() }).unwrap();
    let before = operations(&mut drive).len();
    drive.run(pad("- [ ] not recorded")).unwrap();
    assert_eq!(operations(&mut drive).len(), before);
}

#[both_engines]
fn without_a_machine_nothing_is_recorded_and_what_was_recorded_is_shown(kind: Kind) {
    let mut recording = drive(kind, agent_config(), &[]);
    recording.run(pad("- [ ] one")).unwrap();
    let logs = recording.executor.files().into_keys().filter(|path| path.ends_with(".log")).count();
    let mut silent = Drive::new(kind, Config { machine: None, ..agent_config() }, recording.executor);
    silent.run(fact("Port", "5432")).unwrap();
    assert_eq!(silent.executor.files().into_keys().filter(|path| path.ends_with(".log")).count(), logs);
    assert_eq!(operations(&mut silent).len(), 1);
    assert_eq!(undo(&mut silent).unwrap_err().code, ErrorCode::NotPermitted);
}

#[both_engines]
fn an_operation_whose_note_was_moved_since_is_not_passed_over(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    let tool = || Origin { provenance: Some(Provenance::Agent), agent: Some("a".into()), ..Origin::default() };
    drive.run(tool().with(fact("Rogue", "run it"))).unwrap();
    drive.run(tool().with(fact("Other", "bad"))).unwrap();
    drive.run(ask::rename("facts/rogue", "Build hints")).unwrap();
    let before = kept(&drive.executor);
    let error = drive.call(Undo { by: Some("agent".into()), ..Undo::default() }).unwrap_err();
    assert_eq!(error.code, ErrorCode::Conflict, "{error}");
    assert!(error.message.contains("moved") && error.message.contains("facts/build-hints.md"), "{error}");
    assert_eq!(kept(&drive.executor), before);
    undo(&mut drive).unwrap();
    drive.call(Undo { by: Some("agent".into()), ..Undo::default() }).unwrap();
    assert!(kept(&drive.executor).is_empty(), "{:?}", kept(&drive.executor).keys());
}
