//! The index file saves a new engine its reads, and is never trusted where it could be wrong.

use proptest::prelude::*;
use saddlebag::items::ListItems;
use saddlebag::items::{ItemsReply, Recall};
use saddlebag::journal::Search;
use saddlebag::notebook::{ConditionKind, LoadMemories, MemoryContext, NoteFilter, RecallForTurn};
use saddlebag::protocol::FsError;
use saddlebag::{Command, Config, Limits, Reply, Submission, Submit};
use saddlebag_host::{Scheduler, Simulator};
use saddlebag_tests_shared::mutations::each_mutation;
use support::arbitrary::cases;
use support::drive::Drive;
use support::{Kind, ask, both_engines, commands, each, index_blocks, nightly, path};

const PART: &str = ".saddlebag/index/0000";
const RECENT: &str = ".saddlebag/index/recent";
const NOTES: usize = 150;

fn config(epoch: u64, index_file: bool) -> Config {
    Config { epoch, index_file, ..Config::default() }
}

fn note(i: usize) -> (String, String) {
    let (next, tag) = ((i + 1) % NOTES, i % 7);
    let text = format!(
        "---\ntitle: Note {i}\ntags: [t{tag}]\naliases: [alias{i}]\n---\n\n# Note {i}\n\nword{i} common text #hash{tag} \
         [[n{next:03}]] and [gone](missing{i}.md)\n"
    );
    (format!("notes/n{i:03}.md"), text)
}

fn store() -> Simulator {
    let mut store = Simulator::new(1);
    for i in 0..NOTES {
        let (file, text) = note(i);
        store.insert(&path(&file), text);
    }
    store
}

/// A store on which an engine has written its index.
fn indexed() -> Simulator {
    let mut drive = Drive::new(Kind::Native, config(1, true), store());
    drive.run(ask::tags()).unwrap();
    assert!(drive.executor.files().contains_key(PART), "{:?}", drive.executor.files().keys());
    drive.executor
}

fn question(query: &str) -> Recall {
    Recall { limit: 5, explain: true, ..ask::recall(query) }
}

/// Returns a question of every kind.
fn questions() -> Vec<Submission<Command>> {
    let filter = |filter: NoteFilter| ListItems { filter, ..ask::list_notes() };
    commands![
        question("word17 common"),
        question("\"common text\" -word3"),
        Recall { filter: NoteFilter::default().with(ConditionKind::Tag, ["t3"]), ..question("common") },
        ask::tags(),
        filter(NoteFilter { orphan: true, ..NoteFilter::default() }),
        ask::dead_links(),
        ask::related("Note 20"),
        ask::mentions("alias3"),
        filter(NoteFilter::default().with(ConditionKind::Tag, ["hash2"])),
        filter(NoteFilter::default().with(ConditionKind::Mention, ["Note 20"])),
        ListItems { with_text: true, zk_links: true, ..ask::list_notes() },
        ListItems { with_links: true, ..ask::list_notes() },
        LoadMemories { limit: 3 },
        RecallForTurn { turn: 4, query: "word99".into(), limit: 2 },
        MemoryContext { turn: 4, max_bytes: 4_000 },
    ]
}

fn answers(kind: Kind, config: Config, store: Simulator) -> (Vec<String>, Simulator) {
    let mut drive = Drive::new(kind, config, store);
    let answers = questions().into_iter().map(|command| format!("{:?}", drive.run(command))).collect();
    (answers, drive.executor)
}

/// Returns the notes that were read since.
fn reads(store: &Simulator, since: u64) -> Vec<String> {
    let log = store.log().iter().skip(usize::try_from(since).unwrap());
    let reads = log.filter(|done| done.op == "read" && done.path.starts_with("notes/"));
    reads.map(|done| done.path.clone()).collect()
}

/// Returns the number of listings since.
fn listings(store: &Simulator, since: u64) -> usize {
    let log = store.log().iter().skip(usize::try_from(since).unwrap());
    log.filter(|done| done.op == "list-directory").count()
}

