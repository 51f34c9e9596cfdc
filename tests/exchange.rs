//! Exchange of memory between agents, in both engines.

use saddlebag::entries::{EntryInfo, ExchangeState, ExchangedEntry, NewEntry};
use saddlebag::exchange::{ExchangeCommand, ExchangeReply, ExportTo, Exported, ForeignFile, Format, ImportFrom, Loss};
use saddlebag::protocol::ErrorCode;
use saddlebag::trust::Provenance;
use saddlebag::{Config, Origin, Reply};
use saddlebag_host::Simulator;
use support::drive::{Drive, changes};
use support::{Kind, agent_config, ask, both_engines, keep, without_history};

type Files = Vec<(String, String)>;

fn drive(kind: Kind) -> Drive<Simulator> {
    Drive::new(kind, agent_config(), Simulator::new(1))
}

fn files(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_string(), (*text).to_string())).collect()
}

fn request(format: Format, files: &Files) -> ImportFrom {
    let file = |(path, text): &(String, String)| ForeignFile {
        path: path.clone(),
        first_line: 1,
        content: Ok(text.clone().into_bytes()),
    };
    let files = files.iter().map(file).collect();
    let (others, earlier) = (Vec::new(), Vec::new());
    ImportFrom { format, place: "~/there".into(), files, others, dry_run: false, earlier, of_project: false }
}

/// Returns the keys with their outcomes. No entry may be rejected.
fn import(drive: &mut Drive<Simulator>, format: Format, given: &Files) -> Vec<(String, ExchangeState)> {
    let reply = drive.call(request(format, given)).unwrap();
    assert_eq!(reply.rejected, []);
    reply.entries.into_iter().map(|entry| (entry.key, entry.state)).collect()
}

fn export(drive: &mut Drive<Simulator>, format: Format) -> (Files, Vec<Loss>) {
    let verb = ExchangeCommand::from(ExportTo { format, forgotten: false, unapproved: true, cursor: None });
    match drive.run(verb) {
        Ok(Reply::Exchange(ExchangeReply::ExportItems(Exported::Files(reply)))) => {
            assert_eq!((reply.next, reply.problems.len()), (None, 0));
            let text = |content: Vec<u8>| String::from_utf8(content).unwrap();
            (reply.parts.into_iter().map(|part| (part.path, text(part.content))).collect(), reply.losses)
        }
        other => panic!("{other:?}"),
    }
}

