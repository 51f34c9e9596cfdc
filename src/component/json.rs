//! The interface `json` of the world without types.

use core::cell::RefCell;

use crate::wit_convert::canonical::JsonMemory;
use saddlebag_collections::prelude::*;

wit_bindgen::generate!({ path: "wit", world: "saddlebag-json" });

struct Instance(RefCell<JsonMemory>);

// SAFETY: an instance has no threads.
unsafe impl Sync for Instance {}

static INSTANCE: Instance = Instance(RefCell::new(JsonMemory::new()));

struct Component;

export!(Component);

impl exports::saddlebag::memory::json::Guest for Component {
    fn open(config: String) -> String {
        INSTANCE.0.borrow_mut().open(&config)
    }

    fn submit(arguments: String) -> String {
        INSTANCE.0.borrow_mut().call("submit", &arguments)
    }

    fn call(arguments: String) -> String {
        INSTANCE.0.borrow_mut().call("call", &arguments)
    }

    fn handle_memory_result(arguments: String) -> String {
        INSTANCE.0.borrow_mut().call("handle-memory-result", &arguments)
    }

    fn cancel(arguments: String) -> String {
        INSTANCE.0.borrow_mut().call("cancel", &arguments)
    }

    fn take(arguments: String) -> String {
        INSTANCE.0.borrow_mut().call("take", &arguments)
    }

    fn take_printed(arguments: String) -> String {
        INSTANCE.0.borrow_mut().take_printed(&arguments)
    }

    fn tools(arguments: String) -> String {
        JsonMemory::tools(&arguments)
    }

    fn merge(arguments: String) -> String {
        JsonMemory::merge(&arguments)
    }
}