fn hits(reply: Reply) -> Vec<String> {
    match reply {
        Reply::Items(ItemsReply::Recall(reply)) => reply.hits.into_iter().map(|hit| hit.path).collect(),
        other => panic!("{other:?}"),
    }
}

fn recalled(drive: &mut Drive<Simulator>, query: &str) -> Vec<String> {
    drive.call(question(query)).unwrap().hits.into_iter().map(|hit| hit.path).collect()
}

#[both_engines]
fn a_new_engine_reads_the_notes_of_its_hits_alone(kind: Kind) {
    let store = indexed();
    let since = store.operations();
    let mut drive = Drive::new(kind, config(2, true), store);
    let mut found = recalled(&mut drive, "word17");
    found.sort();
    let mut read = reads(&drive.executor, since);
    read.sort();
    assert_eq!(read, found);
    assert_eq!(found, ["notes/n017.md"]);
    let since = drive.executor.operations();
    drive.run(ask::tags()).unwrap();
    let filter = NoteFilter { orphan: true, ..NoteFilter::default() };
    drive.run(ListItems { filter, ..ask::list_notes() }).unwrap();
    assert_eq!(reads(&drive.executor, since), [""; 0]);
    // What the index says of a note that is found by name is compared with its file, once.
    for _ in 0..2 {
        drive.run(ask::related("Note 3")).unwrap();
    }
    assert_eq!(reads(&drive.executor, since), ["notes/n003.md"]);
}

/// Returns the files that a new engine reports as skipped.
fn skipped(kind: Kind, store: Simulator) -> Vec<String> {
    let mut drive = Drive::new(kind, config(2, true), store);
    drive.call(ask::list_notes()).unwrap().skipped.into_iter().map(|file| file.path).collect()
}

/// What could not be read is named, also by a recall from the index file.
#[both_engines]
fn a_folder_with_a_file_that_cannot_be_read_is_looked_through_again(kind: Kind) {
    let mut with_bad = store();
    with_bad.insert(&path("notes/bad.md"), [0xff, 0xfe]);
    with_bad.insert(&path("other/good.md"), "# Good\n");
    let mut drive = Drive::new(Kind::Native, config(1, true), with_bad);
    drive.run(ask::tags()).unwrap();
    assert!(drive.executor.files().contains_key(PART));
    assert_eq!(skipped(kind, drive.executor), ["notes/bad.md"]);
}

#[both_engines]
fn a_note_that_goes_while_no_engine_runs_is_forgotten(kind: Kind) {
    let mut store = indexed();
    let operation = store.operations();
    store.edit_at(operation, &path("notes/n017.md"), None);
    let mut drive = Drive::new(kind, config(2, true), store);
    assert!(!recalled(&mut drive, "word17").contains(&"notes/n017.md".to_string()));
}

#[both_engines]
fn an_engine_with_an_index_file_answers_as_one_without(kind: Kind) {
    let (expected, _) = answers(kind, config(2, false), store());
    let (got, _) = answers(kind, config(2, true), indexed());
    assert_eq!(got, expected);
}

/// Without the option, no index file is read or written.
#[both_engines]
fn without_it_none_is_written_nor_read(kind: Kind) {
    let (_, plain) = answers(kind, config(2, false), store());
    assert!(plain.files().keys().all(|file| file.starts_with("notes/")));
    let store = indexed();
    let since = usize::try_from(store.operations()).unwrap();
    let before = store.files();
    let (_, plain) = answers(kind, config(2, false), store);
    assert!(plain.log()[since..].iter().all(|done| !done.path.contains(".saddlebag/")));
    assert_eq!(plain.files(), before);
}

#[both_engines]
fn few_notes_are_not_worth_one(kind: Kind) {
    let mut store = Simulator::new(1);
    for i in 0..100 {
        let (file, text) = note(i);
        store.insert(&path(&file), text);
    }
    let (_, store) = answers(kind, config(1, true), store);
    assert!(!store.files().contains_key(PART));
}

