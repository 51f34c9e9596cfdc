//! Tests of export and import: exported files come back byte for byte, and files that cannot be imported are named.

use super::*;

#[test]
fn j_export_and_import_make_no_difference() {
    let mut world = World::new();
    for (key, content, category) in [
        ("deploy_target", "---\nstaging\n---\n", "core"),
        ("steering:Tone", "warm\r\n", "core"),
        ("../nul", "\n\nx", "CORE"),
        ("standup", "v", "daily"),
        ("ours", "shared", "workspace"),
        ("ours", "mine", "notes"),
        ("gone", "v", "core"),
    ] {
        world.store_entry(NewEntry { tags: vec!["a, b".into()], ..entry(key, content, category) });
    }
    world.keep(&"k".repeat(255), "long", "core");
    world.forget("gone");
    let (shown, all) = (world.export(false), world.export(true));
    assert_eq!((shown.len(), all.len()), (7, 8));
    let paths: Vec<&str> = all.iter().map(|(path, _)| path.as_str()).collect();
    assert!(paths.contains(&"core/steering%3A%54one.md") && paths.contains(&"workspace/ours.md"), "{paths:?}");
    for (path, bytes) in all.iter().filter(|(path, _)| path.starts_with("core/")) {
        assert_eq!(world.store.text(&format!("agents/a/entries/{path}")).as_bytes(), bytes);
    }
    let files = world.files();
    assert_eq!(world.import(&all, ImportMode::Replace), ImportState::Unchanged.times(8));
    assert_eq!(world.retain(&all, ImportMode::Replace), Vec::<String>::new());
    assert_eq!(world.files(), files);

    let mut fresh = World::new();
    let states = fresh.import(&all, ImportMode::Upsert);
    assert_eq!(states.iter().filter(|state| **state == ImportState::Deleted).count(), 1);
    assert_eq!((fresh.files(), fresh.export(true)), (files, all));
    assert_eq!(fresh.get("deploy_target").unwrap(), world.get("deploy_target").unwrap());
}

#[test]
fn an_edited_file_is_imported_as_it_is() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let edited = "---\n# mine\nkey: k\ncategory: core\nzombie_id: a\ntags: x, y\nupdated_at: 1700000000000\n---\n\nw";
    assert_eq!(world.import(&given(&[("core/k.md", edited)]), ImportMode::Upsert), [ImportState::Upserted]);
    assert_eq!(world.store.text(K), edited);
    let info = world.get("k").unwrap();
    assert_eq!((info.content.as_str(), info.updated), ("w", 1_700_000_000_000_000_000));
    // Category and key come from the path if the file has none.
    assert_eq!(world.import(&given(&[("./x", "v")]), ImportMode::Upsert).len(), 1);
    assert_eq!(
        world.import(&given(&[("backup/notes/a%3Ab.md", "plain")]), ImportMode::Upsert),
        [ImportState::Upserted]
    );
    assert_eq!(world.get("a:b").unwrap().category, "notes");
}

#[test]
fn a_file_that_does_not_say_when_it_changed_gets_the_moment_of_the_import() {
    // This store reports 0 as the time of every file, as a host may do that does not know it.
    let mut world = World::new();
    let files = given(&[("daily/k.md", "---\nkey: k\n---\n\nv"), ("daily/plain.md", "text alone")]);
    assert_eq!(world.import(&files, ImportMode::Upsert), ImportState::Upserted.times(2));
    assert_eq!(world.get("k").unwrap().updated, world.now().epoch_nanoseconds());
    assert_eq!(world.hydrated_keys(1_000), ["k", "plain"]);
    world.seconds += HOUR;
    assert_eq!(world.import(&files, ImportMode::Upsert), ImportState::Unchanged.times(2));
    assert_eq!(world.keep("other", "v", "daily").swept, Vec::<String>::new());
    assert_eq!(world.keys(), ["k", "other", "plain"]);
}

