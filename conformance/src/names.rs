//! Cases about names: paths that a host refuses, its own names, and what is not a file: links, pipes, names that no path
//! can have.

#[cfg(unix)]
use std::ffi::OsStr;
use std::fs;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use saddlebag::protocol::{Entry, EntryKind};
use serde_json::Value;

use crate::bench::{Bench, on_disk};
use crate::ops::{append, list, make_directory, matches, read, remove, remove_directory, rename, with, write};
use crate::report::{Ran, check, left_out};

pub(crate) fn names_are_left_out(bench: &mut Bench<'_>) -> Ran {
    let root = bench.on_disk()?;
    bench.put("d/a.md", "text")?;
    #[cfg(unix)]
    let names = [&b"not-\xff-utf8"[..], b"back\\slash", b"tab\there", b"line\nend"].map(OsStr::from_bytes);
    #[cfg(not(unix))]
    let names: [&str; 0] = [];
    let made = names.iter().filter(|name| fs::write(root.join("d").join(name), "text").is_ok()).count();
    if made == 0 {
        return left_out("this file system refuses such names");
    }
    let page = bench.page(&list(Some("d"), 9))?;
    let paths: Vec<&str> = page.entries.iter().map(|entry| entry.path.as_str()).collect();
    check!(paths == ["d/a.md"], "the entries are {paths:?}");
    let (count, names) = (page.left_out.count as usize, &page.left_out.names);
    check!(count == made && names.len() == count, "{count} of {made} such names are counted");
    for name in names {
        let path = name.path.as_str();
        check!(path.starts_with("d/") && path.contains('\u{fffd}'), "the left-out name is spelled `{path}`");
    }
    check!(names.is_sorted_by_key(|name| &name.path), "the left-out names are not sorted: {names:?}");
    let page = bench.page(&with(list(Some("d"), 9), "after", "d/a.md"))?;
    check!(page.left_out.count == 0 && page.left_out.names.is_empty(), "a later page has left-out names");
    Ok(())
}

pub(crate) fn unreadable_files_are_listed(bench: &mut Bench<'_>) -> Ran {
    let root = bench.on_disk()?;
    bench.put("a.md", "text")?;
    bench.put("b.md", "text")?;
    if !make_unreadable(&root.join("a.md")) {
        return left_out("this user can read every file");
    }
    let found = bench.paths(None)?;
    check!(found == ["a.md", "b.md"], "the listing is {found:?}");
    bench.expect(&read("a.md", 0, 9), &["denied"])?;
    bench.holds("b.md", Some("text"))
}

/// Takes the permission to read a file away. Returns false if it can still be read.
fn make_unreadable(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let taken = fs::set_permissions(file, fs::Permissions::from_mode(0o000));
        taken.is_ok() && fs::File::open(file).is_err()
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}

/// Number of the operations on a path that are those of files.
const OF_FILES: usize = 5;

/// Operations on a path, those of files first, with another path for what they need besides.
fn operations_on(path: &str) -> [Value; 8] {
    [
        read(path, 0, 9),
        write(path, b"x", "any"),
        append(path, b"x", true, "any"),
        remove(path, "any"),
        rename(path, "free.md", "any"),
        list(Some(path), 9),
        make_directory(path),
        remove_directory(path),
    ]
}

pub(crate) fn a_file_above(bench: &mut Bench<'_>) -> Ran {
    bench.needs_folders()?;
    bench.put("a.md", "text")?;
    bench.put("b.md", "text")?;
    for op in operations_on("a.md/x") {
        bench.expect(&op, &["not-directory"])?;
    }
    bench.expect(&rename("b.md", "a.md/x", "any"), &["not-directory"])?;
    bench.holds("a.md", Some("text"))
}

