//! Files of a scope by their paths: the list, page by page, and their content.

use saddlebag::Config;
use saddlebag::items::{FilePage, ItemKind, MAX_LISTED_FILES, Show, Shown};
use saddlebag::journal::FileState;
use saddlebag::protocol::{Error, ErrorCode, RelPath};
use saddlebag_host::Simulator;
use support::drive::{Drive, changes, drive};
use support::{Kind, agent_config, ask, both_engines, project_config};

const FILES: [(&str, &[u8]); 16] = [
    (".hidden.md", b"hidden"),
    (".saddlebag-like/x.md", b"hidden"),
    ("MEMORY.bak", b"a backup"),
    ("MEMORY.md", "fact \u{8a18}\u{61b6}\n".as_bytes()),
    ("agents/a/entries/core/k.md", b"---\nkey: k\n---\n\nof a"),
    ("agents/a/fence", b"1"),
    ("agents/z/entries/core/k.md", b"---\nkey: k\n---\n\nof z"),
    ("projects/other-0123abcd/notes/n.md", b"of another project"),
    ("projects/proj/.zk/config.toml", b"[note]\n"),
    ("projects/proj/.zk/templates/t.md", b"hidden"),
    ("projects/proj/SCRATCHPAD.md", b"- [ ] a\n"),
    ("projects/proj/deep/er/n.md", b"deep"),
    ("projects/proj/notes/a b.md", b"a note"),
    ("projects/proj/notes/bytes.md", b"\xff\xfe"),
    ("workspaces/v/entries/s.md", b"of another workspace"),
    ("workspaces/w/entries/s.md", b"---\nkey: s\n---\n\nshared"),
];

fn store(kind: Kind, config: Config) -> Drive<Simulator> {
    drive(kind, config, &FILES)
}

fn list(drive: &mut Drive<Simulator>, after: Option<&str>, limit: u32) -> Result<FilePage, Error> {
    drive.call(ask::list_files(after, limit))
}

fn read(drive: &mut Drive<Simulator>, path: &str, offset: u64, max_bytes: u32) -> Result<Shown, Error> {
    drive.call(ask::show_part(path, offset, max_bytes))
}

fn paths(page: &FilePage) -> Vec<&str> {
    page.files.iter().map(|file| file.path.as_str()).collect()
}

#[both_engines]
fn the_files_of_a_scope_are_its_markdown_and_its_entries(kind: Kind) {
    let of_agent = list(&mut store(kind, agent_config()), None, 1000).unwrap();
    let entries = ["agents/a/entries/core/k.md", "workspaces/w/entries/s.md"];
    for entry in entries {
        assert!(paths(&of_agent).contains(&entry), "{of_agent:?}");
    }
    let page = list(&mut store(kind, project_config()), None, 1000).unwrap();
    let expected = [
        "MEMORY.md",
        "projects/proj/SCRATCHPAD.md",
        "projects/proj/deep/er/n.md",
        "projects/proj/notes/a b.md",
        "projects/proj/notes/bytes.md",
    ];
    assert_eq!(paths(&page), expected);
    assert_eq!((page.next, page.total), (None, 5));
    assert_eq!(page.files[0].size, 12);
}

#[both_engines]
fn pages_are_the_list_and_each_says_what_follows(kind: Kind) {
    let mut drive = store(kind, agent_config());
    let whole = list(&mut drive, None, 1000).unwrap();
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = list(&mut drive, after.as_deref(), 2).unwrap();
        assert_eq!(page.total, whole.total);
        assert!(page.files.len() <= 2);
        found.extend(page.files);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, whole.files);
    let after = list(&mut drive, Some("workspaces/zzz"), 2).unwrap();
    assert_eq!((after.files.len(), after.next), (0, None));
}