/// A note that changes at any operation of a recall from the index file is answered as it is.
#[both_engines]
fn what_changed_after_it_was_written_is_seen(kind: Kind) {
    let mut store = indexed();
    let operation = store.operations();
    store.insert(&path("notes/n005.md"), "# Changed\n\nzebra [[n009]]\n");
    store.insert(&path("notes/new.md"), "# New\n\nzebra\n");
    store.edit_at(operation, &path("notes/n006.md"), None);
    store.insert(&path("elsewhere/n007.md"), "# Moved\n\nzebra\n");
    store.edit_at(operation, &path("notes/n007.md"), None);
    let mut drive = Drive::new(kind, config(2, true), store);
    let mut found = recalled(&mut drive, "zebra");
    found.sort();
    assert_eq!(found, ["elsewhere/n007.md", "notes/n005.md", "notes/new.md"]);
    assert_eq!(recalled(&mut drive, "word5"), [""; 0]);
    assert_eq!(recalled(&mut drive, "word6"), [""; 0]);
    let mut plain = drive.executor.clone();
    let (got, _) = answers(kind, config(3, true), drive.executor);
    let operation = plain.operations();
    plain.edit_at(operation, &path(PART), None);
    let (expected, _) = answers(kind, config(3, false), plain);
    assert_eq!(got, expected);
}

/// Nothing of the old words is left, so the index is packed before the rest of its file is read.
#[both_engines]
fn notes_that_all_changed_are_found_by_their_new_words(kind: Kind) {
    let mut store = indexed();
    for i in 0..NOTES {
        let words: Vec<String> = (0..200).map(|word| format!("w{}", (i * 31 + word * 17) % 900)).collect();
        store.insert(&path(&note(i).0), format!("# Changed {i}\n\nzebra{i} {}\n", words.join(" ")));
    }
    let mut drive = Drive::new(kind, config(2, true), store);
    for config in [config(2, true), config(3, true)] {
        assert_eq!(recalled(&mut drive, "zebra17"), ["notes/n017.md"]);
        assert_eq!(recalled(&mut drive, "word17"), [""; 0]);
        assert_eq!(recalled(&mut drive, "zebra149"), ["notes/n149.md"]);
        drive = Drive::new(kind, config, drive.executor);
    }
}

#[both_engines]
fn a_note_that_changes_while_its_text_is_fetched_is_answered_as_it_is(kind: Kind) {
    let mut calm = Drive::new(kind, config(2, true), indexed());
    let since = calm.executor.operations();
    recalled(&mut calm, "word17");
    for operation in each("operation", since..calm.executor.operations()) {
        for text in [Some(b"# Other\n\nnothing of it\n".to_vec()), None, Some(b"word17 \xff".to_vec())] {
            let mut store = indexed();
            store.edit_at(operation, &path("notes/n017.md"), text.clone());
            let mut drive = Drive::new(kind, config(2, true), store);
            drive.run(question("word17")).unwrap();
            // Whatever the first engine saw, the second sees the store as it is.
            assert_eq!(recalled(&mut drive, "word17"), [""; 0], "changed at {operation}");
        }
    }
}

/// An index file of another configuration is not used.
#[both_engines]
fn another_configuration_reads_the_notes_again(kind: Kind) {
    let configs = [
        "[format.markdown]\nhashtags = false\n",
        "[format.markdown]\ncolon-tags = true\nmultiword-tags = true\n",
        "[note]\nexclude = [\"notes/n0*\"]\n",
        "[note]\nextension = \"txt\"\n",
        "[",
    ];
    for text in configs {
        let (mut plain, mut with) = (store(), indexed());
        for store in [&mut plain, &mut with] {
            store.insert(&path(".zk/config.toml"), text);
        }
        let (expected, _) = answers(kind, config(2, false), plain);
        let (got, _) = answers(kind, config(2, true), with);
        assert_eq!(got, expected, "{text}");
    }
}