pub(crate) fn links_are_not_followed(bench: &mut Bench<'_>) -> Ran {
    bench.put("d/x", "text")?;
    bench.put("b.md", "text")?;
    bench.link("d", "inside")?;
    let outside = bench.on_disk()?.with_extension("outside");
    fs::create_dir(&outside).map_err(|error| on_disk("a folder outside", &error))?;
    let secret = outside.join("secret");
    fs::write(&secret, "secret").map_err(|error| on_disk("a file outside", &error))?;
    bench.link(&outside.to_string_lossy(), "outside")?;
    bench.link(&secret.to_string_lossy(), "secret")?;
    bench.link("nowhere", "dangling")?;
    for op in ["inside/x", "outside/x", "outside/new/x", "outside/secret", "secret", "dangling"]
        .into_iter()
        .flat_map(operations_on)
    {
        bench.expect(&op, &["symbolic-link"])?;
    }
    let is_other = |entry: &Entry| entry.kind == EntryKind::Other && entry.size == 0 && entry.version.0.is_empty();
    let listed = bench.entries(None)?;
    let others: Vec<&str> = listed.iter().filter(|entry| is_other(entry)).map(|entry| entry.path.as_str()).collect();
    check!(others == ["dangling", "inside", "outside", "secret"], "the links are {others:?}");
    bench.expect(&rename("b.md", "inside/y", "any"), &["symbolic-link"])?;
    bench.expect(&with(write("b.md", b"x", "any"), "keep-as", "inside/y"), &["symbolic-link"])?;
    bench.holds("b.md", Some("text"))?;
    bench.holds("d/x", Some("text"))?;
    let names = fs::read_dir(&outside).map_err(|error| on_disk("a folder outside", &error))?.count();
    check!(names == 1, "a file was made outside of the store, through a link");
    check!(
        fs::read(&secret).is_ok_and(|text| text == b"secret"),
        "a file outside of the store was changed through a link"
    );
    Ok(())
}

pub(crate) fn pipes(bench: &mut Bench<'_>) -> Ran {
    let root = bench.on_disk()?;
    bench.put("source", "text")?;
    if !bench.driver.hello().links || !Command::new("mkfifo").arg(root.join("pipe")).status().is_ok_and(|s| s.success())
    {
        return left_out("no pipe can be made here");
    }
    for (number, op) in operations_on("pipe").iter().enumerate() {
        bench.expect(op, &[if number < OF_FILES { "not-regular" } else { "not-directory" }])?;
    }
    bench.expect(&rename("source", "pipe", "any"), &["exists"])?;
    let kind = bench.entries(None)?.iter().find(|entry| entry.path.as_str() == "pipe").map(|entry| entry.kind);
    check!(kind == Some(EntryKind::Other), "a pipe is listed as {kind:?}");
    Ok(())
}

pub(crate) fn second_names_keep_their_text(bench: &mut Bench<'_>) -> Ran {
    let root = bench.on_disk()?;
    let outside = root.with_extension("second-name");
    bench.put("a.md", "one\n")?;
    if fs::hard_link(root.join("a.md"), &outside).is_err() {
        return left_out("this file system has no hard links");
    }
    bench.expect(&append("a.md", b"two\n", true, "any"), &["written"])?;
    bench.holds("a.md", Some("one\ntwo\n"))?;
    let text = fs::read_to_string(&outside).map_err(|error| on_disk("the second name", &error))?;
    check!(text == "one\n", "an append changed the file outside of the store to {text:?}");
    Ok(())
}

pub(crate) fn second_names_are_kept(bench: &mut Bench<'_>) -> Ran {
    let root = bench.on_disk()?;
    for (op, left) in [
        (with(write("a.md", b"new", "any"), "keep-as", "kept.md"), Some("new")),
        (with(remove("a.md", "any"), "keep-as", "kept.md"), None),
    ] {
        bench.expect(&remove("kept.md", "any"), &["done"])?;
        bench.put("a.md", "old")?;
        if fs::hard_link(root.join("a.md"), root.join("kept.md")).is_err() {
            return left_out("this file system has no hard links");
        }
        bench.expect(&op, &["written", "done"])?;
        bench.holds("a.md", left)?;
        bench.holds("kept.md", Some("old"))?;
        let names = fs::read_dir(&root).map_err(|error| on_disk("a listing", &error))?.flatten();
        let rest = names.map(|entry| entry.file_name()).find(|name| name.to_string_lossy().starts_with(".saddlebag-"));
        check!(rest.is_none(), "the temporary file {rest:?} stays");
    }
    Ok(())
}

