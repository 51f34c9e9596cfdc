//! Memory of one project and of all projects: no command brings the memory of one project to another.

use saddlebag::context::{Context, Overflow, Preamble, PromptReply};
use saddlebag::entries::EntriesConfig;
use saddlebag::items::Recall;
use saddlebag::journal::{Status, Target};
use saddlebag::notebook::{MemoryContext, RecallForTurn};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::LongTermScope;
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet, ToolsReply};
use saddlebag::trust::{Provenance, TrustConfig};
use saddlebag::{Command, Config, Reply, Submission, Submit};
use saddlebag_host::Simulator;
use serde_json::json;
use support::drive::{Drive, simulator};
use support::{Kind, ask, both_engines, commands, keep};

/// Text that is only in the memory of the one project.
const MARK: &str = "mark-4711";
const OF_A: &str = "projects/a/MEMORY.md";

fn config(epoch: u64, project: &str, provenance: Provenance, long_term: LongTermScope) -> Config {
    let trust = TrustConfig { provenance, ..TrustConfig::default() };
    Config { epoch, project: Some(project.into()), trust, long_term, ..Config::default() }
}

fn agent_of(kind: Kind, project: &str, store: Simulator) -> Drive<Simulator> {
    Drive::new(kind, config(1, project, Provenance::Agent, LongTermScope::Project), store)
}

fn tool(name: &str, arguments: serde_json::Value) -> Command {
    let (sets, dialect) = (ToolSet::ALL.to_vec(), Dialect::Sdk);
    CallTool { tool: name.into(), input: arguments.to_string(), options: ToolOptions { sets, dialect } }.into()
}

fn text_of(store: &Simulator, file: &str) -> String {
    String::from_utf8(store.files().remove(file).unwrap_or_default()).expect("text")
}

/// Returns every command that shows memory.
fn every_reader() -> Vec<Submission<Command>> {
    let recall = Recall { limit: 50, explain: true, ..ask::recall(MARK) };
    let mut commands = commands![
        ask::show(Target::LongTerm),
        ask::show(Target::Page("MEMORY.md".into())),
        ask::show(Target::Page(OF_A.into())),
        ask::show(Target::Note(OF_A.into())),
        ask::search(MARK),
        ask::list(),
        Status,
        ask::slash("read long_term"),
        ask::slash(format!("search {MARK}")),
        ask::list_files(None, 100),
        ask::show(OF_A),
        ask::show("MEMORY.md"),
        recall,
        RecallForTurn { turn: 1, query: MARK.into(), limit: 50 },
        MemoryContext { turn: 1, max_bytes: 10_000 },
        tool("memory_read", json!({ "source": "long_term" })),
        tool("memory_read", json!({ "source": "page", "name": "MEMORY.md" })),
        tool("memory_read", json!({ "source": "page", "name": OF_A })),
        tool("memory_search", json!({ "query": MARK })),
        tool("notebook_recall", json!({ "query": MARK })),
        tool("memory", json!({ "command": "view", "path": "/memories" })),
        tool("memory", json!({ "command": "view", "path": "/memories/MEMORY.md" })),
        tool("memory", json!({ "command": "view", "path": "/memories/SHARED_MEMORY.md" })),
        tool("memory", json!({ "command": "view", "path": "/memories/PROJECT_MEMORY.md" })),
    ];
    for overflow in [Overflow::Documented, Overflow::Prioritised, Overflow::Balanced] {
        let memory = Context { overflow, turn: Some(1), ..Context::default() };
        commands.push(memory.clone().submission());
        commands.push(Preamble { memory, max_bytes: 60_000, ..Preamble::default() }.submission());
    }
    commands
}

fn block(drive: &mut Drive<Simulator>) -> String {
    match drive.run(Context::default()) {
        Ok(Reply::Prompt(PromptReply::Context(reply))) => reply.block.unwrap_or_default().into_string(),
        other => panic!("expected a block, got {other:?}"),
    }
}

#[both_engines]
fn what_an_agent_keeps_in_one_project_reaches_no_other(kind: Kind) {
    let ways = commands![
        ask::append(Target::LongTerm, MARK),
        ask::overwrite(Target::LongTerm, MARK),
        ask::append(Target::Page(OF_A.into()), MARK),
        ask::slash(format!("write long_term {MARK}")),
        tool("memory_write", json!({ "target": "long_term", "content": MARK })),
        tool("memory", json!({ "command": "create", "path": "/memories/MEMORY.md", "file_text": MARK })),
    ];
    for way in &ways {
        let mut of_a = agent_of(kind, "a", simulator(&[("MEMORY.md", b"shared\n")]));
        of_a.run(way.clone()).unwrap();
        assert_eq!(text_of(&of_a.executor, OF_A).trim_end(), MARK, "{way:?}");
        assert_eq!(text_of(&of_a.executor, "MEMORY.md"), "shared\n", "{way:?}");
        let own = block(&mut of_a);
        assert!(own.contains(MARK) && own.contains("shared"), "{own}");
        for (project, provenance, long_term) in [
            ("b", Provenance::Agent, LongTermScope::Project),
            ("b", Provenance::User, LongTermScope::Shared),
            ("b", Provenance::User, LongTermScope::Project),
        ] {
            let store = of_a.executor.clone();
            let mut other = Drive::new(kind, config(2, project, provenance, long_term), store);
            for command in every_reader() {
                let shown = format!("{command:?}");
                let outcome = format!("{:?}", other.run(command));
                // Some answers quote the question.
                let is_asked = shown.contains(MARK) && !outcome.contains("projects/a/");
                assert!(is_asked || !outcome.contains(MARK), "{shown} shows {outcome}");
            }
            assert!(block(&mut other).contains("shared"));
        }
    }
}