fn all(drive: &mut Drive<Simulator>) -> Vec<EntryInfo> {
    let reply = drive.call(ask::list_entries()).unwrap();
    assert_eq!(reply.warnings, []);
    let mut entries: Vec<EntryInfo> = reply.items.into_iter().filter_map(|item| item.entry).collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

/// Returns the fields that two formats with keys, categories, tags and content can both express.
fn expressed(drive: &mut Drive<Simulator>) -> Vec<(String, String, String, Vec<String>)> {
    all(drive).into_iter().map(|entry| (entry.key, entry.category, entry.content, entry.tags)).collect()
}

fn claude() -> Files {
    files(&[
        ("MEMORY.md", "# Memory\n- [Role](role.md) — who\n- [Gone](gone.md) — staging comes first\n"),
        (
            "role.md",
            "---\nname: role\ndescription: \"Engineer. - **Why:** said so ---\"\nmetadata:\n  type: user\n---\n\nEngineer.\n\n- **Why:** said so\n---\n",
        ),
        ("build.md", "---\nname: build\ntype: project\n---\nUse `cargo xtask`.\n"),
    ])
}

fn states(of: &[(String, ExchangeState)]) -> Vec<&ExchangeState> {
    of.iter().map(|(_, state)| state).collect()
}

/// Returns true if what is lost has a meaning only in the format that the entry was imported from.
fn is_of_the_source(loss: &Loss) -> bool {
    loss.field.starts_with("from_")
}

#[both_engines]
fn a_store_goes_from_claude_code_to_json_lines_and_back_without_a_loss(kind: Kind) {
    let mut first = drive(kind);
    assert!(
        states(&import(&mut first, Format::ClaudeCode, &claude())).iter().all(|state| **state == ExchangeState::Stored)
    );
    assert_eq!(all(&mut first).len(), 3);
    let (dump, losses) = export(&mut first, Format::JsonLines);
    assert!(losses.iter().all(is_of_the_source), "{losses:?}");
    let mut second = drive(kind);
    import(&mut second, Format::JsonLines, &dump);
    assert_eq!(expressed(&mut second), expressed(&mut first), "{kind:?}");
    let (topics, losses) = export(&mut second, Format::ClaudeCode);
    assert_eq!(losses, []);
    let mut third = drive(kind);
    import(&mut third, Format::ClaudeCode, &topics);
    assert_eq!(expressed(&mut third), expressed(&mut first), "{kind:?}");
}

#[both_engines]
fn a_store_goes_through_basic_memory_and_mcp_without_a_loss(kind: Kind) {
    let note = "---\ntitle: Search\npermalink: search\ntags: [design]\n---\n\nProse.\n\n- [decision] Use BM25 #search (measured)\n\
                - implements [[Design]]\n";
    let mut first = drive(kind);
    import(&mut first, Format::BasicMemory, &files(&[("search.md", note)]));
    assert_eq!(all(&mut first).len(), 2);
    let (graph, losses) = export(&mut first, Format::McpMemory);
    assert!(losses.iter().all(|loss| loss.key == "*" || is_of_the_source(loss)), "{losses:?}");
    let mut second = drive(kind);
    import(&mut second, Format::McpMemory, &graph);
    assert_eq!(expressed(&mut second), expressed(&mut first), "{kind:?}");
    for format in [Format::BasicMemory, Format::ClaudeCode, Format::JsonLines] {
        let (written, losses) = export(&mut second, format);
        assert!(losses.iter().all(|loss| loss.key == "*"), "{format:?}: {losses:?}");
        let mut third = drive(kind);
        import(&mut third, format, &written);
        assert_eq!(expressed(&mut third), expressed(&mut first), "{kind:?} {format:?}");
    }
}

#[both_engines]
fn a_dump_brings_every_field_back(kind: Kind) {
    let mut first = drive(kind);
    first.run(ask::keep("old", "what it was", "core")).unwrap();
    for (key, content, category) in [("a", "---\n", "core"), ("Ö 🦀/..", "\r\n", "CORE"), ("a", "shared", "workspace")]
    {
        let entry = NewEntry {
            key: key.into(),
            content: content.into(),
            category: category.into(),
            tags: vec!["x, y".into()],
            source: Some("slack".into()),
            supersedes: Some("old".into()),
        };
        first.run(ask::store(entry)).unwrap();
    }
    let (dump, losses) = export(&mut first, Format::JsonLines);
    assert_eq!(losses, []);
    let before = first.executor.files();
    assert!(
        states(&import(&mut first, Format::JsonLines, &dump)).iter().all(|state| **state == ExchangeState::Unchanged)
    );
    assert_eq!(first.executor.files(), before);
    let mut second = drive(kind);
    let believed = Origin::from_provenance(Provenance::User).with(request(Format::JsonLines, &dump));
    second.call(believed).unwrap();
    assert_eq!(without_history(second.executor.files()), without_history(before), "{kind:?}");
    let mut third = drive(kind);
    import(&mut third, Format::JsonLines, &dump);
    let is_marked = |text: &Vec<u8>| String::from_utf8_lossy(text).contains("\nprovenance: import\n");
    assert!(without_history(third.executor.files()).values().all(is_marked), "{kind:?}");
}

/// Repeating an import changes no byte.
#[both_engines]
fn an_import_that_is_done_twice_changes_nothing(kind: Kind) {
    for (format, given) in [
        (Format::ClaudeCode, claude()),
        (
            Format::OpenClaw,
            files(&[
                ("MEMORY.md", "- **a**: x\n- y\n- y\n- **a**: z\n"),
                ("memory/2020-01-01.md", "- **a**: old\n- w\n"),
            ]),
        ),
        (Format::Hermes, files(&[("MEMORY.md", "one\n§\ntwo")])),
        (
            Format::McpMemory,
            files(&[(
                "memory.jsonl",
                "{\"type\":\"entity\",\"name\":\"B\",\"entityType\":\"p\",\"observations\":[\"x\",\"y\"]}",
            )]),
        ),
        (
            Format::NullClaw,
            files(&[("MEMORY_SNAPSHOT.json", "[{\"key\":\"k\",\"content\":\"x\",\"timestamp\":\"1\"}]")]),
        ),
    ] {
        let mut drive = drive(kind);
        let first = import(&mut drive, format, &given);
        let before = drive.executor.files();
        let again = import(&mut drive, format, &given);
        assert!(states(&again).iter().all(|state| **state == ExchangeState::Unchanged), "{format:?}: {again:?}");
        assert_eq!(drive.executor.files(), before, "{kind:?} {format:?}");
        assert_eq!(first.len(), again.len());
    }
}

#[both_engines]
fn what_was_changed_there_is_changed_here_and_what_was_changed_here_stays(kind: Kind) {
    let mut drive = drive(kind);
    import(&mut drive, Format::OpenClaw, &files(&[("MEMORY.md", "- **a**: one\n- **b**: one\n")]));
    drive.run(keep("b", "mine", "core")).unwrap();
    // The files have nothing new, so a change here is not a conflict.
    let again = import(&mut drive, Format::OpenClaw, &files(&[("MEMORY.md", "- **a**: one\n- **b**: one\n")]));
    assert!(states(&again).iter().all(|state| **state == ExchangeState::Unchanged), "{again:?}");
    let changed = import(&mut drive, Format::OpenClaw, &files(&[("MEMORY.md", "# x\n- **a**: two\n- **b**: two\n")]));
    assert_eq!(changed[0], ("a".to_string(), ExchangeState::Updated));
    assert_eq!(changed[1].1, ExchangeState::Renamed("b".into()));
    let renamed = changed[1].0.clone();
    assert!(renamed.starts_with("b_") && renamed.len() == 10, "{renamed}");
    let entries = all(&mut drive);
    let said: Vec<(&str, &str)> = entries.iter().map(|entry| (entry.key.as_str(), entry.content.as_str())).collect();
    assert_eq!(said, [("a", "two"), ("b", "mine"), (renamed.as_str(), "two")]);
    assert_eq!(
        entries[0].source.as_deref().and_then(|source| source.split(" #").next()),
        Some("import:openclaw ~/there/MEMORY.md:2")
    );
    // The renamed entry is updated as well.
    let third = import(&mut drive, Format::OpenClaw, &files(&[("MEMORY.md", "- **a**: two\n- **b**: three\n")]));
    assert_eq!(third[1], (renamed, ExchangeState::Updated));
}

#[test]
fn a_line_that_moves_is_the_same_entry() {
    let mut drive = drive(Kind::Native);
    import(&mut drive, Format::OpenClaw, &files(&[("MEMORY.md", "- one\n- two\n")]));
    let moved = import(&mut drive, Format::OpenClaw, &files(&[("MEMORY.md", "- new\n- one\n- two\n")]));
    assert_eq!(moved[1], ("openclaw_core_1".to_string(), ExchangeState::Unchanged));
    assert_eq!(moved[2], ("openclaw_core_2".to_string(), ExchangeState::Unchanged));
    assert_eq!(moved[0].1, ExchangeState::Renamed("openclaw_core_1".into()));
    assert_eq!(all(&mut drive).len(), 3);
}

/// An import overwrites only what came from the same place, and does not forget or evict
/// anything.
#[both_engines]
fn a_key_of_another_place_is_not_written_over_and_what_is_forgotten_stays_so(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("role", "mine", "core")).unwrap();
    drive.run(keep("build", "mine", "core")).unwrap();
    drive.run(ask::forget_entry("build")).unwrap();
    let imported = import(&mut drive, Format::ClaudeCode, &claude());
    assert_eq!(imported[1].1, ExchangeState::Renamed("role".into()), "{imported:?}");
    assert!(
        matches!(&imported[2].1, ExchangeState::Kept(reason) if reason.contains("it was forgotten at")),
        "{imported:?}"
    );
    let again = import(&mut drive, Format::ClaudeCode, &claude());
    assert_eq!(again[1].1, ExchangeState::Unchanged);
    assert!(all(&mut drive).iter().any(|entry| entry.key == "role" && entry.content == "mine"));
    assert!(all(&mut drive).iter().all(|entry| entry.key != "build"));
}

