//! One agent never sees the entries of another: every command of every family, with two agents and two workspaces, in
//! both engines.

use saddlebag::agents_md::SyncAgentsMd;
use saddlebag::approval::Pending;
use saddlebag::catalogue::SAMPLE_TEXT;
use saddlebag::context::{Context, Preamble, PromptCommand};
use saddlebag::entries::{EntriesConfig, ExportEntries, ImportEntries, ImportFile, ImportMode, PurgeEntries};
use saddlebag::exchange::ImportFrom;
use saddlebag::items::ListItems;
use saddlebag::journal::Target;
use saddlebag::notebook::WriteNote;
use saddlebag::protocol::ErrorCode;
use saddlebag::session::SessionCommand;
use saddlebag::store::{folded_name, is_name};
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet, ToolsCommand, tools};
use saddlebag::trust::{Provenance, TrustConfig};
use saddlebag::{Command, Config, Origin, Request, Submission, Submit};
use saddlebag_host::Simulator;
use serde_json::json;
use support::drive::Drive;
use support::{Kind, ask, both_engines, commands, fact, keep, nightly, path, paths_of};

/// Text that the commands ask for.
const SECRET: &str = SAMPLE_TEXT;
/// Text after the secret in every entry of the other agent. No command contains it.
const MARK: &str = "mark-4711";

fn config(epoch: u64, project: Option<&str>, agent: &str, workspace: &str) -> Config {
    let entries = EntriesConfig { workspace: Some(workspace.into()), ..EntriesConfig::for_agent(agent) };
    Config { epoch, project: project.map(String::from), entries: Some(entries), ..Config::default() }
}

/// A store in which agent `a` of workspace `w` has its own secrets and secrets of the workspace.
fn store_of_a(kind: Kind) -> Simulator {
    let mut drive = Drive::new(kind, config(1, None, "a", "w"), Simulator::new(1));
    for category in ["core", "daily", "notes"] {
        drive.run(keep(category, format!("{SECRET} {MARK}"), category)).unwrap();
    }
    drive.run(keep("shared", "of the workspace", "workspace")).unwrap();
    drive.executor
}

/// Names that might reach the entry of another agent.
const NAMES: [&str; 9] = [
    "core",
    "agents/a/entries/core/core",
    "agents/a/entries/core/core.md",
    "../agents/a/entries/core/core",
    "../../agents/a/entries/core/core.md",
    "../core/core",
    "agents/a/entries/core",
    "workspaces/w/entries/shared.md",
    "workspaces/w/entries",
];

/// Spellings of such names that some file system treats as equal.
const SPELLINGS: [&str; 10] = [
    "AGENTS/a/entries/core/core.md",
    "agents/A/ENTRIES/Core/CORE.md",
    "Agents./a/entries/core/core.md",
    "agents/a/entries /core/core.md",
    "agents::$INDEX_ALLOCATION/a/entries/core/core.md",
    "AGENTS~1/a/entries/core/core.md",
    "agent\u{17f}/a/entries/core/core.md",
    "WORKSPACES/w/entries/shared.md",
    "WORKSP~1/w/entries/shared.md",
    "PROJECTS/other-0db23a34/MEMORY.md",
];