pub(crate) fn long_names(bench: &mut Bench<'_>) -> Ran {
    let name = "n".repeat(255);
    let version = bench.put(&name, "text")?;
    bench.expect(&append(&name, b"more", true, matches(&version)), &["written"])?;
    bench.put(&name, "again")?;
    check!(bench.paths(None)? == [name.as_str()], "it is not listed");
    bench.holds(&name, Some("again"))
}

/// Checks that every field of every operation refuses a path, and that nothing has changed.
fn refused_everywhere(bench: &mut Bench<'_>, path: &str) -> Ran {
    let others = [
        rename("a.md", path, "any"),
        with(write("a.md", b"x", "any"), "keep-as", path),
        with(write("new.md", b"x", "any"), "like", path),
        with(remove("a.md", "any"), "keep-as", path),
    ];
    for op in operations_on(path).into_iter().chain(others) {
        bench.expect(&op, &["invalid-path"])?;
    }
    Ok(())
}

pub(crate) fn invalid_paths_are_refused(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "text")?;
    let (long_segment, long_path) = ("n".repeat(256), "segment/".repeat(512) + "x");
    for path in [
        "",
        "/a.md",
        "a.md/",
        "d//a.md",
        ".",
        "..",
        "../a.md",
        "d/../a.md",
        "d/./a.md",
        "d\\a.md",
        "d\0a.md",
        "d\na.md",
        "d\u{7f}a.md",
        "d\u{85}a.md",
        &long_segment,
        &long_path,
    ] {
        refused_everywhere(bench, path)?;
    }
    check!(bench.paths(None)? == ["a.md"], "the store has {:?}", bench.paths(None)?);
    bench.holds("a.md", Some("text"))
}

/// Spellings of the host's own names that some file system takes for them.
const OWN_NAMES: [&str; 15] = [
    ".saddlebag/locks",
    ".saddlebag/locks/00",
    ".saddlebag/locks-2",
    ".saddlebag/locks-3/09",
    ".saddlebag/locks-12/x/y",
    ".Saddlebag/LOCKS-3/x",
    ".saddlebag-1-2-3.tmp",
    "d/.saddlebag-x.tmp",
    "d/.SADDLEBAG-X.TMP/y",
    ".saddlebag./locks /07",
    ".saddlebag/locks-3:stream",
    "d/.saddlebag-x.tmp::$DATA",
    ".\u{17f}addlebag/loc\u{212a}s/07",
    "SADDLE~1/locks",
    "d/SADDLE~2",
];

pub(crate) fn own_names_are_refused(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "text")?;
    for path in OWN_NAMES {
        refused_everywhere(bench, path)?;
    }
    for path in [".saddlebag/index", ".saddlebag/locksmith", "x/.saddlebag/locks", ".saddlebag-x.md", "saddlebag.tmp"] {
        bench.put(path, "text")?;
        bench.holds(path, Some("text"))?;
    }
    bench.holds("a.md", Some("text"))
}

pub(crate) fn own_names_are_not_listed(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "text")?;
    bench.put(".saddlebag/index", "text")?;
    bench.put("d/b.md", "text")?;
    if let Ok(root) = bench.on_disk() {
        for name in [".saddlebag-1-2-3.tmp", "d/.saddlebag-1-2-3.tmp"] {
            fs::write(root.join(name), "text").map_err(|error| on_disk(name, &error))?;
        }
    }
    let (found, below) = (bench.paths(None)?, bench.paths(Some("d"))?);
    let own = bench.paths(Some(".saddlebag"))?;
    check!(found == ["a.md", "d"] && below == ["d/b.md"], "the root has {found:?}, a folder {below:?}");
    check!(own == [".saddlebag/index"], "`.saddlebag` has {own:?}");
    Ok(())
}