#[both_engines]
fn a_further_page_looks_at_no_folder(kind: Kind) {
    let mut drive = store(kind, agent_config());
    let first = list(&mut drive, None, 2).unwrap();
    let operations = drive.executor.operations();
    let second = list(&mut drive, first.next.as_deref(), 2).unwrap();
    assert_eq!((second.files.len(), drive.executor.operations()), (2, operations));
    // Another list ends the listing, and any cursor still gives the page after it.
    let whole = list(&mut drive, None, 1000).unwrap();
    let third = list(&mut drive, second.next.as_deref(), 1000).unwrap();
    assert_eq!(third.files, whole.files[4..]);
    assert!(drive.executor.operations() > operations);
}

#[both_engines]
fn every_listed_file_can_be_read_whatever_the_prefix(kind: Kind) {
    let config = Config { path_prefix: "/store/".into(), ..agent_config() };
    let mut drive = store(kind, config);
    for file in list(&mut drive, None, 1000).unwrap().files {
        let reply = read(&mut drive, &file.path, 0, 1000);
        if file.path.ends_with("bytes.md") {
            assert_eq!(reply.unwrap_err().code, ErrorCode::NotText);
            continue;
        }
        let reply = reply.unwrap();
        assert_eq!((reply.path, reply.size, reply.next_offset), (format!("/store/{}", file.path), file.size, None));
    }
    let part = read(&mut drive, "MEMORY.md", 0, 9).unwrap();
    assert_eq!((part.text.as_str(), part.next_offset), ("fact \u{8a18}", Some(8)));
    let rest = read(&mut drive, "MEMORY.md", 8, 9).unwrap();
    assert_eq!((rest.text.as_str(), rest.next_offset), ("\u{61b6}\n", None));
}

/// A file outside the scope has no name in the server.
#[both_engines]
fn what_is_not_listed_cannot_be_read_and_is_not_looked_for(kind: Kind) {
    let outside = [
        "MEMORY.bak",
        "agents/a/fence",
        "agents/z/entries/core/k.md",
        "projects/other-0123abcd/notes/n.md",
        "projects/proj/.zk/config.toml",
        "projects/proj/.zk/templates/t.md",
        "workspaces/v/entries/s.md",
        ".saddlebag-like/x.md",
    ];
    let invalid = ["", "/MEMORY.md", "../x.md", "projects/proj/../../MEMORY.md", "a\\b.md", "a\u{0}.md", "a//b.md"];
    let mut drive = store(kind, project_config());
    for path in invalid {
        assert_eq!(list(&mut drive, Some(path), 9).unwrap_err().code, ErrorCode::InvalidName, "{path:?}");
    }
    for limit in [0, MAX_LISTED_FILES + 1] {
        assert_eq!(list(&mut drive, None, limit).unwrap_err().code, ErrorCode::InvalidArgument);
    }
    assert_eq!(read(&mut drive, "MEMORY.md", 0, 3).unwrap_err().code, ErrorCode::InvalidArgument);
    assert_eq!(drive.executor.log(), [], "refused without an operation");
    for path in outside.into_iter().chain(invalid) {
        let refused = read(&mut drive, path, 0, 100).unwrap_err().code;
        assert!([ErrorCode::NotFound, ErrorCode::InvalidArgument].contains(&refused), "{path:?}: {refused:?}");
        // Every look at the notes reads their configuration.
        let is_asked_for = format!("{:?}", drive.executor.log()).contains(&format!("{path:?}"));
        assert!(!is_asked_for || path.is_empty() || path.ends_with("config.toml"), "{path:?}");
    }
    let missing = read(&mut drive, "projects/proj/notes/none.md", 0, 100).unwrap();
    assert_eq!(missing.state, FileState::Missing);
    assert_eq!(changes(&drive.executor), Vec::<String>::new());
}

fn resolve(drive: &mut Drive<Simulator>, name: &str, kind: Option<ItemKind>) -> Result<Shown, Error> {
    drive.call(Show::item(name, kind))
}

