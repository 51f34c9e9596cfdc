//! What is broken in the component is named, and never shown as an entry that says nothing.
//!
//! A debug build stops at the place; a release build answers with an error of the code `internal`.

use super::super::decision::placed;
use super::super::state::Parsed;
use super::super::view::{View, has_rival, look};
use super::*;

/// The entries of a world as a command sees them.
fn view_of(world: &mut World) -> View {
    let (entries, now) = (world.entries.clone(), world.now());
    let view = world.store.run(move |fs| async move { look(&call_at(fs, now), &entries, entries.scope()?).await });
    view.unwrap()
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "the index has lost the text of agents/a/entries/core/k.md"))]
fn an_entry_whose_text_is_lost_is_not_one_without_text() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let view = view_of(&mut world);
    let mut corpus = world.entries.corpus.borrow_mut();
    assert!(view.entries[0].text(&corpus).unwrap().ends_with("\nv"));
    corpus.files.remove(&view.entries[0].path);
    assert_eq!(view.entries[0].text(&corpus).unwrap_err().code, ErrorCode::Internal);
}

#[test]
#[cfg_attr(
    debug_assertions,
    should_panic(expected = "agents/a/entries/core/k.md is listed in the index and not parsed")
)]
fn a_file_that_was_not_parsed_is_not_passed_over() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    view_of(&mut world);
    let (entries, now) = (world.entries.clone(), world.now());
    let refused = world.store.run(move |fs| async move {
        let corpus = entries.corpus.borrow();
        View::of(&call_at(fs, now), entries.scope()?, &corpus, &Parsed::default()).map(|view| view.entries.len())
    });
    assert_eq!(refused.unwrap_err().code, ErrorCode::Internal);
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "entry 1 of 0 was placed"))]
fn an_entry_that_was_placed_is_not_left_out_of_a_prompt() {
    assert_eq!(placed(&[], 1).err().unwrap().code, ErrorCode::Internal);
}

#[test]
fn a_file_that_is_not_text_is_no_rival_of_the_entry_of_its_name() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    for (rival, is_rival) in [(&b"\xff\xfe"[..], false), (b"---\nkey: other\n---\n\nv", false), (b"v", true)] {
        world.store.put("agents/a/entries/daily/k.md", rival.to_vec());
        let (entries, now) = (world.entries.clone(), world.now());
        let found = world.store.run(move |fs| async move {
            let own = &entries.scope()?.own;
            let path = own.file("core", "k")?;
            has_rival(&call_at(fs, now), own, &path, "k").await
        });
        assert_eq!(found, Ok(is_rival), "{rival:?}");
    }
}