#[test]
fn a_file_of_another_category_moves_the_entry() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let text = world.store.text(K).replace("category: core", "category: notes");
    for path in ["notes/k.md", "core/k.md"] {
        assert_eq!(world.import(&given(&[(path, &text)]), ImportMode::Upsert).len(), 1);
        assert_eq!(world.files_but_backups(), [("agents/a/entries/notes/k.md".to_string(), text.clone())]);
    }
    // Only the folder has the category.
    assert_eq!(world.import(&given(&[("ideas/k.md", "bare")]), ImportMode::Upsert), [ImportState::Upserted]);
    let dated = format!("---\nupdated: {}\n---\n\nbare", crate::store::utc_text(world.now().epoch_nanoseconds()));
    assert_eq!(world.files_but_backups(), [("agents/a/entries/ideas/k.md".to_string(), dated)]);
}

#[test]
fn files_that_cannot_be_imported_are_rejected_and_the_rest_is_imported() {
    let mut world = World::new();
    world.keep("kept", "v", "core");
    world.store.put("agents/a/entries/core/broken.md", b"---\nkey: [\n---\n".to_vec());
    let huge = "x".repeat(262_145);
    let long = format!("---\nkey: long\ncategory: core\n---\n\n{}", "x".repeat(16_385));
    let cases: [(&str, &str, &str); 16] = [
        ("../core/k.md", "v", "its path is refused"),
        ("/core/k.md", "v", "its path is refused"),
        ("core/../../k.md", "v", "its path is refused"),
        ("core\\k.md", "v", "its path is refused"),
        ("core/k.md", "---\nagent: b\n---\n\nv", "it belongs to the agent `b`, and this memory to `a`"),
        ("core/k.md", "---\nagent: a\nfleet_id: b\n---\n\nv", "it belongs to the agent `b`"),
        ("workspace/k.md", "---\nworkspace: x\n---\n\nv", "it belongs to the workspace `x`, and this memory to `w`"),
        ("core/k.md", "---\nkey: [\n---\n\nv", "line 3: while parsing"),
        ("core/k.md", "---\nkey: k\n---\n", "content is empty"),
        ("core/k.md", &huge, "it has more than 262144 bytes"),
        ("core/k.md", &long, "content has 16385 bytes, the limit is 16384: 1 too many"),
        ("k.md", "v", "no category"),
        ("core/My Key.md", "v", "no key"),
        ("conversation/k.md", "v", "can only be in a run"),
        ("daily/k.md", "---\nupdated: 2020-01-01\n---\n\nv", "a daily entry expires after 72 hours"),
        ("core/broken.md", "v", "agents/a/entries/core/broken.md cannot be read as an entry"),
    ];
    let before = world.files();
    for (path, text, reason) in cases {
        let states = world.import(&given(&[(path, text)]), ImportMode::Upsert);
        let [ImportState::Rejected(found)] = states.as_slice() else { panic!("{path}: {states:?}") };
        assert!(found.contains(reason), "{path}: {found}");
        assert_eq!(world.files(), before, "{path}");
    }
    let mut all: Vec<(String, Vec<u8>)> = given(&cases.map(|(path, text, _)| (path, text)));
    all.push(("core/latin.md".into(), vec![b'v', 0xff]));
    all.push(("core/fine.md".into(), b"v".to_vec()));
    let states = world.import(&all, ImportMode::Upsert);
    assert_eq!(states[16], ImportState::Rejected("it is not UTF-8 text".into()));
    assert_eq!(states[17], ImportState::Upserted);
    // The key of a rejected file counts as present, even though nobody can read the file.
    assert_eq!(world.retain(&given(&[("core/kept.md", "---\nkey: [\n---\n")]), ImportMode::Replace), ["fine"]);
}

