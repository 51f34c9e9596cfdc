//! The operations of the kit, on the executors of the host.

use std::io::{BufRead, BufReader, Write, pipe};
use std::path::Path;
use std::thread;

use saddlebag::protocol::{FsError, FsOp, FsOutcome};
use saddlebag_host::{Durability, Executor, LocalDir, LocalDirOptions, PACKAGE, Simulator};
use serde_json::{Value, json};

use super::bench::Stores;
use super::driver::{Driver, Hello, Lock, PROTOCOL};
use super::report::Report;
use super::serve::performed;
use super::{cases, grid};
use crate::output::Output;

type Opened = Box<dyn Executor>;

/// What a store has: nothing but files, folders too, or it is a folder of the disk.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Has {
    Files,
    Folders,
    Links,
}

#[test]
fn the_simulator_conforms() {
    conforms(Has::Folders, |_| Box::new(Simulator::new(1)));
    conforms(Has::Folders, |_| Box::new(Simulator::new(1).with_durability(Durability::Fast).with_generation()));
}

#[test]
fn the_local_disk_conforms_with_full_durability() {
    conforms(Has::Links, |store| Box::new(LocalDir::open(Path::new(store), LocalDirOptions::default()).unwrap()));
}

#[test]
fn the_folder_of_a_guest_conforms() {
    conforms(Has::Links, |store| {
        let storage = saddlebag_guest::Folder::open(Path::new(store), true, random).unwrap();
        Box::new(Guest(saddlebag_guest::Executor::new(storage, random)))
    });
}

#[test]
fn the_key_value_store_of_a_guest_conforms() {
    conforms(Has::Files, |_| {
        let storage = saddlebag_guest::KeyValue::open(saddlebag_guest::InMemory::default(), "m", 1000).unwrap();
        Box::new(Guest(saddlebag_guest::Executor::new(storage, random)))
    });
}

fn random() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0)
}

/// The executor of a program that is a component.
struct Guest<S>(saddlebag_guest::Executor<S>);

impl<S: saddlebag_guest::Storage> Executor for Guest<S> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        self.0.perform(op)
    }
}

/// Checks the executor that `open` returns for the name of a store.
fn conforms(has: Has, open: fn(&str) -> Opened) {
    let (requests, input) = pipe().unwrap();
    let (output, mut answers) = pipe().unwrap();
    thread::spawn(move || {
        let mut opened = None;
        for line in BufReader::new(requests).lines() {
            let request = serde_json::from_str(&line.unwrap()).unwrap();
            writeln!(answers, "{}", answer(request, has, open, &mut opened)).unwrap();
        }
    });
    let mut driver = Driver::within(input, output).unwrap();
    let mut output = Output::new(true);
    let (stores, mut report) = (Stores::new().unwrap(), Report::new(&mut output));
    grid::run(&mut driver, &stores, &mut report).unwrap();
    cases::run(&mut driver, &stores, &mut report).unwrap();
    assert!(report.failed().is_empty(), "{:#?}", report.failed());
}

fn answer(mut request: Value, has: Has, open: fn(&str) -> Opened, opened: &mut Option<Opened>) -> Value {
    if request.get("hello").is_some() {
        let (name, package, version_scheme) = ("test".into(), PACKAGE.into(), "test".into());
        let (folder, folders, lock) = (has == Has::Links, has >= Has::Folders, Lock::None);
        return json!({ "hello": Hello { protocol: PROTOCOL, name, package, version_scheme, folder, links: folder, folders, lock } });
    }
    if let Some(opening) = request.get("open") {
        *opened = Some(open(opening["store"].as_str().unwrap()));
        return json!({ "ok": null });
    }
    performed(opened.as_mut().unwrap(), request["perform"].take()).unwrap()
}
