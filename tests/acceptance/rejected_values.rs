//! A value that a person rejected for good is refused by every way in, in every spelling, past every expiry and purge.
//!
//! Only the spelling is compared. A test here says nothing about the same fact in other words, which is stored.

use saddlebag::approval::{ApproveItem, Reject, RejectReply};
use saddlebag::context::{Context, ContextEntries, PromptReply};
use saddlebag::entries::{
    Hydrate, HydrationPolicy, ImportEntries, ImportFile, ImportMode, ImportState, NewEntry, OpenRun, PurgeEntries,
};
use saddlebag::exchange::{ForeignFile, Format, ImportFrom};
use saddlebag::history::{HistoryCommand, Undo};
use saddlebag::journal::Target;
use saddlebag::notebook::{
    ImportNotes, ImportedNote, Link, NoteImportState, RememberError, RememberSummary, WriteNote,
};
use saddlebag::protocol::{Error, ErrorCode};
use saddlebag::session::{EndSession, RecallForPrompt, RecordToolUse};
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet, ToolsCommand, ToolsReply};
use saddlebag::trust::{Provenance, TrustConfig};
use saddlebag::{Command, Config, Origin, Reply, Submission, Submit};
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, agent_config, ask, both_engines, commands, fact, keep, path};

const VALUE: &str = "Staging listens on port 8080.";
const PARAPHRASE: &str = "The staging server is reached at port 8080.";
const NEIGHBOUR: &str = "Production listens on port 443.";

fn config(epoch: u64, provenance: Provenance) -> Config {
    let trust = TrustConfig { provenance, ..TrustConfig::default() };
    Config { epoch, trust, machine: Some("laptop".into()), index_file: true, ..agent_config() }
}

fn opened(kind: Kind) -> Drive<Simulator> {
    Drive::new(kind, config(1, Provenance::User), Simulator::new(1))
}

/// Opens the same store later, as another process does.
fn reopened(kind: Kind, drive: Drive<Simulator>, epoch: u64, provenance: Provenance) -> Drive<Simulator> {
    let now = drive.now;
    let mut drive = Drive::new(kind, config(epoch, provenance), drive.executor);
    drive.now = now;
    drive
}

fn reject(drive: &mut Drive<Simulator>, name: &str) -> RejectReply {
    let items = vec![ApproveItem { name: name.into(), version: String::new() }];
    drive.call(Reject { items, dry_run: false, for_good: true }).unwrap()
}

/// Returns a store in which a person has rejected the value, which was an entry, and kept its neighbour.
fn rejected(kind: Kind) -> Drive<Simulator> {
    let mut drive = opened(kind);
    drive.run(keep("staging", VALUE, "core")).unwrap();
    drive.run(keep("production", NEIGHBOUR, "core")).unwrap();
    let reply = reject(&mut drive, "staging");
    assert_eq!((reply.rejected.len(), reply.skipped.len()), (1, 0), "{reply:?}");
    drive
}

/// Checks that a command is refused for its value, changes nothing and does not repeat the value.
#[track_caller]
fn refused(drive: &mut Drive<Simulator>, command: impl Submit) -> Error {
    let command = command.submission();
    let shown = format!("{command:?}");
    let before = drive.executor.files();
    let error = drive.run(command).expect_err(&shown);
    assert_eq!(error.code, ErrorCode::Rejected, "{shown}: {error:?}");
    assert!(error.help.contains("unforget"), "{error:?}");
    assert!(!format!("{error:?}").contains("port 8080"), "{shown}: {error:?}");
    assert_eq!(drive.executor.files(), before, "{shown}");
    error
}