#[test]
fn the_first_of_two_imported_files_with_one_key_counts() {
    let mut world = World::new();
    let files = given(&[("core/k.md", "one"), ("notes/k.md", "two"), ("workspace/k.md", "three")]);
    let twice = ImportState::Rejected("core/k.md has the key `k` as well".into());
    for dry_run in [true, false] {
        let states = world.import_all(&files, ImportMode::Upsert, dry_run, 1).into_iter().map(|file| file.state);
        let states: Vec<ImportState> = states.collect();
        assert_eq!(states, [ImportState::Upserted, twice.clone(), ImportState::Upserted], "{dry_run}");
    }
    assert_eq!(world.get("k").unwrap().content, "one");
}

#[test]
fn a_forgotten_entry_comes_back_only_by_a_replacement() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let backup = world.export(false);
    world.seconds += 1;
    world.forget("k");
    let states = world.import(&backup, ImportMode::Upsert);
    let [ImportState::Rejected(reason)] = states.as_slice() else { panic!("{states:?}") };
    assert!(reason.starts_with("it was forgotten at 2030-03-17T17:46:41Z"), "{reason}");
    assert_eq!(world.import(&backup, ImportMode::Replace), [ImportState::Upserted]);
    assert_eq!(world.export(true), backup);

    let tombstone =
        String::from_utf8(backup[0].1.clone()).unwrap().replace("---\n\nv", "forgotten: 2001-01-01\n---\n\nv");
    let states = world.import(&given(&[("core/k.md", &tombstone)]), ImportMode::Upsert);
    let [ImportState::Rejected(reason)] = states.as_slice() else { panic!("{states:?}") };
    assert!(reason.contains("but it was changed after that"), "{reason}");
}

#[test]
fn a_replacement_forgets_entries_in_no_file_and_reports_them_first() {
    let mut world = World::new();
    for key in ["a", "b", "c"] {
        world.keep(key, "v", "core");
    }
    world.keep("d", "v", "workspace");
    let files: Vec<_> = world.export(false).into_iter().filter(|(path, _)| path == "core/b.md").collect();
    let before = world.files();
    let planned = world.import_all(&files, ImportMode::Replace, true, 1);
    assert_eq!(world.retained(planned, true), ["c", "a", "d"]);
    assert_eq!(world.files(), before);
    assert_eq!(world.retain(&files, ImportMode::Replace), ["c", "a", "d"]);
    assert_eq!(world.keys(), ["b"]);
    assert_eq!(world.retain(&files, ImportMode::Replace), Vec::<String>::new());
}

#[test]
fn an_import_evicts_nothing() {
    let mut world = World::capped(2);
    world.keep("a", "v", "notes");
    let files = given(&[("core/b.md", "v"), ("core/c.md", "v"), ("notes/a.md", "w")]);
    let full = ImportState::Rejected("there are 2 entries, the limit is 2: 1 too many".into());
    for dry_run in [true, false] {
        let states = world.import_all(&files, ImportMode::Upsert, dry_run, 1).into_iter().map(|file| file.state);
        let states: Vec<ImportState> = states.collect();
        assert_eq!(states, [ImportState::Upserted, full.clone(), ImportState::Upserted], "{dry_run}");
    }
    // Entries that will be removed leave their places to those that replace them.
    let others = given(&[("core/d.md", "v"), ("core/e.md", "v"), ("core/f.md", "v")]);
    let states = world.import(&others, ImportMode::Replace);
    assert_eq!(states, [ImportState::Upserted, ImportState::Upserted, full]);
    world.retain(&others, ImportMode::Replace);
    assert_eq!(world.keys(), ["d", "e"]);
}

