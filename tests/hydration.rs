//! Hydration depends only on the entries, the budget and the clock: in both engines, through the commands.

use proptest::prelude::*;
use saddlebag::context::{Context, ContextEntries, ContextReply};
use saddlebag::entries::{Hydrate, HydrateReply, HydrationPolicy};
use saddlebag::store::EntryFolder;
use saddlebag_host::{Scheduler, Simulator};
use support::arbitrary::cases;
use support::drive::Drive;
use support::{BOTH, Kind, agent_config, both_engines, keep, today};

/// Key, content, category and the second in which it was last changed.
type Kept = (String, String, &'static str, u32);

/// The same key may be in two categories: then two files claim it.
fn entries() -> impl Strategy<Value = Vec<Kept>> {
    let categories = vec!["core", "daily", "notes", "CORE", "workspace"];
    let key = ("[a-d]", prop::sample::select(categories));
    let rest = ("\\PC{1,40}", 0_u32..4);
    prop::collection::btree_map(key, rest, 0..12).prop_map(|entries| {
        let kept = |((key, category), (content, second))| (key, content, category, second);
        entries.into_iter().map(kept).collect()
    })
}

fn insert(store: &mut Simulator, (key, content, category, second): &Kept) {
    let folder = match *category {
        "workspace" => EntryFolder::for_workspace("w"),
        _ => EntryFolder::for_agent("a"),
    };
    let moment = format!("2026-05-25T09:00:{second:02}Z");
    let text = format!("---\nkey: {key}\ncategory: {category}\ncreated: {moment}\nupdated: {moment}\n---\n\n{content}");
    store.insert(&folder.unwrap().file(category, key).unwrap(), text);
}

/// Hydrates. Also returns the block of the same entries.
fn hydrate(drive: &mut Drive<Simulator>, request: Hydrate) -> (HydrateReply, ContextReply) {
    drive.now = today();
    let entries = Some(ContextEntries::from(request));
    (drive.call(request).unwrap(), drive.call(Context { entries, ..Context::default() }).unwrap())
}

mod nightly {
    use super::*;

    proptest! {
        #![proptest_config(cases(96))]

        /// Hydration is a pure function of entries, budget and clock, in both engines.
        ///
        /// The order in which entries were stored, and lookups in between, make no difference.
        #[test]
        #[ignore = "runs at night: it takes long"]
        fn hydration_is_a_pure_function_of_entries_budget_and_clock(
            entries in entries(),
            max_bytes in 0_u64..300,
            policy in prop::sample::select(vec![HydrationPolicy::Greedy, HydrationPolicy::Prefix]),
            seed in any::<u64>(),
        ) {
            let request = Hydrate { max_bytes, policy };
            let mut expected = None;
            for kind in BOTH {
                for order in 0..3_u64 {
                    let mut drive = Drive::new(kind, agent_config(), Simulator::new(seed));
                    let mut scheduler = Scheduler::new(seed ^ order);
                    for place in scheduler.reorder((0..entries.len()).collect()) {
                        insert(&mut drive.executor, &entries[place]);
                        if order > 0 {
                            hydrate(&mut drive, request);
                        }
                    }
                    let (reply, block) = hydrate(&mut drive, request);
                    let sizes: u64 = reply.entries.iter().map(|entry| entry.size).sum();
                    prop_assert_eq!(reply.bytes, sizes, "{:?}, order {}", kind, order);
                    let fits = policy == HydrationPolicy::Prefix || sizes <= max_bytes;
                    prop_assert!(fits, "{} over {} in {:?}, order {}", sizes, max_bytes, kind, order);
                    let files = drive.executor.files().len();
                    let named = reply.explanations.len() + reply.problems.len();
                    prop_assert_eq!(named, files, "{:?}, order {}", kind, order);
                    // The simulator's count of changes is not part of a reply.
                    let given = (reply, block);
                    prop_assert_eq!(&given, expected.get_or_insert_with(|| given.clone()), "{:?}, order {}", kind, order);
                }
            }
        }
    }
}

/// Fault `i` of the original: hydrated entries are stored again with a new time.
#[both_engines]
fn i_storing_the_same_again_changes_nothing_of_what_is_hydrated(kind: Kind) {
    let entry = ("\\PC{1,40}", prop::sample::select(vec!["core", "daily", "n"]));
    let policy = prop::sample::select(vec![HydrationPolicy::Greedy, HydrationPolicy::Prefix]);
    proptest!(cases(96), |(
        entries in prop::collection::btree_map("[a-f]", entry, 1..6),
        max_bytes in 0_u64..300,
        policy in policy,
        seed in any::<u64>(),
    )| {
        let request = Hydrate { max_bytes, policy };
        let mut drive = Drive::new(kind, agent_config(), Simulator::new(seed));
        for (key, (content, category)) in &entries {
            drive.run(keep(key, content, *category)).unwrap();
        }
        let (before, files) = (hydrate(&mut drive, request), drive.executor.files());
        let keys: Vec<&String> = entries.keys().collect();
        for place in Scheduler::new(seed).reorder((0..keys.len()).collect()) {
            let (content, category) = &entries[keys[place]];
            drive.now.seconds += 60;
            drive.run(keep(keys[place], content, *category)).unwrap();
        }
        prop_assert_eq!(&drive.executor.files(), &files);
        prop_assert_eq!(&hydrate(&mut drive, request), &before);
        let mut later = Drive::new(kind, agent_config(), drive.executor);
        prop_assert_eq!(&hydrate(&mut later, request), &before, "by an engine that has just been opened");
    });
}

/// The clock only matters for the age of daily entries.
#[both_engines]
fn the_clock_alone_ages_daily_entries(kind: Kind) {
    let request = Hydrate { max_bytes: 1000, policy: HydrationPolicy::Greedy };
    let mut drive = Drive::new(kind, agent_config(), Simulator::new(1));
    drive.run(keep("d", "today", "daily")).unwrap();
    drive.run(keep("c", "always", "core")).unwrap();
    let mut keys_after = |hours: i64| {
        drive.now.seconds = today().seconds + hours * 3600;
        drive.call(request).unwrap().entries.into_iter().map(|entry| entry.key).collect::<Vec<_>>()
    };
    assert_eq!(keys_after(72), ["c", "d"]);
    assert_eq!(keys_after(73), ["c"]);
    assert_eq!(keys_after(72), ["c", "d"]);
}
