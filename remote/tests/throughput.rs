//! Changes and appends a second, with one client and with eight, on a folder, a database and a bucket. `cargo xtask scale` runs it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use saddlebag::protocol::{Precondition, WriteOutcome};
use saddlebag_host::{Executor, LocalDir, LocalDirOptions};
use saddlebag_remote::{AttachOptions, attach};
use support::{Ask, address};

/// Time for which changes are counted.
const SPAN: Duration = Duration::from_millis(1_000);
const RUNS: usize = 5;

type Store = Box<dyn Executor + Send>;

/// Returns how many changes a second the clients make together: the median of the runs.
fn measure(clients: u32, open: &(dyn Fn() -> Store + Sync), change: fn(&mut Store, u32, u32)) -> u64 {
    let mut runs: Vec<u64> = (0..RUNS).map(|_| once(clients, open, change)).collect();
    runs.sort_unstable();
    runs[RUNS / 2]
}

fn once(clients: u32, open: &(dyn Fn() -> Store + Sync), change: fn(&mut Store, u32, u32)) -> u64 {
    let barrier = Barrier::new(clients as usize);
    let work = |client: u32| {
        let mut store = open();
        change(&mut store, client, 0);
        barrier.wait();
        let (begun, mut changes) = (Instant::now(), 0);
        while begun.elapsed() < SPAN {
            changes += 1;
            change(&mut store, client, changes);
        }
        f64::from(changes) / begun.elapsed().as_secs_f64()
    };
    let rates: Vec<f64> = thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|client| scope.spawn(move || work(client))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    rates.iter().sum::<f64>().round() as u64
}

/// Replaces a note of the client, of 2 KB.
fn edit(store: &mut Store, client: u32, number: u32) {
    let (note, text) = (format!("{client}/note.md"), format!("{number} {}\n", "x".repeat(2_000)));
    let precondition = store.read(&note).map_or(Precondition::Absent, |(_, version)| Precondition::Matches(version));
    assert!(matches!(store.write(&note, &text, precondition).unwrap(), WriteOutcome::Written(_)));
}

/// Appends a line to the log of all clients.
fn append(store: &mut Store, client: u32, number: u32) {
    store.append("log.md", &format!("{client}-{number}\n")).unwrap();
}

#[test]
#[ignore = "it measures"]
fn changes_and_appends_a_second() {
    println!(
        "| Store | Clients | Edits a second, each its note | Appends a second, one log |\n| --- | --- | --- | --- |"
    );
    for name in ["Folder", "PostgreSQL", "Bucket"] {
        for clients in [1, 8] {
            // Each kind of change begins in an empty store.
            let measured = [edit, append].map(|change: fn(&mut Store, u32, u32)| {
                let folder = tempfile::tempdir().unwrap();
                let address = match name {
                    "Folder" => None,
                    "PostgreSQL" => Some(address("SADDLEBAG_TEST_POSTGRES", "throughput")?),
                    _ => Some(address("SADDLEBAG_TEST_S3", "throughput")?),
                };
                let open = || -> Store {
                    let options = AttachOptions { create: true, cache: None };
                    match &address {
                        Some(address) => Box::new(attach(&address.parse().unwrap(), &options).unwrap().store),
                        None => Box::new(LocalDir::open(folder.path(), LocalDirOptions::default()).unwrap()),
                    }
                };
                Some(measure(clients, &open, change))
            });
            if let [Some(edits), Some(appends)] = measured {
                println!("| {name} | {clients} | {edits} | {appends} |");
            }
        }
    }
}
