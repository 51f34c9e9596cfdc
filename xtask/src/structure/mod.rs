//! The structure of the crates: which file knows which, and how many files, lines and imports there are.
//!
//! A file depends on another if it names an item or a macro that is defined there, in a `use` or by a path, whoever re-exports
//! it, or if it calls a function that is implemented there for a type. A module that declares its children and re-exports
//! their items does not depend on them by that. Code that is compiled only for tests is left out.

#[cfg(test)]
mod architecture;
#[cfg(test)]
mod commands;
mod graph;
mod source;
#[cfg(test)]
mod tests;

use std::path::Path;

use graph::Graph;

use crate::run::root;

/// Folders of the packages beside those in `crates/`.
const PACKAGES: [&str; 10] =
    [".", "conformance", "host-harness", "cli", "xtask", "benches", "packaging", "tests", "tests/shared", "guest"];

/// Returns the root of every crate and of every test of several files, below the root of the workspace.
fn roots(base: &Path) -> Result<Vec<String>, String> {
    let mut roots = Vec::new();
    let packages = folders(&base.join("crates"))?.into_iter().map(|name| format!("crates/{name}"));
    for package in packages.chain(PACKAGES.map(String::from)) {
        let own = ["src/lib.rs", "src/main.rs", "main.rs", "support/mod.rs"].map(String::from);
        let tests = folders(&base.join(&package).join("tests")).unwrap_or_default();
        let tests = tests.into_iter().map(|name| format!("tests/{name}/main.rs"));
        let found = own.into_iter().chain(tests).map(|file| format!("{package}/{file}").replacen("./", "", 1));
        roots.extend(found.filter(|root| base.join(root).is_file()));
    }
    Ok(roots)
}

/// Returns the sorted names of what is in a folder.
fn folders(folder: &Path) -> Result<Vec<String>, String> {
    let found = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = found.flatten().map(|one| one.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
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
