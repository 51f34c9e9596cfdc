//! Checks of the structure of the crates: which file may know which, and what ARCHITECTURE.md and CONTRIBUTING.md say.
//!
//! A file depends on another if it names an item or a macro that is defined there, in a `use` or by a path, whoever re-exports
//! it, or if it calls a function that is implemented there for a type of another file. A module that declares its children
//! and re-exports their items does not depend on them by that. Code that is compiled only for tests is left out.

#![allow(clippy::expect_used)]

mod architecture;
mod commands;
mod graph;
mod rules;
mod source;

use std::fs;
use std::path::Path;

use crate::run::root;

/// Returns the sources below a folder, by their paths below the root of the workspace.
fn sources(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().expect("a root").join(folder)).expect("a folder");
    let mut found = Vec::new();
    for entry in entries.map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if entry.path().is_dir() {
            let is_ours = !name.starts_with('.') && name != "target" && name != "node_modules";
            found.extend(is_ours.then(|| sources(&path)).into_iter().flatten());
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().expect("a root").join(path)).expect("text")
}
