//! Tests of changes of an entry.

use super::*;

impl World {
    fn edit(&mut self, origin: Origin, key: &str, old: &str, new: &str) -> Result<StoreReply, Error> {
        let (entries, now) = (self.entries.clone(), self.now());
        let [key, old, new] = [key, old, new].map(String::from);
        self.store.run(move |fs| async move {
            let change = EntryChange::Text { old: &old, new: &new };
            super::super::edit(&call_at(fs, now), &entries, &origin, &key, &change).await
        })
    }
}

#[test]
fn an_edit_changes_one_text_and_keeps_the_rest_of_the_entry() {
    let mut world = World::new();
    let before = NewEntry { tags: vec!["ops".into()], ..entry("k", "port 1, port 2", "notes") };
    world.store_entry(NewEntry { source: Some("a person".into()), ..before });
    assert_eq!(world.edit(Origin::default(), "k", "port 2", "port 3").unwrap().state, StoreState::Updated);
    let found = world.get("k").unwrap();
    assert_eq!((found.content.as_str(), found.category.as_str()), ("port 1, port 3", "notes"));
    assert_eq!((found.tags, found.source), (vec!["ops".to_string()], Some("a person".into())));
}

#[test]
fn a_text_that_does_not_occur_once_changes_nothing() {
    let mut world = World::new();
    world.keep("k", "aaa", "core");
    let writes = world.store.writes.len();
    for old in ["aa", "z", ""] {
        assert_eq!(world.edit(Origin::default(), "k", old, "x").unwrap_err().code, ErrorCode::NoUniqueMatch, "{old}");
    }
    let absent = world.edit(Origin::default(), "none", "a", "b").unwrap_err();
    assert_eq!(absent.code, ErrorCode::EntryNotFound);
    assert_eq!(world.store.writes.len(), writes);
}

#[test]
fn an_unapproved_entry_is_not_edited_by_anybody() {
    let mut world = World::new();
    let tool = || Origin { provenance: Some(Provenance::Tool), ..Origin::default() };
    let store = WriteEntry { entry: entry("k", "a tool says", "core"), expected_version: None };
    world.run_as(tool(), store).unwrap();
    for origin in [Origin::default(), tool()] {
        let error = world.edit(origin, "k", "tool", "person").unwrap_err();
        assert_eq!(error.code, ErrorCode::NeedsConfirmation);
    }
    assert_eq!(world.get("k").unwrap().content, "a tool says");
}

#[test]
fn edits_of_different_texts_that_race_are_all_made() {
    for seed in 0..200 {
        let mut world = World::new();
        world.keep("k", "one two three", "core");
        let now = world.now();
        let texts = [["one", "1"], ["two", "2"], ["three", "3"]];
        let replies = world.store.race(3, seed, |fs, number| {
            let entries = Arc::new(Entries::new(Some(EntriesConfig::for_agent("a"))).unwrap());
            let [old, new] = texts[usize::try_from(number).unwrap()];
            async move {
                let change = EntryChange::Text { old, new };
                super::super::edit(&call_at(fs, now), &entries, &Origin::default(), "k", &change).await
            }
        });
        for reply in replies {
            assert_eq!(reply.unwrap().state, StoreState::Updated, "seed {seed}");
        }
        assert_eq!(world.get("k").unwrap().content, "1 2 3", "seed {seed}");
    }
}

#[test]
fn a_store_over_an_entry_says_which_category_and_tags_it_replaces() {
    let tagged = |content: &str, category: &str, tags: &[&str]| NewEntry {
        tags: tags.iter().map(|tag| tag.to_string()).collect(),
        ..entry("k", content, category)
    };
    let from_notes = || StoreState::Moved("notes".into());
    for (after, state, message) in [
        (tagged("one", "core", &["a", "b"]), from_notes(), "Moved k from notes to core"),
        (tagged("two", "core", &["b"]), from_notes(), "Moved k from notes to core with another text; removed tags: a"),
        (
            tagged("two", "workspace", &[]),
            from_notes(),
            "Moved k from notes to workspace with another text; removed tags: a, b",
        ),
        (tagged("two", "notes", &["c"]), StoreState::Updated, "Updated k in notes; removed tags: a, b"),
        (tagged("two", "notes", &["b", "c", "a"]), StoreState::Updated, "Updated k in notes"),
    ] {
        let mut world = World::new();
        world.store_entry(tagged("one", "notes", &["a", "b"]));
        let reply = world.store_entry(after);
        assert_eq!((reply.state, reply.message.as_str()), (state, message));
        world.forget("k");
        let again = world.store_entry(tagged("three", "core", &[]));
        assert!(again.message.as_str().starts_with("Stored k in core") && !again.message.as_str().contains("tags"));
    }
}
