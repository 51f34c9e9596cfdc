//! No path, link or name makes a command read or write outside the root.

#![cfg(unix)]
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use saddlebag::agents_md::SyncAgentsMd;
use saddlebag::approval::{Approve, ApproveItem, Pending, Reject, TrustCommand};
use saddlebag::context::{Context, ContextEntries, Overflow, Preamble};
use saddlebag::entries::{
    CloseRun, EntriesConfig, ExportEntries, Hydrate, HydrationPolicy, ImportEntries, ImportFile, ImportMode,
    MAX_SCOPE_NAME_BYTES, OpenRun,
};
use saddlebag::exchange::{ExchangeCommand, ExportTo, ForeignFile, Format, ImportFrom};
use saddlebag::items::ListItems;
use saddlebag::journal::{Status, Target};
use saddlebag::notebook::WriteNote;
use saddlebag::tools::{CallTool, Dialect, ToolOptions, ToolSet};
use saddlebag::{Command, Config, Origin, Submission, Submit};
use saddlebag_host::{Durability, LocalDir, LocalDirOptions};
use serde_json::json;
use support::arbitrary::NAMES;
use support::drive::Drive;
use support::{Kind, agent_config, ask, commands, fact, keep, nightly, project_config};

const SECRET: &str = "the secret of the outside";

/// A folder with a store and, beside it, files that no command may touch.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/projects/proj/notes")).unwrap();
        fs::create_dir_all(folder.path().join("root/projects/proj/daily")).unwrap();
        fs::create_dir_all(folder.path().join("outside/notes")).unwrap();
        for file in ["outside/x.md", "outside/MEMORY.md", "outside/2026-05-25.md", "x.md", "root/../a.md"] {
            fs::write(folder.path().join(file), SECRET).unwrap();
        }
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn drive(&self, config: Config) -> Drive<LocalDir> {
        let options = LocalDirOptions { durability: Durability::Fast, ..LocalDirOptions::default() };
        Drive::new(Kind::Component, config, LocalDir::open(&self.root(), options).unwrap())
    }

    /// Returns everything outside the store, with its bytes.
    fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let root = self.root();
        collect(self.folder.path(), &mut found);
        found.retain(|path, _| !path.starts_with(&root));
        found
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
            found.insert(path, Vec::new());
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

fn every_command(target: &Target) -> Vec<Submission<Command>> {
    let mut commands = commands![
        ask::show(target.clone()),
        ask::append(target.clone(), "mine"),
        ask::overwrite(target.clone(), "mine"),
        ask::edit(target.clone(), SECRET, "gone"),
        ask::forget(target),
        ask::restore(target.clone()),
        ask::append_daily("h", "b"),
        ask::list(),
        ask::list_files(None, 1000),
        Status,
        ask::search("secret"),
    ];
    if let Target::Note(name) = target {
        let keys = vec![name.clone()];
        commands.push(SyncAgentsMd { name: name.clone(), keys, ..SyncAgentsMd::default() }.submission());
        commands.extend(every_sample(name));
        commands.extend(every_entries_command(name));
        commands.extend(every_exchange(name).map(Submit::submission));
        commands.push(ask::list_files(Some(name), 1000).submission());
        commands.push(ask::show(name.clone()).submission());
        commands.push(ask::show(format!("{name}.md")).submission());
    }
    commands.push(ask::pending().submission());
    if let Target::Note(name) = target {
        let item = |name: String| ApproveItem { name, version: "0".repeat(64) };
        let items = vec![item(name.clone()), item(format!("{name}.md"))];
        commands.push(TrustCommand::Approve(Approve { items: items.clone(), dry_run: false }).submission());
        let any_version = items.iter().map(|item| ApproveItem { version: String::new(), ..item.clone() }).collect();
        for (items, for_good) in [(items, false), (any_version, true)] {
            commands.push(TrustCommand::Reject(Reject { items, dry_run: false, for_good }).submission());
        }
        commands.push(ask::unforget(name).submission());
        let request = Pending { name: Some(name.clone()), ..ask::pending() };
        commands.push(TrustCommand::Pending(request).submission());
    }
    for overflow in [Overflow::Documented, Overflow::Prioritised, Overflow::Balanced] {
        let request = Hydrate { max_bytes: 4000, policy: HydrationPolicy::Greedy };
        let entries = Some(ContextEntries::from(request));
        let memory = Context { overflow, max_bytes: 4000, entries, ..Context::default() };
        commands.push(memory.clone().submission());
        commands.push(Preamble { memory, max_bytes: 9000, ..Preamble::default() }.submission());
    }
    commands
}

