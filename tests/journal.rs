//! The journal beyond the recorded vectors: exact text, paging, undo, command lines, and a search that keeps up with
//! the files.

use saddlebag::items::ItemKind;
use saddlebag::journal::{FlushSummary, SLASH_USAGE, Search, Status, StatusReply, Target, WriteFile, WriteMode};
use saddlebag::protocol::{ErrorCode, FsError};
use saddlebag::search::{SearchResults, SkipKind};
use saddlebag::store::Timestamp;
use saddlebag::{Config, Limits};
use saddlebag_host::Simulator;
use support::drive::{Drive, changes, drive};
use support::{Kind, ask, both_engines, commands, host, noon, path, project_config};

const LOG: &str = "projects/proj/daily/2026-05-25.md";
const PAD: &str = "projects/proj/SCRATCHPAD.md";
const NOTE: &str = "projects/proj/notes/n.md";

fn note() -> Target {
    Target::Note("n".into())
}

#[both_engines]
fn a_page_is_read_and_edited_by_its_path_or_title(kind: Kind) {
    let page = "projects/proj/facts/port.md";
    let text = "---\ntitle: Postgres port\n---\n\nIt is 5432.\n";
    for name in ["facts/port.md", "facts/port", "Postgres port"] {
        let mut drive = drive(kind, project_config(), &[(page, text.as_bytes())]);
        let target = Target::Page(name.into());
        let reply = drive.call(ask::show(target.clone())).unwrap();
        assert_eq!((reply.path.as_str(), reply.text.as_str()), (page, text), "{name}");
        let reply = drive.call(ask::show_part(target.clone(), 4, 5)).unwrap();
        assert_eq!((reply.text.as_str(), reply.next_offset), ("title", Some(9)));
        drive.run(ask::edit(target.clone(), "5432", "5433")).unwrap();
        assert!(text_of(&drive, page).ends_with("It is 5433.\n"));
        assert_eq!(text_of(&drive, "projects/proj/facts/port.bak"), text);
        assert_eq!(drive.run(ask::append(target, "x")).unwrap_err().code, ErrorCode::InvalidArgument);
    }
    let mut drive = drive(kind, project_config(), &[(page, text.as_bytes()), ("projects/other/x.md", b"secret")]);
    let missing = |name: &str| ask::show(Target::Page(name.into()));
    let error = drive.run(missing("port of postgres")).unwrap_err();
    assert_eq!((error.code, error.help.as_str()), (ErrorCode::NotFound, "notes like it: projects/proj/facts/port.md"));
    for outside in ["projects/other/x.md", "../other/x.md", "/etc/passwd", ".zk/config.toml", "x\n.md", ""] {
        let error = drive.run(missing(outside)).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{outside:?}: {error}");
    }
}

fn text_of(drive: &Drive<Simulator>, path: &str) -> String {
    String::from_utf8(drive.executor.files()[path].clone()).unwrap()
}

#[both_engines]
fn a_text_over_the_limit_is_refused_unless_the_cut_is_asked_for(kind: Kind) {
    let long = "é".repeat(32_768) + "x";
    for mode in [WriteMode::Append, WriteMode::Overwrite] {
        for target in [Target::LongTerm, Target::Scratchpad, Target::Daily(None), note()] {
            let mut drive = drive(kind, project_config(), &[("MEMORY.md", b"old\n"), (NOTE, b"old\n")]);
            let write = |truncate| WriteFile { target: target.clone(), mode, content: long.clone(), truncate };
            let error = drive.run(write(false)).unwrap_err();
            assert_eq!((error.code, changes(&drive.executor).len()), (ErrorCode::TooLarge, 0), "{error:?}");
            assert!(error.message.contains("65537 bytes, the limit is 65536"), "{error:?}");
            let reply = drive.call(write(true)).unwrap();
            assert_eq!((reply.bytes, reply.truncated_from), (65_536, Some(65_537)));
        }
    }
    let mut drive = drive(kind, project_config(), &[]);
    for command in commands![
        ask::append_daily("h", long.clone()),
        ask::flush(long.clone()),
        ask::slash(format!("write scratchpad {long}")),
    ] {
        let error = drive.run(command).unwrap_err();
        assert_eq!((error.code, changes(&drive.executor).len()), (ErrorCode::TooLarge, 0), "{error:?}");
    }
}

