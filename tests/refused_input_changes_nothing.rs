//! Bad input gives an error and changes no byte of any file, and no change is attempted.

use core::str::FromStr;
use saddlebag::approval::{Approve, ApproveItem, MAX_NAMES, Reject, TrustCommand};
use saddlebag::entries::{
    Checkpoint, CloseRun, ExportEntries, ImportEntries, ImportFile, ImportMode, ImportState, ImportedFile,
    MAX_CATEGORY_BYTES, MAX_CONTENT_BYTES, MAX_IMPORT_BYTES, MAX_IMPORT_FILES, MAX_IMPORTED, MAX_KEY_BYTES,
    MAX_SOURCE_BYTES, MAX_TAG_BYTES, MAX_TAGS, NewEntry, OpenRun, PurgeEntries, RetainEntries, WriteEntry,
};
use saddlebag::items::{Forget, ListItems};
use saddlebag::journal::{MAX_QUERY_BYTES, MAX_WRITE_BYTES, SlashCommand, Target, TargetRole, WriteMode};
use saddlebag::notebook::NoteFilter;
use saddlebag::protocol::{Error, ErrorCode, FsError};
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet};
use saddlebag::{Command, Config, ConfigError, Limits, Submission, Submit};
use saddlebag_host::EngineError;
use support::drive::{changes, drive};
use support::{
    Kind, agent_config, ask, both_engines, commands, each, keep, project_config, try_engine, without_history,
};

const FILES: [(&str, &[u8]); 6] = [
    ("MEMORY.md", b"port 1\nport 2\n"),
    ("projects/proj/SCRATCHPAD.md", b"- [ ] a\n"),
    ("projects/proj/notes/a.md", b"note"),
    ("projects/proj/notes/bytes.md", b"caf\xe9 x"),
    ("projects/proj/notes/large.bak", &[b'x'; 5000]),
    ("projects/proj/daily/2026-05-24.md", b"log"),
];

/// Runs each command, which must be refused with the code and change nothing.
fn assert_refused(kind: Kind, code: ErrorCode, commands: Vec<impl Submit + Clone + std::fmt::Debug>) {
    assert_refused_on(kind, &project_config(), &FILES, code, commands);
}

fn assert_refused_on<C: Submit + Clone + std::fmt::Debug>(
    kind: Kind,
    config: &Config,
    files: &[(&str, &[u8])],
    code: ErrorCode,
    commands: Vec<C>,
) {
    let mut drive = drive(kind, config.clone(), files);
    let before = drive.executor.files();
    for command in &commands {
        let Err(error) = drive.run(command.clone()) else { panic!("{command:?} was done") };
        assert_eq!(error.code, code, "{command:?}: {error:?}");
        assert!(!error.message.is_empty() && !error.message.ends_with('.'), "{error:?}");
    }
    assert_eq!(drive.executor.files(), before);
    assert_eq!(changes(&drive.executor), [""; 0]);
    assert!(!drive.has_changed);
}

fn note(name: &str) -> Target {
    Target::Note(name.into())
}

/// Everything that takes a target, about this one.
fn with_target(target: &Target) -> Vec<Submission<Command>> {
    commands![
        ask::append(target.clone(), "mine"),
        ask::overwrite(target.clone(), "mine"),
        ask::show(target.clone()),
        ask::edit(target.clone(), "note", "x"),
        ask::restore(target.clone()),
    ]
}

#[both_engines]
fn a_bad_note_name_is_refused_by_every_command(kind: Kind) {
    let names = [
        "",
        "  ",
        ".md",
        "..",
        ".",
        "../x",
        "a/b",
        "/etc/passwd",
        "a\\b",
        ".hidden",
        "a.b",
        "README.MD",
        "a\nb",
        "a\0b",
        "a\tb",
        "\u{7f}a",
        "a\u{85}b",
        "a\u{2028}b",
        "CON",
        "nul.md",
        "Com1",
        "LPT³",
        "conin$",
        "x\r",
    ];
    let names = names.iter().filter(|name| **name != "x\r").map(|name| (*name).to_string());
    let commands =
        names.chain(["n".repeat(252), "n".repeat(300), "記".repeat(84)]).flat_map(|name| with_target(&note(&name)));
    assert_refused(kind, ErrorCode::InvalidName, commands.collect());
}