/// Every command for this name, and those for which the name is something that the catalogue has no sample of.
fn every_command(name: &str) -> Vec<Submission<Command>> {
    let name = || name.to_string();
    let entries = commands![
        keep("mine", "mine", name()),
        ask::edit_entry(name(), MARK, "gone"),
        ListItems {
            category: Some(name()),
            after: Some(format!("9999999999999999999:{}", name())),
            ..ask::list_entries()
        },
        ListItems { forgotten: true, name: Some(name()), ..ask::list() },
        PurgeEntries { key: Some(name()) },
        ExportEntries { forgotten: true, cursor: Some(name()) },
        ImportEntries {
            files: [name(), format!("{}.md", name()), "agents/a/entries/core/core.md".into()]
                .map(|path| ImportFile { path, content: Ok(b"mine".to_vec()) })
                .to_vec(),
            mode: ImportMode::Replace,
            dry_run: false,
            earlier: Vec::new(),
        },
    ];
    let page = || Target::Page(name());
    let section = b"<!-- saddlebag:begin agent=b -->\n<!-- saddlebag:end -->\n".to_vec();
    let mut others = commands![
        ask::show(page()),
        ask::show(Target::Daily(Some(name()))),
        ask::edit(page(), SECRET, "gone"),
        ask::restore(page()),
        ask::slash(format!("read page {}", name())),
        // A page of the list may begin where another's files are.
        ask::list_files(Some("AGENTS/a"), 1000),
        ask::show(name()),
        fact(name(), "mine"),
        WriteNote { template: name(), ..fact("T", "mine") },
        ask::link(name(), name()),
        Pending { cursor: Some(name()), ..ask::pending() },
        Pending { name: Some(name()), ..ask::pending() },
        SyncAgentsMd { content: Some(section), keys: vec![name()], ..SyncAgentsMd::default() },
    ];
    let imports = ImportFrom::samples(&name()).into_iter();
    others.extend(imports.map(|import| ImportFrom { place: name(), others: vec![name()], ..import }.submission()));
    others.extend(entries);
    others.extend(more_tool_calls(&name()).into_iter().map(Submit::submission));
    support::every_command(&name()).into_iter().chain(others).collect()
}

