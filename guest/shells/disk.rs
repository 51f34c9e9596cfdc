//! `saddlebag-disk.wasm`: the folder as a component, for components that are composed with it.

#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, unsafe_code, reason = "generated bindings")]

use std::cell::RefCell;
use std::path::Path;

use saddlebag_guest::environment::{now, random};
use saddlebag_guest::{Executor, Folder, driver};

wit_bindgen::generate!({ path: "disk.wit", world: "saddlebag-disk" });

thread_local! {
    static DISK: RefCell<Option<Executor<Folder>>> = const { RefCell::new(None) };
}

struct Shell;

impl exports::saddlebag::disk::disk::Guest for Shell {
    fn open(folder: String, only_hosts_write: bool) -> Result<(), String> {
        let folder = Folder::open(Path::new(&folder), only_hosts_write, random).map_err(|error| error.to_string())?;
        DISK.set(Some(Executor::new(folder, random)));
        Ok(())
    }

    fn perform(request: String) -> Result<String, String> {
        DISK.with_borrow(|disk| {
            let disk = disk.as_ref().ok_or("no folder is open")?;
            driver::perform_json(disk, &request)
        })
    }

    fn epoch() -> u64 {
        random() >> 1
    }

    fn now() -> Result<String, String> {
        now().map(|now| driver::canonical(&now))
    }
}

export!(Shell);
