//! Drivers of the conformance kit: the folder, or with the argument `key-value` a store of strings in memory. With
//! `only-hosts-write`, the folder tells whether anything changed.

#![allow(clippy::disallowed_methods, reason = "JSON has no control characters")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;

use saddlebag_guest::driver::{Driver, Host};
use saddlebag_guest::environment::random;
use saddlebag_guest::{Executor, Folder, InMemory, KeyValue, Storage};

fn main() -> io::Result<()> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument == "key-value" {
        let stores: RefCell<BTreeMap<String, InMemory>> = RefCell::default();
        let host = Host { name: "guest_key_value", folder: false, folders: false, lock: "none" };
        return drive(Driver::new(host, move |name| {
            let map = stores.borrow_mut().entry(name.into()).or_default().clone();
            let storage = KeyValue::open(map, "saddlebag/", u32::MAX).map_err(|error| error.to_string())?;
            Ok(Executor::new(storage, random))
        }));
    }
    let host = Host { name: "guest_folder", folder: true, folders: true, lock: "lease" };
    let only_hosts_write = argument == "only-hosts-write";
    drive(Driver::new(host, move |name| {
        let storage = Folder::open(Path::new(name), only_hosts_write, random).map_err(|error| error.to_string())?;
        Ok(Executor::new(storage, random))
    }))
}

fn drive<S: Storage>(mut driver: Driver<S>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(output, "{}", driver.answer(&line?))?;
        output.flush()?;
    }
    Ok(())
}
