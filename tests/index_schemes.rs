//! Hosts that make versions in different ways share one index file, and no host trusts the versions of another.

use proptest::prelude::*;
use saddlebag::protocol::{FsOp, Precondition};
use saddlebag::{Config, ConfigError};
use saddlebag_host::{EngineError, Executor, Simulator};
use support::arbitrary::cases;
use support::drive::Drive;
use support::{Kind, ask, both_engines, index_blocks, path, try_engine};

const PART: &str = ".saddlebag/index/0000";
/// Number of notes, as many as a person has.
const NOTES: usize = 600;
/// Number of notes that is enough for an index file.
const FEW: usize = 150;

fn config(scheme: &str, index_file: bool) -> Config {
    Config { epoch: 7, index_file, version_scheme: scheme.into(), ..Config::default() }
}

fn file(i: usize) -> String {
    format!("notes/{}/n{i:03}.md", i % 4)
}

fn store(notes: usize) -> Simulator {
    let mut store = Simulator::new(1);
    for i in 0..notes {
        store.insert(&path(&file(i)), format!("# Note {i}\n\nword{i} #tag{}\n", i % 5));
    }
    store
}

/// Result of one start of a host: its answers, the number of notes that it read, and the store afterwards.
struct Start {
    answers: String,
    reads: usize,
    store: Simulator,
}

fn start_with(kind: Kind, config: Config, store: Simulator) -> Start {
    start_of(Drive::new(kind, config, store))
}

fn start_of(mut drive: Drive<Simulator>) -> Start {
    let since = usize::try_from(drive.executor.operations()).unwrap();
    let tags = drive.run(ask::tags()).unwrap();
    let log = drive.executor.log()[since..].iter();
    let reads = log.filter(|done| done.op == "read" && done.path.starts_with("notes/")).count();
    // A list of notes reads their text, whatever the index knows.
    let notes = drive.call(ask::list_notes()).unwrap().items.into_iter();
    let notes: Vec<(String, String)> = notes.map(|note| (note.path, note.name)).collect();
    Start { answers: format!("{tags:?} {notes:?}"), reads, store: drive.executor }
}

/// Starts the host whose versions have this scheme.
fn start(kind: Kind, scheme: &str, store: Simulator) -> Start {
    let store = if scheme.starts_with("hash") { store.with_hashes_of(scheme) } else { store.with_versions_of(scheme) };
    start_with(kind, config(scheme, true), store)
}

/// Starts several hosts, one after the other.
fn starts(schemes: &[&str], store: Simulator) -> Simulator {
    schemes.iter().fold(store, |store, scheme| start(Kind::Native, scheme, store).store)
}

fn edit(store: &mut Simulator, notes: impl Iterator<Item = usize>, text: Option<&str>) {
    for i in notes {
        let path = path(&file(i));
        match text {
            Some(text) => store.insert(&path, format!("# {text} {i}\n")),
            None => drop(store.perform(&FsOp::remove(path, Precondition::Any)).unwrap()),
        }
    }
}

#[both_engines]
fn two_hosts_in_turn_read_no_note_again(kind: Kind) {
    let first = start(kind, "a/1", store(NOTES));
    let mut reads = vec![first.reads];
    let mut store = first.store;
    for scheme in ["hash/1", "a/1", "hash/1", "a/1"] {
        let next = start(kind, scheme, store);
        assert_eq!(next.answers, first.answers, "{scheme}");
        reads.push(next.reads);
        store = next.store;
    }
    assert_eq!(reads, [NOTES, NOTES, 0, 0, 0]);
}

#[both_engines]
fn hosts_that_do_not_name_their_schemes_read_each_others_notes_again(kind: Kind) {
    let first = start_with(kind, config("", true), store(FEW).with_versions_of("a"));
    let second = start_with(kind, config("", true), first.store.with_versions_of("b"));
    let third = start_with(kind, config("", true), second.store.with_versions_of("a"));
    assert_eq!([first.reads, second.reads, third.reads], [FEW; 3]);
}

/// A host does not trust versions of another scheme, and up to four schemes in turn do not read an
/// unchanged note again.
#[both_engines]
fn a_host_never_believes_a_version_of_another_scheme(kind: Kind) {
    // Both hosts use the same text for versions of different bytes.
    let before = start_with(kind, config("a/1", true), store(FEW));
    let mut other = Simulator::new(1);
    // The numbers are the same because the files come in the same order.
    edit(&mut other, 0..FEW, Some("Other"));
    for (name, bytes) in before.store.files().into_iter().filter(|(name, _)| name.starts_with(".saddlebag/")) {
        other.insert(&path(&name), bytes);
    }
    let got = start_with(kind, config("b/1", true), other.clone());
    let expected = start_with(kind, config("b/1", false), other.clone());
    assert_eq!((got.reads, got.answers), (FEW, expected.answers));
    // Under one name the versions would be trusted, so hosts must not share a name.
    assert_eq!(start_with(kind, config("a/1", true), other).reads, 0);
}