#[both_engines]
fn a_bad_date_is_refused_by_every_command(kind: Kind) {
    let dates = [
        "",
        "---",
        "1",
        "2026-5-25",
        "2026-02-30",
        "9999-99-99",
        "0000-01-01",
        "../2026-05-25",
        "2026-05-25/x",
        "2026-05-25\n",
        " 2026-05-25",
        "２０２６-05-25",
        "2026-05-25.md",
        "2026-05-25.MD",
        "today",
    ];
    let commands = dates.iter().flat_map(|date| {
        let target = Target::Daily(Some((*date).to_string()));
        // A log is written only today, so a write refuses any date.
        with_target(&target).into_iter().filter(|given| given.command.name() != "write")
    });
    assert_refused(kind, ErrorCode::InvalidDate, commands.collect());
}

#[both_engines]
fn a_write_into_the_past_is_refused(kind: Kind) {
    let past = Target::Daily(Some("2026-05-24".into()));
    assert_refused(
        kind,
        ErrorCode::InvalidArgument,
        commands![ask::append(past.clone(), "mine"), ask::overwrite(past, "mine")],
    );
}

#[both_engines]
fn a_query_without_words_or_without_end_is_refused(kind: Kind) {
    let blank = ["", "   ", "\t\n", "\u{3000}"].map(ask::search);
    assert_refused(kind, ErrorCode::InvalidArgument, blank.to_vec());
    let long = [" ".repeat(1 << 20), "x".repeat(1 << 20), "x".repeat(MAX_QUERY_BYTES + 1)];
    assert_refused(kind, ErrorCode::TooLarge, long.into_iter().map(ask::search).collect());
}

#[both_engines]
fn an_edit_without_one_match_is_refused(kind: Kind) {
    let past = || Target::Daily(Some("2026-05-24".into()));
    assert_refused(
        kind,
        ErrorCode::NoUniqueMatch,
        vec![
            ask::edit(Target::LongTerm, "port", "x"),
            ask::edit(Target::LongTerm, "nowhere", "x"),
            ask::edit(Target::LongTerm, "PORT 1", "x"),
            ask::edit(Target::LongTerm, "", "x"),
            ask::edit(Target::Scratchpad, "- [x] a", ""),
            ask::edit(past(), "logs", ""),
        ],
    );
}

#[both_engines]
fn an_edit_that_is_too_large_is_refused(kind: Kind) {
    let large = "x".repeat(MAX_WRITE_BYTES + 1);
    assert_refused(kind, ErrorCode::TooLarge, vec![ask::edit(Target::LongTerm, "port 1", &large)]);
}

#[both_engines]
fn only_a_note_can_be_deleted(kind: Kind) {
    let targets = [Target::LongTerm, Target::Scratchpad];
    assert_refused(kind, ErrorCode::InvalidArgument, targets.map(ask::forget).to_vec());
}

#[both_engines]
fn a_missing_file_cannot_be_edited_deleted_or_restored(kind: Kind) {
    assert_refused(
        kind,
        ErrorCode::NotFound,
        commands![
            ask::edit(note("nowhere"), "a", "b"),
            ask::forget(note("nowhere")),
            ask::edit(Target::Daily(None), "a", "b"),
            ask::restore(Target::LongTerm),
            ask::restore(note("a")),
            ask::restore(Target::Daily(None)),
        ],
    );
}

#[both_engines]
fn bytes_that_are_not_text_are_neither_edited_nor_read(kind: Kind) {
    assert_refused(kind, ErrorCode::NotText, commands![ask::edit(note("bytes"), "x", "y"), ask::show(note("bytes"))]);
}

#[both_engines]
fn a_heading_is_one_line(kind: Kind) {
    let headings = ["a\nb", "a\r", "\u{0}", "x\u{85}", "\u{1b}[31m"];
    let commands = headings.map(|heading| ask::append_daily(heading, "b"));
    assert_refused(kind, ErrorCode::InvalidArgument, commands.to_vec());
}