/// The samples of every command, and the notes that are made at a place.
fn every_sample(name: &str) -> Vec<Submission<Command>> {
    let category = Some(name.into());
    let more = commands![
        WriteNote { template: name.into(), ..fact("T", "mine") },
        fact(name, "mine"),
        ask::rename("T", name),
        ListItems { category, after: Some(format!("1:{name}")), ..ask::list_entries() },
    ];
    support::every_command(name).into_iter().chain(more).collect()
}

/// Returns the commands of the exchange with this name as the place and the text of foreign files. They never name a
/// file of the store.
fn every_exchange(name: &str) -> [ExchangeCommand; 3] {
    let line = format!("{{\"key\":{},\"category\":{},\"content\":\"mine\"}}\n", json!(name), json!(name));
    let file = |path: &str, text: String| ForeignFile { path: path.into(), first_line: 1, content: Ok(text.into()) };
    let import = |format, file| {
        ExchangeCommand::from(ImportFrom {
            format,
            place: name.into(),
            files: vec![file],
            others: vec![name.into()],
            dry_run: false,
            earlier: Vec::new(),
            of_project: true,
        })
    };
    let export = ExportTo { format: Format::ClaudeCode, forgotten: true, unapproved: true, cursor: None };
    let topic = file(&format!("{name}.md"), format!("---\nname: {}\n---\nmine\n", json!(name)));
    [
        import(Format::JsonLines, file("dump.jsonl", line)),
        import(Format::ClaudeCode, topic),
        ExchangeCommand::from(export),
    ]
}

/// Entries in categories and files of this name, and a run that has it.
fn every_entries_command(name: &str) -> Vec<Submission<Command>> {
    let key = || name.to_string();
    let import = ImportEntries {
        files: [format!("core/{name}"), format!("{name}/x.md"), key()]
            .map(|path| ImportFile { path, content: Ok(b"mine".to_vec()) })
            .to_vec(),
        mode: ImportMode::Upsert,
        dry_run: false,
        earlier: Vec::new(),
    };
    let export = ExportEntries { forgotten: true, cursor: Some(key()) };
    commands![
        keep(name, "mine", "core"),
        keep(name, "mine", "workspace"),
        keep("x", "mine", name),
        import,
        export,
        Origin::from_run(key()).with(OpenRun { fence: 1 }),
        Origin::from_run(key()).with(CloseRun),
    ]
}

/// Returns calls of Anthropic's tool, which accepts paths instead of names.
fn every_call_of_the_memory_tool(target: &Target) -> Vec<Command> {
    let name = match target {
        Target::Note(name) | Target::Daily(Some(name)) => name.as_str(),
        _ => "MEMORY.md",
    };
    let folders = ["/memories/", "/memories/notes/", "/memories/entries/core/", "/memories/../", ""];
    let calls = folders.map(|folder| format!("{folder}{name}")).into_iter().flat_map(|path| {
        [
            json!({ "command": "view", "path": path }),
            json!({ "command": "create", "path": path, "file_text": "mine" }),
            json!({ "command": "str_replace", "path": path, "old_str": "the", "new_str": "a" }),
            json!({ "command": "insert", "path": path, "insert_line": 0, "insert_text": "mine" }),
            json!({ "command": "rename", "old_path": path, "new_path": "/memories/moved" }),
            json!({ "command": "rename", "old_path": "/memories/moved", "new_path": path }),
            json!({ "command": "delete", "path": path }),
        ]
    });
    let call = |arguments: serde_json::Value| CallTool {
        tool: "memory".into(),
        input: arguments.to_string(),
        options: ToolOptions { sets: ToolSet::ALL.to_vec(), dialect: Dialect::Sdk },
    };
    calls.map(|arguments| Command::from(call(arguments))).collect()
}