/// Starts the host a number of days after the others.
fn start_after(kind: Kind, days: i64, scheme: &str, store: Simulator) -> Start {
    let mut drive = Drive::new(kind, config(scheme, true), store.with_versions_of(scheme));
    drive.now.seconds += days * 86_400;
    start_of(drive)
}

/// A fifth scheme drops the one that was used longest ago, and a use alone does not write the index.
#[both_engines]
fn a_scheme_that_is_used_is_not_dropped(kind: Kind) {
    let mut used = starts(&["a/1", "b/1", "c/1", "d/1"], store(FEW));
    let writes = |store: &Simulator| {
        let log = store.log().iter();
        log.filter(|done| done.op == "write" && done.path.starts_with(".saddlebag/index/")).count()
    };
    let before = writes(&used);
    // On the same day, and if another scheme is the next to go, nothing is written.
    used = start_after(kind, 0, "a/1", used).store;
    used = start_after(kind, 2, "b/1", used).store;
    assert_eq!(writes(&used), before);
    for (days, written) in [(2, 1), (2, 1), (3, 1), (9, 1)] {
        let start = start_after(kind, days, "a/1", used);
        assert_eq!((start.reads, writes(&start.store) - before), (0, written), "after {days} days");
        used = start.store;
    }
    let five = start(kind, "e/1", used).store;
    for (scheme, reads) in [("a/1", 0), ("b/1", FEW), ("c/1", 0), ("d/1", 0), ("e/1", 0)] {
        assert_eq!(start(kind, scheme, five.clone()).reads, reads, "{scheme} of five");
    }
}

#[both_engines]
fn a_fifth_scheme_drops_the_one_that_wrote_longest_ago(kind: Kind) {
    let four = starts(&["a/1", "b/1", "c/1", "d/1"], store(FEW));
    for scheme in ["a/1", "b/1", "c/1", "d/1"] {
        assert_eq!(start(kind, scheme, four.clone()).reads, 0, "{scheme} of four");
    }
    let five = start(kind, "e/1", four).store;
    for (scheme, reads) in [("a/1", FEW), ("b/1", 0), ("c/1", 0), ("d/1", 0), ("e/1", 0)] {
        assert_eq!(start(kind, scheme, five.clone()).reads, reads, "{scheme} of five");
    }
}

#[both_engines]
fn a_note_that_changed_under_one_scheme_is_read_again_under_the_other(kind: Kind) {
    let mut store = starts(&["a/1", "hash/1", "a/1"], store(FEW));
    edit(&mut store, 0..40, Some("Changed"));
    let first = start(kind, "a/1", store);
    assert_eq!(first.reads, 40);
    let second = start(kind, "hash/1", first.store);
    assert_eq!((second.reads, second.answers), (40, first.answers));
    assert_eq!(start(kind, "a/1", second.store.clone()).reads, 0);
    assert_eq!(start(kind, "hash/1", second.store).reads, 0);
}

#[both_engines]
fn a_host_sees_the_store_as_it_is_after_a_change_that_was_undone(kind: Kind) {
    let settled = starts(&["a/1", "hash/1"], store(FEW));
    let expected = start(kind, "hash/1", settled.clone()).answers;
    let texts = settled.files();
    // Changed, removed and added notes; then everything as before, so that every page of the second host is unchanged.
    for (text, notes) in [(Some("Changed"), 0..40), (None, 0..40), (Some("Added"), FEW..FEW + 40)] {
        let mut store = settled.clone();
        edit(&mut store, notes.clone(), text);
        let mut store = start(kind, "a/1", store).store;
        edit(&mut store, notes.clone().filter(|i| *i >= FEW), None);
        for i in notes.filter(|i| *i < FEW) {
            store.insert(&path(&file(i)), texts[&file(i)].clone());
        }
        assert_eq!(start(kind, "hash/1", store).answers, expected, "{text:?}");
    }
}

#[both_engines]
fn a_host_that_searched_first_keeps_what_others_have_seen(kind: Kind) {
    let mut store = starts(&["a/1", "b/1"], store(FEW)).with_versions_of("b/1");
    edit(&mut store, 0..40, Some("Changed"));
    let mut drive = Drive::new(kind, config("b/1", true), store);
    drive.run(ask::search("word7")).unwrap();
    drive.run(ask::tags()).unwrap();
    assert_eq!(start(kind, "a/1", drive.executor).reads, 40);
}

