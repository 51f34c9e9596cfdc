//! Files with names that no path may have are not read, and are reported.

use saddlebag::journal::{JournalCommand, JournalReply, ListJournal, Search};
use saddlebag::notebook::{ListNotes, NotebookCommand, NotebookReply, Tags};
use saddlebag::protocol::{EntryKind, FsError};
use saddlebag::search::{SkipReason, Skipped};
use saddlebag::{Command, Config, Reply};
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, both_engines, path};

fn config(epoch: u64) -> Config {
    Config { epoch, index_file: true, ..Config::default() }
}

fn store() -> Simulator {
    let mut store = Simulator::new(1);
    for i in 0..150 {
        store.insert(&path(&format!("notes/n{i:03}.md")), format!("# Note {i}\n\nword{i} #tag\n"));
    }
    let notes = path("notes");
    store.insert_unnamed(Some(&notes), "back\\slash.md", EntryKind::File);
    store.insert_unnamed(Some(&notes), "bell\u{7}", EntryKind::Directory);
    // A file that would not be memory under any name is not reported.
    store.insert_unnamed(Some(&notes), "photo\u{7}.png", EntryKind::File);
    store.insert_unnamed(Some(&notes), ".hid\u{7}den.md", EntryKind::File);
    store
}

fn skipped(drive: &mut Drive<Simulator>, command: impl Into<Command>) -> Vec<(String, SkipReason)> {
    let skipped = match drive.run(command.into()).unwrap() {
        Reply::Journal(JournalReply::Search(reply)) => reply.skipped,
        Reply::Journal(JournalReply::ListJournal(reply)) => reply.skipped,
        Reply::Notebook(NotebookReply::ListNotes(reply)) => reply.skipped,
        other => panic!("{other:?}"),
    };
    skipped.into_iter().map(|Skipped { path, reason }| (path, reason)).collect()
}

fn expected() -> Vec<(String, SkipReason)> {
    let names = ["notes/back\u{fffd}slash.md", "notes/bell\u{fffd}"];
    names.map(|name| (name.to_string(), SkipReason::Unnameable)).into()
}

#[both_engines]
fn names_that_no_path_may_have_are_named_by_search_and_lists(kind: Kind) {
    for command in [
        Command::from(JournalCommand::Search(Search::new("word7"))),
        JournalCommand::ListJournal(ListJournal).into(),
        NotebookCommand::ListNotes(ListNotes::default()).into(),
    ] {
        let mut drive = Drive::new(kind, config(1), store());
        // Again, when nothing has changed since.
        for _ in 0..2 {
            assert_eq!(skipped(&mut drive, command.clone()), expected(), "{command:?}");
        }
    }
}

#[both_engines]
fn a_new_engine_names_them_although_the_index_file_spares_it_the_listing(kind: Kind) {
    let mut drive = Drive::new(kind, config(1), store());
    drive.run(NotebookCommand::Tags(Tags)).unwrap();
    assert!(drive.executor.files().contains_key(".saddlebag/index/0000"));
    let mut drive = Drive::new(kind, config(2), drive.executor);
    assert_eq!(skipped(&mut drive, NotebookCommand::ListNotes(ListNotes::default())), expected());
}

#[both_engines]
fn they_are_named_beside_a_file_that_cannot_be_read(kind: Kind) {
    let mut calm = Drive::new(kind, config(1), store());
    calm.run(JournalCommand::Search(Search::new("word7"))).unwrap();
    let read = calm.executor.log().iter().position(|done| done.path == "notes/n007.md").unwrap() as u64;
    let mut store = store();
    store.fail_at(read, FsError::Denied);
    let mut drive = Drive::new(kind, config(1), store);
    let found = skipped(&mut drive, JournalCommand::Search(Search::new("word7")));
    let unreadable = ("notes/n007.md".to_string(), SkipReason::Unreadable(FsError::Denied));
    assert_eq!(found, [vec![unreadable], expected()].concat());
    // The file is tried again.
    assert_eq!(skipped(&mut drive, JournalCommand::Search(Search::new("word7"))), expected());
}

#[both_engines]
fn more_of_them_than_are_listed_are_counted(kind: Kind) {
    let mut store = Simulator::new(1);
    for i in 0..100 {
        store.insert_unnamed(Some(&path("notes")), &format!("{i:03}\u{7}.md"), EntryKind::File);
    }
    let mut drive = Drive::new(kind, config(1), store);
    let found = skipped(&mut drive, JournalCommand::ListJournal(ListJournal));
    assert_eq!(found.len(), 65);
    assert_eq!(found[64], ("notes".to_string(), SkipReason::MoreUnnameable(36)));
    assert!(found[..64].iter().all(|(_, reason)| *reason == SkipReason::Unnameable));
}

#[both_engines]
fn one_that_is_renamed_is_read(kind: Kind) {
    let mut drive = Drive::new(kind, config(1), store());
    assert_eq!(skipped(&mut drive, JournalCommand::Search(Search::new("zebra"))), expected());
    drive.executor.remove_unnamed();
    drive.executor.insert(&path("notes/backslash.md"), "zebra\n");
    let reply = drive.run(JournalCommand::Search(Search::new("zebra"))).unwrap();
    let Reply::Journal(JournalReply::Search(reply)) = reply else { panic!("{reply:?}") };
    assert_eq!((reply.total_files, reply.skipped), (1, vec![]));
}
