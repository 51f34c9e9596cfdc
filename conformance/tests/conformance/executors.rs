//! The kit on the executors of this project. Those of buckets and databases are in `remote/tests/`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, Write, stdin};
use std::path::Path;

use saddlebag_conformance::{Part, StoreKind, TABLE, check_driver, check_executor};
use saddlebag_guest::driver::{Driver, Host};
use saddlebag_guest::environment::random;
use saddlebag_guest::{Executor, Folder, InMemory, KeyValue};
use saddlebag_host::{Durability, LocalDir, LocalDirOptions, Simulator};

use crate::{Ran, kit, local};

/// Parts for a host of this process.
const PARTS: [Part; 3] = [Part::Table, Part::Operations, Part::Loop];

#[test]
fn the_table_is_that_of_the_page_for_authors_of_hosts() {
    let page = include_str!("../../../docs/writing-a-host.md");
    assert!(page.contains(TABLE), "change the table of the page and `TABLE` together");
}

#[test]
fn the_simulator_conforms() {
    check_executor(StoreKind::Tree, |_| Simulator::new(1)).unwrap();
    let fast = |_: &str| Simulator::new(1).with_durability(Durability::Fast).with_generation();
    check_executor(StoreKind::Tree, fast).unwrap();
}

#[test]
fn the_local_disk_conforms_with_full_durability() {
    let open = |store: &str| LocalDir::open(Path::new(store), LocalDirOptions::default()).unwrap();
    check_executor(StoreKind::Folder, open).unwrap();
}

/// Killed hosts on the local disk leave whole files and no lock, and those that race lose nothing.
#[test]
fn the_local_disk_conforms_in_crashes_and_races() {
    let [program, option] = local();
    let Ran { code, output, .. } = kit(&["--rounds", "50", "--races", "3", "--", program, option]);
    assert_eq!(code, 0, "{output}");
    for part in ["table", "operations", "loop", "crashes", "records", "races"] {
        assert!(output.contains(&format!("ok        {part}: ")), "{part}: {output}");
    }
    let left_out = output.lines().filter(|line| line.starts_with("left out")).count();
    assert!(left_out <= 3, "{output}");
}

#[test]
fn the_folder_of_a_guest_conforms() {
    check_driver(&PARTS, || {
        let mut driver = folder();
        Box::new(move |line| driver.answer(line))
    })
    .unwrap();
}

#[test]
fn the_key_value_store_of_a_guest_conforms() {
    check_driver(&PARTS, || {
        let host = Host { name: "key-value", folder: false, folders: false, lock: "none" };
        let stores: RefCell<BTreeMap<String, InMemory>> = RefCell::default();
        let mut driver = Driver::new(host, move |store| {
            let map = stores.borrow_mut().entry(store.into()).or_default().clone();
            Ok(Executor::new(KeyValue::open(map, "m", 1000).map_err(|error| error.to_string())?, random))
        });
        Box::new(move |line| driver.answer(line))
    })
    .unwrap();
}

#[test]
#[cfg(unix)]
fn hosts_with_leases_and_with_kernel_locks_lose_nothing() {
    let [program, option] = local();
    let test = std::env::current_exe().unwrap();
    let with = format!("'{program}' {option}");
    let options = ["--only", "races", "--races", "4", "--rounds", "30", "--with", &with, "--"];
    let driver = ["sh", "-c", AS_DRIVER, test.to_str().unwrap()];
    let Ran { code, output, .. } = kit(&[&options[..], &driver].concat());
    assert!(code == 0 && output.contains("ok        races: 4 hosts of one store"), "{output}");
}

/// Runs a test as a driver. The driver writes to its third file, because tests print to standard output.
#[cfg(unix)]
const AS_DRIVER: &str = "exec \"$0\" --exact executors::the_driver_of_a_guest --ignored --nocapture 3>&1 >/dev/null";

/// Not a test: the driver of the folder of a guest, whose locks are leases.
#[test]
#[ignore = "a driver, which other tests run"]
#[cfg(unix)]
fn the_driver_of_a_guest() {
    let (mut driver, mut out) = (folder(), std::fs::OpenOptions::new().write(true).open("/dev/fd/3").unwrap());
    for line in stdin().lock().lines() {
        writeln!(out, "{}", driver.answer(&line.unwrap())).unwrap();
    }
}

fn folder() -> Driver<Folder> {
    let host = Host { name: "folder", folder: true, folders: true, lock: "lease" };
    Driver::new(host, |store| {
        let storage = Folder::open(Path::new(store), true, random).map_err(|error| error.to_string())?;
        Ok(Executor::new(storage, random))
    })
}