#[both_engines]
fn every_form_of_a_name_means_its_item(kind: Kind) {
    const NOTE: &str = "projects/proj/facts/port.md";
    const ENTRY: &str = "agents/a/entries/core/k.md";
    let config = Config { roots: vec!["/store/".into()], ..agent_config() };
    let mut drive = store(kind, config);
    for (path, text) in [
        (NOTE, "---\ntitle: Port\naliases: [harbour]\n---\n\n5432\n"),
        ("projects/proj/facts/port-2.md", "---\ntitle: Port\nprovenance: tool\n---\n\n9\n"),
        ("projects/proj/facts/key.md", "---\ntitle: k\n---\n\na note\n"),
        ("README.md", "of the root\n"),
    ] {
        drive.executor.insert(&RelPath::new(path).unwrap(), text);
    }
    let today = "projects/proj/daily/2026-05-25.md";
    for (names, item_kind, path, called) in [
        // Text that nobody has approved does not take the name.
        (
            &["Port", "harbour", "port", "facts/port.md", "facts/port", NOTE, "/store/projects/proj/facts/port.md"][..],
            ItemKind::Note,
            NOTE,
            "Port",
        ),
        (&[ENTRY, "/store/agents/a/entries/core/k.md"], ItemKind::Entry, ENTRY, "k"),
        (&["s"], ItemKind::Entry, "workspaces/w/entries/s.md", "s"),
        (&["long_term", "MEMORY.md", "/store/MEMORY.md"], ItemKind::File, "MEMORY.md", "MEMORY"),
        (&["README.md", "/store/README.md"], ItemKind::File, "README.md", "README"),
        (&["daily", "daily:2026-05-25", today], ItemKind::Log, today, "2026-05-25"),
        (&["note:new", "notes/new.md"], ItemKind::Note, "projects/proj/notes/new.md", "new"),
    ] {
        for name in names {
            let item = resolve(&mut drive, name, None).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((item.kind, item.path.as_str(), item.name.as_str()), (item_kind, path, called), "{name}");
        }
    }
    for (backup, of) in [
        ("projects/proj/facts/port.bak", NOTE),
        ("/store/projects/proj/facts/port.bak", NOTE),
        ("facts/gone.bak", "projects/proj/facts/gone.md"),
        ("agents/a/entries/core/k.bak", ENTRY),
        ("MEMORY.bak", "MEMORY.md"),
    ] {
        let error = resolve(&mut drive, backup, None).unwrap_err();
        let message = format!("`{backup}` is the backup of {of}");
        assert_eq!((error.code, error.message.clone()), (ErrorCode::InvalidArgument, message));
    }
    let error = resolve(&mut drive, "k", None).unwrap_err();
    assert_eq!(error.code, ErrorCode::AmbiguousName);
    assert_eq!(error.message, format!("`k` could be {ENTRY} (entry), projects/proj/facts/key.md (note)"));
    assert_eq!(resolve(&mut drive, "k", Some(ItemKind::Entry)).unwrap().path, ENTRY);
    assert_eq!(resolve(&mut drive, "k", Some(ItemKind::Note)).unwrap().path, "projects/proj/facts/key.md");
    for name in [
        "nowhere",
        "/store/agents/z/entries/core/k.md",
        "agents/z/entries/core/k.md",
        "/store/projects/other-0123abcd/notes/n.md",
        "/elsewhere/MEMORY.md",
        "agents/z/entries/core/k.bak",
        "projects/other-0123abcd/notes/n.bak",
        "../x.md",
        "workspaces/v/entries/s.md",
        "MEMORY.bak.md/x",
        "",
    ] {
        assert_eq!(resolve(&mut drive, name, None).unwrap_err().code, ErrorCode::NotFound, "{name}");
    }
    let error = resolve(&mut drive, "the port of db", None).unwrap_err();
    assert!(error.help.contains(NOTE), "{error:?}");
}
