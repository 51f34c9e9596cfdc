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

/// Returns true if the module of a file is around the module of another.
fn is_around(outer: &str, inner: &str) -> bool {
    let Some((folder, "mod.rs" | "lib.rs" | "main.rs")) = outer.rsplit_once('/') else { return false };
    outer != inner && inner.strip_prefix(folder).is_some_and(|below| below.starts_with('/'))
}

#[test]
fn no_file_names_what_a_module_around_it_defines() {
    let mut wrong = Vec::new();
    // Tests have their helpers in the module around them.
    for root in roots().iter().filter(|root| root.contains("src/")) {
        let graph = Graph::read(&base(), &base().join(root)).expect("the crate is read");
        for (file, known) in graph.files.iter().zip(&graph.edges) {
            let of_outer = known.iter().filter(|(known, _)| is_around(&graph.files[**known], file));
            wrong.extend(of_outer.map(|(known, path)| (file.clone(), format!("{path}, of {}", graph.files[*known]))));
        }
    }
    assert!(wrong.is_empty(), "shared types belong into `types.rs`: {wrong:#?}");
}

/// Files that hold the operations by which files change. Others get a `Call`, whose operations only its room uses.
const WITH_OPERATIONS: [&str; 3] = ["src/changes/call.rs", "src/engine/fs.rs", "src/memory.rs"];

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
fn no_file_or_folder_of_any_crate_knows_itself_through_others() {
    let mut circles = String::new();
    for root in roots() {
        let graph = Graph::read(&base(), &base().join(root)).expect("the crate is read");
        for graph in graph.by_folder().iter().chain([&graph]) {
            circles.extend(graph.circles().iter().map(|circle| graph.describe(circle)));
        }
    }
    assert!(circles.is_empty(), "files or folders know themselves through others:\n{circles}");
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
    // Through a function of the type, which the source of the type does not import.
    write("b.rs", "use crate::A; impl A { pub(crate) fn g(&self) {} }");
    write("room/mod.rs", "mod inner;");
    write("room/inner.rs", "use crate::a; use crate::room; pub struct Shown;");
    for call in ["fn f(&self) { self.g() }", "fn f() { Self::g() }", "fn f() { A::g() }", "fn f(&self) { self.a.g() }"]
    {
        write("a.rs", &format!("pub struct A; impl A {{ {call} }}"));
        assert_eq!(circles(), [["a.rs", "b.rs"]], "{call}");
    }
    // A trait may be known without those who implement it.
    write("b.rs", "use crate::A; impl Iterator for A { fn g(&self) {} }");
    assert_eq!(circles(), none);
    // Through a macro, whose path is at the root.
    write("a.rs", "#[macro_export] macro_rules! first { () => { $crate::second! {} } }");
    write("b.rs", "#[macro_export] macro_rules! second { () => { $crate::first! {} } }");
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

#[test]
fn the_default_program_has_no_crate_of_remote_stores() {
    let crates_of = |features: &[&str]| -> BTreeSet<String> {
        let tree = ["tree", "--locked", "--package", "saddlebag-cli", "--edges", "normal,build", "--prefix", "none"];
        let ran = std::process::Command::new(env!("CARGO")).args(tree).args(features).current_dir(base()).output();
        let ran = ran.expect("cargo runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let lines = String::from_utf8(ran.stdout).expect("text");
        lines.lines().filter_map(|line| line.split(' ').next()).map(String::from).collect()
    };
    let remote = ["saddlebag-remote", "object_store", "tokio-postgres", "tokio-postgres-rustls"];
    let (default, with) = (crates_of(&[]), crates_of(&["--features", "s3,postgres"]));
    let in_both: Vec<&str> = remote.into_iter().filter(|name| default.contains(*name)).collect();
    assert!(in_both.is_empty(), "{in_both:?}");
    assert!(remote.iter().all(|name| with.contains(*name)), "{with:?}");
}