#[both_engines]
fn a_file_over_the_limit_is_left_alone(kind: Kind) {
    let limits = Limits { max_file_bytes: 4096, ..Limits::default() };
    let config = Config { limits, ..project_config() };
    let large = "fact\n".repeat(1000);
    let files: [(&str, &[u8]); 3] =
        [("MEMORY.md", large.as_bytes()), FILES[4], ("projects/proj/notes/large.md", large.as_bytes())];
    let commands = commands![
        ask::append(Target::LongTerm, "mine"),
        ask::overwrite(Target::LongTerm, "mine"),
        ask::edit(Target::LongTerm, "fact", "x"),
        ask::overwrite(note("large"), "mine"),
        ask::forget(note("large")),
        ask::restore(note("large")),
        ask::slash("/memory clear long_term"),
        ask::slash("/memory clear note large"),
    ];
    assert_refused_on(kind, &config, &files, ErrorCode::TooLarge, commands);
}

#[both_engines]
fn a_read_out_of_range_is_refused(kind: Kind) {
    let at = |offset, max_bytes| ask::show_part(Target::LongTerm, offset, max_bytes);
    let reads = vec![at(0, 1), at(0, 3), at(0, u32::MAX), at(14, 100), at(u64::MAX, 100)];
    assert_refused(kind, ErrorCode::InvalidArgument, reads);
}

#[both_engines]
fn an_invalid_command_line_is_refused(kind: Kind) {
    let lines = [
        "/memory nope",
        "/memoryx",
        "/memory write",
        "/memory write long_term",
        "/memory write bogus x",
        "/memory edit long x",
        "/memory clear",
        "/memory clear bogus",
        "/memory restore",
        "/memory search",
        "/memory status now",
        "/memory clear daily 2026-05-24",
        "/memory read scratchpad x",
        "/memory write note",
    ];
    let refused: Vec<ErrorCode> = lines
        .iter()
        .map(|line| {
            let mut drive = drive(kind, project_config(), &FILES);
            let before = drive.executor.files();
            let error = drive.run(ask::slash(*line)).unwrap_err();
            assert_eq!(drive.executor.files(), before, "{line}");
            assert_eq!(changes(&drive.executor), [""; 0], "{line}");
            error.code
        })
        .collect();
    assert!(
        refused.iter().all(|code| matches!(code, ErrorCode::InvalidArgument | ErrorCode::InvalidName)),
        "{refused:?}"
    );
}

#[test]
fn a_word_that_is_misspelt_chooses_nothing() {
    for word in ["overwirte", "Append", "", "replace"] {
        assert_eq!(word.parse::<WriteMode>().map_err(Error::from).unwrap_err().code, ErrorCode::InvalidArgument);
    }
    for word in ["longterm", "Note", "", "list"] {
        assert!(Target::parse(word, None, TargetRole::Target).is_err());
        assert!(SlashCommand::from_str(&format!("write {word} x")).is_err());
    }
    assert!(Target::parse("scratchpad", Some("x"), TargetRole::Target).is_err());
}

const ENTRIES: [(&str, &[u8]); 4] = [
    ("agents/a/entries/core/k.md", b"---\nkey: k\ncategory: core\n---\n\nthe text"),
    ("agents/a/entries/core/broken.md", b"---\nkey: [\n---\n\nby hand"),
    ("agents/a/entries/core/other.md", b"---\nkey: another\ncategory: core\n---\n\nby hand"),
    ("agents/a/entries/core/bytes.md", b"caf\xe9"),
];

/// Each must be refused with the code, the value and the limit, and change nothing.
fn assert_entries_refused(kind: Kind, code: ErrorCode, commands: Vec<impl Submit + Clone + std::fmt::Debug>) {
    assert_refused_on(kind, &agent_config(), &ENTRIES, code, commands);
}

fn store(change: impl FnOnce(&mut NewEntry)) -> WriteEntry {
    let mut command = keep("k", "new", "core");
    change(&mut command.entry);
    command
}

#[both_engines]
fn an_entry_without_key_content_category_or_with_an_empty_tag_is_refused(kind: Kind) {
    assert_entries_refused(
        kind,
        ErrorCode::InvalidArgument,
        commands![
            keep("", "x", "core"),
            keep("k", "", "core"),
            keep("k", "x", ""),
            store(|entry| entry.tags = vec!["a".into(), "  ".into()]),
            ask::entry(""),
            ask::forget_entry(""),
            PurgeEntries { key: Some(String::new()) },
        ],
    );
}

