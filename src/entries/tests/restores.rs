//! Tests of restoring and purging.

use super::*;

#[test]
fn a_purge_removes_every_outdated_file_of_a_key() {
    let mut world = World::new();
    let file = |day: u32| format!("---\nkey: k\nupdated: 2026-01-0{day}\n---\n\n{day}").into_bytes();
    for (place, day) in [("core", 1), ("notes", 2), ("other", 3)] {
        world.store.put(&format!("agents/a/entries/{place}/k.md"), file(day));
    }
    assert_eq!(world.list().problems.len(), 2);
    let reply = world.run(PurgeEntries { key: Some("k".into()) }).unwrap();
    assert_eq!((reply.purged, reply.message.as_str()), (Vec::new(), "Removed 2 outdated files of k"));
    assert_eq!(world.store.names(), ["agents/a/entries/other/k.md"]);
    assert_eq!(world.get("k").unwrap().content, "3");
    assert!(world.purge(Some("k")).unwrap_err().message.contains("not forgotten"));
}

#[test]
fn what_was_overwritten_can_be_restored_and_the_restore_undone() {
    let mut world = World::new();
    world.keep("k", "one", "core");
    world.seconds += 1;
    world.keep("k", "two", "core");
    for content in ["one", "two", "one"] {
        world.seconds += 1;
        let reply = world.restore("k").unwrap();
        assert_eq!((reply.state, reply.message.as_str()), (StoreState::Updated, "Restored k, which was overwritten"));
        let found = world.get("k").unwrap();
        assert_eq!((found.content.as_str(), found.version), (content, reply.version));
        assert_eq!(found.updated, world.now().epoch_nanoseconds());
    }
    assert_eq!(world.store.names(), ["agents/a/entries/core/k.bak", K]);
}

#[test]
fn what_was_overwritten_by_a_move_comes_back_under_the_new_category() {
    let mut world = World::new();
    world.keep("k", "one", "core");
    world.keep("k", "two", "daily");
    world.restore("k").unwrap();
    let found = world.get("k").unwrap();
    assert_eq!((found.content.as_str(), found.category.as_str()), ("one", "daily"));
    assert_eq!(world.store.names(), ["agents/a/entries/daily/k.bak", "agents/a/entries/daily/k.md"]);
}

#[test]
fn what_was_forgotten_can_be_restored() {
    let mut world = World::new();
    world.keep("k", "one", "core");
    world.forget("k");
    let reply = world.restore("k").unwrap();
    assert_eq!((reply.state, reply.message.as_str()), (StoreState::Stored, "Restored k, which was forgotten"));
    assert_eq!(world.get("k").unwrap().content, "one");
    let none = world.restore("k").unwrap_err();
    assert_eq!((none.code, none.message.as_str()), (ErrorCode::NotFound, "no earlier text of `k` is kept"));
}

#[test]
fn a_restore_of_an_entry_that_is_cut_short_loses_neither_text() {
    for steps in 0..2 {
        let mut world = World::new();
        world.keep("k", "one", "core");
        world.keep("k", "two", "core");
        world.store.dies_after = Some(world.store.writes.len() + steps);
        let _ = world.restore("k");
        world.store.dies_after = None;
        let has = |world: &World, text: &str| {
            let ends = |name: &str| world.store.text(name).ends_with(&format!("\n\n{text}"));
            world.store.names().into_iter().any(ends)
        };
        assert!(has(&world, "one") && has(&world, "two"), "after {steps}");
        assert_eq!(world.get("k").unwrap().content, if steps < 1 { "two" } else { "one" }, "after {steps}");
        world.restore("k").unwrap();
        assert_eq!(world.get("k").unwrap().content, if steps < 1 { "one" } else { "two" }, "after {steps}");
        assert!(has(&world, "one") && has(&world, "two"), "after {steps}");
    }
}