fn slash(drive: &mut Drive<Simulator>, line: &str) -> String {
    drive.call(ask::slash(line)).unwrap().text
}

fn status(drive: &mut Drive<Simulator>) -> StatusReply {
    drive.call(Status).unwrap()
}

fn paths(results: &SearchResults) -> Vec<&str> {
    results.hits.iter().map(|hit| hit.path.as_str()).collect()
}

fn find(drive: &mut Drive<Simulator>, query: &str) -> Vec<String> {
    drive.call(ask::search(query)).unwrap().hits.into_iter().map(|hit| hit.path).collect()
}

fn text(drive: &Drive<Simulator>, file: &str) -> String {
    String::from_utf8(drive.executor.files().remove(file).unwrap_or_else(|| panic!("no {file}"))).unwrap()
}

#[both_engines]
fn an_entry_of_the_log_has_its_exact_text(kind: Kind) {
    let entry = |heading: &str, body: &str| ask::append_daily(heading, body);
    let mut host = host(kind, project_config(), &[("projects/proj/daily/2026-05-26.md", b"x")]);
    let late = Timestamp { seconds: noon("2026-05-25").seconds + 45_240, nanoseconds: 0, utc_offset_seconds: 0 };
    let west = Timestamp { utc_offset_seconds: -7200, ..late };

    host.run(west, entry("shipped", "\n  it works \n\n")).unwrap();
    host.run(late, entry("", "")).unwrap();

    let files = host.executor().files();
    assert_eq!(files[LOG], "\n### 22:34 — shipped\nit works\n".as_bytes());
    assert_eq!(files["projects/proj/daily/2026-05-26.md"], "x\n\n### 00:34 — \n\n".as_bytes());
}

#[both_engines]
fn compaction_summaries_stay_in_order(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[]);
    let flush = |summary: &str, messages| FlushSummary { messages, ..ask::flush(summary) };
    drive.run(flush("first", Some(12))).unwrap();
    drive.run(flush("second", None)).unwrap();
    let expected = "\n### 12:00 — compaction summary (12 msgs)\nfirst\n\n### 12:00 — compaction summary\nsecond\n";
    assert_eq!(text(&drive, LOG), expected);
}

#[both_engines]
fn status_counts_what_is_at_hand(kind: Kind) {
    let mut empty = drive(kind, project_config(), &[]);
    let status_of_nothing = status(&mut empty);
    assert_eq!(status_of_nothing.text, "MEMORY.md: (not created)\nscratchpad: (empty)\ntoday: (no entries)");
    assert_eq!(status_of_nothing.long_term_bytes, None);

    let files: [(&str, &[u8]); 3] =
        [("MEMORY.md", b"12345"), (PAD, b"- [ ] a\n  * [ ] b\n- [x] c\n"), (LOG, b"### a\n#### no\n### b\n")];
    let full = status(&mut drive(kind, project_config(), &files));
    assert_eq!((full.long_term_bytes, full.open_items, full.today_entries), (Some(5), 2, 2));
    assert_eq!(full.text, "MEMORY.md: 5B\nscratchpad: 2 open item(s)\ntoday: 2 entry(s)");
}