#[both_engines]
fn an_entry_over_a_limit_is_refused(kind: Kind) {
    let long = |limit: usize| "x".repeat(limit + 1);
    let key = long(MAX_KEY_BYTES);
    assert_entries_refused(
        kind,
        ErrorCode::TooLarge,
        commands![
            keep(&key, "x", "core"),
            keep("k", long(MAX_CONTENT_BYTES), "core"),
            keep("k", "x", long(MAX_CATEGORY_BYTES)),
            store(|entry| entry.tags = (0..=MAX_TAGS).map(|tag| tag.to_string()).collect()),
            store(|entry| entry.tags = vec![long(MAX_TAG_BYTES)]),
            store(|entry| entry.source = Some(long(MAX_SOURCE_BYTES))),
            store(|entry| entry.supersedes = Some(key.clone())),
            ask::entry(key.clone()),
            ask::forget_entry(key),
        ],
    );
}

#[both_engines]
fn an_import_over_a_limit_is_refused_whole(kind: Kind) {
    let file = |name: usize, bytes: usize| ImportFile {
        path: format!("core/k{name}.md"),
        content: Ok(format!("---\nkey: k{name}\n---\n\n{}", "x".repeat(bytes)).into_bytes()),
    };
    let import = |files: Vec<ImportFile>| {
        let mode = ImportMode::Replace;
        ImportEntries { files, mode, dry_run: false, earlier: Vec::new() }
    };
    let state = ImportState::Deleted;
    let imported = ImportedFile { path: String::new(), key: Some("k".into()), shared: false, replaces: false, state };
    assert_entries_refused(
        kind,
        ErrorCode::TooLarge,
        commands![
            import((0..=MAX_IMPORT_FILES).map(|name| file(name, 1)).collect()),
            import(vec![file(0, 100), file(1, MAX_IMPORT_BYTES)]),
            RetainEntries { imported: vec![imported; MAX_IMPORTED + 1], dry_run: false },
        ],
    );
}

#[both_engines]
fn a_cursor_that_no_export_gave_is_refused(kind: Kind) {
    let export = |cursor: &str| ExportEntries { forgotten: false, cursor: Some(cursor.to_string()) };
    assert_entries_refused(kind, ErrorCode::InvalidArgument, ["", "../x", "/etc", "a\0b"].map(export).to_vec());
}

#[both_engines]
fn a_file_that_was_written_by_hand_is_not_written_over(kind: Kind) {
    let keys = ["broken", "other"];
    assert_entries_refused(kind, ErrorCode::DamagedFile, keys.map(|key| keep(key, "mine", "core")).to_vec());
    assert_entries_refused(kind, ErrorCode::NotText, vec![keep("bytes", "mine", "core")]);
}

#[both_engines]
fn a_list_that_could_show_nothing_by_mistake_is_refused(kind: Kind) {
    let list = ask::list_entries;
    let after = || Some("yesterday".to_string());
    let linked = NoteFilter { orphan: true, ..NoteFilter::default() };
    assert_entries_refused(
        kind,
        ErrorCode::InvalidArgument,
        commands![
            ListItems { after: after(), ..list() },
            ListItems { after: after(), ..ask::list() },
            ListItems { category: Some(String::new()), ..list() },
            ListItems { category: Some("core".into()), ..ask::list_notes() },
            ListItems { filter: linked.clone(), ..list() },
            ListItems { filter: linked, forgotten: true, ..ask::list() },
            ListItems { name: Some("core".into()), ..ask::list() },
            ask::recall_entries(""),
            ask::recall_entries(" \t "),
        ],
    );
}

#[both_engines]
fn a_key_without_an_entry_is_not_found(kind: Kind) {
    let key = || "nowhere".to_string();
    assert_entries_refused(
        kind,
        ErrorCode::EntryNotFound,
        commands![ask::entry(key()), ask::forget_entry(key()), PurgeEntries { key: Some(key()) },],
    );
}

#[both_engines]
fn a_run_that_is_not_open_stores_and_returns_nothing(kind: Kind) {
    let kept = |category: &str| ask::in_run(keep("k", "x", category));
    let named = commands![kept("core"), kept("conversation"), ask::in_run(Checkpoint), ask::in_run(CloseRun)];
    assert_entries_refused(kind, ErrorCode::NotFound, named);
    let nameless = commands![keep("k", "x", "conversation"), Checkpoint, OpenRun { fence: 1 }];
    assert_entries_refused(kind, ErrorCode::InvalidArgument, nameless);
}

