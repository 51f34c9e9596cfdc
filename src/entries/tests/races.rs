//! Tests of moves between categories, and of concurrent commands in several processes.

use super::*;

#[test]
fn sharing_an_entry_moves_it() {
    let mut world = World::new();
    world.keep("k", "v", "core");
    let moved = world.keep("k", "v", "workspace");
    assert_eq!(moved.state, StoreState::Moved("core".into()));
    assert_eq!(world.store.names(), ["workspaces/w/entries/k.md"]);
    assert!(world.store.text("workspaces/w/entries/k.md").contains("\nworkspace: w\n"));
}

#[test]
fn a_move_between_categories_keeps_what_a_person_wrote() {
    let mut world = World::new();
    world.store.put(K, b"---\nkey: k\nmood: good\n---\n\nv".to_vec());
    assert_eq!(world.keep("k", "v", "daily").state, StoreState::Moved("core".into()));
    assert_eq!(world.store.names(), ["agents/a/entries/daily/k.bak", "agents/a/entries/daily/k.md"]);
    assert!(world.store.text("agents/a/entries/daily/k.md").contains("mood: good\n"));
}

#[test]
fn a_move_that_is_cut_short_anywhere_leaves_the_entry_and_is_finished_by_the_next_store() {
    let moved = || storing("k", "w", "daily");
    for steps in 0..4 {
        let mut world = World::new();
        world.keep("k", "v", "core");
        world.store.dies_after = Some(world.store.writes.len() + steps);
        let is_done = world.run(moved()).is_ok();
        world.store.dies_after = None;
        let found = world.get("k").unwrap();
        let expected = if steps < 1 { ("v", "core") } else { ("w", "daily") };
        assert_eq!((found.content.as_str(), found.category.as_str()), expected, "after {steps}");
        assert_eq!(is_done, steps > 1, "after {steps}");
        world.keep("k", "x", "daily");
        let files: Vec<&str> = world.store.names().into_iter().filter(|name| name.ends_with(".md")).collect();
        assert_eq!(files.len(), 1, "after {steps}: {files:?}");
        assert_eq!(world.get("k").unwrap().content, "x");
    }
}

/// Runs commands concurrently, each as a separate process, in an order that the seed decides.
pub(super) fn race(
    store: &mut Store,
    seed: u64,
    now: LocalTime,
    verbs: &[WriteEntry],
) -> Vec<Result<StoreReply, Error>> {
    store.race(verbs.len() as u64, seed, |fs, number| {
        let config = EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::for_agent("a") };
        let entries = Arc::new(Entries::new(Some(config)).unwrap());
        let verb = verbs[usize::try_from(number).unwrap()].clone();
        async move { run(&call_at(fs, now), &entries, &Origin::default(), verb).await }
    })
}

fn stores(categories: &[&str], base: Option<&str>) -> Vec<WriteEntry> {
    let store = |category: &&str| WriteEntry {
        entry: entry("k", &format!("in {category}"), category),
        expected_version: base.map(String::from),
    };
    categories.iter().map(store).collect()
}

#[test]
fn one_key_that_is_stored_in_several_categories_at_once_has_one_file() {
    for seed in 0..400 {
        for is_there in [false, true] {
            let mut world = World::new();
            if is_there {
                world.keep("k", "before", "first");
            }
            let (now, verbs) = (world.now(), stores(&["core", "daily", "notes"], None));
            let replies = race(&mut world.store, seed, now, &verbs);
            for reply in replies {
                let state = reply.unwrap().state;
                let is_kept = matches!(state, StoreState::Stored | StoreState::Updated | StoreState::Moved(_));
                assert!(is_kept, "seed {seed}: {state:?}");
            }
            let files = notes_of(&world).len();
            assert_eq!(files, 1, "seed {seed}, there before: {is_there}: {:?}", world.store.names());
            let found = world.get("k").unwrap();
            assert_eq!(found.content, format!("in {}", found.category), "seed {seed}");
            assert_eq!(world.list().problems, []);
        }
    }
}

#[test]
fn one_of_several_moves_from_one_base_is_made() {
    for seed in 0..200 {
        let mut world = World::new();
        let first = world.keep("k", "before", "first");
        let (now, verbs) = (world.now(), stores(&["core", "daily", "notes"], Some(&first.version)));
        let states = race(&mut world.store, seed, now, &verbs).into_iter().map(|reply| reply.unwrap().state);
        let states: Vec<StoreState> = states.collect();
        let lost = states.iter().filter(|state| **state == StoreState::Conflict).count();
        assert_eq!(lost, 2, "seed {seed}: {states:?}");
        assert_eq!(notes_of(&world).len(), 1, "seed {seed}");
    }
}