#[both_engines]
fn an_old_store_is_in_every_block_and_a_person_goes_on_writing_for_all(kind: Kind) {
    let mut person = Drive::new(
        kind,
        config(1, "a", Provenance::User, LongTermScope::Shared),
        simulator(&[("MEMORY.md", b"old\n")]),
    );
    person.run(ask::append(Target::LongTerm, "new")).unwrap();
    assert_eq!(text_of(&person.executor, "MEMORY.md"), "old\nnew\n");
    for project in ["a", "b"] {
        let mut agent = agent_of(kind, project, person.executor.clone());
        let shown = block(&mut agent);
        assert!(shown.contains("## Long-term memory (MEMORY.md)\nold\nnew"), "{shown}");
        assert!(!shown.contains("Project memory"), "{shown}");
    }
}

#[both_engines]
fn an_agent_of_a_project_changes_no_file_that_other_projects_read(kind: Kind) {
    let shared = || Target::Page("MEMORY.md".into());
    let anthropic = |command: &str, more: serde_json::Value| {
        let mut arguments = json!({ "command": command, "path": "/memories/SHARED_MEMORY.md" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tool("memory", arguments)
    };
    let ways = commands![
        ask::append(shared(), "mine"),
        ask::overwrite(shared(), "mine"),
        ask::edit(shared(), "shared", "mine"),
        ask::restore(shared()),
        ask::restore(Target::Page("MEMORY.md".into())),
        ask::slash("write MEMORY.md mine"),
        ask::slash("edit MEMORY.md shared => mine"),
        ask::slash("clear MEMORY.md"),
        ask::slash("restore MEMORY.md"),
        tool("memory_edit", json!({ "target": "page", "name": "MEMORY.md", "old_str": "shared", "new_str": "mine" })),
        anthropic("str_replace", json!({ "old_str": "shared", "new_str": "mine" })),
        anthropic("insert", json!({ "insert_line": 0, "insert_text": "mine" })),
        anthropic("delete", json!({})),
    ];
    let files: [(&str, &[u8]); 3] =
        [("MEMORY.md", b"shared\n"), ("MEMORY.bak", b"older\n"), ("README.md", b"shared\n")];
    for way in &ways {
        let mut drive = agent_of(kind, "a", simulator(&files));
        let (message, is_refused) = match drive.run(way.clone()) {
            Err(error) => (error.message.clone(), error.code == ErrorCode::NotPermitted),
            Ok(Reply::Tools(ToolsReply::CallTool(answer))) => (answer.text.into_string(), answer.is_error),
            Ok(other) => panic!("{way:?} gave {other:?}"),
        };
        assert!(is_refused, "{way:?}: {message}");
        assert_eq!(drive.executor.files(), simulator(&files).files(), "{way:?}");
    }
    // If replies show whole paths, these name the file, too, as any other file in the root.
    for name in ["/store/MEMORY.md", "/store/README.md"] {
        let config =
            Config { path_prefix: "/store/".into(), ..config(1, "a", Provenance::Agent, LongTermScope::Project) };
        let mut drive = Drive::new(kind, config, simulator(&files));
        let note = Target::Note(name.into());
        assert_eq!(
            drive.run(ask::edit(note.clone(), "shared", "mine")).unwrap_err().code,
            ErrorCode::NotPermitted,
            "{name}"
        );
        assert_eq!(drive.call(ask::show(note)).unwrap().text, "shared\n");
    }
}

/// Entries belong to an agent or a workspace, and not to a project.
#[both_engines]
fn entries_are_kept_in_a_project_too(kind: Kind) {
    for provenance in [Provenance::Agent, Provenance::Tool] {
        for (category, file) in
            [("custom", "agents/main/entries/custom/k.md"), ("workspace", "workspaces/team/entries/k.md")]
        {
            let entries = EntriesConfig { workspace: Some("team".into()), ..EntriesConfig::for_agent("main") };
            let config = Config { entries: Some(entries), ..config(1, "a", provenance, LongTermScope::Project) };
            let mut drive = Drive::new(kind, config, simulator(&[("MEMORY.md", b"shared\n")]));
            let mut commands = commands![keep("k", "one", "core"), keep("k", "two", category)];
            // Text of a tool waits for approval first.
            if provenance == Provenance::Agent {
                let edit = ask::edit_entry("k", "two", "not two");
                commands.push(edit.submission());
            }
            commands.push(ask::forget_entry("k").submission());
            commands.push(ask::restore_entry("k").submission());
            for command in commands {
                let what = format!("{provenance}: {command:?}");
                let reply = drive.run(command);
                assert!(reply.is_ok(), "{what}: {reply:?}");
            }
            let before = drive.executor.files();
            assert!(text_of(&drive.executor, file).contains("two"), "{before:?}");
            // No other command writes there.
            for target in [Target::Page(file.into()), Target::Note(file.into())] {
                assert!(drive.run(ask::append(target, "mine")).is_err());
                assert_eq!(drive.executor.files(), before);
            }
        }
    }
}

#[both_engines]
fn a_file_of_memory_that_says_it_is_of_a_tool_waits_to_be_approved(kind: Kind) {
    let text = format!("---\nprovenance: tool\n---\n\n{MARK}\n");
    for file in [OF_A, "MEMORY.md"] {
        let mut drive = agent_of(kind, "a", simulator(&[(file, text.as_bytes())]));
        let reply = drive.call(Context::default()).unwrap();
        assert!(!reply.block.unwrap_or_default().as_str().contains(MARK));
        assert_eq!(reply.left_out[0].path, file);
        assert_eq!(reply.left_out[0].reason, "unapproved");
    }
}
