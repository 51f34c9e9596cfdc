//! Faults, races and crashes of the simulator.

use saddlebag::protocol::{
    AppendOutcome, EntryKind, FsError, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, WriteOutcome,
};
use saddlebag_host::{Durability, Executor, Simulator};

use crate::support::{Any, Ask, Matches, path, paths};

#[test]
fn a_planned_failure_changes_nothing() {
    let mut store = Simulator::new(1);
    store.fail_at(1, FsError::NoSpace);
    store.put("a.md", "one");
    let before = store.files();
    assert_eq!(store.write("a.md", "two", Any), Err(FsError::NoSpace));
    assert_eq!(store.files(), before);
    assert_eq!(store.operations(), 2);
    assert_eq!(store.log()[1].op, "write");
    assert_eq!(store.log()[1].path, "a.md");
}

#[test]
fn an_unknown_outcome_hides_what_was_done() {
    for committed in [false, true] {
        let mut store = Simulator::new(1);
        store.put("a.md", "one");
        store.unknown_at(1, committed);
        store.unknown_at(2, committed);
        store.unknown_at(3, committed);
        assert_eq!(store.write("b.md", "two", Any), Ok(WriteOutcome::Unknown));
        assert_eq!(store.append("a.md", "two"), Ok(AppendOutcome::Unknown(4)));
        assert!(matches!(store.write("a.md", "x", crate::support::Absent), Ok(WriteOutcome::Stale(Some(_)))));
        let expected = if committed { "one\ntwo" } else { "one" };
        assert_eq!(store.text("a.md"), expected);
        assert_eq!(store.files().contains_key("b.md"), committed);
    }
}

#[test]
fn a_change_that_is_not_durable_is_seen_until_the_power_fails() {
    for replaced in [false, true] {
        let mut store = Simulator::new(1);
        store.put("a.md", "one");
        for fault in 1..5 {
            store.not_durable_at(fault);
        }
        assert!(matches!(store.append("a.md", "two"), Err(FsError::NotDurable(_))));
        assert_eq!(store.text("a.md"), "one\ntwo", "a read is answered as ever");
        assert!(matches!(store.write("d/b.md", "new", Any), Err(FsError::NotDurable(_))));
        let stale = store.write("a.md", "x", crate::support::Absent);
        assert!(matches!(stale, Ok(WriteOutcome::Stale(Some(_)))), "{stale:?}");
        if replaced {
            assert!(matches!(store.append("a.md", "three"), Ok(AppendOutcome::Written(_))));
        }
        store.lose_power();
        assert_eq!(store.text("a.md"), if replaced { "one\ntwo\nthree" } else { "one" });
        assert!(!store.files().contains_key("d/b.md"));
    }
}

#[test]
fn another_program_can_be_faster() {
    let mut store = Simulator::new(1);
    let version = store.put("a.md", "one");
    store.edit_at(1, &path("a.md"), Some(b"PERSON".to_vec()));
    assert!(matches!(store.write("a.md", "two", Matches(version)), Ok(WriteOutcome::Stale(Some(_)))));
    assert_eq!(store.text("a.md"), "PERSON");
    store.edit_at(store.operations(), &path("a.md"), None);
    let version = store.list("", false).unwrap();
    assert!(version.is_empty());
}

#[test]
fn acknowledged_writes_survive() {
    for seed in 0..50 {
        let mut store = Simulator::new(seed);
        store.put("a.md", "one");
        store.crash_at(1);
        assert_eq!(store.write("a.md", "two", Any), Err(FsError::Other("crashed".into())), "seed {seed}");
        assert!(store.is_crashed(), "seed {seed}");
        assert!(store.append("a.md", "three").is_err(), "seed {seed}");
        store.restart();
        let text = store.text("a.md");
        assert!(["one", "two"].contains(&text.as_str()), "seed {seed}: {text}");
    }
}

#[test]
fn without_syncs_a_crash_takes_back_the_latest_changes() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let mut store = Simulator::new(seed).with_durability(Durability::Fast);
        store.put("a.md", "0");
        store.sync();
        store.put("a.md", "1");
        store.put("a.md", "2");
        store.crash_at(2 + 1);
        let _ = store.write("a.md", "3", Any);
        store.restart();
        let text = store.text("a.md");
        assert!("0123".contains(&text), "seed {seed}: {text}");
        seen.insert(text);
    }
    assert_eq!(seen.into_iter().collect::<String>(), "0123");
}