#[test]
fn an_export_comes_in_pages_that_neither_skip_nor_repeat() {
    let mut world = World::with(EntriesConfig { max_entries: 2_000, ..EntriesConfig::for_agent("a") });
    let files: Vec<(String, Vec<u8>)> = (0..1_030)
        .map(|i| (format!("core/k{i:04}.md"), format!("---\nupdated: 2026-05-01\n---\n\nv{i}").into_bytes()))
        .collect();
    let states = world.import(&files, ImportMode::Upsert);
    assert!(states.iter().all(|state| *state == ImportState::Upserted));
    let page = world.run(ExportEntries { forgotten: false, cursor: None }).unwrap();
    assert_eq!((page.files.len(), page.total, page.next.as_deref()), (1_024, 1_030, Some("core/k1023.md")));
    assert_eq!(world.export(false), files);
    let refused = world.run(ExportEntries { forgotten: false, cursor: Some("../x".into()) }).unwrap_err();
    assert_eq!(refused.message, "`../x` is not a cursor");
}

#[test]
fn an_import_of_too_much_is_refused_as_a_whole() {
    let mut world = World::new();
    let file = |bytes: usize| ImportFile { path: "core/k.md".into(), content: Ok(vec![b'x'; bytes]) };
    let request = |files| ImportEntries { files, mode: ImportMode::Upsert, dry_run: false, earlier: Vec::new() };
    let earlier =
        ImportedFile { path: "x".into(), key: None, shared: false, replaces: false, state: ImportState::Unchanged };
    for (request, message) in [
        (request(vec![file(1); 1_025]), "1025 files of one command, the limit is 1024: 1 too many"),
        (request(vec![file(262_144); 17]), "4456448 bytes of one command, the limit is 4194304: 262144 too many"),
        (
            ImportEntries { earlier: vec![earlier; 65_536], ..request(vec![file(1)]) },
            "65537 files of the import, the limit is 65536: 1 too many",
        ),
    ] {
        let refused = world.run(request).unwrap_err();
        assert_eq!((refused.code, refused.message.as_str()), (ErrorCode::TooLarge, message));
    }
    assert_eq!(world.store.names(), Vec::<&str>::new());
}

proptest! {
    /// What is exported comes back byte for byte.
    #[test]
    fn any_entry_comes_back_from_an_export(
        entries in prop::collection::vec(("\\PC{1,40}|[a-c./~%\\x00-\\x1f]{1,9}", "(?s).{1,60}", "\\PC{1,9}|core|workspace"), 1..6)
    ) {
        let mut world = World::new();
        for (key, content, category) in &entries {
            let _ = world.run(storing(key, content, category));
        }
        let exported = world.export(true);
        let mut fresh = World::new();
        let states = fresh.import(&exported, ImportMode::Upsert);
        prop_assert!(states.iter().all(|state| *state == ImportState::Upserted), "{:?}", states);
        // Backups are not exported.
        let written: Vec<_> = world.files().into_iter().filter(|(name, _)| !name.ends_with(".bak")).collect();
        prop_assert_eq!(fresh.files(), written);
        prop_assert_eq!(fresh.export(true), exported);
        let list = |world: &mut World| world.list().entries;
        prop_assert_eq!(list(&mut fresh), list(&mut world));
    }

    /// Checks that any bytes at any path are either imported, and then read back, or rejected.
    #[test]
    fn any_file_is_imported_as_it_is_or_rejected(
        path in "(core/|notes/|workspace/|\\.\\./|/)?[a-b~%./]{0,6}(\\.md)?",
        head in "(key: [ab1:\\[ ]{0,3}\n)?(category: [a-bw]{0,2}\n)?(agent: [ab]\n)?(updated: (2|x|99999999999999)\n)?",
        body in "(?s).{0,12}",
    ) {
        let mut world = World::new();
        world.keep("a", "old", "core");
        let before = world.files();
        let text = format!("---\n{head}---\n\n{body}");
        let imported = world.import_all(&given(&[(&path, &text)]), ImportMode::Replace, false, 1);
        match &imported[0].state {
            ImportState::Rejected(_) => prop_assert_eq!(world.files(), before),
            _ => {
                let dated = document::dated(text, world.now().epoch_nanoseconds());
                prop_assert!(world.export(true).iter().any(|(_, bytes)| bytes == dated.as_bytes()));
            }
        }
    }
}
