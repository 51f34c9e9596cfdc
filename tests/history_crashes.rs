//! Random changes by two processes, with power cuts in the middle: everything is undone to the beginning and made again.

use std::collections::BTreeMap;

use saddlebag::history::{ListOperations, Undo};
use saddlebag::protocol::FsOp;
use saddlebag::store::Timestamp;
use saddlebag::{Command, Config, Origin, Submission, Submit};
use saddlebag_host::{Executor, Simulator};
use support::drive::Drive;
use support::{Kind, Random, agent_config, ask, both_engines, each, fact, keep, nightly, path, today};

use crate::history::{change, kept};

type Files = BTreeMap<String, Vec<u8>>;

/// A store that two processes change in turns, until a power cut ends both.
struct World {
    kind: Kind,
    processes: [Drive<Simulator>; 2],
    /// Number of the process that has the store.
    active: usize,
    last_epoch: u64,
    now: Timestamp,
    random: Random,
    commands: u32,
    /// Commands that were not acknowledged, and were made all the same.
    finished_later: u32,
}

impl World {
    fn new(kind: Kind, seed: u64) -> Self {
        let mut store = Simulator::new(seed);
        store.insert(&path("MEMORY.md"), "no line end");
        let processes = [(1, store), (2, Simulator::new(0))].map(|(epoch, store)| process(kind, epoch, store));
        let random = Random(seed);
        Self { kind, processes, active: 0, last_epoch: 2, now: today(), random, commands: 0, finished_later: 0 }
    }

    /// Runs a command in one of the processes. In three runs of four the power is cut, at any operation. Returns the files after
    /// it: those before it, or those that it makes.
    fn run(&mut self, before: &Files, command: impl Fn() -> Submission<Command>) -> Files {
        self.commands += 1;
        self.now.seconds += 1;
        let next = usize::from(self.random.number().is_multiple_of(2));
        if next != self.active {
            let [first, second] = &mut self.processes;
            std::mem::swap(&mut first.executor, &mut second.executor);
            self.active = next;
        }
        let drive = &mut self.processes[next];
        drive.now = self.now;
        let mut calm = process(self.kind, self.last_epoch + 1, drive.executor.clone());
        calm.now = self.now;
        let _ = calm.run(command());
        let begun = drive.executor.operations();
        let operations = calm.executor.operations() - begun;
        let is_cut = !self.random.number().is_multiple_of(4);
        if is_cut {
            drive.executor.crash_at(begun + self.random.number() % operations.max(1));
        }
        let is_done = drive.run(command()).is_ok();
        if is_cut {
            // A process that remembers the store needs fewer operations. Then the power is cut after the command.
            while !drive.executor.is_crashed() {
                let _ = drive.executor.perform(&FsOp::Read { path: path("MEMORY.md"), offset: 0, max_bytes: 1 });
            }
            self.restart();
        }
        let (files, calm) = (files(&self.processes[self.active].executor), files(&calm.executor));
        let is_whole = files == calm || (files == *before && !is_done);
        assert!(is_whole, "half of {:?}: {}", command().command, differences(&calm, &files));
        self.finished_later += u32::from(files != *before && !is_done);
        files
    }

    fn restart(&mut self) {
        let mut store = std::mem::replace(&mut self.processes[self.active].executor, Simulator::new(0));
        store.restart();
        self.processes = [store, Simulator::new(0)].map(|store| {
            self.last_epoch += 1;
            process(self.kind, self.last_epoch, store)
        });
        self.active = 0;
        // Nobody waits for a process that the power cut has ended.
        self.now.seconds += 10;
        let drive = &mut self.processes[0];
        drive.now = self.now;
        // Whoever asks what an undo would do finishes what was interrupted. Without it, a rename that is finished later would
        // come after other changes.
        let _ = drive.run(Undo { dry_run: true, ..Undo::default() });
    }

    /// Goes from one state to the next by a command, which is given again until it is made.
    fn walk(&mut self, states: &[&Files], command: impl Fn() -> Submission<Command>) {
        for (number, step) in states.windows(2).enumerate() {
            let [before, after] = step else { continue };
            let mut files = (*before).clone();
            while files == **before {
                files = self.run(before, &command);
            }
            assert!(files == **after, "step {number}: {}", differences(after, &files));
        }
    }
}

fn process(kind: Kind, epoch: u64, store: Simulator) -> Drive<Simulator> {
    Drive::new(kind, Config { epoch, ..agent_config() }, store)
}

