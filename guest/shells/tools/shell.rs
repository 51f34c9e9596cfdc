//! `saddlebag-tools.wasm`: one function for each tool, for runtimes that show the functions of a component to a model.

#![cfg(target_arch = "wasm32")]
#![allow(missing_docs, unsafe_code, reason = "generated bindings")]

use saddlebag_guest::environment::{now, open};
use serde_json::{Value, json};

wit_bindgen::generate!({ path: "tools/world.wit", world: "saddlebag-tools" });

/// Runs a tool with the arguments that were given.
fn call(tool: &str, mut input: Value) -> Result<String, String> {
    if let Some(fields) = input.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    let answer = open()?.call(now()?, "", tool, &input.to_string())?.answer;
    let text = answer.text.into_string();
    if answer.is_error { Err(text) } else { Ok(text) }
}

/// Implements the function of each tool. The names are those of the table of tools.
macro_rules! functions {
    ($($tool:ident($($field:ident: $type:ty),*);)*) => {
        impl Guest for Shell {
            $(fn $tool($($field: $type),*) -> Result<String, String> {
                call(stringify!($tool), json!({ $(stringify!($field): $field),* }))
            })*
        }
    };
}

struct Shell;

include!("functions.rs");

export!(Shell);
