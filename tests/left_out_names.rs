//! Files with names that no path may have are not read, and are reported.

use saddlebag::context::{BlockForm, Context, LeftOutKind, Overflow};
use saddlebag::entries::{EntriesConfig, Hydrate, HydrationPolicy};
use saddlebag::items::{ItemsReply, ListItems};
use saddlebag::journal::JournalReply;
use saddlebag::protocol::{EntryKind, FsError};
use saddlebag::search::{SkipKind, Skipped};
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet};
use saddlebag::{Config, Reply, Submit};
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, ask, both_engines, commands, keep, path};

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

fn skipped(drive: &mut Drive<Simulator>, command: impl Submit) -> Vec<(String, SkipKind)> {
    let skipped = match drive.run(command).unwrap() {
        Reply::Journal(JournalReply::Search(reply)) => reply.skipped,
        Reply::Items(ItemsReply::ListItems(reply)) => reply.skipped,
        other => panic!("{other:?}"),
    };
    skipped.into_iter().map(|Skipped { path, kind, .. }| (path, kind)).collect()
}

/// Reason that is given for each of them.
const UNNAMEABLE: &str = "its name is not UTF-8, or has `\\` or a control character; rename it to make it readable";

fn expected() -> Vec<(String, SkipKind)> {
    let names = ["notes/back\u{fffd}slash.md", "notes/bell\u{fffd}"];
    names.map(|name| (name.to_string(), SkipKind::Unnameable)).into()
}

#[both_engines]
fn names_that_no_path_may_have_are_named_by_search_and_lists(kind: Kind) {
    for command in commands![ask::search("word7"), ask::list(), ask::list_notes()] {
        let mut drive = Drive::new(kind, config(1), store());
        // Again, when nothing has changed since.
        for _ in 0..2 {
            assert_eq!(skipped(&mut drive, command.clone()), expected(), "{command:?}");
        }
    }
}

#[both_engines]
fn the_files_of_the_scope_name_them_on_their_first_page(kind: Kind) {
    let mut drive = Drive::new(kind, config(1), store());
    let mut page = |after: Option<&str>| drive.call(ask::list_files(after, 100)).unwrap();
    let first = page(None);
    let found: Vec<_> = first.skipped.into_iter().map(|Skipped { path, kind, .. }| (path, kind)).collect();
    assert_eq!(found, expected());
    let next = first.next.expect("there is a second page");
    assert_eq!(page(Some(&next)).skipped, []);
}

/// A store with an entry, and a name beside it that no path may have.
fn store_of_agent(kind: Kind) -> Drive<Simulator> {
    let config = Config { entries: Some(EntriesConfig::for_agent("a")), ..config(1) };
    let mut store = Simulator::new(1);
    store.insert_unnamed(Some(&path("agents/a/entries/core")), "k\u{7}.md", EntryKind::File);
    store.insert_unnamed(Some(&path("daily")), "2026-05-25\u{7}.md", EntryKind::File);
    let mut drive = Drive::new(kind, config, store);
    drive.call(keep("known", "x", "core")).unwrap();
    drive
}

#[both_engines]
fn a_list_of_entries_names_them(kind: Kind) {
    let mut drive = store_of_agent(kind);
    let list = ListItems { limit: Some(9), ..ask::list_entries() };
    let reply = drive.call(list).unwrap();
    let problems: Vec<_> =
        reply.warnings.iter().map(|problem| (problem.path.as_str(), problem.message.as_str())).collect();
    assert_eq!(problems, [("agents/a/entries/core/k\u{fffd}.md", UNNAMEABLE)]);
    assert_eq!(reply.items.len(), 1);
}

#[both_engines]
fn the_report_of_a_block_names_them(kind: Kind) {
    let mut drive = store_of_agent(kind);
    let reply = drive
        .call(Context {
            overflow: Overflow::Prioritised,
            max_bytes: 10_000,
            entries: Some(Hydrate { max_bytes: 1_000, policy: HydrationPolicy::default() }.into()),
            turn: None,
            form: BlockForm::default(),
        })
        .unwrap();
    let named: Vec<_> = reply
        .left_out
        .iter()
        .map(|left_out| (left_out.path.as_str(), left_out.section.as_str(), left_out.kind, left_out.reason.as_str()))
        .collect();
    let not_hydrated = format!("not hydrated: {UNNAMEABLE}");
    assert_eq!(
        named,
        [
            ("daily/2026-05-25\u{fffd}.md", "Daily log", LeftOutKind::NotListed, UNNAMEABLE),
            ("agents/a/entries/core/k\u{fffd}.md", "Entries (hydrated)", LeftOutKind::NotHydrated, &*not_hydrated),
        ]
    );
}