/// Returns the files that people keep.
fn files(store: &Simulator) -> Files {
    let mut files = kept(store);
    files.retain(|path, _| !path.ends_with(".tmp"));
    files
}

/// Returns the files that are not as expected.
fn differences(expected: &Files, found: &Files) -> String {
    let text = |bytes: Option<&Vec<u8>>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let paths = expected.keys().chain(found.keys().filter(|path| !expected.contains_key(*path)));
    let differs = paths.filter(|path| expected.get(*path) != found.get(*path));
    differs
        .map(|path| format!("{path}: {:?}, expected {:?}\n", text(found.get(path)), text(expected.get(path))))
        .collect()
}

/// Makes random changes, takes all of them back and makes them again. Returns the number of commands.
fn there_and_back(kind: Kind, seed: u64, changes: usize) -> u32 {
    let mut world = World::new(kind, seed);
    let mut states = vec![files(&world.processes[0].executor)];
    while states.len() <= changes {
        let number = world.random.number();
        let before = &states[states.len() - 1];
        let after = world.run(before, || change(number));
        if after != *before {
            states.push(after);
        }
    }
    let forth: Vec<&Files> = states.iter().collect();
    let back: Vec<&Files> = states.iter().rev().collect();
    world.walk(&back, || Undo::default().submission());
    world.walk(&forth, || ask::redo().submission());
    assert!(world.finished_later > 0, "the power was never cut between a record and its change");
    world.commands
}

/// A change, an undo and a redo that a power cut interrupts at any operation are whole or were not begun, and
/// all changes are undone to the first byte and made again, whichever of two processes gives the command.
#[both_engines]
fn changes_with_power_cuts_are_undone_to_the_beginning_and_made_again(kind: Kind) {
    for seed in each("seed", 0..2) {
        there_and_back(kind, seed, 15);
    }
}

/// The program names its operations, so a command that first takes back an undo which was never made has one name for both.
#[both_engines]
fn an_undo_that_a_power_cut_interrupted_is_made_and_made_again_by_the_next(kind: Kind) {
    let named = |name: &str, command: Command| {
        let origin = Origin { operation: Some(name.into()), ..Origin::default() };
        origin.with(command).submission()
    };
    let undo = |name: &str, after: Option<String>| named(name, Undo { after, ..Undo::default() }.submission().command);
    for with_entries in [false, true] {
        let (mut interrupted, mut at) = (0, 0);
        loop {
            let mut store = Drive::new(kind, Config { epoch: 1, ..agent_config() }, Simulator::new(at));
            store.run(fact("N", "c <0>")).unwrap();
            let first = store.call(ListOperations { limit: 1, ..ListOperations::default() }).unwrap();
            // Of two folders, the time says what is after an operation.
            store.now.seconds += 1;
            store.run(ask::edit("facts/n.md", "<0>", "<1>")).unwrap();
            if with_entries {
                store.run(keep("k", "v", "core")).unwrap();
            }
            let edited = files(&store.executor);
            let after = with_entries.then(|| first.operations[0].operation.clone());
            store.executor.crash_at(store.executor.operations() + at);
            let done = store.run(undo("first", after.clone()));
            if !store.executor.is_crashed() {
                done.unwrap();
                break;
            }
            let mut executor = store.executor;
            executor.restart();
            let mut next = process(kind, 2, executor);
            next.now.seconds += 10;
            let is_made = |files: &Files| {
                files.values().any(|text| String::from_utf8_lossy(text).contains("c <0>"))
                    && !files.keys().any(|path| path.ends_with("/k.md"))
            };
            // One that was made although nobody heard of it would go further back.
            let again = match is_made(&files(&next.executor)) {
                true => None,
                false => Some(next.run(undo("second", after))),
            };
            interrupted += u32::from(again.as_ref().is_some_and(Result::is_ok));
            assert!(is_made(&files(&next.executor)), "at {at}: {again:?}");
            // Between the two folders, the redo of one run is that of its folder.
            for number in 0..2 {
                let redone = next.run(named(&format!("redo-{number}"), ask::redo().submission().command));
                assert!(redone.is_ok() || number > 0, "at {at}: {again:?}, {redone:?}");
            }
            assert_eq!(files(&next.executor), edited, "at {at}: {again:?}");
            at += 1;
        }
        assert!(interrupted > 2, "{interrupted} of {at}");
    }
}

#[nightly]
fn ten_thousand_commands_with_power_cuts_lose_no_byte() {
    let commands: u32 = each("seed", 2..42).map(|seed| there_and_back(Kind::Native, seed, 30)).sum();
    assert!(commands >= 10_000, "{commands}");
}