#[both_engines]
fn list_has_the_scratchpad_and_says_what_it_skips(kind: Kind) {
    let files: [(&str, &[u8]); 7] = [
        ("MEMORY.md", b"12"),
        ("MEMORY.bak", b"x"),
        (PAD, b"123"),
        ("projects/proj/OTHER.md", b"x"),
        ("projects/other/notes/x.md", b"x"),
        (NOTE, b""),
        (LOG, b"1"),
    ];
    let mut drive = drive(kind, project_config(), &files);
    drive.executor.insert_link(&path("projects/proj/notes/link.md"));
    drive.executor.insert_directory(&path("projects/proj/notes/folder.md"));

    let list = drive.call(ask::list_by_path()).unwrap();

    let found: Vec<(ItemKind, &str)> = list.items.iter().map(|item| (item.kind, item.path.as_str())).collect();
    let (file, log, note) = (ItemKind::File, ItemKind::Log, ItemKind::Note);
    let other = (note, "projects/proj/OTHER.md");
    let link = (note, "projects/proj/notes/link.md");
    assert_eq!(found, [(file, "MEMORY.md"), other, (file, PAD), (log, LOG), link, (note, NOTE)]);
    assert!(list.items.iter().all(|item| item.modified > 0 || item.path.ends_with("link.md")));
    let skipped: Vec<(&str, SkipKind)> =
        list.skipped.iter().map(|skipped| (skipped.path.as_str(), skipped.kind)).collect();
    assert_eq!(skipped, [("projects/proj/notes/link.md", SkipKind::NotRegular)]);
}

#[both_engines]
fn parts_of_a_file_make_up_the_file(kind: Kind) {
    let body = "aé記🙂\n".repeat(40);
    let mut drive = drive(kind, project_config(), &[(NOTE, body.as_bytes())]);
    for max_bytes in [4, 5, 7, 64, 4000] {
        let (mut whole, mut next) = (String::new(), Some(0));
        while let Some(offset) = next {
            let part = drive.call(ask::show_part(note(), offset, max_bytes)).unwrap();
            assert_eq!((part.offset, part.size), (offset, body.len() as u64));
            assert!(part.text.len() <= max_bytes as usize && !part.text.is_empty());
            whole.push_str(&part.text);
            next = part.next_offset;
        }
        assert_eq!(whole, body);
    }
    // An offset inside a character starts after it.
    let part = drive.call(ask::show_part(note(), 2, 4)).unwrap();
    assert_eq!((part.offset, part.text.as_str()), (3, "記"));
}

#[both_engines]
fn restoring_twice_undoes_and_redoes(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[(NOTE, b"one")]);
    drive.run(ask::overwrite(note(), "two")).unwrap();
    let restore = || ask::restore(note());
    let mut seen = Vec::new();
    for _ in 0..3 {
        drive.run(restore()).unwrap();
        seen.push(text(&drive, NOTE));
    }
    assert_eq!(seen, ["one", "two", "one"]);

    drive.run(ask::forget(note())).unwrap();
    assert!(!drive.executor.files().contains_key(NOTE));
    let restored = drive.call(restore()).unwrap();
    assert_eq!(restored.message, format!("Restored {NOTE} from projects/proj/notes/n.bak (3 bytes)"));
    assert_eq!(text(&drive, NOTE), "one");
    drive.run(ask::edit(note(), "one", "three")).unwrap();
    assert_eq!(text(&drive, NOTE), "three");
}

#[both_engines]
fn a_restore_that_cannot_keep_what_it_replaces_changes_nothing(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[(NOTE, b"now"), ("projects/proj/notes/n.bak", b"then")]);
    // Two reads, then the backup of the existing text.
    drive.executor.fail_at(2, FsError::NoSpace);
    let error = drive.run(ask::restore(note())).unwrap_err();
    assert_eq!(error.code, ErrorCode::Storage);
    assert_eq!((text(&drive, NOTE), text(&drive, "projects/proj/notes/n.bak")), ("now".into(), "then".into()));
}