#[test]
fn what_is_purged_or_evicted_leaves_no_backup() {
    let mut world = World::capped(1);
    world.keep("a", "one", "notes");
    world.keep("a", "two", "notes");
    world.seconds += 1;
    assert_eq!(world.keep("b", "one", "notes").evicted, ["a"]);
    assert_eq!(world.store.names(), ["agents/a/entries/notes/b.md"]);
    world.keep("b", "two", "notes");
    world.forget("b");
    world.purge(None).unwrap();
    assert_eq!(world.store.names(), Vec::<&str>::new());
}

#[test]
fn only_a_restore_takes_the_path_of_a_backup() {
    let mut world = World::new();
    world.keep("k", "one", "core");
    world.keep("k", "two", "core");
    let key = || "agents/a/entries/core/k.bak".to_string();
    let files = world.files();
    let purge = PurgeEntries { key: Some(key()) };
    let forgotten = world.forget_with(Origin::default(), &key(), None).map(|_| ());
    for refused in [forgotten, world.run(purge).map(|_| ())] {
        let error = refused.unwrap_err();
        assert_eq!(error.message, "`agents/a/entries/core/k.bak` is the backup of agents/a/entries/core/k.md");
        assert_eq!(error.help, "`restore` puts it back; other commands take the path of the file");
    }
    assert_eq!(world.files(), files);
    world.restore(&key()).unwrap();
    assert_eq!(world.get("k").unwrap().content, "one");
}

#[test]
fn the_backup_is_the_text_that_counted_and_the_text_of_an_outdated_file_is_kept_until_a_purge() {
    const COPY: &str = "agents/a/entries/core/k of the laptop.md";
    for (category, has_backup) in [("core", false), ("core", true), ("notes", false), ("notes", true)] {
        let mut world = World::new();
        if has_backup {
            world.keep("k", "zero", "core");
        }
        world.keep("k", "one", "core");
        world.store.put(COPY, b"---\nkey: k\nupdated: 2035-01-01\n---\n\ntwo".to_vec());
        assert_eq!(world.get("k").unwrap().content, "two");
        world.keep("k", "three", category);
        let problems = world.list().problems;
        let (listed, kept) = if category == "core" { (&[K][..], K) } else { (&[][..], "agents/a/entries/core/k.bak") };
        assert_eq!(problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>(), listed);
        assert!(world.store.text(kept).ends_with("\n\none"), "{category}");
        for content in ["two", "three"] {
            world.restore("k").unwrap();
            let found = world.get("k").unwrap();
            assert_eq!((found.content.as_str(), found.category.as_str()), (content, category), "{has_backup}");
        }
        world.forget("k");
        world.purge(None).unwrap();
        assert_eq!(world.store.names(), Vec::<&str>::new());
    }
}

#[test]
fn an_outdated_file_goes_if_its_text_is_kept_elsewhere() {
    for copied in ["two", "three"] {
        let mut world = World::new();
        world.keep("k", "two", "core");
        world
            .store
            .put("agents/a/entries/core/k2.md", format!("---\nkey: k\nupdated: 2001-01-01\n---\n\n{copied}").into());
        world.keep("k", "three", "core");
        assert_eq!(notes_of(&world), [K], "{copied}");
        world.restore("k").unwrap();
        assert_eq!(world.get("k").unwrap().content, "two");
    }
}

#[test]
fn a_person_can_restore_text_of_a_tool_and_it_stays_unapproved() {
    let mut world = World::new();
    let store = WriteEntry { entry: entry("k", "one", "core"), expected_version: None };
    world.run_as(Origin::from_provenance(Provenance::Tool), store).unwrap();
    world.keep("k", "two", "core");
    for provenance in [Provenance::Tool, Provenance::Agent] {
        let error = world.restore_with(Origin::from_provenance(provenance), "k").unwrap_err();
        assert_eq!(error.code, ErrorCode::NotPermitted, "{provenance}");
    }
    for (content, unapproved) in [("one", Some(Provenance::Tool)), ("two", None), ("one", Some(Provenance::Tool))] {
        world.restore("k").unwrap();
        let found = world.get("k").unwrap();
        assert_eq!((found.content.as_str(), found.marks.unapproved), (content, unapproved));
    }
}