#[both_engines]
fn a_configuration_that_changes_under_an_engine_reads_the_notes_again(kind: Kind) {
    let mut drive = Drive::new(kind, config(2, true), indexed());
    drive.run(ask::tags()).unwrap();
    drive.executor.insert(&path(".zk/config.toml"), "[format.markdown]\nhashtags = false\n");
    let mut plain = store();
    plain.insert(&path(".zk/config.toml"), "[format.markdown]\nhashtags = false\n");
    let (expected, _) = answers(kind, config(2, false), plain);
    let got: Vec<String> = questions().into_iter().map(|command| format!("{:?}", drive.run(command))).collect();
    assert_eq!(got, expected);
}

#[both_engines]
fn a_store_that_takes_no_index_answers_all_the_same(kind: Kind) {
    let (expected, plain) = answers(kind, config(2, true), store());
    let writes = plain.log().iter().position(|done| done.path == PART && done.op == "write").unwrap();
    for error in [FsError::NoSpace, FsError::ReadOnly, FsError::Denied] {
        let mut store = store();
        store.fail_at(writes as u64, error);
        let (got, _) = answers(kind, config(2, true), store);
        assert_eq!(got, expected);
    }
}

/// A damaged index file does no harm, nor does a store that takes none.
#[nightly]
fn an_index_in_parts_is_taken_whole_or_not_at_all() {
    // Small notes with their own words make an index of several parts.
    let text = |i: usize, version: &str| {
        let words: String = (0..3_000).map(|w| format!("{version}{i}x{w} ")).collect();
        format!("# Note {i}\n\n{words}\n")
    };
    let kind = Kind::Native;
    let fill = |store: &mut Simulator, version: &str| {
        for i in 0..130 {
            store.insert(&path(&format!("notes/n{i:03}.md")), text(i, version));
        }
    };
    let mut first = Simulator::new(1);
    fill(&mut first, "a");
    let mut drive = Drive::new(kind, config(1, true), first);
    drive.run(ask::tags()).unwrap();
    let old = drive.executor.files();
    let parts: Vec<String> = old.keys().filter(|file| file.starts_with(".saddlebag/index/")).cloned().collect();
    assert!(parts.len() >= 2, "{parts:?}");
    fill(&mut drive.executor, "b");
    let mut drive = Drive::new(kind, config(2, true), drive.executor);
    drive.run(ask::tags()).unwrap();
    for part in &parts {
        for replacement in [old.get(part).cloned(), None] {
            let mut store = drive.executor.clone();
            let operation = store.operations();
            store.edit_at(operation, &path(part), replacement);
            let mut mixed = Drive::new(kind, config(3, true), store);
            assert_eq!(recalled(&mut mixed, "b7x7"), ["notes/n007.md"]);
            assert_eq!(recalled(&mut mixed, "a7x7"), [""; 0]);
        }
    }
}

/// Returns a store with an index of several parts. Each note has its own words at three places of it.
fn indexed_in_parts() -> Simulator {
    let mut store = Simulator::new(1);
    for i in 0..130 {
        let words: String = (0..15_000).map(|k| format!("q{} ", letters((i * 31 + k * 7) % 10_000))).collect();
        let own = format!("qga{} qka{} zebra{i}", letters(i), letters(i));
        store.insert(&path(&format!("notes/n{i:03}.md")), format!("# Note {i}\n\n{own}\n\n{words}\n"));
    }
    let mut drive = Drive::new(Kind::Native, config(1, true), store);
    drive.run(ask::tags()).unwrap();
    drive.executor
}

/// Returns four letters for a number.
fn letters(number: usize) -> String {
    format!("{number:04}").bytes().map(|digit| char::from(digit - b'0' + b'b')).collect()
}

/// Returns the number of bytes that the store has delivered of the index file since.
fn index_bytes(store: &Simulator, since: u64) -> u64 {
    let log = store.log().iter().skip(usize::try_from(since).unwrap());
    log.filter(|done| done.op == "read" && done.path.starts_with(".saddlebag/index/")).map(|done| done.bytes_read).sum()
}

