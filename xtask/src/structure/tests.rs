#![allow(clippy::panic, clippy::expect_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::graph::Graph;
use super::source::Module;

pub(super) fn base() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn roots() -> Vec<String> {
    let roots = super::roots(&base()).expect("the crates are there");
    assert!(roots.len() > 6, "{roots:?}");
    roots
}

/// Fails on every circle of files or of folders in a crate.
#[track_caller]
fn check(root: &str) {
    let graph = Graph::read(&base(), &base().join(root)).expect("the crate is read");
    for graph in graph.by_folder().iter().chain([&graph]) {
        let circles: Vec<String> = graph.circles().iter().map(|circle| graph.describe(circle)).collect();
        assert!(
            circles.is_empty(),
            "{root} has files or folders that know themselves through others:\n{}",
            circles.join("\n")
        );
    }
}

/// The file of the module that the module of `file` is in; `None` directly below the root.
fn parent(file: &str) -> Option<String> {
    let (folder, own) = file.rsplit_once('/')?;
    let folder = if own == "mod.rs" { folder.rsplit_once('/')?.0 } else { folder };
    (!folder.ends_with("src")).then(|| format!("{folder}/mod.rs"))
}

#[test]
fn no_file_names_what_the_module_around_it_defines() {
    let mut wrong = Vec::new();
    for root in roots() {
        let graph = Graph::read(&base(), &base().join(root)).expect("the crate is read");
        for (file, known) in graph.files.iter().zip(&graph.edges) {
            let of_parent = known.iter().filter(|(known, _)| parent(file).as_ref() == graph.files.get(**known));
            wrong.extend(of_parent.map(|(_, path)| format!("{file} names {path}")));
        }
    }
    assert!(wrong.is_empty(), "shared types belong into `types.rs`:\n{}", wrong.join("\n"));
}

/// Files that hold the operations by which files change. Others get a `Call`, whose operations only its room uses.
const WITH_OPERATIONS: [&str; 4] = ["src/changes/call.rs", "src/engine/fs.rs", "src/engine/mod.rs", "src/memory.rs"];

#[test]
fn only_the_gate_changes_files() {
    let graph = Graph::read(&base(), &base().join("src/lib.rs")).expect("the crate is read");
    let names_operations = |file: &&String| {
        let module = Module::parse(&std::fs::read_to_string(base().join(file)).expect("text"));
        let imported = module.imports.iter().map(|import| &import.path);
        imported.chain(&module.paths).any(|path| path.ends_with(&["protocol".to_string(), "Fs".to_string()]))
    };
    let found: BTreeSet<&str> = graph.files.iter().filter(names_operations).map(String::as_str).collect();
    assert_eq!(found, BTreeSet::from(WITH_OPERATIONS), "changes of files go through `src/changes/`");
}

#[test]
fn no_file_of_the_component_knows_itself_through_others() {
    check("src/lib.rs");
}

#[test]
fn no_file_of_the_host_knows_itself_through_others() {
    check("host-harness/src/lib.rs");
}

#[test]
fn no_file_of_the_program_knows_itself_through_others() {
    check("cli/src/main.rs");
}

#[test]
fn no_file_of_the_smaller_crates_knows_itself_through_others() {
    roots().iter().filter(|root| root.starts_with("crates/")).for_each(|root| check(root));
}

#[test]
fn no_file_of_the_commands_of_the_project_knows_itself_through_others() {
    check("xtask/src/main.rs");
}

#[test]
fn a_circle_is_found_also_through_what_others_show() {
    let folder = base().join("target/modules-of-a-test");
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(folder.join("room")).expect("a folder");
        std::fs::write(folder.join(name), text).expect("written");
    };
    write("lib.rs", "mod a; mod b; mod room; pub use a::A; pub use room::Shown;");
    write("a.rs", "use crate::Shown; pub struct A;");
    write("b.rs", "use crate::A; use crate::room; fn f() { room::inner::g() }");
    write("room/mod.rs", "pub(crate) mod inner; pub use inner::Shown; pub(crate) struct Defined;");
    write("room/inner.rs", "pub struct Shown; pub(crate) fn g() {}");
    let circles = || -> Vec<Vec<String>> {
        let graph = Graph::read(&folder, &folder.join("lib.rs")).expect("the crate is read");
        let name = |file: usize| graph.files[file].clone();
        graph.circles().into_iter().map(|circle| circle.into_iter().map(name).collect()).collect()
    };
    let none: Vec<Vec<String>> = Vec::new();
    assert_eq!(circles(), none);
    // Through the root, which re-exports the items of `a`, and a parent that defines what a child names.
    write("room/inner.rs", "use crate::A; use super::Defined; pub struct Shown; pub(crate) fn g() {}");
    assert_eq!(circles(), [["a.rs", "room/inner.rs"]]);
    write("room/mod.rs", "mod inner; pub use inner::Shown; pub(crate) struct Defined; fn f() { inner::g() }");
    assert_eq!(circles(), [["a.rs", "room/mod.rs", "room/inner.rs"]]);
    // Through a method, which the source of the type does not import.
    write("a.rs", "pub struct A; impl A { fn f(&self) { self.g() } }");
    write("b.rs", "use crate::A; impl A { pub(crate) fn g(&self) {} }");
    write("room/mod.rs", "mod inner;");
    write("room/inner.rs", "use crate::a; use crate::room; pub struct Shown;");
    assert_eq!(circles(), [["a.rs", "b.rs"]]);
    // No file knows itself, but the folder does: through another file of it.
    write("a.rs", "use crate::room::inner::Shown; pub struct A;");
    write("b.rs", "pub struct B;");
    write("lib.rs", "mod a; mod b; mod room;");
    write("room/mod.rs", "pub(crate) mod inner; mod other;");
    write("room/inner.rs", "pub struct Shown;");
    write("room/other.rs", "use crate::a::A;");
    assert_eq!(circles(), none);
    let graph = Graph::read(&folder, &folder.join("lib.rs")).expect("the crate is read");
    let rooms = graph.by_folder();
    let names: Vec<&str> = rooms
        .iter()
        .flat_map(|rooms| rooms.circles().concat().into_iter().map(|room| rooms.files[room].as_str()))
        .collect();
    assert_eq!(names, ["a.rs", "room/"]);
    std::fs::remove_dir_all(&folder).expect("removed");
}
