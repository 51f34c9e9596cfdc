//! Rules of the code that the compiler does not check.

use std::collections::BTreeSet;

use super::graph::Graph;
use super::source::{Path, Source};
use super::{read, sources};
use crate::run::root;

/// Files that hold the operations by which files change. Others get a `Call`, whose operations only its room uses.
const WITH_OPERATIONS: [&str; 3] = ["src/changes/call.rs", "src/engine/fs.rs", "src/memory.rs"];

/// Returns the root of every crate, and of every test of several files.
fn roots() -> Vec<String> {
    let is_root = |path: &String| {
        let (folder, file) = path.rsplit_once('/').unwrap_or_default();
        let is_shared = path.ends_with("/support/mod.rs");
        matches!(file, "lib.rs" | "main.rs") && !folder.ends_with("/bin") || is_shared
    };
    let roots: Vec<String> = sources("").into_iter().filter(is_root).collect();
    assert!(roots.len() > 20, "{roots:?}");
    roots
}

fn graph(of: &str) -> Graph {
    Graph::read(&root().expect("a root"), of)
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
    for graph in roots().iter().filter(|root| root.contains("src/")).map(|root| graph(root)) {
        for (file, known) in graph.files.iter().zip(&graph.edges) {
            let of_outer = known.iter().filter(|(known, _)| is_around(&graph.files[**known], file));
            wrong.extend(of_outer.map(|(known, path)| format!("{file} names {path}, of {}", graph.files[*known])));
        }
    }
    assert!(wrong.is_empty(), "shared types belong into `types.rs`: {wrong:#?}");
}

#[test]
fn no_file_or_folder_of_any_crate_knows_itself_through_others() {
    let circles: String = roots().iter().map(|root| graph(root).circles()).collect();
    assert!(circles.is_empty(), "files or folders know themselves through others:\n{circles}");
}

#[test]
fn only_the_gate_changes_files() {
    let names_operations = |file: &String| {
        let source = Source::new(&read(file));
        let imported = source.imports.iter().map(|import| &import.path);
        let is_fs = |path: &Path| matches!(&path[..], [.., of, name] if of.ends_with("protocol") && name == "Fs");
        imported.chain(&source.paths).any(is_fs)
    };
    let found: BTreeSet<String> = graph("src/lib.rs").files.into_iter().filter(names_operations).collect();
    assert_eq!(found, WITH_OPERATIONS.map(String::from).into(), "changes of files go through `src/changes/`");
}

#[test]
fn the_default_program_has_no_crate_of_remote_stores() {
    let crates_of = |features: &[&str]| -> BTreeSet<String> {
        let tree = ["tree", "--locked", "--package", "saddlebag-cli", "--edges", "normal,build", "--prefix", "none"];
        let mut cargo = std::process::Command::new(env!("CARGO"));
        let ran = cargo.args(tree).args(features).current_dir(root().expect("a root")).output().expect("cargo runs");
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

#[test]
fn a_circle_is_found_also_through_what_others_show() {
    let folder = root().expect("a root").join("target/modules-of-a-test");
    std::fs::create_dir_all(folder.join("room")).expect("a folder");
    // Changes files of a crate, and asserts which files or rooms are in circles.
    let check = |files: &[(&str, &str)], expected: &[&str]| {
        for (name, text) in files {
            std::fs::write(folder.join(name).with_extension("rs"), text.replace(" / ", "\n")).expect("written");
        }
        let circles = Graph::read(&folder, "lib.rs").circles();
        let found: BTreeSet<&str> = circles.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(found, expected.iter().copied().collect(), "{files:?}: {circles}");
    };
    let root = ("lib", "mod a; / mod b; / mod room; / pub use a::A; / pub use room::Shown;");
    let room = ("room/mod", "pub(crate) mod inner; / pub use inner::Shown; / pub(crate) struct Defined;");
    let inner = ("room/inner", "pub struct Shown; / pub(crate) fn g() {}");
    let b = ("b", "use crate::A; / use crate::room; / fn f() { room::inner::g() }");
    check(&[root, room, inner, b, ("a", "use crate::Shown; / pub struct A;")], &[]);
    // Through the root, which re-exports the items of `a`, and through a parent that defines what a child names.
    check(&[("room/inner", "use crate::A; / pub struct Shown;")], &["a.rs", "room/", "room/inner.rs"]);
    let parent = ("room/mod", "mod inner; / pub use inner::Shown; / struct Defined; / fn f() { inner::g() }");
    check(
        &[("a", "pub struct A;"), parent, ("room/inner", "use super::Defined; / pub struct Shown; / pub fn g() {}")],
        &["room/inner.rs", "room/mod.rs"],
    );
    // Through a function of the type, which the source of the type does not import.
    check(&[("room/inner", "pub struct Shown;"), ("b", "use crate::A; / impl A { /     fn g(&self) {} / }")], &[]);
    for call in ["fn f(&self) { self.g() }", "fn f() { Self::g() }", "fn f() { A::g() }", "fn f(&self) { self.a.g() }"]
    {
        check(&[("a", &format!("pub struct A; / impl A {{ /     {call} / }}"))], &["a.rs", "b.rs"]);
    }
    // A trait may be known without those who implement it.
    check(&[("b", "use crate::A; / impl Iterator for A { /     fn g(&self) {} / }")], &[]);
    // Through a macro, whose path is at the root.
    let second = ("b", "macro_rules! second { /     () => { $crate::first! {} } / }");
    check(&[("a", "macro_rules! first { /     () => { $crate::second! {} } / }"), second], &["a.rs", "b.rs"]);
    // No file knows itself, but the folder does: through another file of it.
    let (inner, other) = (("room/inner", "pub struct Shown;"), ("room/other", "use crate::a::A;"));
    let a = ("a", "use crate::room::inner::Shown; / pub struct A;");
    check(&[a, ("b", ""), ("room/mod", "pub(crate) mod inner; / mod other;"), inner, other], &["a.rs", "room/"]);
    std::fs::remove_dir_all(&folder).expect("removed");
}