#[both_engines]
fn a_recall_reads_the_words_of_its_query_and_a_second_one_reads_the_rest(kind: Kind) {
    let store = indexed_in_parts();
    let is_index = |(name, _): &(&String, &Vec<u8>)| name.starts_with(".saddlebag/index/");
    let size: u64 = store.files().iter().filter(is_index).map(|(_, bytes)| bytes.len() as u64).sum();
    let mut drive = Drive::new(kind, config(2, true), store);
    let mut since = drive.executor.operations();
    let mut read = Vec::new();
    for (word, i) in [("qga", 17), ("qga", 17), ("qka", 18), ("qka", 19)] {
        assert_eq!(recalled(&mut drive, &format!("{word}{}", letters(i))), [format!("notes/n{i:03}.md")]);
        read.push(index_bytes(&drive.executor, since));
        since = drive.executor.operations();
    }
    assert!(size > 5_000_000 && read[0] < size / 2, "{read:?} of {size}");
    assert_eq!(read[1], 0, "the words are in memory");
    assert!(read[2] > size / 2, "{read:?} of {size}");
    assert_eq!(read[3], 0, "everything is in memory");
}

#[both_engines]
fn recalls_at_once_keep_what_each_has_read_of_the_index(kind: Kind) {
    let mut drive = Drive::new(kind, config(2, true), indexed_in_parts());
    let words = [format!("qga{}", letters(17)), format!("qka{}", letters(18))];
    let ids = words.map(|word| drive.submit(question(&word)));
    drive.settle();
    let found = ids.map(|id| hits(drive.finished.remove(&id).unwrap().unwrap()));
    assert_eq!(found, [["notes/n017.md"], ["notes/n018.md"]]);
}

/// A recall reads a part of the index file, and notices damage in what it reads later.
#[both_engines]
fn damage_in_what_is_read_later_is_noticed(kind: Kind) {
    let store = indexed_in_parts();
    let last = store.files().keys().filter(|file| file.starts_with(".saddlebag/index/")).max().unwrap().clone();
    assert_ne!(last, PART);
    let list = ask::list_notes;
    let mut plain = Drive::new(kind, config(2, false), store.clone());
    let expected = format!("{:?}", plain.run(list()));
    for new in [None, Some(b"broken".to_vec())] {
        let mut drive = Drive::new(kind, config(2, true), store.clone());
        assert_eq!(recalled(&mut drive, "zebra17"), ["notes/n017.md"]);
        let operation = drive.executor.operations();
        drive.executor.edit_at(operation, &path(&last), new);
        assert_eq!(format!("{:?}", drive.run(list())), expected);
        assert_eq!(recalled(&mut drive, &format!("qka{}", letters(19))), ["notes/n019.md"]);
        let since = drive.executor.operations();
        let mut next = Drive::new(kind, config(3, true), drive.executor);
        assert_eq!(recalled(&mut next, "zebra18"), ["notes/n018.md"]);
        assert_eq!(reads(&next.executor, since), ["notes/n018.md"], "the index was written again");
    }
}

/// A store whose token is still the same is not listed, and one whose token differs is.
#[both_engines]
fn a_store_with_the_same_token_is_not_listed(kind: Kind) {
    let mut first = Drive::new(kind, config(1, true), store().with_generation());
    assert_eq!(recalled(&mut first, "word17"), ["notes/n017.md"]);
    let since = first.executor.operations();
    assert_eq!(recalled(&mut first, "word18"), ["notes/n018.md"]);
    assert_eq!(listings(&first.executor, since), 0, "the engine that has the index");
    let mut new = Drive::new(kind, config(2, true), first.executor);
    let since = new.executor.operations();
    assert_eq!(recalled(&mut new, "word19"), ["notes/n019.md"]);
    assert_eq!(listings(&new.executor, since), 0, "a new engine");
    new.executor.insert(&path("notes/n200.md"), "zebra");
    assert_eq!(recalled(&mut new, "zebra"), ["notes/n200.md"]);
    assert!(listings(&new.executor, since) > 0, "another program has added a note");
}

#[both_engines]
fn an_index_of_a_host_without_tokens_gets_one(kind: Kind) {
    let mut store = indexed().with_generation();
    for epoch in 2..5 {
        let mut new = Drive::new(kind, config(epoch, true), store);
        let since = new.executor.operations();
        assert_eq!(recalled(&mut new, "word19"), ["notes/n019.md"]);
        assert_eq!(listings(&new.executor, since) > 0, epoch == 2, "engine {epoch}");
        store = new.executor;
    }
}

