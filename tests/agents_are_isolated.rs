//! One agent never sees the entries of another: every command of every family, with two agents and two workspaces, in
//! both engines.

use saddlebag::agents_md::{Side, SyncAgentsMd};
use saddlebag::approval::{Approve, ApproveItem, Pending, TrustCommand};
use saddlebag::context::{Context, ContextEntries, Overflow, Preamble, PromptCommand};
use saddlebag::entries::{
    Checkpoint, CloseRun, EditEntry, EntriesCommand, EntriesConfig, EntriesReply, EntryFilter, Explain, ExportEntries,
    FindEntries, ForgetEntry, GetEntry, Hydrate, HydrationPolicy, ImportEntries, ImportFile, ImportMode, ListEntries,
    NewEntry, OpenRun, PurgeEntries, RestoreEntry, RetainEntries, StoreEntry,
};
use saddlebag::exchange::{ExchangeCommand, ExportTo, ForeignFile, Format, ImportFrom};
use saddlebag::files::{FilesCommand, ListFiles, ReadFile};
use saddlebag::journal::{
    AppendDaily, Edit, EditChange, FlushSummary, JournalCommand, ListJournal, Read, Restore, Search, Slash, Status,
    Target, Write, WriteMode,
};
use saddlebag::notebook::{
    DeadLinks, Forget, Graph, InitNotebook, Journal, Link, ListNotes, LoadMemories, MemoryContext, NoteFilter,
    NotebookCommand, Orphans, Recall, RecallForTurn, Related, Remember, RememberError, Rename, RestoreNote, Tags,
    Today, UnlinkedMentions,
};
use saddlebag::protocol::ErrorCode;
use saddlebag::session::SessionCommand;
use saddlebag::store::{folded_name, is_name};
use saddlebag::tools::{CallTool, Dialect, ToolSet, tools};
use saddlebag::trust::{Provenance, TrustConfig};
use saddlebag::{Command, Config, Origin, Reply, Submission, Submit};
use saddlebag_host::Simulator;
use serde_json::json;
use support::drive::Drive;
use support::{Kind, both_engines, path, paths_of};

/// Text that the commands ask for.
const SECRET: &str = "the lighthouse keeper";
/// Text after the secret in every entry of the other agent. No command contains it.
const MARK: &str = "mark-4711";

fn config(epoch: u64, project: Option<&str>, agent: &str, workspace: &str, peers: &[&str]) -> Config {
    let entries = EntriesConfig {
        workspace: Some(workspace.into()),
        peers: peers.iter().map(ToString::to_string).collect(),
        ..EntriesConfig::for_agent(agent)
    };
    Config { epoch, project: project.map(String::from), entries: Some(entries), ..Config::default() }
}

fn keep(key: &str, content: &str, category: &str) -> EntriesCommand {
    EntriesCommand::StoreEntry(StoreEntry { entry: NewEntry::new(key, content, category), expected_version: None })
}

