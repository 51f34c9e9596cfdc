//! The structure of the crates: which file knows which, and how many files, lines and imports there are.
//!
//! A file depends on another if it names an item that is defined there, in a `use` or by a path, whoever re-exports it, or if it
//! calls a method on `self` that is implemented there. A module that declares its children and re-exports their items
//! does not depend on them by that. Tests are left out.

#[cfg(test)]
mod architecture;
mod graph;
#[cfg(test)]
mod invariants;
mod source;
#[cfg(test)]
mod tests;

use std::path::Path;

use graph::Graph;

use crate::run::root;

/// Returns the root of every crate, below the root of the workspace.
fn roots(base: &Path) -> Result<Vec<String>, String> {
    let folder = base.join("crates");
    let folders = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = folders.flatten().map(|folder| folder.file_name().to_string_lossy().into_owned());
    let mut roots: Vec<String> = names.map(|name| format!("crates/{name}/src/lib.rs")).collect();
    roots.retain(|root| base.join(root).is_file());
    roots.sort();
    roots.extend(["src/lib.rs", "host-harness/src/lib.rs", "cli/src/main.rs", "xtask/src/main.rs"].map(String::from));
    Ok(roots)
}

/// Prints the counts of each crate.
pub(crate) fn count() -> Result<(), String> {
    let base = root()?;
    eprintln!("{:>7} {:>7} {:>8} {:>8} {:>8}", "files", "lines", "imports", "circles", "rooms in circles");
    for root in roots(&base)? {
        let graph = Graph::read(&base, &base.join(&root))?;
        let lines = graph.files.iter().map(|file| lines(&base.join(file))).sum::<Result<usize, String>>()?;
        let imports: usize = graph.edges.iter().map(std::collections::BTreeMap::len).sum();
        for rooms in graph.by_folder() {
            rooms.circles().iter().for_each(|circle| eprint!("{}", rooms.describe(circle)));
        }
        graph.circles().iter().for_each(|circle| eprint!("{}", graph.describe(circle)));
        let rooms: usize = graph.by_folder().iter().flat_map(Graph::circles).map(|circle| circle.len()).sum();
        let (files, circles) = (graph.files.len(), graph.circles().len());
        eprintln!("{files:>7} {lines:>7} {imports:>8} {circles:>8} {rooms:>8}  {root}");
    }
    Ok(())
}

/// Returns the number of lines of a file that are neither blank nor a comment.
fn lines(file: &Path) -> Result<usize, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count())
}