/// A hook gives a command up after its time.
#[both_engines]
fn a_command_that_is_given_up_leaves_the_index_of_what_it_read(kind: Kind) {
    let mut store = Simulator::new(1);
    (0..1_200).for_each(|i| store.insert(&path(&format!("notes/n{i}.md")), format!("word{i} common")));
    let mut first = Drive::new(kind, config(1, true), store);
    first.submit(question("word17"));
    while reads(&first.executor, 0).len() < 900 {
        first.answer(0);
    }
    let since = first.executor.operations();
    let mut next = Drive::new(kind, config(2, true), first.executor);
    assert_eq!(recalled(&mut next, "word17"), ["notes/n17.md"]);
    assert_eq!(recalled(&mut next, "word1111"), ["notes/n1111.md"]);
    assert!(reads(&next.executor, since).len() < 700, "{:?}", reads(&next.executor, since).len());
}

/// A new engine reads only the notes that have changed since the index was written.
#[both_engines]
fn a_new_engine_reads_what_has_changed_since_the_index_was_written(kind: Kind) {
    let mut first = Drive::new(kind, config(1, true), store().with_generation());
    recalled(&mut first, "word17");
    first.executor.insert(&path("notes/n200.md"), "zebra [[n001]]");
    first.executor.insert(&path("notes/n017.md"), "giraffe");
    first.executor.edit_at(first.executor.operations(), &path("notes/n018.md"), None);
    recalled(&mut first, "zebra");
    let (expected, _) = answers(kind, config(2, false), first.executor.clone());
    let mut store = first.executor;
    for epoch in 2..4 {
        let since = store.operations();
        let mut new = Drive::new(kind, config(epoch, true), store);
        assert_eq!(recalled(&mut new, "zebra"), ["notes/n200.md"]);
        assert_eq!(recalled(&mut new, "word17"), [""; 0]);
        assert_eq!(recalled(&mut new, "word18"), [""; 0]);
        assert_eq!(recalled(&mut new, "giraffe"), ["notes/n017.md"]);
        assert_eq!(listings(&new.executor, since), 0, "{:?}", &new.executor.log()[usize::try_from(since).unwrap()..]);
        let mut read = reads(&new.executor, since);
        read.sort();
        read.dedup();
        assert_eq!(read, ["notes/n017.md", "notes/n018.md", "notes/n200.md"]);
        let writes = new.executor.log()[usize::try_from(since).unwrap()..].iter().filter(|done| done.op == "write");
        assert_eq!(writes.count(), 0, "nothing new is recorded");
        let got = answers(kind, config(2, true), new.executor.clone()).0;
        assert_eq!(got, expected);
        store = new.executor;
    }
    // A damaged record is not used.
    let mut bytes = store.files()[RECENT].clone();
    *bytes.last_mut().unwrap() ^= 1;
    store.insert(&path(RECENT), bytes);
    assert_eq!(answers(kind, config(4, true), store).0, expected);
}

#[both_engines]
fn an_index_larger_than_an_engine_reads_is_not_used(kind: Kind) {
    let limits = Limits { max_file_bytes: 4_096, ..Limits::default() };
    let (expected, _) = answers(kind, Config { limits, ..config(2, false) }, store());
    let (got, _) = answers(kind, Config { limits, ..config(2, true) }, indexed());
    assert_eq!(got, expected);
}