/// A store in which agent `a` of workspace `w` has secrets of its own and of the workspace.
fn store_of_a(kind: Kind) -> Simulator {
    let mut drive = Drive::new(kind, config(1, None, "a", "w", &["b"]), Simulator::new(1));
    for category in ["core", "daily", "notes"] {
        drive.run(keep(category, &format!("{SECRET} {MARK}"), category)).unwrap();
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

fn every_verb(name: &str) -> Vec<EntriesCommand> {
    let request = Hydrate { max_bytes: 100_000, policy: HydrationPolicy::Greedy };
    let prefix = Hydrate { policy: HydrationPolicy::Prefix, ..request };
    let filter = EntryFilter { category: Some(name.into()), ..EntryFilter::default() };
    vec![
        EntriesCommand::GetEntry(GetEntry { key: name.into() }),
        EntriesCommand::FindEntries(FindEntries { query: SECRET.into(), limit: 50 }),
        EntriesCommand::ListEntries(ListEntries { filter: EntryFilter::default(), limit: None, cursor: None }),
        EntriesCommand::ListEntries(ListEntries {
            filter,
            limit: None,
            cursor: Some(format!("9999999999999999999:{name}")),
        }),
        EntriesCommand::Hydrate(request),
        EntriesCommand::Hydrate(prefix),
        EntriesCommand::Explain(Explain { request, key: Some(name.into()) }),
        EntriesCommand::Explain(Explain { request, key: None }),
        EntriesCommand::ForgetEntry(ForgetEntry { key: name.into(), expected_version: None }),
        EntriesCommand::RestoreEntry(RestoreEntry { key: name.into() }),
        EntriesCommand::PurgeEntries(PurgeEntries { key: Some(name.into()) }),
        EntriesCommand::PurgeEntries(PurgeEntries { key: None }),
        EntriesCommand::ExportEntries(ExportEntries { forgotten: true, cursor: None }),
        EntriesCommand::ExportEntries(ExportEntries { forgotten: true, cursor: Some(name.into()) }),
        EntriesCommand::ImportEntries(ImportEntries {
            files: [name.to_string(), format!("{name}.md"), "agents/a/entries/core/core.md".into()]
                .map(|path| ImportFile { path, content: Ok(b"mine".to_vec()) })
                .to_vec(),
            mode: ImportMode::Replace,
            dry_run: false,
            earlier: Vec::new(),
        }),
        EntriesCommand::RetainEntries(RetainEntries { imported: Vec::new(), dry_run: false }),
        EntriesCommand::EditEntry(EditEntry { key: name.into(), old_text: MARK.into(), new_text: "gone".into() }),
        keep(name, "mine", "core"),
        keep("mine", "mine", name),
        EntriesCommand::OpenRun(OpenRun { fence: u64::MAX }),
        EntriesCommand::Checkpoint(Checkpoint),
        EntriesCommand::CloseRun(CloseRun),
    ]
}

fn every_other_command(name: &str) -> Vec<Command> {
    let name = || name.to_string();
    let note = || Target::Note(name());
    let page = || Target::Page(name());
    let replace = EditChange::Replace { old_text: SECRET.into(), new_text: "gone".into() };
    let remember = |title: String, template: String, links: Vec<String>| {
        let content = "mine".into();
        NotebookCommand::Remember(Remember { title, content, template, links, ..Remember::default() })
    };
    let filter = NoteFilter { paths: vec![name()], ..NoteFilter::default() };
    let recall = Recall {
        query: SECRET.into(),
        limit: 50,
        offset: 0,
        filter: NoteFilter::default(),
        sort: Vec::new(),
        explain: true,
        assume_unchanged: false,
    };
    let list = |filter| ListNotes { with_text: true, filter, ..ListNotes::default() };
    let mut commands: Vec<Command> = vec![
        JournalCommand::Read(Read { target: note(), offset: 0, max_bytes: 4_000 }).into(),
        JournalCommand::Write(Write {
            target: note(),
            mode: WriteMode::Append,
            content: "mine".into(),
            truncate: false,
        })
        .into(),
        JournalCommand::Write(Write {
            target: note(),
            mode: WriteMode::Overwrite,
            content: "mine".into(),
            truncate: false,
        })
        .into(),
        JournalCommand::Edit(Edit { target: note(), change: replace.clone() }).into(),
        JournalCommand::Edit(Edit { target: note(), change: EditChange::DeleteNote }).into(),
        JournalCommand::Restore(Restore { target: note() }).into(),
        JournalCommand::Read(Read { target: page(), offset: 0, max_bytes: 4_000 }).into(),
        JournalCommand::Edit(Edit { target: page(), change: replace.clone() }).into(),
        JournalCommand::Restore(Restore { target: page() }).into(),
        JournalCommand::Slash(Slash { line: format!("read page {}", name()) }).into(),
        JournalCommand::Read(Read { target: Target::Daily(Some(name())), offset: 0, max_bytes: 4_000 }).into(),
        JournalCommand::AppendDaily(AppendDaily { heading: name(), body: "mine".into() }).into(),
        JournalCommand::ListJournal(ListJournal).into(),
        FilesCommand::ListFiles(ListFiles { after: None, limit: 1000 }).into(),
        FilesCommand::ReadFile(ReadFile { path: name(), offset: 0, max_bytes: 4_000 }).into(),
        // A page of the list may begin where another's files are.
        FilesCommand::ListFiles(ListFiles { after: Some("AGENTS/a".into()), limit: 1000 }).into(),
        FilesCommand::ReadFile(ReadFile {
            path: format!("agents/a/entries/core/{name}.md", name = name()),
            offset: 0,
            max_bytes: 4_000,
        })
        .into(),
        JournalCommand::Status(Status).into(),
        JournalCommand::Search(Search::new(SECRET)).into(),
        JournalCommand::FlushSummary(FlushSummary { summary: name(), messages: None }).into(),
        JournalCommand::Slash(Slash { line: format!("read note:{}", name()) }).into(),
        JournalCommand::Slash(Slash { line: format!("search {SECRET}") }).into(),
        NotebookCommand::InitNotebook(InitNotebook).into(),
        remember(name(), "fact".into(), Vec::new()).into(),
        remember("T".into(), name(), Vec::new()).into(),
        remember("L".into(), "fact".into(), vec![name()]).into(),
        NotebookCommand::Recall(recall).into(),
        NotebookCommand::Journal(Journal { entry: name() }).into(),
        NotebookCommand::Today(Today).into(),
        NotebookCommand::ListNotes(list(NoteFilter::default())).into(),
        NotebookCommand::ListNotes(list(filter.clone())).into(),
        NotebookCommand::Graph(Graph { notes: list(filter) }).into(),
        NotebookCommand::Related(Related { note: name(), limit: 50 }).into(),
        NotebookCommand::Link(Link { source: name(), target: name(), text: None }).into(),
        NotebookCommand::Rename(Rename { note: name(), title: "mine".into() }).into(),
        NotebookCommand::Forget(Forget { note: name() }).into(),
        NotebookCommand::RestoreNote(RestoreNote { note: name() }).into(),
        NotebookCommand::Tags(Tags).into(),
        NotebookCommand::Orphans(Orphans).into(),
        NotebookCommand::DeadLinks(DeadLinks).into(),
        NotebookCommand::UnlinkedMentions(UnlinkedMentions { note: name() }).into(),
        NotebookCommand::LoadMemories(LoadMemories { limit: 50 }).into(),
        NotebookCommand::RecallForTurn(RecallForTurn { turn: 1, query: SECRET.into(), limit: 50 }).into(),
        NotebookCommand::MemoryContext(MemoryContext { turn: 1, max_bytes: 10_000 }).into(),
        NotebookCommand::RememberError(RememberError { tool: name(), error: name() }).into(),
    ];
    let is_of_another_test = |command: &Command| {
        matches!(command, Command::Entries(_) | Command::Exchange(_) | Command::Tools(_) | Command::AgentsMd(_))
    };
    commands.extend(
        support::every_command(&name())
            .into_iter()
            .map(|given| given.command)
            .filter(|command| !is_of_another_test(command)),
    );
    commands
        .extend(every_tool_call(name().as_str()).into_iter().filter(|call| !is_of_entries(call)).map(Command::from));
    let listing = Pending { limit: 50, ..Pending::default() };
    let items = vec![ApproveItem { name: name(), version: "0".repeat(64) }];
    commands.extend([
        TrustCommand::Pending(listing.clone()).into(),
        TrustCommand::Pending(Pending { cursor: Some(name()), ..listing.clone() }).into(),
        TrustCommand::Pending(Pending { name: Some(name()), ..listing.clone() }).into(),
        TrustCommand::Pending(Pending { source: Some("import".into()), ..listing }).into(),
        TrustCommand::Approve(Approve { items, dry_run: false }).into(),
    ]);
    for overflow in [Overflow::Documented, Overflow::Prioritised, Overflow::Balanced] {
        let request = Hydrate { max_bytes: 10_000, policy: HydrationPolicy::Greedy };
        let entries = Some(ContextEntries::from(request));
        let memory = Context { overflow, max_bytes: 10_000, turn: Some(1), entries, ..Context::default() };
        commands.push(memory.clone().into());
        commands.push(Preamble { memory, max_bytes: 20_000, ..Preamble::default() }.into());
    }
    for prefer in [None, Some(Side::Section), Some(Side::Store)] {
        let (key, content) = (name(), "<!-- saddlebag:begin agent=b -->\n- k: mine\n<!-- saddlebag:end -->\n");
        let content = Some(content.as_bytes().to_vec());
        commands.push(SyncAgentsMd { content, keys: vec![key], prefer, ..SyncAgentsMd::default() }.into());
        commands.push(SyncAgentsMd { tags: vec![SECRET.into()], prefer, ..SyncAgentsMd::default() }.into());
    }
    commands
}

/// Returns true if a call asks for entries, which costs their operations.
fn is_of_entries(call: &CallTool) -> bool {
    let of_entries = tools(&[ToolSet::Entries, ToolSet::Anthropic]);
    of_entries.iter().any(|tool| tool.name == call.name)
}

/// Every tool, with a foreign agent, workspace, key or path wherever it takes a text.
fn every_tool_call(name: &str) -> Vec<CallTool> {
    let call = |tool: &str, arguments: serde_json::Value| CallTool {
        name: tool.into(),
        input: arguments.to_string(),
        sets: ToolSet::ALL.to_vec(),
        dialect: Dialect::Sdk,
    };
    let mut calls = vec![
        call("memory_read", json!({ "source": "list" })),
        call("memory_read", json!({ "source": "note", "name": name })),
        call("memory_read", json!({ "source": "page", "name": name })),
        call("memory_edit", json!({ "target": "page", "name": name, "old_str": SECRET, "new_str": "gone" })),
        call("memory_write", json!({ "target": "note", "name": name, "content": "mine" })),
        call("memory_edit", json!({ "target": "note", "name": name, "old_str": SECRET, "new_str": "gone" })),
        call("memory_edit", json!({ "target": "note", "name": name })),
        call("memory_search", json!({ "query": SECRET })),
        call("memory_store", json!({ "key": name, "content": "mine" })),
        call("memory_store", json!({ "key": "mine", "content": "mine", "category": name })),
        call("memory_recall", json!({ "key": name })),
        call("memory_recall", json!({ "query": SECRET, "limit": 100 })),
        call("memory_list", json!({ "limit": 100 })),
        call("memory_list", json!({ "category": name, "cursor": format!("99999999999:{name}") })),
        call("memory_forget", json!({ "key": name })),
        call("notebook_remember", json!({ "title": name, "content": "mine", "links": [name] })),
        call("notebook_recall", json!({ "query": SECRET, "limit": 100 })),
        call("notebook_journal", json!({ "entry": name })),
        call("notebook_link", json!({ "from": name, "to": name })),
        call("notebook_related", json!({ "note": name })),
        call("memory", json!({ "command": "view", "path": "/memories" })),
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

/// Entries cost neither operations nor memory, however many there are.
#[test]
fn without_a_command_of_theirs_entries_cost_nothing() {
    let is_of_others = |command: &Command| match command {
        Command::Prompt(PromptCommand::Context(request)) => request.entries.is_none(),
        // The files of the entries are files of the scope.
        Command::Files(_) => false,
        Command::Prompt(PromptCommand::Preamble(request)) => request.memory.entries.is_none(),
        Command::AgentsMd(_) => false,
        // Text of both families can wait for approval.
        Command::Trust(_) => false,
        // What a session is shown includes the entries.
        Command::Session(SessionCommand::BeginSession(_) | SessionCommand::RecallForPrompt(_)) => false,
        _ => true,
    };
    for (kind, project) in [(Kind::Native, None), (Kind::Component, None), (Kind::Component, Some("proj"))] {
        let with = config(2, project, "a", "w", &["b"]);
        let without = Config { entries: None, ..with.clone() };
        let [with, without] = [with, without].map(|config| {
            let mut drive = Drive::new(kind, config, store_of_a(kind));
            let replies: Vec<_> = NAMES
                .into_iter()
                .flat_map(every_other_command)
                .filter(is_of_others)
                .chain([Context::default().into()])
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

fn exchange(name: &str) -> [Command; 2] {
    let export = ExportTo { format: Format::JsonLines, forgotten: true, unapproved: false, cursor: None };
    let content = Ok(format!("- **{name}**: mine\n").into_bytes());
    let import = ImportFrom {
        format: Format::OpenClaw,
        place: name.into(),
        files: vec![ForeignFile { path: "MEMORY.md".into(), first_line: 1, content }],
        others: vec![name.into()],
        dry_run: false,
        earlier: Vec::new(),
    };
    [ExchangeCommand::ExportTo(export), ExchangeCommand::ImportFrom(import)].map(|verb| verb.into())
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
        let mut drive = Drive::new(kind, config(2, project, "b", workspace, &["a"]), store);
        for name in NAMES {
            for verb in every_verb(name) {
                let run = matches!(
                    verb,
                    EntriesCommand::OpenRun(_)
                        | EntriesCommand::Checkpoint(Checkpoint)
                        | EntriesCommand::CloseRun(CloseRun)
                );
                let command = Origin { run: run.then(|| "r".into()), ..Origin::default() }.with(verb);
                assert_blind(&mut drive, &foreign, command.submission());
            }
            let calls = every_tool_call(name).into_iter().filter(is_of_entries);
            calls.for_each(|call| assert_blind(&mut drive, &foreign, call.submission()));
            let others = every_other_command(name).into_iter().chain(exchange(name));
            others.for_each(|command| assert_blind(&mut drive, &foreign, command.submission()));
        }
        let after: Vec<_> = foreign.iter().flat_map(|folder| entries_of(&drive.executor, folder)).collect();
        assert_eq!(after, before);
    }
}

/// On file systems that ignore the case and the ending of a name, and on those that do not.
#[test]
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
        let config = Config { trust, ..config(2, project, "b", "v", &["a"]) };
        let mut drive = Drive::new(kind, config, store);
        for name in SPELLINGS {
            for verb in every_verb(name) {
                assert_blind(&mut drive, &foreign, verb.submission());
            }
            let calls = every_tool_call(name).into_iter().filter(is_of_entries);
            calls.for_each(|call| assert_blind(&mut drive, &foreign, call.submission()));
            let others = every_other_command(name).into_iter().chain(exchange(name));
            others.for_each(|command| assert_blind(&mut drive, &foreign, command.submission()));
        }
        let after: Vec<_> = foreign.iter().flat_map(|folder| entries_of(&drive.executor, folder)).collect();
        assert_eq!(after, before);
    }
}

#[both_engines]
fn a_scope_is_confirmed_by_a_command_and_never_chosen(kind: Kind) {
    let mut drive = Drive::new(kind, config(2, None, "b", "w", &["a"]), store_of_a(kind));
    let names = |agent: Option<&str>, workspace: Option<&str>| (agent.map(String::from), workspace.map(String::from));
    for verb in every_verb("core") {
        for (named, code, message) in [
            (names(Some("a"), None), ErrorCode::ScopeDenied, "UZ-MEM-001: the entries of `a` are its own"),
            (names(Some("a"), Some("w")), ErrorCode::ScopeDenied, "UZ-MEM-001: the entries of `a` are its own"),
            (names(Some("z"), None), ErrorCode::ScopeNotFound, "UZ-MEM-002: no agent `z` is visible from this memory"),
            // In a foreign workspace, not even a peer is known.
            (
                names(Some("a"), Some("v")),
                ErrorCode::ScopeNotFound,
                "UZ-MEM-002: no workspace `v` is visible from this memory",
            ),
            (
                names(None, Some("v")),
                ErrorCode::ScopeNotFound,
                "UZ-MEM-002: no workspace `v` is visible from this memory",
            ),
        ] {
            let (agent, workspace) = named;
            let command = Origin { agent, workspace, ..Origin::default() }.with(verb.clone());
            let operations = drive.executor.log().len();
            let refused = drive.run(command).unwrap_err();
            assert_eq!((refused.code, refused.message.as_str()), (code, message));
            assert_eq!(drive.executor.log().len(), operations, "refused without an operation");
        }
    }
    let (agent, workspace) = names(Some("b"), Some("w"));
    let verb = EntriesCommand::GetEntry(GetEntry { key: "shared".into() });
    let reply = drive.run(Origin { agent, workspace, ..Origin::default() }.with(verb)).unwrap();
    let Reply::Entries(EntriesReply::GetEntry(entry)) = reply else { panic!("{reply:?}") };
    assert_eq!(entry.content, "of the workspace");
}