/// Runs every command. No reply may contain the secret, and the outside must stay unchanged.
fn assert_nothing_escapes(place: &Place, targets: &[Target], lines: &[String]) {
    assert_nothing_escapes_with(&[agent_config(), Config { project: None, ..agent_config() }], place, targets, lines);
}

fn assert_nothing_escapes_with(configs: &[Config], place: &Place, targets: &[Target], lines: &[String]) {
    let before = place.outside();
    for config in configs.iter().cloned() {
        let mut drive = place.drive(config);
        let mut commands: Vec<Submission<Command>> = targets.iter().flat_map(every_command).collect();
        commands.extend(lines.iter().map(|line| ask::slash(line.clone()).submission()));
        commands.extend(targets.iter().flat_map(every_call_of_the_memory_tool).map(Submit::submission));
        for command in commands {
            let outcome = format!("{:?}", drive.run(command.clone()));
            assert!(!outcome.contains(SECRET), "{command:?} shows {outcome}");
        }
    }
    assert_eq!(place.outside(), before);
}

fn usual_targets() -> Vec<Target> {
    vec![
        Target::LongTerm,
        Target::Scratchpad,
        Target::Daily(None),
        Target::Daily(Some("2026-05-25".into())),
        Target::Note("x".into()),
    ]
}

#[test]
fn nothing_escapes_the_root() {
    assert_hostile_names_stay_inside(agent_config());
}

#[test]
fn nothing_escapes_the_root_without_a_project() {
    assert_hostile_names_stay_inside(Config { project: None, ..agent_config() });
}

fn assert_hostile_names_stay_inside(config: Config) {
    let place = Place::new();
    let outside = place.folder.path().join("outside/x");
    let absolute = outside.to_str().unwrap();
    let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_string()).collect();
    names.extend(
        [
            "../../../outside/x",
            "..\\..\\x",
            "../../x",
            "/etc/passwd",
            "%2e%2e/x",
            "x\0",
            "~/x",
            "file:///x",
            "..md",
            "．．/x",
        ]
        .map(String::from),
    );
    names.push(absolute.to_string());
    let targets: Vec<Target> =
        names.iter().flat_map(|name| [Target::Note(name.clone()), Target::Daily(Some(name.clone()))]).collect();
    let lines: Vec<String> = names
        .iter()
        .flat_map(|name| {
            [
                "read note {}",
                "read daily {}",
                "write note:\"{}\" mine",
                "clear note {}",
                "restore note {}",
                "edit note:\"{}\" the => a",
            ]
            .map(|line| line.replace("{}", name))
        })
        .collect();

    assert_nothing_escapes_with(&[config], &place, &targets, &lines);
}

#[test]
fn a_project_cannot_name_a_folder_outside() {
    for project in ["..", "../outside", "/etc", "a/b", "", ".", "a\\b", "x\n"] {
        let config = Config { project: Some(project.into()), ..Config::default() };
        assert!(support::runtime().open(config).is_err(), "{project:?}");
    }
}