#[both_engines]
fn slash_commands_work_end_to_end(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[]);
    assert_eq!(slash(&mut drive, "/memory read list"), "(empty)");
    assert_eq!(slash(&mut drive, "/memory search jose"), "No matches for 'jose'.");
    assert_eq!(slash(&mut drive, "/memory clear scratchpad"), format!("Nothing to clear in {PAD}"));
    assert_eq!(changes(&drive.executor), [""; 0]);

    assert_eq!(slash(&mut drive, "/memory write long_term port is 1"), "Wrote 9 bytes to MEMORY.md");
    assert_eq!(
        slash(&mut drive, "/memory write note:\"two words\" a jose b"),
        "Wrote 8 bytes to projects/proj/notes/two words.md"
    );
    assert_eq!(slash(&mut drive, "write scratchpad - [ ] item"), format!("Wrote 10 bytes to {PAD}"));
    assert_eq!(slash(&mut drive, "write daily noted"), format!("Wrote 5 bytes to {LOG}"));
    assert_eq!(slash(&mut drive, "/memory"), "MEMORY.md: 10B\nscratchpad: 1 open item(s)\ntoday: (no entries)");
    assert_eq!(slash(&mut drive, "/memory edit long port is 1 => port is 2"), "Edited MEMORY.md");
    assert_eq!(slash(&mut drive, "/memory read long_term"), "port is 2\n");
    assert_eq!(slash(&mut drive, "/memory read daily 2026-05-25"), "noted\n");
    assert_eq!(slash(&mut drive, "/memory read note none"), "(empty) projects/proj/notes/none.md does not exist");
    assert!(slash(&mut drive, "/memory search jose").contains("projects/proj/notes/two words.md  [matched: jose]"));
    assert_eq!(slash(&mut drive, "/memory restore long_term"), "Restored MEMORY.md from MEMORY.bak (10 bytes)");
    assert_eq!(slash(&mut drive, "/memory read long"), "port is 1\n");
    assert_eq!(slash(&mut drive, "clear daily"), format!("Cleared {LOG} (kept as projects/proj/daily/2026-05-25.bak)"));
    assert_eq!(text(&drive, LOG), "");
    slash(&mut drive, "restore daily");
    assert_eq!(text(&drive, LOG), "noted\n");
    assert_eq!(slash(&mut drive, "clear note two words"), "Deleted projects/proj/notes/two words.md");
    assert_eq!(slash(&mut drive, "read list"), format!("MEMORY.md\n{PAD}\n{LOG}"));
    let usage = drive.run(ask::slash("/memory nope")).unwrap_err();
    assert_eq!((usage.message.as_str(), usage.help.as_str()), ("unknown command: nope", SLASH_USAGE));
}

#[both_engines]
fn a_long_file_is_shown_to_its_limit(kind: Kind) {
    let body = "記".repeat(5000);
    let mut drive = drive(kind, project_config(), &[("MEMORY.md", body.as_bytes())]);
    let shown = slash(&mut drive, "/memory read long");
    assert_eq!(shown, format!("{}…[truncated]", "記".repeat(4000)));
}

#[both_engines]
fn search_pages_follow_one_another(kind: Kind) {
    let files: Vec<String> = (0..10).map(|number| format!("projects/proj/notes/n{number}.md")).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|file| (file.as_str(), b"word".as_slice())).collect();
    let mut drive = drive(kind, project_config(), &files);
    let all = drive.call(ask::search("word")).unwrap();
    assert_eq!((all.total_files, all.hits.len(), all.rendered_hits), (10, 10, 10));
    let mut joined = Vec::new();
    for offset in [0, 4, 8, 12, u32::MAX] {
        let page = drive.call(Search { offset, limit: Some(4), ..ask::search("word") }).unwrap();
        assert_eq!((page.total_files, &page.terms), (10, &all.terms));
        joined.extend(page.hits);
    }
    assert_eq!(joined, all.hits);
}

#[both_engines]
fn search_sees_what_others_and_what_itself_wrote(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[(NOTE, b"alpha"), (LOG, b"beta")]);
    assert_eq!(find(&mut drive, "alpha"), [NOTE]);

    drive.executor.insert(&path(NOTE), b"gamma");
    assert_eq!(find(&mut drive, "alpha"), [""; 0]);
    assert_eq!(find(&mut drive, "gamma"), [NOTE]);

    let renamed = saddlebag::protocol::FsOp::Rename {
        path: path(NOTE),
        to: path("projects/proj/notes/m.md"),
        precondition: saddlebag::protocol::Precondition::Any,
    };
    saddlebag_host::Executor::perform(&mut drive.executor, &renamed).unwrap();
    assert_eq!(find(&mut drive, "gamma"), ["projects/proj/notes/m.md"]);

    let m = Target::Note("m".into());
    drive.run(ask::overwrite(m.clone(), "delta")).unwrap();
    assert_eq!(find(&mut drive, "delta"), ["projects/proj/notes/m.md"]);
    assert_eq!(find(&mut drive, "gamma"), [""; 0], "a backup is not searched");

    drive.run(ask::forget(m)).unwrap();
    assert_eq!(find(&mut drive, "delta"), [""; 0]);
    assert_eq!(find(&mut drive, "beta"), [LOG]);
}

