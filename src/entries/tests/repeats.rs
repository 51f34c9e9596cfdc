//! Tests of unapproved text that is stored again.

use super::*;

fn store_as(world: &mut World, provenance: Provenance, run: Option<&str>, entry: NewEntry) -> StoreReply {
    let origin = Origin {
        provenance: Some(provenance),
        run: run.map(String::from),
        session: Some("s".into()),
        ..Origin::default()
    };
    world.run_as(origin, WriteEntry { entry, expected_version: None }).unwrap()
}

fn tagged(content: &str, category: &str) -> NewEntry {
    NewEntry { tags: vec!["web".into()], ..entry("k", content, category) }
}

/// Ways to repeat `entry("k", "a page", "notes")` without its exact fields.
fn variants() -> [NewEntry; 4] {
    [
        tagged("a page", "notes"),
        entry("k", "a page", "other"),
        entry("k", "a  page\n", "notes"),
        tagged("a page", "workspace"),
    ]
}

/// Who repeats unapproved text under its key does not approve it, whatever else the entry says.
#[test]
fn an_agent_that_repeats_unapproved_text_does_not_approve_it() {
    for first in [entry("k", "a page", "notes"), entry("k", "a page", "workspace")] {
        for again in variants() {
            let mut world = World::new();
            store_as(&mut world, Provenance::Tool, None, first.clone());
            store_as(&mut world, Provenance::Agent, None, again.clone());
            let found = world.get("k").unwrap();
            assert_eq!(found.marks.unapproved, Some(Provenance::Tool), "{first:?}, {again:?}");
            assert_eq!((found.category, found.tags), (again.category, again.tags));
            assert_eq!(world.hydrated_keys(1_000), Vec::<String>::new());
        }
    }
}

#[test]
fn an_agent_that_repeats_unapproved_text_in_a_run_does_not_approve_it() {
    for in_run in [false, true] {
        for again in variants() {
            let mut world = World::new();
            world.open("r", 1).unwrap();
            store_as(&mut world, Provenance::Tool, in_run.then_some("r"), entry("k", "a page", "notes"));
            store_as(&mut world, Provenance::Agent, Some("r"), again.clone());
            let hydrated = world.hydrate(1_000, Some("r")).entries;
            assert!(hydrated.is_empty(), "{again:?}: {hydrated:?}");
            world.in_run("r", CloseRun).unwrap();
            assert_eq!(world.hydrated_keys(1_000), Vec::<String>::new(), "{again:?}");
        }
    }
}

#[test]
fn a_person_approves_unapproved_text_by_repeating_it_and_an_agent_may_replace_it() {
    for (provenance, again) in
        [(Provenance::User, tagged("a page", "other")), (Provenance::Agent, tagged("a summary", "notes"))]
    {
        let mut world = World::new();
        store_as(&mut world, Provenance::Tool, None, entry("k", "a page", "notes"));
        store_as(&mut world, provenance, None, again);
        assert_eq!(world.get("k").unwrap().marks.unapproved, None);
        assert_eq!(world.hydrated_keys(1_000), ["k"]);
    }
}
