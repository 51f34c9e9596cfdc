//! Questions about the notes that are there: tags, links, filters, and literal search.

use saddlebag::items::ListItems;
use saddlebag::items::Recall;
use saddlebag::notebook::{ConditionKind, ItemKind, NoteFilter, Related};
use saddlebag::protocol::{ErrorCode, FsError};
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, ask, both_engines, path};

use super::{call, found, library, list, open, refused};

#[both_engines]
fn tags_are_counted(kind: Kind) {
    let tags = call(&mut library(kind), ask::tags()).tags;
    let mut tags: Vec<(&str, u32)> = tags.iter().map(|tag| (tag.name.as_str(), tag.notes)).collect();
    tags.sort_unstable();
    assert_eq!(tags, [("db", 2), ("lang/rust", 1), ("ops", 1)]);
}

/// A listing and a recall name the same kind, which a path alone does not tell.
#[both_engines]
fn a_listing_has_the_kind_of_each_note(kind: Kind) {
    let expected = [
        ("MEMORY.md", ItemKind::File),
        ("SCRATCHPAD.md", ItemKind::File),
        ("daily/2026-05-24.md", ItemKind::Log),
        ("daily/plan.md", ItemKind::Note),
        ("facts/MEMORY.md", ItemKind::Note),
        ("sessions/2026-05-24-zebra.md", ItemKind::Session),
        ("sessions/plan.md", ItemKind::Note),
    ];
    let mut drive = open(kind, &expected.map(|(path, _)| (path, "# Zebra\n\nzebra\n")));
    let notes = call(&mut drive, ask::list_notes()).items;
    let mut listed: Vec<(&str, ItemKind)> = notes.iter().map(|note| (note.path.as_str(), note.kind)).collect();
    listed.sort_unstable_by_key(|(path, _)| *path);
    assert_eq!(listed, expected);
    for hit in call(&mut drive, ask::recall("zebra")).hits {
        assert!(expected.contains(&(&hit.path, hit.kind)), "{}: {:?}", hit.path, hit.kind);
    }
}

#[both_engines]
fn a_folder_that_may_not_be_listed_is_named_and_the_other_notes_are_found(kind: Kind) {
    let files = [("ok/a.md", "# A\n\nzebra\n"), ("private/b.md", "# B\n\nzebra\n")];
    let mut probe = open(kind, &files);
    assert_eq!(found(&call(&mut probe, ask::recall("zebra"))), ["ok/a.md", "private/b.md"]);
    let log = probe.executor.log();
    let refused = log.iter().position(|done| done.op == "list-directory" && done.path == "private").expect("listed");
    let mut drive = open(kind, &files);
    drive.executor.fail_at(refused as u64, FsError::Denied);
    let reply = call(&mut drive, ask::recall("zebra"));
    assert_eq!(found(&reply), ["ok/a.md"]);
    let skipped: Vec<(&str, &str)> =
        reply.skipped.iter().map(|file| (file.path.as_str(), file.reason.as_str())).collect();
    assert_eq!(skipped, [("private", "could not be read: permission denied")]);
    let reply = call(&mut drive, ask::recall("zebra"));
    assert_eq!((found(&reply).len(), reply.skipped), (2, Vec::new()));
}

#[both_engines]
fn the_graph_has_links_between_its_notes_alone(kind: Kind) {
    let filter = NoteFilter::default().with(ConditionKind::Path, ["facts", "notes/both.md"]);
    let graph = call(&mut library(kind), ListItems { filter, with_links: true, ..ask::list_notes() });
    let mut links: Vec<(&str, &str)> =
        graph.links.iter().map(|link| (link.source.as_str(), link.target.as_str())).collect();
    links.sort_unstable();
    assert_eq!(links, [("facts/port.md", "facts/db.md"), ("notes/both.md", "facts/db.md")]);
    assert_eq!(graph.items.len(), 3);
}

