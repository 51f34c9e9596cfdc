//! Secrets: refused, redacted or kept as the policy says, on every way in.

use saddlebag::entries::ImportState;
use saddlebag::journal::{Target, WriteMode};
use saddlebag::notebook::{
    ImportNotes, ImportedNote, Link, NoteImportState, RememberError, RememberSummary, WriteNote,
};
use saddlebag::protocol::ErrorCode;
use saddlebag::tools::{ToolOptions, ToolsCommand, ToolsReply};
use saddlebag::trust::{Provenance, SecretPolicy};
use saddlebag::{Config, Reply};
use saddlebag_host::Simulator;
use support::drive::Drive;
use support::{Kind, agent_config, ask, both_engines, commands, fact, keep, path};

use super::{config, import, opened, refused, text};

/// A secret, in two parts so that no scanner finds one here.
const SECRET: &str = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");

/// An error names the rule and never the secret.
#[both_engines]
fn a_secret_is_refused_on_every_way_in_and_the_error_names_the_rule(kind: Kind) {
    let with = |text: &str| format!("{text} {SECRET}");
    let mut drive = opened(kind, Provenance::User);
    drive.run(ask::append(Target::LongTerm, "old")).unwrap();
    let write = |mode| ask::write(Target::LongTerm, mode, with("x"));
    for command in commands![
        write(WriteMode::Append),
        write(WriteMode::Overwrite),
        ask::edit(Target::LongTerm, "old", with("new")),
        ask::append_daily("h", with("x")),
        ask::append_daily(with("x"), "y"),
        ask::flush(with("x")),
        ask::slash(with("write long_term x")),
        ask::slash(with("edit long_term old => x")),
        keep("k", with("x"), "core"),
        keep(SECRET, "x", "core"),
        fact("a", with("x")),
        fact(with("a"), "x"),
        ask::log(with("x")),
        RememberError { tool: "t".into(), error: with("error: x") },
        RememberSummary { tool: "t".into(), summary: with("x") },
        WriteNote { tags: vec![SECRET.into()], ..fact("a", "x") },
        Link { text: Some(with("x")), ..ask::link("a", "b") },
    ] {
        let error = refused(&mut drive, command);
        assert_eq!(error.code, ErrorCode::Secret);
        assert!(error.message.contains("github-pat") && !error.message.contains(SECRET), "{error:?}");
    }
    let file = format!("---\nkey: k\n---\n\n{SECRET}");
    let states = import(&mut drive, &[("core/k.md", &file)], None);
    assert!(matches!(&states[0], ImportState::Rejected(reason) if reason.contains("github-pat")), "{states:?}");
    let note = |title: &str, content: &str| ImportedNote {
        id: format!("git there {}", content.len()),
        title: title.into(),
        content: content.into(),
        tags: Vec::new(),
        date: "2026-05-25T12:00:00Z".into(),
    };
    let notes = vec![note("a", &with("x")), note(&with("a"), "x"), note("harmless", "text")];
    let request = ImportNotes { folder: "commits".into(), notes, dry_run: false };
    let reply = drive.call(request).unwrap();
    let [first, second, third] = &reply.notes[..] else { panic!("{reply:?}") };
    for refused in [first, second] {
        assert!(
            matches!(&refused.state, NoteImportState::Rejected(reason) if reason.as_str().contains("github-pat")),
            "{refused:?}"
        );
    }
    assert_eq!(third.state, NoteImportState::Created);
    let files = drive.executor.files();
    assert!(files.values().all(|bytes| !String::from_utf8_lossy(bytes).contains(SECRET)));
}