#[both_engines]
fn commands_at_once_leave_an_index_that_is_true(kind: Kind) {
    let text = |word: &str| word.to_string();
    for seed in each("seed", 0..8) {
        let store = if seed % 2 == 0 { indexed() } else { store() };
        // With tokens, no folder is listed again unless something has changed.
        let store = if seed % 4 < 2 { store } else { store.with_generation() };
        let mut drive = Drive::new(kind, config(2, true), store);
        let mut rename = (0..30).map(|i| ask::rename(format!("notes/n{:03}", i * 4 + 1), format!("Renamed {i}")));
        for _ in 0..4 {
            drive.submit(rename.next().unwrap());
            drive.submit(question("word9 common"));
            drive.submit(rename.next().unwrap());
            drive.submit(ask::forget(text("notes/n100")));
            drive.submit(ask::tags());
            drive.submit(ask::link(text("notes/n020"), text("notes/n060")));
            drive.submit(RecallForTurn { turn: 1, query: text("word30"), limit: 2 });
            drive.submit(ListItems { with_text: true, ..ask::list_notes() });
            let mut order = Scheduler::new(seed);
            for _ in 0..40 {
                if !drive.pending.is_empty() {
                    let first = order.reorder((0..drive.pending.len()).collect())[0];
                    drive.answer(first);
                }
            }
        }
        drive.settle_in_any_order(&mut Scheduler::new(seed));
        // The engine itself, a new one with the file, and one without it give the same answers. Notes with equal scores
        // come in the order in which an engine indexed them, so no question has such notes.
        let mut new = Drive::new(kind, config(3, true), drive.executor.clone());
        let mut plain = Drive::new(kind, config(3, false), drive.executor.clone());
        let is_exact = |given: &Submission<Command>| given.command.name() != "recall";
        let exact = questions().into_iter().filter(is_exact);
        for command in exact.chain([question("word17").submission()]) {
            let expected = format!("{:?}", plain.run(command.clone()));
            assert_eq!(
                format!("{:?}", drive.run(command.clone())),
                expected,
                "seed {seed}, {command:?}, the engine itself"
            );
            assert_eq!(format!("{:?}", new.run(command.clone())), expected, "seed {seed}, {command:?}, a new engine");
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Delete,
    Truncate(prop::sample::Index),
    Flip(Vec<(prop::sample::Index, u8)>),
    Extend(Vec<u8>),
    Replace(Vec<u8>),
    Version(u8),
    Zero(prop::sample::Index, usize),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        1 => Just(Damage::Delete),
        3 => any::<prop::sample::Index>().prop_map(Damage::Truncate),
        6 => prop::collection::vec((any::<prop::sample::Index>(), 1_u8..=255), 1..4).prop_map(Damage::Flip),
        1 => prop::collection::vec(any::<u8>(), 1..40).prop_map(Damage::Extend),
        1 => prop::collection::vec(any::<u8>(), 0..64).prop_map(Damage::Replace),
        1 => (2_u8..=255).prop_map(Damage::Version),
        2 => (any::<prop::sample::Index>(), 1_usize..512).prop_map(|(at, count)| Damage::Zero(at, count)),
    ]
}

/// Returns the damaged bytes; `None` if nothing is left of the file.
pub(crate) fn damaged(mut bytes: Vec<u8>, damage: &Damage) -> Option<Vec<u8>> {
    match damage {
        Damage::Delete => return None,
        Damage::Truncate(at) => bytes.truncate(at.index(bytes.len())),
        Damage::Flip(flips) => {
            for (at, mask) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= mask;
            }
        }
        Damage::Extend(more) => bytes.extend(more),
        Damage::Replace(all) => bytes.clone_from(all),
        Damage::Version(number) => bytes[7] = *number,
        Damage::Zero(at, count) => {
            let at = at.index(bytes.len());
            let end = (at + count).min(bytes.len());
            bytes[at..end].fill(0);
        }
    }
    Some(bytes)
}

#[both_engines(nightly)]
fn a_damaged_index_is_never_believed(kind: Kind) {
    proptest!(cases(32), |(damage in damage())| {
        let mut with = indexed();
        let bytes = damaged(with.files()[PART].clone(), &damage);
        let operation = with.operations();
        with.edit_at(operation, &path(PART), bytes);
        let (expected, _) = answers(kind, config(2, false), store());
        let (got, after) = answers(kind, config(2, true), with);
        prop_assert_eq!(got, expected);
        // The index is written again, and serves the next engine.
        let since = after.operations();
        let mut next = Drive::new(kind, config(3, true), after);
        prop_assert_eq!(recalled(&mut next, "word17"), ["notes/n017.md"]);
        prop_assert_eq!(reads(&next.executor, since).len(), 1);
    });
}