#[both_engines]
fn a_version_that_is_not_the_current_one_changes_nothing(kind: Kind) {
    let base = || Some("0123456789abcdef".to_string());
    let forget = Forget { expected_version: base(), ..ask::forget_entry("k") };
    assert_entries_refused(kind, ErrorCode::StaleVersion, vec![forget]);
}

#[both_engines]
fn an_approval_or_a_rejection_of_nothing_or_of_too_much_is_refused(kind: Kind) {
    let both = |count: usize| {
        let items = vec![ApproveItem { name: "k".into(), version: "0".repeat(64) }; count];
        let approve = Approve { items: items.clone(), dry_run: false };
        let reject = |for_good| TrustCommand::Reject(Reject { items: items.clone(), dry_run: false, for_good });
        vec![TrustCommand::Approve(approve), reject(false), reject(true)]
    };
    assert_refused_on(kind, &agent_config(), &ENTRIES, ErrorCode::InvalidArgument, both(0));
    assert_refused_on(kind, &agent_config(), &ENTRIES, ErrorCode::TooLarge, both(MAX_NAMES + 1));
}

#[both_engines]
fn without_an_agent_there_are_no_entries(kind: Kind) {
    let commands = commands![keep("k", "x", "core"), ask::entry("k")];
    assert_refused_on(kind, &project_config(), &ENTRIES, ErrorCode::InvalidArgument, commands);
}

#[both_engines]
fn the_engine_knows_whether_a_command_changed_anything(kind: Kind) {
    let file = |key: &str| ImportFile {
        path: format!("core/{key}.md"),
        content: Ok(b"---\nupdated: 2026-05-01\n---\n\nv".to_vec()),
    };
    let import = ImportEntries {
        files: ["a", "b", "c"].map(file).to_vec(),
        mode: ImportMode::Upsert,
        dry_run: false,
        earlier: Vec::new(),
    };
    let mut calm = drive(kind, agent_config(), &[]);
    calm.run(import.clone()).expect("it is imported");
    assert!(calm.has_changed);
    let mut unchanged = 0;
    for operation in each("operation", 0..calm.executor.operations()) {
        let mut drive = drive(kind, agent_config(), &[]);
        drive.executor.fail_at(operation, FsError::NoSpace);
        let Err(error) = drive.run(import.clone()) else { continue };
        assert_eq!(
            drive.has_changed,
            !without_history(drive.executor.files()).is_empty(),
            "{kind:?}, at {operation}: {error}"
        );
        unchanged += u32::from(!drive.has_changed);
    }
    assert!(unchanged > 0);
}

/// A tool answers with its error as text.
#[both_engines]
fn a_tool_that_fails_after_a_change_says_that_it_stays(kind: Kind) {
    let store = |category: &str| CallTool {
        tool: "memory_store".into(),
        input: format!(r#"{{"key": "k", "content": "one", "category": "{category}"}}"#),
        options: ToolOptions { sets: ToolSet::ALL.to_vec(), dialect: Dialect::Sdk },
    };
    let stored = || {
        let mut drive = drive(kind, agent_config(), &[]);
        drive.run(store("core")).expect("it is stored");
        drive
    };
    let mut calm = stored();
    let before = calm.executor.operations();
    calm.run(store("custom")).expect("it is moved");
    let mut after_changes = 0;
    for operation in each("operation", before..calm.executor.operations()) {
        let mut drive = stored();
        let files = drive.executor.files();
        drive.executor.fail_at(operation, FsError::NoSpace);
        let answer = drive.call(store("custom")).unwrap();
        let text = answer.text.into_string();
        if answer.is_error {
            let is_changed = without_history(drive.executor.files()) != without_history(files);
            assert_eq!(text.contains("changes from before the error stay"), is_changed, "at {operation}: {text}");
            assert_eq!(text.contains("nothing was changed"), !is_changed, "at {operation}: {text}");
            after_changes += u32::from(is_changed);
        }
    }
    assert!(after_changes > 0);
}

#[both_engines]
fn a_secret_of_another_length_opens_no_memory(kind: Kind) {
    let config = |bytes: usize| Config { secret: Some(vec![0x5a; bytes].into()), ..project_config() };
    assert!(try_engine(kind, config(32)).is_ok());
    for bytes in [0_u32, 31, 33] {
        let refused = try_engine(kind, config(bytes as usize)).err();
        assert_eq!(refused, Some(EngineError::Config(ConfigError::InvalidSecret(bytes))));
    }
}