/// A search reads again only what changed.
#[both_engines]
fn a_search_reads_again_only_what_changed(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[(NOTE, b"alpha"), (LOG, b"beta")]);
    find(&mut drive, "alpha");
    let before = drive.executor.operations() as usize;
    drive.executor.insert(&path(LOG), b"alpha too");
    assert_eq!(find(&mut drive, "alpha"), [LOG, NOTE]);
    let reads: Vec<&str> = drive.executor.log()[before..]
        .iter()
        .filter(|performed| performed.op == "read")
        .map(|performed| performed.path.as_str())
        .collect();
    assert_eq!(reads, [LOG]);
}

/// Only `assume-unchanged` replaces the listing.
#[both_engines]
fn a_search_that_assumes_nothing_changed_asks_for_nothing_after_its_first_read(kind: Kind) {
    let vouched = || Search { assume_unchanged: true, ..ask::search("alpha") };
    let mut drive = drive(kind, project_config(), &[(NOTE, b"alpha")]);
    assert_eq!(paths(&drive.call(vouched()).unwrap()), [NOTE], "the first one reads all the same");
    let before = drive.executor.operations();
    drive.executor.insert(&path(NOTE), b"changed");

    assert_eq!(paths(&drive.call(vouched()).unwrap()), [NOTE]);

    assert_eq!(drive.executor.operations(), before);
    assert!(find(&mut drive, "alpha").is_empty(), "without the word of the host it looks");
}

/// A search tries again what it could not read.
#[both_engines]
fn a_file_that_could_not_be_read_is_tried_again(kind: Kind) {
    let mut drive = drive(kind, project_config(), &[(NOTE, b"alpha")]);
    // Four folders are listed first.
    drive.executor.fail_at(4, FsError::Denied);
    let results = drive.call(ask::search("alpha")).unwrap();
    assert_eq!(results.total_files, 0);
    assert_eq!(results.skipped[0].reason, format!("could not be read: {}", FsError::Denied));
    let results = drive.call(ask::search("alpha")).unwrap();
    assert_eq!((paths(&results), results.skipped.len()), (vec![NOTE], 0));
}

#[both_engines]
fn a_file_that_found_no_room_is_searched_once_there_is_some(kind: Kind) {
    const FULL: &str = "projects/proj/notes/a.md";
    let limits = Limits { max_index_bytes: 20, ..Limits::default() };
    let config = Config { limits, ..project_config() };
    let mut drive = drive(kind, config, &[(FULL, b"fifteen bytes.."), (NOTE, b"alpha beta")]);
    let results = drive.call(ask::search("alpha")).unwrap();
    assert_eq!((results.total_files, results.skipped[0].kind), (0, SkipKind::IndexFull));
    drive.executor.insert(&path(FULL), *b"short");
    let results = drive.call(ask::search("alpha")).unwrap();
    // The first search may read only the file that shrank; the next one reads the file that has room now.
    let results = if results.total_files == 0 { drive.call(ask::search("alpha")).unwrap() } else { results };
    assert_eq!((paths(&results), results.skipped.len()), (vec![NOTE], 0));
}

#[both_engines]
fn a_read_takes_as_many_bytes_as_are_documented(kind: Kind) {
    let text = "x".repeat(4_000);
    let config = Config { limits: Limits { max_file_bytes: 4_096, ..Limits::default() }, ..project_config() };
    let mut drive = drive(kind, config, &[(NOTE, text.as_bytes())]);
    let read = |max_bytes| ask::show_part(note(), 0, max_bytes);
    for max_bytes in [4_093, 4_094, 4_096] {
        assert_eq!(drive.call(read(max_bytes)).unwrap().text, text, "{max_bytes}");
    }
    let refused = drive.run(read(4_097)).expect_err("it is too much");
    assert_eq!(refused.message, "cannot read 4097 bytes at once, the limits are 4 and 4096");
}