/// Returns the block of the agent.
fn block(drive: &mut Drive<Simulator>) -> String {
    let request = Hydrate { max_bytes: 100_000, policy: HydrationPolicy::Greedy };
    let entries = Some(ContextEntries::from(request));
    match drive.run(Context { entries, max_bytes: 100_000, ..Context::default() }) {
        Ok(Reply::Prompt(PromptReply::Context(reply))) => {
            reply.block.map(|text| text.as_str().into()).unwrap_or_default()
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the keys and titles that a recall finds.
fn recalled(drive: &mut Drive<Simulator>, query: &str) -> String {
    format!("{:?}", drive.call(ask::recall(query)).unwrap())
}

/// Returns the files that say the value in its own spelling, without those of the program and tombstones.
fn active(drive: &Drive<Simulator>) -> Vec<String> {
    let files = drive.executor.files().into_iter().filter(|(file, bytes)| {
        let text = String::from_utf8_lossy(bytes);
        !file.contains(".saddlebag/")
            && !file.ends_with(".bak")
            && text.contains(VALUE)
            && !text.contains("\nforgotten:")
    });
    files.map(|(file, _)| file).collect()
}

fn files(given: &[(&str, &str)]) -> ImportEntries {
    let file = |(path, text): &(&str, &str)| ImportFile { path: (*path).into(), content: Ok(text.as_bytes().to_vec()) };
    let files = given.iter().map(file).collect();
    ImportEntries { files, mode: ImportMode::Upsert, dry_run: false, earlier: Vec::new() }
}

fn import(drive: &mut Drive<Simulator>, request: ImportEntries) -> Vec<ImportState> {
    drive.call(request).unwrap().files.into_iter().map(|file| file.state).collect()
}

fn note(id: &str, content: &str) -> ImportedNote {
    ImportedNote {
        id: format!("git there {id}"),
        title: format!("Commit {id}"),
        content: content.into(),
        tags: Vec::new(),
        date: "2026-05-25T12:00:00Z".into(),
    }
}

fn import_notes(drive: &mut Drive<Simulator>, notes: Vec<ImportedNote>, dry_run: bool) -> Vec<NoteImportState> {
    let request = ImportNotes { folder: "commits".into(), notes, dry_run };
    drive.call(request).unwrap().notes.into_iter().map(|note| note.state).collect()
}

/// Returns the commands of every way in that puts the text into a file of its own or at the end of one.
fn ways_in(text: &str) -> Vec<Submission<Command>> {
    let (before, after) = text.split_at(text.len() / 2);
    let summary = RememberSummary { tool: "t".into(), summary: text.into() };
    let failure = RememberError { tool: "t".into(), error: format!("error: {text}") };
    let link = Link { text: Some(text.into()), ..ask::link("a", "b") };
    commands![
        keep("new", text, "core"),
        keep("shared", text, "workspace"),
        ask::append(Target::LongTerm, text),
        ask::overwrite(Target::LongTerm, text),
        ask::append(Target::Note("plan".into()), text),
        ask::append(Target::Scratchpad, format!("- [ ] {text}")),
        ask::edit(Target::LongTerm, "begin", format!("begin {text}")),
        ask::append_daily("h", text),
        ask::flush(text),
        ask::slash(format!("write long_term {text}")),
        fact("Way in", text),
        fact(text.trim_end_matches('.'), "x"),
        WriteNote { supersede: true, ..fact("a", text) },
        ask::log(text),
        summary,
        failure,
        link,
        ask::rename("c", text.trim_end_matches('.')),
        ask::edit_entry("production", "443.", format!("443. {before}{after}")),
    ]
}

/// Adds the notes that the ways in change.
fn with_notes(mut drive: Drive<Simulator>) -> Drive<Simulator> {
    for title in ["a", "b", "c"] {
        drive.run(fact(title, "x")).unwrap();
    }
    drive.run(ask::append(Target::LongTerm, "begin")).unwrap();
    drive
}

/// Each command that stores text refuses a rejected value, and stores another one.
#[both_engines]
fn no_command_stores_a_rejected_value_and_each_stores_another_one(kind: Kind) {
    for provenance in [Provenance::User, Provenance::Agent] {
        let count = ways_in(VALUE).len();
        for way in 0..count {
            let mut drive = reopened(kind, with_notes(rejected(kind)), 2, provenance);
            refused(&mut drive, ways_in(VALUE).swap_remove(way));
            let control = ways_in(PARAPHRASE).swap_remove(way);
            let shown = format!("{control:?}");
            drive.run(control).unwrap_or_else(|error| panic!("{shown}: {error:?}"));
        }
    }
}

/// A value of fewer than four words is known only as a whole, so each command must check the text that it is given before it puts the
/// text into a line of its own form.
#[both_engines]
fn a_short_rejected_value_is_refused_wherever_it_is_the_whole_text_that_is_given(kind: Kind) {
    const SHORT: &str = "Skip every test.";
    let ways = |text: &str| {
        let link = Link { text: Some(text.into()), ..ask::link("a", "b") };
        let edit_entry = ask::edit_entry("production", "Production", text);
        commands![
            keep("new", text, "core"),
            edit_entry,
            ask::append(Target::LongTerm, text),
            ask::append(Target::Scratchpad, format!("- [ ] {text}")),
            ask::edit(Target::LongTerm, "begin", text),
            ask::append_daily("h", text),
            ask::append_daily(text, "b"),
            ask::flush(text),
            ask::slash(format!("write long_term {text}")),
            fact("Way in", text),
            ask::log(text),
            RememberSummary { tool: "t".into(), summary: text.into() },
            RememberError { tool: "t".into(), error: text.into() },
            link,
        ]
    };
    let count = ways(SHORT).len();
    for way in 0..count {
        let mut drive = with_notes(opened(kind));
        drive.run(keep("production", NEIGHBOUR, "core")).unwrap();
        drive.run(keep("habit", SHORT, "core")).unwrap();
        assert_eq!(reject(&mut drive, "habit").rejected.len(), 1);
        refused(&mut drive, ways(SHORT).swap_remove(way));
        refused(&mut drive, ways("- skip\u{200b} EVERY  test").swap_remove(way));
        drive.run(ways("Run every test.").swap_remove(way)).unwrap();
    }
}

/// No tool of a model stores a rejected value.
#[both_engines]
fn no_tool_stores_a_rejected_value_and_each_stores_another_one(kind: Kind) {
    let call = |sets: Vec<ToolSet>, tool: &str, input: String| {
        let options = ToolOptions { sets, dialect: Dialect::Docs };
        ToolsCommand::CallTool(CallTool { tool: tool.into(), input, options })
    };
    let calls = |text: &str| {
        let anthropic = |input: String| call(vec![ToolSet::Anthropic], "memory", input);
        vec![
            anthropic(format!(r#"{{"command":"create","path":"/memories/x.md","file_text":"{text}"}}"#)),
            anthropic(format!(r#"{{"command":"create","path":"/memories/entries/core/x.md","file_text":"{text}"}}"#)),
            anthropic(format!(
                r#"{{"command":"insert","path":"/memories/MEMORY.md","insert_line":1,"insert_text":"{text}"}}"#
            )),
            anthropic(format!(
                r#"{{"command":"str_replace","path":"/memories/MEMORY.md","old_str":"begin","new_str":"begin {text}"}}"#
            )),
        ]
    };
    for way in 0..calls(VALUE).len() {
        let mut drive = reopened(kind, with_notes(rejected(kind)), 2, Provenance::Agent);
        for (text, is_refused) in [(VALUE, true), (PARAPHRASE, false)] {
            let before = drive.executor.files();
            match drive.run(calls(text).swap_remove(way)) {
                Ok(Reply::Tools(ToolsReply::CallTool(answer))) => {
                    assert_eq!(answer.is_error, is_refused, "{way}: {answer:?}");
                    assert_eq!(answer.text.as_str().contains("rejected for good"), is_refused, "{answer:?}");
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(drive.executor.files() == before, is_refused, "{way}");
        }
    }
}

/// A rejected value stays out when it is stated again, superseded or corroborated.
#[both_engines]
fn a_value_that_is_stated_again_superseded_or_corroborated_stays_out(kind: Kind) {
    let mut drive = rejected(kind);
    for _ in 0..3 {
        // Under its own key the same text meets the tombstone, which answers that it was not stored.
        let before = drive.executor.files();
        let reply = format!("{:?}", drive.run(keep("staging", VALUE, "core")).unwrap());
        assert!(reply.contains("Forgotten"), "{reply}");
        assert_eq!(drive.executor.files(), before);
        refused(&mut drive, keep("staging", VALUE.to_uppercase(), "core"));
        refused(&mut drive, keep("port", VALUE, "notes"));
    }
    let entry = NewEntry { supersedes: Some("production".into()), ..NewEntry::new("later", VALUE, "core") };
    refused(&mut drive, ask::store(entry));
    refused(&mut drive, fact("Staging", VALUE));
    // By what brings text back.
    refused(&mut drive, ask::restore_entry("staging"));
    assert_eq!(active(&drive), Vec::<String>::new());
    let (shown, found) = (block(&mut drive), recalled(&mut drive, "staging listens port"));
    assert!(!shown.contains("8080") && !found.contains("8080"), "{shown}{found}");
    assert!(shown.contains(NEIGHBOUR) && found.contains(NEIGHBOUR), "the control: {shown}{found}");
}

/// Undo, redo and earlier versions do not bring a rejected value back.
#[test]
fn undo_and_earlier_versions_do_not_bring_a_rejected_value_back() {
    let mut drive = rejected(Kind::Native);
    let error = drive.run(HistoryCommand::Undo(Undo::default())).expect_err("rejected");
    assert_eq!(error.code, ErrorCode::Rejected, "{error:?}");
    assert!(error.help.contains("--skip-conflicts"), "{error:?}");
    let name = "agents/a/entries/core/staging.md".to_string();
    refused(&mut drive, ask::restore_version(name, 2));
    // The control: what was only forgotten comes back.
    drive.run(ask::forget_entry("production")).unwrap();
    drive.run(HistoryCommand::Undo(Undo::default())).unwrap();
    assert!(block(&mut drive).contains(NEIGHBOUR));
    // Older operations are reached past the one that cannot be undone.
    drive.run(HistoryCommand::Undo(Undo { skip_conflicts: true, ..Undo::default() })).unwrap();
    assert!(!block(&mut drive).contains(NEIGHBOUR) && !block(&mut drive).contains(VALUE));
}

#[both_engines]
fn the_value_of_a_rejected_note_does_not_come_back_from_its_backup(kind: Kind) {
    let mut drive = opened(kind);
    drive.run(fact("Staging", VALUE)).unwrap();
    drive.run(fact("Production", NEIGHBOUR)).unwrap();
    for name in ["Staging", "Production"] {
        drive.run(ask::forget(name)).unwrap();
    }
    // A note that is forgotten already can be rejected too.
    assert_eq!(reject(&mut drive, "facts/staging.md").skipped, []);
    let restore = |name: &str| ask::restore(Target::Page(name.into()));
    refused(&mut drive, restore("facts/staging.md"));
    drive.run(restore("facts/production.md")).expect("the control comes back");
    assert_eq!(active(&drive), Vec::<String>::new());
}

/// A rejection outlives every purge, expiry and restart.
#[both_engines]
fn a_rejection_outlives_every_purge_and_a_restart(kind: Kind) {
    let mut drive = rejected(kind);
    drive.run(keep("forgotten", "Backups run at night in Oslo.", "core")).unwrap();
    drive.run(ask::forget_entry("forgotten")).unwrap();
    drive.run(PurgeEntries { key: None }).unwrap();
    assert!(!drive.executor.files().contains_key("agents/a/entries/core/staging.md"), "it is purged");
    // What is forgotten without a rejection can be stored after a purge.
    drive.run(keep("forgotten", "Backups run at night in Oslo.", "core")).unwrap();
    // The store without its index and its history, 400 days later.
    let mut simulator = Simulator::new(2);
    let is_kept = |file: &str| !file.contains(".saddlebag/index") && !file.contains(".saddlebag/history");
    for (file, bytes) in drive.executor.files().into_iter().filter(|(file, _)| is_kept(file)) {
        simulator.insert(&path(&file), bytes);
    }
    let mut later = drive.now;
    later.seconds += 400 * 24 * 3600;
    let mut drive = Drive::new(kind, config(2, Provenance::Agent), simulator);
    drive.now = later;
    refused(&mut drive, keep("staging", VALUE, "core"));
    refused(&mut drive, fact("Staging", VALUE));
    let shown = block(&mut drive);
    assert!(shown.contains(NEIGHBOUR) && shown.contains("Oslo") && !shown.contains("8080"), "{shown}");
}

/// A disguised spelling of a rejected value is refused; other words for the same fact are stored.
#[both_engines]
fn a_disguised_spelling_is_refused_and_a_paraphrase_is_stored(kind: Kind) {
    let mut drive = with_notes(rejected(kind));
    for spelling in [
        "STAGING LISTENS ON PORT 8080",
        "staging  listens\non\tport\u{a0}8080",
        "Ѕtаgіng lіѕtеnѕ оn роrt 8080.",
        "Ｓｔａｇｉｎｇ listens on port ８０８０.",
        "Sta\u{200b}ging lis\u{ad}tens on po\u{2060}rt 80\u{200d}80.",
        "S t a g i n g listens on port 8080.",
        "- **Staging** listens on `port` 8080",
        "As said, staging listens on port 8080, and nothing else.",
    ] {
        let of_tool = || Origin::from_provenance(Provenance::Tool);
        refused(&mut drive, keep("again", spelling, "core"));
        refused(&mut drive, of_tool().with(keep("again", spelling, "core")));
        refused(&mut drive, fact("Again", spelling));
        refused(&mut drive, of_tool().with(fact("Again", spelling)));
        refused(&mut drive, ask::append(Target::LongTerm, spelling));
    }
    // Two harmless parts must not become the value in one file.
    drive.run(ask::append(Target::LongTerm, "Staging listens")).unwrap();
    refused(&mut drive, ask::append(Target::LongTerm, "on port 8080."));
    drive.run(keep("again", PARAPHRASE, "core")).unwrap();
    assert!(block(&mut drive).contains(PARAPHRASE));
    let found = recalled(&mut drive, "staging server port");
    assert!(found.contains(PARAPHRASE), "{found}");
}

/// An import reports the refused part and keeps nothing of it.
#[both_engines]
fn an_import_skips_the_value_reports_it_and_takes_the_rest(kind: Kind) {
    let mut drive = rejected(kind);
    let rejected_file = format!("---\nkey: old\n---\n\n{VALUE}\n");
    let given =
        [("core/old.md", rejected_file.as_str()), ("core/tea.md", "---\nkey: tea\n---\n\nThe team drinks tea.\n")];
    for dry_run in [true, false] {
        let states = import(&mut drive, ImportEntries { dry_run, ..files(&given) });
        assert!(
            matches!(&states[0], ImportState::Rejected(reason) if reason.contains("rejected for good")),
            "{states:?}"
        );
        assert_eq!(states[1], ImportState::Upserted, "{dry_run}");
    }
    let notes = || vec![note("1", VALUE), note("2", "Round half cents up.")];
    for dry_run in [true, false] {
        let states = import_notes(&mut drive, notes(), dry_run);
        assert!(
            matches!(&states[0], NoteImportState::Rejected(reason) if reason.as_str().contains("rejected for good")),
            "{states:?}"
        );
        assert_eq!(states[1], NoteImportState::Created);
    }
    let file = |name: &str, text: &str| ForeignFile {
        path: name.into(),
        first_line: 1,
        content: Ok(format!("---\nname: {name}\ndescription: x\ntype: user\n---\n\n{text}\n").into_bytes()),
    };
    for dry_run in [true, false] {
        let request = ImportFrom {
            format: Format::ClaudeCode,
            place: "~/there".into(),
            files: vec![file("role.md", VALUE), file("editor.md", "Uses helix.")],
            others: Vec::new(),
            dry_run,
            earlier: Vec::new(),
            of_project: false,
        };
        let reply = drive.call(request).unwrap();
        let states: Vec<String> = reply.entries.iter().map(|entry| format!("{:?}", entry.state)).collect();
        assert!(states.iter().any(|state| state.contains("rejected for good")), "{reply:?}");
        assert!(states.iter().any(|state| state == "Stored"), "{reply:?}");
    }
    // No second unit was made and hidden: the store has the value only in the tombstone that was rejected.
    let with_value: Vec<String> = drive
        .executor
        .files()
        .into_iter()
        .filter(|(file, bytes)| !file.contains(".saddlebag/") && String::from_utf8_lossy(bytes).contains("port 8080"))
        .map(|(file, _)| file)
        .collect();
    assert_eq!(with_value, ["agents/a/entries/core/staging.md"]);
    for key in ["tea", "production"] {
        drive.run(ask::entry(key)).unwrap();
    }
}

/// The note of a session leaves a rejected value out.
#[both_engines]
fn the_note_of_a_session_leaves_the_value_out_and_keeps_the_rest(kind: Kind) {
    let prompt = |text: &str| RecallForPrompt {
        session: "s".into(),
        prompt: text.into(),
        max_bytes: 1_000,
        min_score: None,
        keep_out: Vec::new(),
        dry_run: false,
        form: None,
    };
    let used = |command: &str| RecordToolUse {
        session: "s".into(),
        tool: "bash".into(),
        command: Some(command.into()),
        failed: true,
        output: Some(format!("error: {command}")),
        ..RecordToolUse::default()
    };
    let end = |answer: &str| EndSession { session: "s".into(), finished: true, answer: Some(answer.into()) };
    // Said before the rejection, and after it.
    for is_before in [true, false] {
        let mut drive = reopened(kind, opened(kind), 2, Provenance::Agent);
        let says = |drive: &mut Drive<Simulator>| {
            drive.call(prompt(VALUE)).unwrap();
            drive.call(used(&format!("echo {VALUE}"))).unwrap();
        };
        if is_before {
            says(&mut drive);
        }
        let mut drive = reopened(kind, drive, 3, Provenance::User);
        drive.run(keep("staging", VALUE, "core")).unwrap();
        reject(&mut drive, "staging");
        let mut drive = reopened(kind, drive, 4, Provenance::Agent);
        drive.call(prompt("Fix the rounding of the tax report")).unwrap();
        drive.call(used("make report")).unwrap();
        if !is_before {
            says(&mut drive);
        }
        let reply = drive.call(end(&format!("{VALUE} Done."))).unwrap();
        assert!(reply.left_out.iter().any(|reason| reason.contains("rejected for good")), "{reply:?}");
        let note = reply.note.expect("a note of the rest");
        let text = String::from_utf8(drive.executor.files().remove(&note).unwrap()).unwrap();
        assert!(text.contains("Fix the rounding") && text.contains("make report"), "the control: {text}");
        assert!(!text.contains("8080"), "{text}");
    }
}

#[both_engines]
fn a_run_does_not_hold_a_rejected_value(kind: Kind) {
    let mut drive = rejected(kind);
    drive.run(ask::in_run(OpenRun { fence: 1 })).unwrap();
    refused(&mut drive, ask::in_run(keep("k", VALUE, "core")));
    refused(&mut drive, ask::in_run(keep("k", VALUE, "workspace")));
    drive.run(ask::in_run(keep("k", PARAPHRASE, "core"))).unwrap();
}

#[both_engines]
fn unforget_brings_the_item_back_and_lifts_the_rejection(kind: Kind) {
    let mut drive = rejected(kind);
    drive.run(fact("Tea", "The team drinks tea on Mondays.")).unwrap();
    reject(&mut drive, "Tea");
    for name in ["staging", "facts/tea.md"] {
        let reply = drive.call(ask::unforget(name)).unwrap();
        assert!(reply.message.as_str().ends_with(" is back, and its value is no longer rejected"), "{reply:?}");
        let error = drive.run(ask::unforget(name)).expect_err("it is not forgotten any more");
        assert_eq!(error.code, ErrorCode::NotFound, "{error:?}");
    }
    assert_eq!(active(&drive), ["agents/a/entries/core/staging.md"]);
    assert!(block(&mut drive).contains(VALUE));
    drive.run(keep("again", VALUE, "core")).expect("it can be stored again");
    // The rejection of what was purged can be lifted as well.
    reject(&mut drive, "again");
    drive.run(PurgeEntries { key: None }).unwrap();
    refused(&mut drive, keep("again", VALUE, "core"));
    let reply = drive.call(ask::unforget("again")).unwrap();
    assert!(reply.message.as_str().starts_with("The value of "), "{reply:?}");
    drive.run(keep("again", VALUE, "core")).unwrap();
}

#[both_engines]
fn only_a_person_rejects_for_good_and_lifts_a_rejection(kind: Kind) {
    let mut drive = reopened(kind, rejected(kind), 2, Provenance::Agent);
    let items = vec![ApproveItem { name: "production".into(), version: String::new() }];
    for command in commands![Reject { items, dry_run: false, for_good: true }, ask::unforget("staging")] {
        let before = drive.executor.files();
        assert_eq!(drive.run(command).expect_err("refused").code, ErrorCode::NotPermitted);
        assert_eq!(drive.executor.files(), before);
    }
}

#[both_engines]
fn the_log_of_rejected_values_has_no_text_and_a_damaged_line_is_reported(kind: Kind) {
    let mut drive = rejected(kind);
    let log = path(".saddlebag/rejected.log");
    let text = String::from_utf8(drive.executor.files().remove(log.as_str()).unwrap()).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert!(!text.contains("listens") && !text.contains("8080"), "{text}");
    drive.executor.insert(&log, format!("{text}{}", &text[..text.len() / 2]));
    let mut drive = reopened(kind, drive, 2, Provenance::User);
    refused(&mut drive, keep("again", VALUE, "core"));
    let reply = reject(&mut drive, "production");
    assert!(reply.message.contains("1 damaged lines"), "{reply:?}");
    let pending = drive.run(ask::pending());
    assert!(format!("{pending:?}").contains("1 of its lines are damaged"), "{pending:?}");
    refused(&mut drive, keep("again", NEIGHBOUR, "core"));
}
