//! `saddlebag-nanopi.wasm`: the memory as an extension of nanopi, in its store of strings. It imports nothing else.

#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, unsafe_code, reason = "generated bindings")]

use std::cell::RefCell;

use saddlebag_guest::{Extension, Strings, StringsError};

wit_bindgen::generate!({ path: "world.wit", world: "memory" });

/// The store of the host, whose errors begin with `error: `. No value of a memory does.
#[derive(Clone)]
struct HostStore;

impl Strings for HostStore {
    fn get(&self, key: &str) -> Result<Option<String>, StringsError> {
        let value = host_store_get(key);
        refuse(&value)?;
        Ok(Some(value).filter(|value| !value.is_empty()))
    }

    fn set(&self, key: &str, value: &str) -> Result<(), StringsError> {
        refuse(&host_store_set(key, value))
    }

    fn now(&self) -> u64 {
        0
    }
}

fn refuse(answer: &str) -> Result<(), StringsError> {
    match answer.strip_prefix("error: ") {
        None => Ok(()),
        Some(reason) if reason.contains("quota exceeded") => Err(StringsError::Full),
        Some(reason) => Err(StringsError::Other(reason.into())),
    }
}

thread_local! {
    static MEMORY: RefCell<Extension<HostStore>> = RefCell::new(Extension::new(HostStore, "main"));
}

struct Shell;

impl Guest for Shell {
    fn list_tools() -> String {
        MEMORY.with_borrow(Extension::list_tools)
    }

    fn execute_tool(name: String, args_json: String) -> String {
        MEMORY.with_borrow_mut(|memory| memory.execute_tool(&name, &args_json))
    }

    fn list_commands() -> String {
        MEMORY.with_borrow(Extension::list_commands)
    }

    fn execute_command(name: String, args: String) -> String {
        MEMORY.with_borrow_mut(|memory| memory.execute_command(&name, &args))
    }

    fn list_events() -> String {
        "[]".into()
    }

    fn handle_event(_: String, _: String) -> String {
        "{}".into()
    }
}

export!(Shell);
