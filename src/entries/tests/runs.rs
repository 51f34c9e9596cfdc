//! Tests of runs: entries that they hold, and their checkpoints.

use super::*;

#[test]
fn c_a_forget_in_a_run_is_durable() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    world.open("r", 1).unwrap();
    world.hold("r", "k", "newer", "core").unwrap();
    world.forget_with(Origin::from_run("r"), "k", None).unwrap();
    let saved = world.in_run("r", CloseRun).unwrap();
    assert_eq!(saved.stored, Vec::<String>::new());
    world.reopen();
    assert_eq!(world.get("k").unwrap_err().code, ErrorCode::EntryNotFound);
}

#[test]
fn d_what_an_operator_forgets_during_a_run_stays_forgotten() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    world.open("r", 1).unwrap();
    world.hold("r", "k", "seen in the run", "core").unwrap();
    world.forget("k");
    let saved = world.in_run("r", Checkpoint).unwrap();
    assert_eq!(saved.stored, Vec::<String>::new());
    assert_eq!(saved.skipped[0].reason, "it was forgotten during the run");
    assert_eq!(world.keys(), Vec::<String>::new());
}

/// A conversation asks for no operation.
#[test]
fn f_a_conversation_causes_no_operation_and_ends_with_its_run() {
    let mut world = World::new();
    world.open("r", 1).unwrap();
    let now = world.now();
    let mut engine: saddlebag_protocol::Engine<()> = Limits::default().engine(1);
    // The second forgets the entry.
    let verbs = [Some(storing("mood", "tired", "conversation")), None, Some(storing("mood", "fresh", "conversation"))];
    for (id, verb) in (1..).zip(verbs) {
        let (entries, origin) = (world.entries.clone(), Origin::from_run("r"));
        let start = |fs| async move {
            match verb {
                Some(verb) => run(&call_at(fs, now), &entries, &origin, verb).await.map(drop),
                None => forget(&call_at(fs, now), &entries, &origin, "mood", None).await.map(drop),
            }
        };
        let step = engine.start(CommandId(id), "test", start).unwrap();
        assert_eq!(step.requests, []);
        assert_eq!(step.finished[0].error, None);
    }
    assert_eq!(world.hydrate(100, Some("r")).entries[0].content, "fresh");
    assert_eq!(world.find("fresh", Some("r")), ["mood"]);
    assert_eq!(world.hydrate(100, None).entries, []);
    world.in_run("r", CloseRun).unwrap();
    assert_eq!(world.store.names(), ["agents/a/fence"]);
    let gone = world.get_with(Origin::from_run("r"), "mood").unwrap_err();
    assert_eq!(gone.message, "no run `r` is open");
    let outside = world.run(storing("k", "v", "conversation"));
    assert_eq!(outside.unwrap_err().message, "entries of a conversation can only be in a run");
}

#[test]
fn l_a_checkpoint_names_what_it_has_left_and_the_next_one_stores_it() {
    let mut world = World::new();
    world.open("r", 1).unwrap();
    for i in 0..20 {
        world.hold("r", &format!("k{i:03}"), &"x".repeat(16_384), "c").unwrap();
    }
    let first = world.in_run("r", Checkpoint).unwrap();
    assert_eq!((first.stored.len(), first.truncated.len()), (15, 5));
    assert_eq!(first.truncated[0], "k015");
    assert_eq!(first.message, "15 stored, 5 left for the next checkpoint");
    let last = world.in_run("r", CloseRun).unwrap();
    assert_eq!((last.stored.len(), last.truncated.len()), (5, 0));
    assert_eq!(world.keys().len(), 20);
}

#[test]
fn m_entries_that_were_not_hydrated_keep_their_place() {
    let mut world = World::new();
    for key in ["a", "b", "c", "d"] {
        world.keep(key, "v", "notes");
    }
    let budget = 2 * 7;
    let before = world.hydrated_keys(budget);
    assert_eq!(before, ["d", "c"]);
    for key in before.clone() {
        world.keep(&key, "v", "notes");
    }
    world.forget("d");
    assert_eq!(world.hydrated_keys(budget), ["c", "b"]);
}

#[test]
fn n_the_cold_tail_is_reached_from_a_run() {
    let mut world = World::new();
    world.keep("cold", "a forgotten lighthouse", "notes");
    world.keep("warm", "v", "core");
    world.open("r", 1).unwrap();
    assert_eq!(world.hydrate(9, Some("r")).entries.len(), 1);
    assert_eq!(world.find("lighthouse", Some("r")), ["cold"]);
    assert!(world.get_with(Origin::from_run("r"), "cold").is_ok());
}

#[test]
fn a_run_is_seen_by_itself_alone_until_its_checkpoint() {
    let mut world = World::new();
    world.keep("k", "old", "core");
    world.open("r", 1).unwrap();
    world.hold("r", "k", "new", "core").unwrap();
    assert_eq!(world.hydrate(100, Some("r")).entries[0].content, "new");
    assert_eq!(world.get("k").unwrap().content, "old");
    world.in_run("r", Checkpoint).unwrap();
    assert_eq!(world.get("k").unwrap().content, "new");
}

#[test]
fn an_older_fence_is_refused_and_writes_nothing() {
    let mut world = World::new();
    world.open("old", 1).unwrap();
    world.hold("old", "k", "v", "core").unwrap();
    let held_by = world.entries.clone();
    world.reopen();
    world.open("new", 2).unwrap();
    world.keep("l", "v", "core");
    world.entries = held_by;
    let before = world.store.writes.len();
    let replies = [
        world.in_run("old", Checkpoint).map(drop),
        world.in_run("old", CloseRun).map(drop),
        world.forget_with(Origin::from_run("old"), "l", None).map(drop),
    ];
    for refused in replies {
        let refused = refused.unwrap_err();
        assert_eq!(refused.code, ErrorCode::StaleFence);
        assert_eq!(refused.message, "run `old` has the fence 1, a newer one has 2");
    }
    assert_eq!(world.open("old", 1).unwrap_err().code, ErrorCode::StaleFence);
    assert_eq!(world.store.writes.len(), before);
    assert!(world.open("old", 2).is_ok());
}

#[test]
fn entries_that_others_changed_during_a_run_are_not_overwritten() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    world.open("r", 1).unwrap();
    world.hold("r", "k", "of the run", "core").unwrap();
    world.keep("k", "of a person", "core");
    let saved = world.in_run("r", Checkpoint).unwrap();
    assert_eq!(saved.skipped[0].reason, "it was changed by others during the run");
    assert_eq!(world.get("k").unwrap().content, "of a person");
}

#[test]
fn a_failed_checkpoint_continues_where_it_stopped() {
    let mut world = World::new();
    world.open("r", 1).unwrap();
    for key in ["a", "b", "c"] {
        world.hold("r", key, "v", "core").unwrap();
    }
    world.store.dies_after = Some(world.store.writes.len() + 2);
    let failed = world.in_run("r", Checkpoint).unwrap_err();
    assert_eq!(failed.code, ErrorCode::MemoryUnavailable);
    world.store.dies_after = None;
    assert_eq!(world.in_run("r", Checkpoint).unwrap().stored, ["c"]);
    assert_eq!(world.keys(), ["a", "b", "c"]);
}