#[both_engines]
fn orphans_dead_links_and_mentions_are_found(kind: Kind) {
    let mut drive = library(kind);
    let filter = NoteFilter { orphan: true, ..Default::default() };
    let mut orphans = list(&mut drive, filter);
    orphans.sort_unstable();
    assert_eq!(orphans, ["daily/2026-05-24.md", "notes/alone.md", "notes/ops.md"]);
    let dead = call(&mut drive, ask::dead_links()).links;
    assert_eq!(dead.len(), 1);
    assert_eq!((dead[0].path.as_str(), dead[0].line, dead[0].target.as_str()), ("notes/ops.md", 5, "nowhere"));
    let mentions = call(&mut drive, ask::mentions("Database")).notes;
    assert_eq!(mentions.len(), 1);
    assert_eq!((mentions[0].path.as_str(), mentions[0].lines.as_slice()), ("notes/ops.md", [3].as_slice()));
    drive.executor.insert(&path("notes/ops.md"), *b"# Ops\n\nThe database, a database.\n\nDatabase again.\n");
    let mentions = call(&mut drive, ask::mentions("Database")).notes;
    assert_eq!(mentions[0].lines, [3, 5]);
    assert_eq!(call(&mut drive, ask::mentions("Port")).notes, []);
    let error = refused(&mut drive, ask::mentions("nope"));
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[both_engines]
fn related_notes_come_nearest_first(kind: Kind) {
    let mut drive = library(kind);
    let related = |drive: &mut Drive<Simulator>, note: &str, limit| {
        let found = call(drive, Related { limit, ..ask::related(note) }).notes;
        found.into_iter().map(|note| (note.path, note.distance, note.reason)).collect::<Vec<_>>()
    };
    let near = related(&mut drive, "Port", 10);
    let short: Vec<(&str, u32)> = near.iter().map(|(path, distance, _)| (path.as_str(), *distance)).collect();
    assert_eq!(short, [("notes/ops.md", 1), ("facts/db.md", 1), ("notes/both.md", 2)], "{near:?}");
    assert_eq!(related(&mut drive, "Port", 1).len(), 1);
    assert_eq!(related(&mut drive, "notes/alone", 9), []);
}

#[both_engines]
fn filters_select_and_mistakes_in_them_are_errors(kind: Kind) {
    let mut drive = library(kind);
    let some = |filter: NoteFilter, expected: &[&str], drive: &mut Drive<Simulator>| {
        let got = list(drive, filter.clone());
        let mut got: Vec<&str> = got.iter().map(String::as_str).collect();
        got.sort_unstable();
        assert_eq!(got, expected, "{filter:?}");
    };
    let default = NoteFilter::default;
    some(default().with(ConditionKind::Tag, ["db"]), &["facts/db.md", "facts/port.md"], &mut drive);
    some(default().with(ConditionKind::Tag, ["lang/*"]), &["facts/db.md"], &mut drive);
    some(default().with(ConditionKind::Tag, ["db", "NOT ops"]), &["facts/port.md"], &mut drive);
    some(
        NoteFilter { tagless: true, ..default() }.with(ConditionKind::Path, ["notes"]),
        &["notes/alone.md", "notes/both.md", "notes/ops.md"],
        &mut drive,
    );
    some(
        default().with(ConditionKind::Path, ["notes"]).with(ConditionKind::Exclude, ["notes/ops.md"]),
        &["notes/alone.md", "notes/both.md"],
        &mut drive,
    );
    some(
        NoteFilter { recursive: true, ..default() }.with(ConditionKind::LinkedBy, ["notes/ops.md"]),
        &["facts/db.md", "facts/port.md"],
        &mut drive,
    );
    some(
        NoteFilter { recursive: true, max_distance: Some(1), ..default() }
            .with(ConditionKind::LinkedBy, ["notes/ops.md"]),
        &["facts/port.md"],
        &mut drive,
    );
    some(
        default().with(ConditionKind::CreatedBefore, ["2026-01-31"]).with(ConditionKind::Path, ["facts"]),
        &["facts/db.md"],
        &mut drive,
    );
    for after in [["2025", "2026-01-31"], ["2026-01-31", "2025"]] {
        let each_holds = default().with(ConditionKind::CreatedAfter, after).with(ConditionKind::Path, ["facts"]);
        some(each_holds, &["facts/port.md"], &mut drive);
    }
    some(default().with(ConditionKind::Created, ["2026-02"]), &["facts/port.md"], &mut drive);
    some(default().with(ConditionKind::Mention, ["facts/db.md"]), &["notes/ops.md"], &mut drive);
    some(default().with(ConditionKind::MentionedBy, ["notes/ops.md"]), &["facts/db.md", "facts/port.md"], &mut drive);
    some(default().with(ConditionKind::Tag, ["nope"]), &[], &mut drive);
    for bad in [
        default().with(ConditionKind::LinkedBy, ["nope.md"]),
        default().with(ConditionKind::LinkTo, ["facts/db.md", "nope.md"]),
        default().with(ConditionKind::NoLinkTo, ["nope.md"]),
        default().with(ConditionKind::Related, ["nope.md"]),
        default().with(ConditionKind::Mention, ["nope.md"]),
        default().with(ConditionKind::MentionedBy, ["nope.md"]),
        default().with(ConditionKind::Created, ["someday soon"]),
        default().with(ConditionKind::ModifiedAfter, ["2026-13-45"]),
        default().with(ConditionKind::CreatedBefore, [""]),
    ] {
        let command = ListItems { filter: bad.clone(), ..ask::list_notes() };
        let error = refused(&mut drive, command);
        assert!(
            matches!(error.code, ErrorCode::InvalidArgument | ErrorCode::InvalidDate | ErrorCode::NotFound),
            "{bad:?}: {error:?}"
        );
        let error = refused(&mut drive, Recall { filter: bad.clone(), ..ask::recall("x") });
        assert!(
            matches!(error.code, ErrorCode::InvalidArgument | ErrorCode::InvalidDate | ErrorCode::NotFound),
            "{bad:?}: {error:?}"
        );
    }
}

/// Literal search covers the same files whatever the configuration and the commands before it.
#[both_engines]
fn literal_search_covers_the_same_files_whatever_the_notebook_takes_for_notes(kind: Kind) {
    let files = [
        (".zk/config.toml", "[note]\nextension = 'txt'\nexclude = ['facts/old-*']\n"),
        ("MEMORY.md", "zebra"),
        ("facts/a.md", "zebra"),
        ("facts/b.txt", "# B\n\nzebra"),
        ("facts/old-c.md", "zebra"),
        ("elsewhere/d.md", "zebra"),
        ("elsewhere/e.txt", "zebra"),
    ];
    let search = |drive: &mut Drive<Simulator>| {
        call(drive, ask::search("zebra")).hits.into_iter().map(|hit| hit.path).collect::<Vec<String>>()
    };
    let mut drive = open(kind, &files);
    let expected = ["MEMORY.md", "facts/a.md", "facts/old-c.md"];
    let all_notes = ["facts/b.txt", "elsewhere/e.txt"];
    assert_eq!(search(&mut drive), expected, "fresh");
    assert_eq!(call(&mut drive, ask::recall("zebra")).total, 2);
    assert_eq!(search(&mut drive), expected, "after a command of the notebook");
    assert_eq!(list(&mut drive, NoteFilter::default()), all_notes);
    drive.executor.insert(&path(".zk/config.toml"), *b"");
    // By title, which is the file name of a note without a title.
    let notes = ["MEMORY.md", "facts/a.md", "elsewhere/d.md", "facts/old-c.md"];
    assert_eq!(list(&mut drive, NoteFilter::default()), notes);
    assert_eq!(call(&mut drive, ask::recall("zebra")).total, 4);
    assert_eq!(search(&mut drive), expected, "under another configuration");
    let mut other = open(kind, &files);
    assert_eq!(list(&mut other, NoteFilter::default()), all_notes);
    assert_eq!(search(&mut other), expected, "the notebook first");
    let mut without_texts = open(kind, &files);
    assert_eq!(list(&mut without_texts, NoteFilter::default()), all_notes);
    without_texts.executor.insert(&path(".zk/config.toml"), *b"");
    assert_eq!(call(&mut without_texts, ask::recall("zebra")).total, 4);
    assert_eq!(search(&mut without_texts), expected, "another configuration before the texts were asked for");
}