#[both_engines]
fn a_view_of_a_folder_names_them(kind: Kind) {
    let mut store = store();
    store.insert(&path("memories/own/a.txt"), "x");
    store.insert_unnamed(Some(&path("memories/own")), "b\u{7}.txt", EntryKind::File);
    let mut drive = Drive::new(kind, config(1), store);
    let mut view = |path: &str| {
        let (sets, dialect) = (vec![ToolSet::Anthropic], Dialect::Docs);
        let input = format!("{{\"command\":\"view\",\"path\":\"{path}\"}}");
        let answer =
            drive.call(CallTool { tool: "memory".into(), input, options: ToolOptions { sets, dialect } }).unwrap();
        assert!(!answer.is_error, "{answer:?}");
        let lines = answer.text.as_str().lines().filter(|line| line.starts_with("(not listed: "));
        lines.map(String::from).collect::<Vec<_>>()
    };
    let own = format!("(not listed: /memories/own/b\u{fffd}.txt: {UNNAMEABLE})");
    let notes = ["back\u{fffd}slash.md", "bell\u{fffd}"]
        .map(|name| format!("(not listed: /memories/notes/{name}: {UNNAMEABLE})"));
    assert_eq!(view("/memories/own"), std::slice::from_ref(&own));
    assert_eq!(view("/memories/notes"), notes);
    assert_eq!(view("/memories"), [notes.to_vec(), vec![own]].concat());
}

#[both_engines]
fn a_new_engine_names_them_although_the_index_file_spares_it_the_listing(kind: Kind) {
    let mut drive = Drive::new(kind, config(1), store());
    drive.run(ask::tags()).unwrap();
    assert!(drive.executor.files().contains_key(".saddlebag/index/0000"));
    let mut drive = Drive::new(kind, config(2), drive.executor);
    assert_eq!(skipped(&mut drive, ask::list_notes()), expected());
}

#[both_engines]
fn they_are_named_beside_a_file_that_cannot_be_read(kind: Kind) {
    let mut calm = Drive::new(kind, config(1), store());
    calm.run(ask::search("word7")).unwrap();
    let read = calm.executor.log().iter().position(|done| done.path == "notes/n007.md").unwrap() as u64;
    let mut store = store();
    store.fail_at(read, FsError::Denied);
    let mut drive = Drive::new(kind, config(1), store);
    let found = skipped(&mut drive, ask::search("word7"));
    let unreadable = ("notes/n007.md".to_string(), SkipKind::Unreadable);
    assert_eq!(found, [vec![unreadable], expected()].concat());
    // The file is tried again.
    assert_eq!(skipped(&mut drive, ask::search("word7")), expected());
}

#[both_engines]
fn more_of_them_than_are_listed_are_counted(kind: Kind) {
    let mut store = Simulator::new(1);
    for i in 0..100 {
        store.insert_unnamed(Some(&path("notes")), &format!("{i:03}\u{7}.md"), EntryKind::File);
    }
    let mut drive = Drive::new(kind, config(1), store);
    let found = drive.call(ask::list()).unwrap().skipped;
    assert_eq!(found.len(), 65);
    assert!(found.iter().all(|skipped| skipped.kind == SkipKind::Unnameable), "{found:?}");
    assert!(found[..64].iter().all(|skipped| skipped.reason == UNNAMEABLE), "{found:?}");
    let more = &found[64];
    assert!(more.path == "notes" && more.reason.starts_with("36 more files or folders in it have names"), "{more:?}");
}

#[both_engines]
fn one_that_is_renamed_is_read(kind: Kind) {
    let mut drive = Drive::new(kind, config(1), store());
    assert_eq!(skipped(&mut drive, ask::search("zebra")), expected());
    drive.executor.remove_unnamed();
    drive.executor.insert(&path("notes/backslash.md"), "zebra\n");
    let reply = drive.call(ask::search("zebra")).unwrap();
    assert_eq!((reply.total_files, reply.skipped), (1, vec![]));
}