#[test]
fn an_agent_or_a_workspace_cannot_name_a_folder_outside() {
    for name in ["..", ".", "../outside", "../../outside", "/etc", "a/../../..", "a\\b", "x\n", "\0", "CON", "~"] {
        let place = Place::new();
        let before = place.outside();
        let entries = EntriesConfig { workspace: Some(name.into()), ..EntriesConfig::for_agent(name) };
        let mut drive = place.drive(Config { entries: Some(entries), ..project_config() });
        for command in every_entries_command("x") {
            let outcome = format!("{:?}", drive.run(command.clone()));
            assert!(!outcome.contains(SECRET), "{name:?}: {command:?} shows {outcome}");
        }
        assert_eq!(place.outside(), before, "{name:?}");
        for folder in ["agents", "workspaces"] {
            assert!(place.root().join(folder).is_dir(), "{name:?} keeps nothing in {folder}");
        }
    }
    for name in [String::new(), "x".repeat(MAX_SCOPE_NAME_BYTES + 1)] {
        let entries = Some(EntriesConfig::for_agent(name.clone()));
        assert!(support::runtime().open(Config { entries, ..Config::default() }).is_err(), "{name:?}");
    }
}

#[nightly]
fn links_to_files_are_neither_followed_nor_replaced() {
    for planted in [
        "MEMORY.md",
        "MEMORY.bak",
        "SCRATCHPAD.md",
        "projects/proj/SCRATCHPAD.md",
        "projects/proj/SCRATCHPAD.bak",
        "projects/proj/notes/x.md",
        "projects/proj/notes/x.bak",
        "projects/proj/daily/2026-05-25.md",
        "projects/proj/daily/2026-05-25.bak",
        "projects/proj/facts/t.md",
        "projects/proj/facts/x.md",
        "projects/proj/facts/mine.md",
        "projects/proj/templates/fact.md",
        "projects/proj/.zk/config.toml",
        "agents/a/fence",
        "agents/a/entries/core/x.md",
        "agents/a/entries/x/x.md",
        "workspaces/w/entries/x.md",
    ] {
        let place = Place::new();
        let link = place.root().join(planted);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(place.folder.path().join("outside/x.md"), &link).unwrap();

        assert_nothing_escapes(&place, &usual_targets(), &[]);

        assert!(link.is_symlink(), "{planted} was replaced");
    }
}

#[nightly]
fn links_to_folders_are_not_followed() {
    for planted in [
        "projects",
        "projects/proj",
        "projects/proj/notes",
        "projects/proj/daily",
        "projects/proj/facts",
        "projects/proj/templates",
        "projects/proj/.zk",
        "projects/proj/.saddlebag",
        "agents",
        "agents/a",
        "agents/a/entries",
        "agents/a/entries/core",
        "workspaces",
        "workspaces/w",
        "workspaces/w/entries",
        "notes",
        "daily",
        "facts",
        ".zk",
        ".saddlebag",
    ] {
        let place = Place::new();
        let link = place.root().join(planted);
        if link.is_dir() {
            fs::remove_dir_all(&link).unwrap();
        }
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(place.folder.path().join("outside"), &link).unwrap();

        assert_nothing_escapes(&place, &usual_targets(), &[]);

        assert!(link.is_symlink(), "{planted} was replaced");
    }
}

#[test]
fn a_link_in_the_place_of_the_locks_is_not_followed() {
    let place = Place::new();
    fs::create_dir(place.root().join(".saddlebag")).unwrap();
    symlink(place.folder.path().join("outside"), place.root().join(".saddlebag/locks-3")).unwrap();

    assert_nothing_escapes(&place, &usual_targets(), &[]);
}

#[test]
fn a_link_to_a_neighbour_inside_the_root_is_not_followed_either() {
    let place = Place::new();
    fs::write(place.root().join("projects/proj/notes/real.md"), "plain words").unwrap();
    symlink("real.md", place.root().join("projects/proj/notes/x.md")).unwrap();
    let mut drive = place.drive(project_config());

    let read = drive.run(ask::show(Target::Note("x".into())));
    let found = format!("{:?}", drive.run(ask::search("plain")).unwrap());

    assert!(read.unwrap_err().message.contains("symbolic link"));
    assert!(found.contains("real.md") && found.contains("NotRegular"), "{found}");
}