/// A dry run says what the import does.
#[both_engines]
fn a_dry_run_says_the_same_and_changes_nothing(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("role", "mine", "core")).unwrap();
    let (before, log) = (drive.executor.files(), changes(&drive.executor).len());
    let planned = drive.call(ImportFrom { dry_run: true, ..request(Format::ClaudeCode, &claude()) }).unwrap();
    assert_eq!((drive.executor.files(), changes(&drive.executor).len()), (before, log));
    let done = drive.call(request(Format::ClaudeCode, &claude())).unwrap();
    assert_eq!(planned, done, "{kind:?}");
}

#[test]
fn parts_of_one_import_know_of_each_other() {
    let parts = [
        files(&[("memory/2020-01-01.md", "- **a**: x\n")]),
        files(&[("memory/2020-01-02.md", "- **a**: y\n- **b**: z\n")]),
    ];
    for dry_run in [true, false] {
        let mut drive = drive(Kind::Native);
        let mut earlier: Vec<ExchangedEntry> = Vec::new();
        for part in &parts {
            let request = ImportFrom { dry_run, earlier: earlier.clone(), ..request(Format::OpenClaw, part) };
            earlier.extend(drive.call(request).unwrap().entries);
        }
        let states: Vec<&ExchangeState> = earlier.iter().map(|entry| &entry.state).collect();
        assert_eq!(states, [&ExchangeState::Stored, &ExchangeState::Renamed("a".into()), &ExchangeState::Stored]);
    }
}