/// Anyone who can write the store can forge the checksums. The answers may then be wrong, but there is no trap and no
/// endless work, and nothing outside the notebook is requested.
#[both_engines]
fn a_forged_index_does_not_trap(kind: Kind) {
    proptest!(cases(32), |(damage in damage())| {
        let mut with = indexed();
        let bytes = damaged(with.files()[PART].clone(), &damage).map(index_blocks::sealed);
        let operation = with.operations();
        with.edit_at(operation, &path(PART), bytes);
        let mut drive = Drive::new(kind, config(2, true), with);
        for command in questions() {
            let id = drive.try_submit(command);
            prop_assert!(id.is_ok(), "{id:?}");
            drive.settle();
        }
    });
}

/// The native engine, because a case takes the component ten times as long.
#[test]
fn a_mutated_index_ends_no_command_and_costs_few_operations() {
    let with = indexed();
    let part = with.files().remove(PART).unwrap();
    // The content has a catalogue, a table, a dictionary, records of notes and postings, one after another.
    let content = index_blocks::content(&part);
    each_mutation(6, &[&content], 1_000, |mutated| {
        let mut store = with.clone();
        let mut mutated = mutated.to_vec();
        mutated.resize(content.len(), 0);
        store.insert(&path(PART), index_blocks::with_content(&part, &mutated));
        let since = store.operations();
        let mut drive = Drive::new(Kind::Native, config(2, true), store);
        // An error of a forged index says so.
        for command in commands![question("word17 common"), ask::tags()] {
            if let Err(error) = drive.run(command) {
                assert!(error.to_string().contains("index"), "{error:?}");
            }
        }
        let operations = drive.executor.operations() - since;
        // All notes are read again at most twice.
        assert!(operations < 2 * NOTES as u64 + 50, "{operations} operations");
    });
}

#[both_engines]
fn a_literal_search_reads_what_only_the_index_file_knew(kind: Kind) {
    let mut drive = Drive::new(kind, config(2, true), indexed());
    drive.run(ask::tags()).unwrap();
    for assume_unchanged in [true, true, false] {
        let results = drive.call(Search { assume_unchanged, ..ask::search("word17") }).unwrap();
        let paths: Vec<&str> = results.hits.iter().map(|hit| hit.path.as_str()).collect();
        assert!(paths.contains(&"notes/n017.md") && !results.hits[0].lines.is_empty(), "{paths:?}");
    }
}

/// Replaces text in the index by another of its length, and corrects the checksums.
fn forge(store: &mut Simulator, old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len());
    let part = store.files().remove(PART).expect("an index");
    let mut content = index_blocks::content(&part);
    let places: Vec<usize> = (0..content.len() - old.len()).filter(|&at| content[at..].starts_with(old)).collect();
    assert!(!places.is_empty());
    for at in places {
        content[at..at + new.len()].copy_from_slice(new);
    }
    store.insert(&path(PART), index_blocks::with_content(&part, &content));
}

#[both_engines]
fn an_index_that_names_files_of_others_is_not_used(kind: Kind) {
    let mut with_bob = store();
    with_bob.insert(&path("agents/bob/entries/core/zebra.md"), "---\nkey: zebra\n---\n\nzebra of bob\n");
    with_bob.insert(&path("notesx/boc/entries/core/zebra.md"), "---\nkey: zebra\n---\n\nzebra of nobody\n");
    let mut drive = Drive::new(Kind::Native, config(1, true), with_bob);
    drive.run(ask::tags()).unwrap();
    let mut forged = drive.executor;
    forge(&mut forged, b"notesx/boc/entries", b"agents/bob/entries");
    let mut drive = Drive::new(kind, config(2, true), forged);
    let request = Recall { assume_unchanged: true, ..question("zebra") };
    let reply = drive.call(request).unwrap();
    let paths: Vec<&str> = reply.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths, ["notesx/boc/entries/core/zebra.md"]);
}