#[both_engines]
fn a_secret_is_redacted_or_kept_where_the_policy_says_so(kind: Kind) {
    let redacting = config(Provenance::User, SecretPolicy::Redact);
    let mut drive = Drive::new(kind, redacting, Simulator::new(1));
    let write = ask::append(Target::LongTerm, format!("the token is {SECRET}"));
    let reply = drive.call(write.clone()).unwrap();
    assert!(reply.message.as_str().ends_with("(redacted: github-pat)"), "{}", reply.message);
    assert_eq!(text(&drive, "MEMORY.md"), "the token is [redacted: github-pat]\n");
    let file = format!("---\nkey: k\n---\n\n{SECRET}");
    assert_eq!(import(&mut drive, &[("core/k.md", &file)], None), [ImportState::Upserted]);
    assert!(text(&drive, "agents/a/entries/core/k.md").ends_with("\n\n[redacted: github-pat]"));

    let allowing = config(Provenance::User, SecretPolicy::Allow);
    let mut drive = Drive::new(kind, allowing, Simulator::new(1));
    drive.run(write).unwrap();
    assert!(text(&drive, "MEMORY.md").contains(SECRET));
}

#[both_engines]
fn a_secret_that_is_put_together_or_is_a_name_is_refused(kind: Kind) {
    let (first, second) = SECRET.split_at(20);
    let mut drive = opened(kind, Provenance::User);
    let write = |target, content: &str| ask::append(target, content);
    drive.run(write(Target::LongTerm, &format!("token {first}+"))).unwrap();
    drive.run(fact("Port", "5433")).unwrap();
    drive.run(keep("k", format!("token {first}+"), "core")).unwrap();
    let template = format!("# {{{{title}}}}\n\ntoken {first}{{{{content}}}}\n");
    drive.executor.insert(&path("projects/proj/templates/fact.md"), template);
    let of_tool = |arguments: &str| {
        ToolsCommand::CallTool(saddlebag::tools::CallTool {
            tool: "memory".into(),
            input: arguments.into(),
            options: ToolOptions {
                sets: vec![saddlebag::tools::ToolSet::Anthropic],
                dialect: saddlebag::tools::Dialect::Docs,
            },
        })
    };
    let refused_commands = commands![
        ask::edit(Target::LongTerm, "+", second),
        ask::slash(format!("edit long_term + => {second}")),
        write(Target::Note(SECRET.into()), "x"),
        ask::rename("Port", SECRET),
        fact("Token", second),
    ];
    for command in refused_commands {
        let error = refused(&mut drive, command);
        assert_eq!(error.code, ErrorCode::Secret, "{error:?}");
        assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    }
    for arguments in [
        format!(r#"{{"command":"create","path":"/memories/{SECRET}.txt","file_text":"x"}}"#),
        format!(r#"{{"command":"create","path":"/memories/entries/core/{SECRET}.md","file_text":"x"}}"#),
        format!(r#"{{"command":"str_replace","path":"/memories/MEMORY.md","old_str":"+","new_str":"{second}"}}"#),
        format!(
            r#"{{"command":"str_replace","path":"/memories/entries/core/k.md","old_str":"+","new_str":"{second}"}}"#
        ),
        format!(
            r#"{{"command":"rename","old_path":"/memories/entries/core/k.md","new_path":"/memories/entries/core/{SECRET}.md"}}"#
        ),
    ] {
        let before = drive.executor.files();
        match drive.run(of_tool(&arguments)) {
            Ok(Reply::Tools(ToolsReply::CallTool(answer))) => {
                assert!(answer.is_error && answer.text.as_str().contains("github-pat"), "{arguments}: {answer:?}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(drive.executor.files(), before, "{arguments}");
    }
    let of_agent =
        |agent: &str| Config { entries: Some(saddlebag::entries::EntriesConfig::for_agent(agent)), ..agent_config() };
    let error = saddlebag::Memory::open(of_agent(SECRET)).err().expect("refused").to_string();
    assert!(error.contains("github-pat") && !error.contains(SECRET), "{error}");
}

#[both_engines]
fn a_note_in_which_a_person_wrote_a_secret_by_hand_can_be_changed_and_renamed(kind: Kind) {
    let mut drive = opened(kind, Provenance::User);
    let by_hand = format!("# Port\n\ntoken {SECRET}\n");
    drive.executor.insert(&path("projects/proj/facts/port.md"), by_hand);
    drive.executor.insert(&path("projects/proj/facts/other.md"), format!("[[port]] {SECRET}\n"));
    drive.run(ask::rename("facts/port.md", "Harbour")).unwrap();
    assert_eq!(text(&drive, "projects/proj/facts/harbour.md"), format!("# Harbour\n\ntoken {SECRET}\n"));
    assert_eq!(text(&drive, "projects/proj/facts/other.md"), format!("[[harbour]] {SECRET}\n"));
    drive.run(ask::edit("facts/harbour.md", "# Harbour", "# Harbor")).unwrap();
}

#[both_engines]
fn a_change_that_removes_a_secret_says_where_it_may_still_be(kind: Kind) {
    let mut drive = opened(kind, Provenance::User);
    drive.executor.insert(&path("MEMORY.md"), format!("a\ntoken {SECRET}\n"));
    let reply = drive.call(ask::edit(Target::LongTerm, format!("token {SECRET}\n"), "")).unwrap();
    assert!(reply.message.as_str().contains("a secret was removed, by the rule github-pat"), "{}", reply.message);
    assert!(text(&drive, "MEMORY.bak").contains(SECRET));
    // If the secret stays, or there is none, the reply does not mention it.
    let write = |content: &str| ask::append(Target::LongTerm, content);
    let reply = drive.call(write("b")).unwrap();
    assert!(!reply.message.as_str().contains("secret"), "{}", reply.message);
}

#[both_engines]
fn no_part_of_a_secret_is_recorded_where_a_text_is_cut(kind: Kind) {
    use saddlebag::session::{EndSession, RecallForPrompt, RecordToolUse, StoredItem};
    for secrets in [SecretPolicy::Refuse, SecretPolicy::Redact] {
        let mut drive = Drive::new(kind, config(Provenance::Agent, secrets), Simulator::new(1));
        // A prompt is cut after 500 characters, a command after 200, the name of a tool after 60 bytes.
        for before in [170, 190, 199, 470, 490, 499] {
            let long = format!("{} {SECRET} and more{}", "x".repeat(before), " word".repeat(200));
            let prompt = RecallForPrompt {
                session: "s".into(),
                prompt: long.clone(),
                max_bytes: 1_000,
                min_score: None,
                keep_out: Vec::new(),
                dry_run: false,
                form: None,
            };
            drive.call(prompt).unwrap();
            let tool = format!("{}_{SECRET}", "t".repeat(before % 60));
            let used = RecordToolUse {
                session: "s".into(),
                tool,
                command: Some(long.clone()),
                stored: Some(StoredItem::Note(long)),
                ..RecordToolUse::default()
            };
            drive.call(used).unwrap();
        }
        drive.call(EndSession { session: "s".into(), finished: true, answer: None }).unwrap();
        for (file, bytes) in drive.executor.files() {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!text.contains(&SECRET[..6]), "{secrets}: {file}: {text}");
        }
    }
}

#[both_engines]
fn a_template_with_a_secret_makes_no_note_of_the_day(kind: Kind) {
    for (command, template) in [
        (saddlebag::Command::from(saddlebag::notebook::Today), "daily"),
        (ask::log("x").into(), "daily"),
        (fact("a", "b").into(), "fact"),
    ] {
        let mut drive = opened(kind, Provenance::User);
        let file = format!("projects/proj/templates/{template}.md");
        drive.executor.insert(&path(&file), format!("# {{{{title}}}}\n\ntoken {SECRET}\n"));
        let error = refused(&mut drive, command.clone());
        assert_eq!(error.code, ErrorCode::Secret, "{command:?}");
        let mut drive = Drive::new(kind, config(Provenance::User, SecretPolicy::Redact), drive.executor);
        drive.run(command.clone()).unwrap();
        let made: Vec<String> = drive
            .executor
            .files()
            .into_iter()
            .filter(|(made, _)| *made != file && made.ends_with(".md"))
            .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
            .collect();
        assert!(made.iter().any(|text| text.contains("[redacted: github-pat]")), "{command:?}: {made:?}");
        assert!(made.iter().all(|text| !text.contains(SECRET)), "{command:?}");
    }
}
