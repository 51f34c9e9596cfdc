//! Hosts of both kinds change one file, under a scheduler that stops, slows and kills them at every call. Their clocks are hours
//! apart and run at different speeds.

#![allow(clippy::unwrap_used, clippy::panic)]

mod host;
mod world;

use std::time::Duration;

use host::{Fault, Operation};
use world::{Answer, Call, Clock, World};

/// Number of runs. One with a fault is the last as soon as it shows a violation.
const SEEDS: u64 = 2_000;

/// Numbers that look random (`splitmix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A time between two numbers of milliseconds.
    fn time(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_micros(from * 1000 + self.below((to - from) * 1000))
    }
}

struct Host {
    has_kernel_locks: bool,
    operation: Operation,
    question: Option<Call>,
    clock: Clock,
    /// Operations that it still has to begin after this one.
    left: u64,
    ready: Duration,
}

/// What a run showed.
#[derive(Debug, Default)]
struct Seen {
    violations: u32,
    in_window: u32,
    changes: u32,
    left: usize,
}

fn run(seed: u64, fault: Option<Fault>) -> Seen {
    let mut random = Random(seed);
    let mut world = World::default();
    let mut ids = 0;
    let mut next_id = || {
        ids += 1;
        ids
    };
    let mut hosts: Vec<Host> = (0..2 + random.below(3))
        .map(|_| {
            let has_kernel_locks = random.below(2) == 0;
            let rate = 1.0 + f64::from(u32::try_from(random.below(200)).unwrap()) / 1000.0;
            Host {
                has_kernel_locks,
                operation: Operation::new(has_kernel_locks, fault, next_id()),
                question: None,
                clock: Clock { offset: random.time(0, 10_000_000), rate, looked: Duration::ZERO },
                left: random.below(4),
                ready: random.time(0, 100),
            }
        })
        .collect();
    hosts.iter_mut().for_each(|host| host.question = host.operation.next());
    // Another host comes when all others are done or dead, and clears up after them.
    for is_last in [false, true] {
        if is_last {
            let host = hosts.last_mut().unwrap();
            host.operation = Operation::new(host.has_kernel_locks, fault, next_id());
            host.question = host.operation.next();
            host.ready = world.now;
        }
        while let Some(index) =
            (0..hosts.len()).filter(|&index| hosts[index].question.is_some()).min_by_key(|&index| hosts[index].ready)
        {
            let host = &mut hosts[index];
            world.now = world.now.max(host.ready);
            let call = host.question.take().unwrap();
            let answer = world.perform(index, &mut host.clock, &call);
            host.operation.answer(answer);
            host.question = host.operation.next();
            let is_killed = !is_last && random.below(150) == 0;
            if is_killed {
                world.kill(index);
                host.question = None;
            }
            if host.question.is_none() && host.left > 0 {
                host.left -= 1;
                host.operation = Operation::new(host.has_kernel_locks, fault, next_id());
                host.question = host.operation.next();
            }
            let asked = match host.question {
                // Longer than it was asked for, as on a busy machine, and so that a wait takes few calls.
                Some(Call::Pause(time)) => time + random.time(0, 1500),
                Some(Call::Work) if random.below(3) == 0 => random.time(0, 15_000),
                _ => Duration::ZERO,
            };
            let stopped = match random.below(100) {
                0 => random.time(1_000, 60_000),
                1..8 => random.time(1, 3_000),
                _ => Duration::from_micros(1 + random.below(100)),
            };
            host.ready = world.now + asked + if is_last { Duration::ZERO } else { stopped };
        }
    }
    let World { violations, in_window, changes, .. } = world;
    Seen { violations, in_window, changes, left: world.temporary().len() }
}

/// Hosts with kernel locks and hosts with leases never change one file at the same time, whenever they are stopped
/// or killed.
#[test]
fn no_two_hosts_have_one_lock() {
    let mut all = Seen::default();
    for seed in 0..SEEDS {
        let seen = run(seed, None);
        assert_eq!((seen.violations, seen.left), (0, 0), "seed {seed}: {seen:?}");
        all.in_window += seen.in_window;
        all.changes += seen.changes;
    }
    assert!(all.changes > 5_000, "{all:?}");
    // What the documentation says that a lease cannot promise.
    assert!(all.in_window > 0, "{all:?}");
}

#[test]
fn a_host_with_a_fault_is_found() {
    for fault in [Fault::NoSecondLook, Fault::EarlyCheck, Fault::NoLeases, Fault::EmptyIsFree] {
        let found = (0..SEEDS).find(|seed| run(*seed, Some(fault)).violations > 0);
        assert!(found.is_some(), "{fault:?}");
    }
}

/// Kills a holder at each of its calls. The next host waits for it at most 10 seconds.
#[test]
fn a_host_that_was_killed_blocks_others_for_less_than_ten_seconds() {
    for (dies, comes) in [(false, false), (false, true), (true, false), (true, true)] {
        for killed_after in 0.. {
            let mut world = World::default();
            let mut clock = Clock { offset: Duration::ZERO, rate: 1.0, looked: Duration::ZERO };
            let first = Operation::new(dies, None, 1);
            let mut calls = 0;
            while let Some(call) = first.next().filter(|_| calls < killed_after) {
                first.answer(world.perform(0, &mut clock, &call));
                calls += 1;
            }
            let is_over = calls < killed_after;
            world.kill(0);
            let second = Operation::new(comes, None, 2);
            while let Some(call) = second.next() {
                second.answer(world.perform(1, &mut clock, &call));
                world.now += if let Call::Pause(time) = call { time } else { Duration::from_micros(10) };
                if let Call::Pause(time) = call {
                    // The wait has few calls if each takes long.
                    world.now += 100 * time;
                }
            }
            assert!(world.now < Duration::from_secs(10), "after {calls} calls: {:?}", world.now);
            assert!(world.changes >= 1 && world.temporary().is_empty(), "after {calls} calls: {:?}", world.temporary());
            if is_over {
                break;
            }
        }
    }
}

/// A holder that lives is waited for as long as others make progress: 10 seconds for one holder, two minutes in all.
#[test]
fn a_lock_that_goes_from_one_writer_to_the_next_is_waited_for_longer() {
    for (passes, expected) in [(false, 10), (true, 120)] {
        let mut world = World::default();
        let mut clock = Clock { offset: Duration::ZERO, rate: 1.0, looked: Duration::ZERO };
        let path = String::from(".saddlebag/locks-3/15");
        let Answer::File(Some(handle)) = world.perform(0, &mut clock, &Call::Open(path.clone())) else { panic!() };
        world.perform(0, &mut clock, &Call::TryLock(handle));
        let waiting = Operation::new(true, None, 1);
        let mut holders = 0;
        while let Some(call) = waiting.next() {
            waiting.answer(world.perform(1, &mut clock, &call));
            if let Call::Pause(time) = call {
                world.now += 1000 * time;
                if passes {
                    holders += 1;
                    let line = format!("held\t{holders}\tother\t0-0\n").into_bytes();
                    world.perform(0, &mut clock, &Call::Write(path.clone(), line));
                }
            }
        }
        let waited = world.now.as_secs();
        assert!((expected..expected + 2).contains(&waited) && world.changes == 0, "{passes}: {waited} s");
    }
}
