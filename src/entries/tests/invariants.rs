//! Tests of broken invariants: they are reported, and never shown as an empty entry.
//!
//! A debug build panics at the place; a release build returns an error with the code `internal`.

use super::super::hydrate::placed;
use super::super::state::Parsed;
use super::super::view::{View, has_rival, look};
use super::*;
use crate::changes::{Backups, File};
use crate::store::RelPath;

/// Returns the entries of a world as a command sees them.
fn view_of(world: &mut World) -> View {
    let (entries, now) = (world.entries.clone(), world.now());
    let view = world.store.run(move |fs| async move { look(&call_at(fs, now), &entries, entries.scope()?).await });
    view.unwrap()
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "the index has lost the text of agents/a/entries/core/k.md"))]
fn an_entry_with_lost_text_is_not_shown_as_empty() {
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
    should_panic(expected = "agents/a/entries/core/k.md is listed in the index but was not parsed")
)]
fn a_file_that_was_not_parsed_is_not_passed_over() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    view_of(&mut world);
    let (entries, now) = (world.entries.clone(), world.now());
    let refused = world.store.run(move |fs| async move {
        let corpus = entries.corpus.borrow();
        View::from_corpus(&call_at(fs, now), entries.scope()?, &corpus, &Parsed::default())
            .map(|view| view.entries.len())
    });
    assert_eq!(refused.unwrap_err().code, ErrorCode::Internal);
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "entry 1 of 0 was placed"))]
fn an_entry_that_was_placed_is_not_left_out_of_a_prompt() {
    assert_eq!(placed(&[], 1).err().unwrap().code, ErrorCode::Internal);
}

#[test]
fn a_file_that_is_not_text_does_not_compete_with_the_entry_of_its_name() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    for (rival, is_rival) in [(&b"\xff\xfe"[..], false), (b"---\nkey: other\n---\n\nv", false), (b"v", true)] {
        world.store.put("agents/a/entries/daily/k.md", rival.to_vec());
        let (entries, now) = (world.entries.clone(), world.now());
        let found = world.store.run(move |fs| async move {
            let own = &entries.scope()?.own;
            let path = own.file("core", "k")?;
            has_rival(&call_at(fs, now), own, &View::default(), &path, "k").await
        });
        assert_eq!(found, Ok(is_rival), "{rival:?}");
    }
}

#[test]
fn what_a_run_stores_during_a_checkpoint_that_skips_it_does_not_replace_what_others_say() {
    let mut tried_again = 0;
    for seed in 0..400 {
        let mut world = World::new();
        let path = world.keep("k", "v", "core").path;
        world.open("r", 1).unwrap();
        world.hold("r", "k", "of the run", "core").unwrap();
        world.store.put(&path, b"---\nkey: [\n---\n\nhalf written by a person".to_vec());
        let (entries, now) = (world.entries.clone(), world.now());
        let replies = world.store.race(3, seed, |fs, number| {
            let (entries, path) = (entries.clone(), RelPath::new(path.as_str()).unwrap());
            async move {
                let (call, origin) = (call_at(fs, now), Origin::from_run("r"));
                let newer = storing("k", "newer in the run", "core");
                match number {
                    0 => run(&call, &entries, &origin, Checkpoint).await.map(Some),
                    1 => run(&call, &entries, &origin, newer).await.map(|_| None),
                    _ => {
                        // The person has finished writing.
                        let text = "---\nkey: k\ncategory: core\n---\n\nof a person";
                        let change = |file: &File| Ok((Some(call.screen.write(file, text)?), ()));
                        call.update(&path, Backups::Off, change).await.map(|_| None)
                    }
                }
            }
        });
        let Ok(Some(saved)) = &replies[0] else { panic!("seed {seed}: {replies:?}") };
        let is_unreadable = |skipped: &SkippedEntry| skipped.reason.contains("cannot be read as an entry");
        if saved.skipped.first().is_some_and(is_unreadable) {
            assert_eq!(saved.stored, [""; 0], "seed {seed}: {saved:?}");
            assert!(world.store.text(&path).ends_with("of a person"), "seed {seed}");
            tried_again += usize::from(saved.skipped.len() == 2 && !is_unreadable(&saved.skipped[1]));
        }
    }
    assert!(tried_again > 0);
}
