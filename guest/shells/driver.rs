//! Drivers of the conformance kit: the folder, or with the argument `key-value` a store of strings in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::rc::Rc;

use saddlebag_guest::driver::{Driver, Host};
use saddlebag_guest::environment::random;
use saddlebag_guest::{Executor, Folder, KeyValue, Storage, Strings, StringsError};

fn main() -> io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("key-value") {
        let stores: RefCell<BTreeMap<String, Map>> = RefCell::default();
        let host = Host { name: "guest_key_value", folder: false, folders: false, lock: "none" };
        return drive(Driver::new(host, move |name| {
            let map = stores.borrow_mut().entry(name.into()).or_default().clone();
            let storage = KeyValue::open(map, "saddlebag/", u32::MAX).map_err(|error| error.to_string())?;
            Ok(Executor::new(storage, random))
        }));
    }
    let host = Host { name: "guest_folder", folder: true, folders: true, lock: "lease" };
    drive(Driver::new(host, |name| {
        let storage = Folder::open(Path::new(name), false, random).map_err(|error| error.to_string())?;
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

/// A store of strings that lives as long as the driver.
#[derive(Clone, Default)]
struct Map(Rc<RefCell<BTreeMap<String, String>>>);

impl Strings for Map {
    fn get(&self, key: &str) -> Result<Option<String>, StringsError> {
        Ok(self.0.borrow().get(key).cloned())
    }

    fn set(&self, key: &str, value: &str) -> Result<(), StringsError> {
        self.0.borrow_mut().insert(key.into(), value.into());
        Ok(())
    }

    fn now(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}