/// Calls of tools with a foreign agent, workspace, key or path where the catalogue has no sample of one.
fn more_tool_calls(name: &str) -> Vec<CallTool> {
    let call = |tool: &str, arguments: serde_json::Value| CallTool {
        tool: tool.into(),
        input: arguments.to_string(),
        options: ToolOptions { sets: ToolSet::ALL.to_vec(), dialect: Dialect::Sdk },
    };
    let mut calls = vec![
        call("mem_remember", json!({ "key": "mine", "content": "mine", "category": name })),
        call("mem_remember", json!({ "title": "T", "content": "mine", "links": [name], "supersedes": name })),
        call("mem_edit", json!({ "name": name, "old_str": SECRET, "new_str": "gone" })),
        call("mem_recall", json!({ "query": SECRET, "kind": "entry", "limit": 100 })),
        call("mem_list", json!({ "kind": "entry", "category": name, "cursor": format!("99999999999:{name}") })),
        call("memory_read", json!({ "source": "page", "name": name })),
        call("memory_edit", json!({ "target": "page", "name": name, "old_str": SECRET, "new_str": "gone" })),
        call("memory_edit", json!({ "target": "note", "name": name })),
        call("memory_store", json!({ "key": "mine", "content": "mine", "category": name })),
        call("memory_recall", json!({ "query": SECRET, "limit": 100 })),
        call("memory_list", json!({ "category": name, "cursor": format!("99999999999:{name}") })),
        call("notebook_link", json!({ "source": name, "target": name })),
        call("memory", json!({ "command": "view", "path": "/memories/entries" })),
        call("memory", json!({ "command": "view", "path": "/memories/agents" })),
    ];
    let scopes = [
        "",
        "agents/a/",
        "agents/a/entries/",
        "workspaces/w/entries/",
        "entries/",
        "entries/core/",
        "entries/workspace/",
    ];
    for path in
        scopes.into_iter().flat_map(|scope| [format!("/memories/{scope}{name}"), format!("/memories/{scope}{name}.md")])
    {
        calls.extend([
            call("memory", json!({ "command": "view", "path": path })),
            call("memory", json!({ "command": "create", "path": path, "file_text": "mine" })),
            call("memory", json!({ "command": "str_replace", "path": path, "old_str": SECRET, "new_str": "gone" })),
            call("memory", json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": "mine" })),
            call("memory", json!({ "command": "rename", "old_path": path, "new_path": "/memories/mine.md" })),
            call("memory", json!({ "command": "rename", "old_path": "/memories/mine.md", "new_path": path })),
            call("memory", json!({ "command": "delete", "path": path })),
        ]);
    }
    calls
}

/// Returns true if a command asks for entries, which costs their operations.
fn is_of_entries(command: &Command) -> bool {
    match command {
        Command::Entries(_) | Command::Exchange(_) | Command::AgentsMd(_) => true,
        // The files of the entries are files of the scope, and text of both families can wait for approval.
        Command::Items(_) | Command::Trust(_) => true,
        // So are their histories.
        Command::History(_) => true,
        Command::Prompt(PromptCommand::Context(request)) => request.entries.is_some(),
        Command::Prompt(PromptCommand::Preamble(request)) => request.memory.entries.is_some(),
        // What a session is shown includes the entries, and its note names those that it stored.
        Command::Session(
            SessionCommand::BeginSession(_)
            | SessionCommand::RecallForPrompt(_)
            | SessionCommand::RecallForTool(_)
            | SessionCommand::EndSession(_),
        ) => true,
        Command::Tools(ToolsCommand::CallTool(call)) => {
            // Recall finds notes and entries, and the name of a page may mean an entry.
            ["notebook_recall", "memory_read", "memory_edit"].contains(&call.tool.as_str())
                || tools(&[ToolSet::Everyday, ToolSet::Entries, ToolSet::Anthropic])
                    .iter()
                    .any(|tool| tool.name == call.tool)
        }
        _ => false,
    }
}

/// Returns true if some file system treats a path as one below a folder.
fn is_below(path: &str, folder: &str) -> bool {
    let mut segments = path.split('/').filter(|segment| !folded_name(segment).is_empty());
    let mut kept = folder.split('/').filter(|segment| !segment.is_empty());
    kept.all(|kept| segments.next().is_some_and(|segment| is_name(segment, kept))) && segments.next().is_some()
}

/// Runs a command, and checks that no operation and no reply is about a file of a foreign scope.
fn assert_blind(drive: &mut Drive<Simulator>, foreign: &[&str], command: Submission<Command>) {
    let shown = format!("{command:?}");
    let id = drive.submit(command);
    while let Some(request) = drive.pending.first() {
        for path in paths_of(&request.op) {
            // Listing the folders of all scopes shows only their names; nothing is read below them.
            let is_foreign = foreign.iter().any(|folder| is_below(path.as_str(), folder));
            assert!(!is_foreign, "{shown} asks for {path} by {}", request.op.name());
        }
        drive.answer(0);
    }
    let outcome = format!("{:?}", drive.finished.remove(&id).expect("it ends"));
    let as_bytes = format!("{:?}", MARK.as_bytes());
    let shows = outcome.contains(MARK) || outcome.contains(as_bytes.trim_matches(['[', ']']));
    assert!(!shows, "{shown} shows {outcome}");
}

/// Commands of other families cost no operations and no memory for entries, however many there
/// are.
#[test]
fn without_a_command_of_theirs_entries_cost_nothing() {
    for (kind, project) in [(Kind::Native, None), (Kind::Component, None), (Kind::Component, Some("proj"))] {
        let with = config(2, project, "a", "w");
        let without = Config { entries: None, ..with.clone() };
        let [with, without] = [with, without].map(|config| {
            let mut drive = Drive::new(kind, config, store_of_a(kind));
            let replies: Vec<_> = NAMES
                .into_iter()
                .flat_map(every_command)
                .filter(|given| !is_of_entries(&given.command))
                .chain([Context::default().submission(), Preamble::default().submission()])
                .map(|command| drive.run(command))
                .collect();
            assert!(replies.iter().filter(|reply| reply.is_ok()).count() > 20);
            (replies, drive.executor.log().to_vec())
        });
        assert_eq!(with, without, "{kind:?}, {project:?}");
    }
    let memory = |entries: Option<EntriesConfig>| {
        support::runtime().open(Config { entries, ..Config::default() }).unwrap().memory_bytes()
    };
    assert_eq!(memory(Some(EntriesConfig::for_agent("a"))), memory(None));
}

fn entries_of(store: &Simulator, folder: &str) -> Vec<(String, Vec<u8>)> {
    store.files().into_iter().filter(|(path, _)| path.starts_with(folder)).collect()
}

#[both_engines]
fn agents_are_isolated(kind: Kind) {
    for (workspace, project) in [("w", None), ("v", None), ("w", Some("proj")), ("v", Some("proj"))] {
        let store = store_of_a(kind);
        let mut foreign = vec!["agents/a/"];
        if workspace != "w" {
            foreign.push("workspaces/w/");
        }
        let before: Vec<_> = foreign.iter().flat_map(|folder| entries_of(&store, folder)).collect();
        assert!(!before.is_empty());
        let mut drive = Drive::new(kind, config(2, project, "b", workspace), store);
        for name in NAMES {
            every_command(name).into_iter().for_each(|command| assert_blind(&mut drive, &foreign, command));
        }
        let after: Vec<_> = foreign.iter().flat_map(|folder| entries_of(&drive.executor, folder)).collect();
        assert_eq!(after, before);
    }
}

/// On file systems that ignore the case and the ending of a name, and on those that do not.
#[nightly]
fn no_spelling_of_a_name_reaches_the_memory_of_another() {
    let (user, agent, tool) = (Provenance::User, Provenance::Agent, Provenance::Tool);
    for (kind, folds, project, provenance) in [
        (Kind::Native, true, None, user),
        (Kind::Native, true, Some("proj"), agent),
        (Kind::Native, false, None, user),
        (Kind::Component, true, None, tool),
    ] {
        let mut store = store_of_a(kind);
        let other = "projects/other-0db23a34/MEMORY.md";
        store.insert(&path(other), format!("{SECRET} {MARK}"));
        store.insert(&path("projects/other-0db23a34/MEMORY.bak"), format!("{SECRET} {MARK}"));
        store.insert(&path("agents/a/entries/core/core.bak"), format!("{SECRET} {MARK}"));
        let store = if folds { store.with_folded_names() } else { store };
        let foreign = ["agents/a/entries/", "workspaces/w/", "projects/other-0db23a34/"];
        let before: Vec<_> = foreign.iter().flat_map(|folder| entries_of(&store, folder)).collect();
        let trust = TrustConfig { provenance, ..TrustConfig::default() };
        let config = Config { trust, ..config(2, project, "b", "v") };
        let mut drive = Drive::new(kind, config, store);
        for name in SPELLINGS {
            every_command(name).into_iter().for_each(|command| assert_blind(&mut drive, &foreign, command));
        }
        let after: Vec<_> = foreign.iter().flat_map(|folder| entries_of(&drive.executor, folder)).collect();
        assert_eq!(after, before);
    }
}

#[both_engines]
fn a_scope_is_confirmed_by_a_command_and_never_chosen(kind: Kind) {
    let mut drive = Drive::new(kind, config(2, None, "b", "w"), store_of_a(kind));
    let names = |agent: Option<&str>, workspace: Option<&str>| (agent.map(String::from), workspace.map(String::from));
    let of_entries = |given: &Submission<Command>| matches!(given.command, Command::Entries(_));
    for verb in every_command("core").into_iter().filter(of_entries) {
        for (named, code, message) in [
            (names(Some("a"), None), ErrorCode::ScopeDenied, "`a` is not the agent of this memory"),
            (names(Some("a"), Some("w")), ErrorCode::ScopeDenied, "`a` is not the agent of this memory"),
            // Agent `z` does not exist, and the error does not tell.
            (names(Some("z"), None), ErrorCode::ScopeDenied, "`z` is not the agent of this memory"),
            (names(Some("a"), Some("v")), ErrorCode::ScopeNotFound, "no workspace `v` is visible from this memory"),
            (names(None, Some("v")), ErrorCode::ScopeNotFound, "no workspace `v` is visible from this memory"),
        ] {
            let (agent, workspace) = named;
            let command = Origin { agent, workspace, ..verb.origin.clone() }.with(verb.command.clone());
            let operations = drive.executor.log().len();
            let refused = drive.run(command).unwrap_err();
            assert_eq!((refused.code, refused.message.as_str()), (code, message));
            assert_eq!(drive.executor.log().len(), operations, "refused without an operation");
        }
    }
    let (agent, workspace) = names(Some("b"), Some("w"));
    let entry = drive.call(Origin { agent, workspace, ..Origin::default() }.with(ask::entry("shared"))).unwrap();
    assert_eq!(entry.entry.unwrap().content, "of the workspace");
}
