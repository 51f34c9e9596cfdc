//! The kit on the executors of the host, and on those of a program that is a component.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write, pipe};
use std::path::Path;
use std::thread;

use saddlebag_guest::driver::{Driver as GuestDriver, Host};
use saddlebag_guest::environment::random;
use saddlebag_guest::{Executor as GuestExecutor, Folder, InMemory, KeyValue};
use saddlebag_host::{Durability, EngineKind, Executor, LocalDir, LocalDirOptions, PACKAGE, Simulator};
use serde_json::{Value, json};
#[cfg(feature = "remote")]
use sha2::{Digest, Sha256};

use super::bench::Stores;
use super::driver::{Driver, Hello, Lock, PROTOCOL};
use super::report::Report;
use super::serve::performed;
use super::{calls, cases, grid};
use crate::output::Output;

/// A driver: answers a line.
type Answers = Box<dyn FnMut(&str) -> String>;

#[test]
fn the_simulator_conforms() {
    performs(|| of(Kind::Tree, |_| Box::new(Simulator::new(1))));
    performs(|| of(Kind::Tree, |_| Box::new(Simulator::new(1).with_durability(Durability::Fast).with_generation())));
}

#[test]
fn the_local_disk_conforms_with_full_durability() {
    performs(|| {
        of(Kind::Folder, |store| Box::new(LocalDir::open(Path::new(store), LocalDirOptions::default()).unwrap()))
    });
}

#[test]
#[cfg(feature = "s3")]
fn an_object_store_conforms() {
    performs(|| {
        let stores: RefCell<BTreeMap<String, std::sync::Arc<dyn saddlebag_remote::ObjectStore>>> = RefCell::default();
        of(Kind::Flat, move |store| {
            let objects = stores.borrow_mut().entry(store.into()).or_insert_with(saddlebag_remote::in_memory).clone();
            Box::new(saddlebag_remote::attach_objects(objects, "memory").unwrap().store)
        })
    });
}

#[test]
#[cfg(feature = "s3")]
fn a_bucket_conforms() {
    conforms_at("SADDLEBAG_TEST_S3", "/");
}

#[test]
#[cfg(feature = "postgres")]
fn a_database_conforms() {
    conforms_at("SADDLEBAG_TEST_POSTGRES", "&space=");
}

/// Checks the store of a server, whose address is in a variable. Each store of the kit gets its own address.
#[cfg(feature = "remote")]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn conforms_at(variable: &'static str, separator: &'static str) {
    if std::env::var_os(variable).is_none() {
        eprintln!("left out: {variable} names no server; `cargo xtask test --remote` starts one");
        return;
    }
    // A database has no use for it.
    let copies = tempfile::tempdir().unwrap();
    let cache = Some(copies.path().to_path_buf());
    check_with(
        move || {
            let cache = cache.clone();
            of(Kind::Flat, move |store| {
                let name: String = Sha256::digest(store).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                let address = format!("{}{separator}{name}", std::env::var(variable).unwrap());
                let options = saddlebag_remote::AttachOptions { create: true, cache: cache.clone() };
                Box::new(saddlebag_remote::attach(&address.parse().unwrap(), &options).unwrap().store)
            })
        },
        false,
    );
}

#[test]
fn the_folder_of_a_guest_conforms() {
    conforms(|| {
        let host = Host { name: "folder", folder: true, folders: true, lock: "lease" };
        let mut driver = GuestDriver::new(host, |store| {
            let storage = Folder::open(Path::new(store), true, random).map_err(|error| error.to_string())?;
            Ok(GuestExecutor::new(storage, random))
        });
        Box::new(move |line| driver.answer(line))
    });
}

#[test]
fn the_key_value_store_of_a_guest_conforms() {
    conforms(|| {
        let host = Host { name: "key-value", folder: false, folders: false, lock: "none" };
        let stores: RefCell<BTreeMap<String, InMemory>> = RefCell::default();
        let mut driver = GuestDriver::new(host, move |store| {
            let map = stores.borrow_mut().entry(store.into()).or_default().clone();
            Ok(GuestExecutor::new(KeyValue::open(map, "m", 1000).map_err(|error| error.to_string())?, random))
        });
        Box::new(move |line| driver.answer(line))
    });
}

/// Checks operations and calls.
fn conforms(driver: fn() -> Answers) {
    check(driver, true);
}

/// Checks operations.
fn performs(driver: fn() -> Answers) {
    check(driver, false);
}

fn check(driver: fn() -> Answers, calls_tools: bool) {
    check_with(driver, calls_tools);
}

fn check_with(driver: impl FnOnce() -> Answers + Send + 'static, calls_tools: bool) {
    let (requests, input) = pipe().unwrap();
    let (output, mut answers) = pipe().unwrap();
    thread::spawn(move || {
        let mut answer = driver();
        for line in BufReader::new(requests).lines() {
            writeln!(answers, "{}", answer(&line.unwrap())).unwrap();
        }
    });
    let mut driver = Driver::within(input, output).unwrap();
    let mut output = Output::new(true);
    let (stores, mut report) = (Stores::new().unwrap(), Report::new(&mut output));
    grid::run(&mut driver, &stores, &mut report).unwrap();
    cases::run(&mut driver, &stores, &mut report).unwrap();
    if calls_tools {
        calls::run(&EngineKind::Native, &mut driver, &stores, &mut report).unwrap();
    }
    assert!(report.failed().is_empty(), "{:#?}", report.failed());
}

/// What a tested store is kept in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A folder of the disk.
    Folder,
    /// Something else with folders.
    Tree,
    /// Something without folders.
    #[cfg(feature = "remote")]
    Flat,
}

/// Returns a driver of the executor that `open` returns for the name of a store.
fn of(kind: Kind, open: impl Fn(&str) -> Box<dyn Executor> + 'static) -> Answers {
    let mut opened = None;
    Box::new(move |line| answer(serde_json::from_str(line).unwrap(), kind, &open, &mut opened).to_string())
}

fn answer(
    mut request: Value,
    kind: Kind,
    open: &dyn Fn(&str) -> Box<dyn Executor>,
    opened: &mut Option<Box<dyn Executor>>,
) -> Value {
    if request.get("hello").is_some() {
        let (name, package, version_scheme) = ("test".into(), PACKAGE.into(), "test".into());
        let (folder, folders, lock) = (kind == Kind::Folder, matches!(kind, Kind::Folder | Kind::Tree), Lock::None);
        let links = folder;
        return json!({ "hello": Hello { protocol: PROTOCOL, name, package, version_scheme, folder, links, folders, lock } });
    }
    if let Some(opening) = request.get("open") {
        *opened = Some(open(opening["store"].as_str().unwrap()));
        return json!({ "ok": null });
    }
    performed(opened.as_mut().unwrap(), request["perform"].take()).unwrap()
}