#[test]
fn a_store_and_a_forget_at_once_leave_one_file() {
    for seed in 0..200 {
        let mut world = World::new();
        world.keep("k", "before", "core");
        let (verb, now) = (&stores(&["daily"], None)[0], world.now());
        let replies = world.store.race(2, seed, |fs, number| {
            let (verb, entries) = (verb.clone(), Entries::new(Some(EntriesConfig::for_agent("a"))).unwrap());
            async move {
                match number {
                    0 => run(&call_at(fs, now), &entries, &Origin::default(), verb).await.map(drop),
                    _ => forget(&call_at(fs, now), &entries, &Origin::default(), "k", None).await.map(drop),
                }
            }
        });
        assert!(replies.iter().all(Result::is_ok), "seed {seed}: {replies:?}");
        assert_eq!(notes_of(&world).len(), 1, "seed {seed}: {:?}", world.store.names());
    }
}

#[test]
fn text_of_a_tool_that_is_stored_at_the_same_moment_does_not_replace_what_a_person_says() {
    for seed in 0..200 {
        let mut world = World::new();
        let now = world.now();
        let verbs = stores(&["core", "daily"], None);
        let replies = world.store.race(2, seed, |fs, number| {
            let entries = Arc::new(Entries::new(Some(EntriesConfig::for_agent("a"))).unwrap());
            let verb = verbs[usize::try_from(number).unwrap()].clone();
            let provenance = (number == 0).then_some(Provenance::Tool);
            let origin = Origin { provenance, ..Origin::default() };
            async move { run(&call_at(fs, now), &entries, &origin, verb).await }
        });
        assert!(replies[1].is_ok(), "seed {seed}: {replies:?}");
        assert_eq!(world.get("k").unwrap().content, "in daily", "seed {seed}: {replies:?}");
        assert_eq!(notes_of(&world).len(), 1, "seed {seed}");
    }
}

/// Returns the replies of processes that each give one command.
fn replies(world: &mut World, index_file: bool) -> Vec<String> {
    let keys = ["n000", "n001", "n002", "old", "unclosed", "plain", "broken", "tool", "agents/a/entries/core/named.md"];
    let others = [None, Some("zebra"), Some("horse 7")];
    let asked = keys.into_iter().map(Ok).chain(others.into_iter().map(Err));
    let run = |asked: Result<&'static str, Option<&'static str>>| {
        world.reopen();
        let (entries, now) = (world.entries.clone(), world.now());
        world.store.run(|fs| async move {
            let mut call = call_at(fs, now);
            Arc::get_mut(&mut call.scope).unwrap().index_file = index_file;
            let origin = Origin::default();
            Ok::<_, Error>(match asked {
                Ok(key) => format!("{:?}", get(&call, &entries, &origin, key).await),
                Err(None) => format!("{:?}", list_all(&call, &entries).await),
                Err(Some(query)) => format!("{:?}", find(&call, &entries, &origin, query, 9).await),
            })
        })
    };
    asked.map(run).collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_process_with_an_index_file_answers_as_one_without() {
    let mut world = World::new();
    let put = |world: &mut World, name: &str, fields: &str| {
        let text = format!("---\n{fields}\n---\n\nzebra\n");
        world.store.put(&format!("agents/a/entries/{name}.md"), text.into());
    };
    for number in 0..150 {
        let (older, day) = (number * 7 % 150, 1 + number % 28);
        let fields = format!("updated: 2026-01-{day:02}\nsupersedes: n{older:03}\ntags: [horse, \"{number}\"]");
        put(&mut world, &format!("core/n{number:03}"), &fields);
    }
    put(&mut world, "core/named", "key: n001\nupdated: 2027-01-01");
    put(&mut world, "daily/n002", "forgotten: 2027-01-01");
    put(&mut world, "daily/old", "updated: 2020-01-01");
    put(&mut world, "core/broken", "key: [");
    put(&mut world, "core/tool", "provenance: tool\nsupersedes: plain\norigin-project: p-1");
    world.store.put("agents/a/entries/core/plain.md", b"zebra".to_vec());
    world.store.put("agents/a/entries/core/unclosed.md", b"---\nkey: unclosed\n\nzebra".to_vec());
    let expected = replies(&mut world, false);
    assert_eq!([replies(&mut world, true), replies(&mut world, true)], [expected.clone(), expected.clone()]);
    assert!(world.store.names().contains(&"agents/a/.saddlebag/index/0000"));
    put(&mut world, "core/n005", "key: n001\nupdated: 2028-01-01");
    assert_eq!(replies(&mut world, true), replies(&mut world, false));
}