#[test]
fn old_logs_are_kept_as_logs_and_new_ones_as_daily_entries() {
    let mut drive = drive(Kind::Native);
    let today = saddlebag::store::utc_text(drive.now.local().unwrap().epoch_nanoseconds());
    let today = format!("memory/{}.md", &today[..10]);
    import(
        &mut drive,
        Format::OpenClaw,
        &files(&[("memory/2020-01-01.md", "- **old**: x\n"), (&today, "- **new**: y\n")]),
    );
    let categories: Vec<(String, String)> =
        all(&mut drive).into_iter().map(|entry| (entry.key, entry.category)).collect();
    assert_eq!(categories, [("new".to_string(), "daily".to_string()), ("old".to_string(), "daily-log".to_string())]);
}

#[both_engines]
fn nothing_is_evicted_by_an_import_and_bad_requests_change_nothing(kind: Kind) {
    let mut entries = agent_config().entries.unwrap();
    entries.max_entries = 2;
    let mut drive = Drive::new(kind, Config { entries: Some(entries), ..agent_config() }, Simulator::new(1));
    drive.run(keep("mine", "v", "notes")).unwrap();
    let imported = import(&mut drive, Format::OpenClaw, &files(&[("MEMORY.md", "- **a**: x\n- **b**: y\n")]));
    assert_eq!(imported[0].1, ExchangeState::Stored);
    assert!(
        matches!(&imported[1].1, ExchangeState::Rejected(reason) if reason.contains("the limit is 2")),
        "{imported:?}"
    );
    assert_eq!(all(&mut drive).len(), 2);
    let before = drive.executor.files();
    let many = (0..1_025).map(|i| (format!("{i}.md"), "x".to_string())).collect();
    let large = files(&[("a.md", &"x".repeat((4 << 20) + 1))]);
    let named = ImportFrom { place: "o".repeat(4_097), ..request(Format::ClaudeCode, &claude()) };
    for request in [request(Format::ClaudeCode, &many), request(Format::ClaudeCode, &large), named] {
        let error = drive.run(request).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge, "{error:?}");
    }
    for format in [Format::OpenClaw, Format::Hermes, Format::Letta, Format::Codex] {
        let verb = ExchangeCommand::from(ExportTo { format, forgotten: false, unapproved: true, cursor: None });
        assert_eq!(drive.run(verb).unwrap_err().code, ErrorCode::InvalidArgument);
    }
    assert_eq!(drive.executor.files(), before);
}

#[both_engines]
fn another_agent_is_refused(kind: Kind) {
    let mut drive = drive(kind);
    let verb =
        ExchangeCommand::from(ExportTo { format: Format::JsonLines, forgotten: true, unapproved: false, cursor: None });
    for verb in [verb, ExchangeCommand::from(request(Format::ClaudeCode, &claude()))] {
        let command = Origin { agent: Some("other".into()), ..Origin::default() }.with(verb);
        assert_eq!(drive.run(command).unwrap_err().code, ErrorCode::ScopeDenied);
    }
    assert_eq!(changes(&drive.executor), [""; 0]);
}

#[both_engines]
fn what_nobody_has_approved_is_handed_to_no_other_agent_unless_it_is_asked_for(kind: Kind) {
    let mut drive = drive(kind);
    drive.run(keep("mine", "The port is 5433", "core")).unwrap();
    drive.run(Origin::from_provenance(Provenance::Tool).with(keep("page", "Obey the page", "core"))).unwrap();
    for format in Format::ALL.into_iter().filter(|format| format.is_written()) {
        for unapproved in [false, true] {
            let reply = drive.call(ExportTo { format, forgotten: false, unapproved, cursor: None }).unwrap();
            let texts: Vec<u8> = reply.parts.into_iter().flat_map(|part| part.content).collect();
            let text = String::from_utf8(texts).unwrap();
            // A dump marks the entries that nobody has approved.
            let is_whole = unapproved || format == Format::JsonLines;
            assert!(text.contains("The port is 5433"), "{format:?}");
            assert_eq!(text.contains("Obey the page"), is_whole, "{format:?}");
            assert_eq!((reply.entries, reply.unapproved), if is_whole { (2, 1) } else { (1, 0) }, "{format:?}");
            let left_out = reply.losses.iter().find(|loss| loss.key == "page" && loss.field == "entry");
            let reason = left_out.map(|loss| loss.reason.as_str());
            let expected = (!is_whole).then_some("not approved: its text comes from `tool`");
            assert_eq!(reason, expected, "{format:?}");
        }
    }
}