#[both_engines]
fn an_index_with_a_damaged_column_is_rebuilt(kind: Kind) {
    let store = starts(&["first/1", "other/1", "first/1"], store(FEW));
    let part = store.files()[PART].clone();
    let content = index_blocks::content(&part);
    let name = content.windows(7).position(|bytes| bytes == b"other/1").expect("the name of the other scheme");
    let version = content.windows(8).position(|bytes| bytes == b"other/1:").expect("a version of the other scheme");
    // After the name, the lengths of the columns. Before the first version, its length and the number of the files.
    let damages = [
        ("first/1", name + 7, 0x7f),
        ("first/1", name + 9, 0x7f),
        ("other/1", version - 1, 0xff),
        ("other/1", version - 3, 0xff),
    ];
    for (scheme, at, byte) in damages {
        let mut damaged = content.clone();
        assert_ne!(damaged[at], byte);
        damaged[at] = byte;
        let mut store = store.clone();
        store.insert(&path(PART), index_blocks::with_content(&part, &damaged));
        let rebuilt = start(kind, scheme, store);
        assert_eq!(rebuilt.reads, FEW, "byte {at}");
        assert_eq!(start(kind, scheme, rebuilt.store).reads, 0, "byte {at}");
    }
}

#[both_engines]
fn a_damaged_column_of_another_scheme_is_dropped(kind: Kind) {
    let store = starts(&["first/1", "other/1", "first/1"], store(FEW));
    let part = store.files()[PART].clone();
    let mut content = index_blocks::content(&part);
    let version = content.windows(8).position(|bytes| bytes == b"other/1:").expect("a version of the other scheme");
    content[version - 1] = 0xff;
    let mut store = store;
    store.insert(&path(PART), index_blocks::with_content(&part, &content));
    let first = start(kind, "first/1", store);
    assert_eq!(first.reads, 0);
    let mut store = first.store;
    edit(&mut store, 0..FEW, Some("Changed"));
    let changed = start(kind, "first/1", store);
    assert_eq!(changed.reads, FEW);
    let again = start(kind, "first/1", changed.store);
    assert_eq!(again.reads, 0, "the index was written");
    assert_eq!(start(kind, "other/1", again.store).reads, FEW);
}

#[both_engines]
fn a_version_scheme_has_a_name_that_can_be_written_down(kind: Kind) {
    let longest = "x".repeat(64);
    for good in ["", "local-dir/1", "~!", &longest] {
        assert!(try_engine(kind, config(good, true)).is_ok(), "{good}");
    }
    let too_long = "x".repeat(65);
    for bad in ["two words", "tab\t", "nul\0", "ümlaut", "del\u{7f}", &too_long] {
        let error = try_engine(kind, config(bad, true)).err();
        assert_eq!(error, Some(EngineError::Config(ConfigError::InvalidVersionScheme(bad.into()))));
    }
}

#[derive(Clone, Debug)]
enum Turn {
    Start(usize),
    Edit(usize, Option<&'static str>),
    Touch(usize),
}

/// Several hosts in turn, while editors change the notes: each answers like a host without an index.
#[test]
fn whatever_hosts_do_in_turn_each_answers_as_one_without_an_index() {
    const SCHEMES: [&str; 6] = ["hash/1", "b/1", "hash/3", "d/1", "e/1", "f/1"];
    let turn = prop_oneof![
        3 => (0..SCHEMES.len()).prop_map(Turn::Start),
        2 => (0..5_usize, prop::sample::select(vec![None, Some("One"), Some("Two")])).prop_map(|(at, to)| Turn::Edit(at, to)),
        1 => (0..5_usize).prop_map(Turn::Touch),
    ];
    proptest!(cases(12), |(turns in prop::collection::vec(turn, 4..14))| {
        let mut store = store(135);
        let groups = |group: usize| (0..20).map(move |i| i * 8 + group);
        for turn in turns {
            match turn {
                Turn::Start(scheme) => {
                    let got = start(Kind::Native, SCHEMES[scheme], store);
                    let plain = got.store.clone();
                    let expected = start_with(Kind::Native, config(SCHEMES[scheme], false), plain);
                    prop_assert_eq!(got.answers, expected.answers);
                    store = got.store;
                }
                Turn::Edit(group, text) => edit(&mut store, groups(group), text),
                Turn::Touch(group) => {
                    let texts = store.files();
                    for i in groups(group) {
                        if let Some(text) = texts.get(&file(i)) {
                            store.insert(&path(&file(i)), text.clone());
                        }
                    }
                }
            }
        }
    });
}