#[test]
fn links_are_refused_and_listed() {
    let mut store = Simulator::new(1);
    store.insert(&path("d/a.md"), "text");
    store.insert_link(&path("d/link"));
    store.insert_directory(&path("e/f"));
    for at in ["d/link", "d/link/below.md"] {
        assert_eq!(store.read_part(at, 0, 1), Err(FsError::SymbolicLink));
        assert_eq!(store.write(at, "", Any), Err(FsError::SymbolicLink));
    }
    assert_eq!(store.list("d", false).unwrap()[1].kind, EntryKind::Other);
    assert_eq!(store.list("d/link", false), Err(FsError::SymbolicLink));
    assert_eq!(store.list("e", true).unwrap()[0].kind, EntryKind::Directory);
    assert_eq!(store.files().into_keys().collect::<Vec<_>>(), ["d/a.md"]);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut store = Simulator::new(seed).with_durability(Durability::Fast);
        (0..20).for_each(|n| drop(store.append("a.md", &n.to_string())));
        store.crash_at(20);
        let _ = store.remove("a.md", Any);
        store.restart();
        let modified = store.list("", false).unwrap().first().map(|entry| entry.modified);
        (store.files(), modified)
    };
    (0..20).for_each(|seed| assert_eq!(run(seed), run(seed), "seed {seed}"));
    assert!((0..20).any(|seed| run(seed) != run(3)));
}

#[test]
fn executors_can_be_boxed_and_borrowed() {
    fn count(mut store: impl Executor) -> usize {
        store.put("a.md", "text");
        store.list("", false).unwrap().len()
    }
    let mut store = Simulator::new(1);
    assert_eq!(count(&mut store), 1);
    assert_eq!(count(Box::new(store) as Box<dyn Executor>), 1);
}

#[test]
fn folded_names_lead_to_one_file_which_keeps_its_first_name() {
    let mut store = Simulator::new(1).with_folded_names();
    store.put("agents/Bob/k.md", "one");
    for spelling in ["AGENTS/bob/K.MD", "agents./bob /k.md", "agents::$INDEX_ALLOCATION/BOB/k.md::$DATA"] {
        assert_eq!(store.text(spelling), "one", "{spelling}");
        let stale = store.write(spelling, "x", crate::support::Absent);
        assert!(matches!(stale, Ok(WriteOutcome::Stale(Some(_)))), "{spelling}: {stale:?}");
    }
    store.append("Agents/bob/k.md", "two").expect("it is added");
    assert_eq!(store.files().into_keys().collect::<Vec<_>>(), ["agents/Bob/k.md"]);
    // A listing spells the folder like the request.
    assert_eq!(paths(&store.list("AGENTS/BOB", false).expect("a list")), ["AGENTS/BOB/k.md"]);
    assert_eq!(paths(&store.list("", true).expect("a list")), ["agents", "agents/Bob", "agents/Bob/k.md"]);
    assert_eq!(store.rename("agents/Bob/k.md", "agents/Bob/K.md", Any), Ok(RenameOutcome::Exists));
    assert_eq!(store.remove("AGENTS/BOB/K.md", Any), Ok(RemoveOutcome::Done));
    assert!(store.files().is_empty());

    let mut exact = Simulator::new(1);
    exact.put("a.md", "one");
    exact.put("A.md", "two");
    assert_eq!(exact.files().len(), 2);
}

#[test]
fn a_name_that_no_path_may_have_hides_no_other_and_keeps_its_folder() {
    let mut store = Simulator::new(1);
    store.put("d/good.md", "text");
    store.insert_unnamed(Some(&path("d")), "back\\slash.md", EntryKind::File);
    let page = store.list_with("d", "", 9).unwrap();
    assert_eq!((paths(&page.entries), page.left_out.count), (vec!["d/good.md"], 1));
    assert_eq!(page.left_out.names[0].path.as_str(), "d/back\u{fffd}slash.md");
    store.remove("d/good.md", Any).unwrap();
    assert_eq!(store.remove_directory("d"), Ok(RemoveDirectoryOutcome::NotEmpty));
}
