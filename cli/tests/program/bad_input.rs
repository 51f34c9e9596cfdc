//! `refused_input_changes_nothing`: bad input gives a message and an exit code, and changes nothing.

use std::fs;

use crate::support::{Store, engine, run};

#[test]
fn refused_note_names_change_nothing() {
    let store = Store::new();
    store.put("notes/auth.md", "uses jose\n");
    let long = "x".repeat(300);
    for (name, message) in [
        ("", "invalid note name"),
        ("   ", "invalid note name"),
        (".md", "invalid note name"),
        ("a/b", "no slashes or dots"),
        ("a\\b", "no slashes or dots"),
        ("..", "no slashes or dots"),
        ("../x", "no slashes or dots"),
        ("../../../etc/passwd", "no slashes or dots"),
        ("/etc/passwd", "no slashes or dots"),
        (".hidden", "no slashes or dots"),
        ("a\nb", "control character U+000A"),
        ("a\tb", "control character U+0009"),
        ("a\u{1b}b", "control character U+001B"),
        ("CON", "device name"),
        ("com1", "device name"),
        ("nul", "device name"),
        (long.as_str(), "300 bytes, the limit is 251"),
    ] {
        let target = format!("note:{name}");
        store.refuses(&["write", &target, "text"], 3, message);
        store.refuses(&["forget", &target], 3, message);
        store.refuses(&["show", &target], 3, message);
        store.refuses(&["restore", &target], 3, message);
    }
}

#[test]
fn unknown_words_are_bad_use() {
    let store = Store::new();
    store.refuses(&["write", "bogus", "x"], 1, "there is no note, entry or file `bogus`");
    store.refuses(&["show", "bogus"], 1, "there is no note, entry or file `bogus`");
    store.refuses(&["write", "long_term", "x", "--mode", "overwrit"], 2, "unknown mode: overwrit");
    store.refuses(&["context", "--overflow", "none"], 2, "unknown overflow policy: none");
    store.refuses(&["write", "long_term:n", "x"], 1, "there is no note, entry or file `long_term:n`");
    store.refuses(&["write", "daily:2026-05-29", "x"], 2, "takes no date");
    store.refuses(&["write", "note:", "x"], 3, "invalid note name");
    store.refuses(&["show", "note:a", "b"], 2, "unexpected argument 'b'");
    store.refuses(&["write", "long_term"], 2, "CONTENT");
    store.refuses(&["write", "long_term", "--overwrite"], 2, "looks like an option");
    store.refuses(&["unlearn"], 2, "unrecognized subcommand");
    store.refuses(&["tools", "/memory", "unlearn"], 2, "usage: /memory");
    store.refuses(&["status", "--engine", "other"], 2, "invalid value");
}

#[test]
fn an_edit_that_is_not_clear_changes_nothing() {
    let store = Store::new();
    store.put("notes/a.md", "dup dup\n");
    let (note, none) = (store.printed("notes/a.md"), store.printed("notes/none.md"));
    store.refuses(
        &["edit", "note:a", "--old", "dup", "--new", "x"],
        3,
        &format!("the old text occurs 2 times in {note}"),
    );
    store.refuses(
        &["edit", "note:a", "--old", "none", "--new", "x"],
        3,
        &format!("the old text does not occur in {note}"),
    );
    store.refuses(&["edit", "note:a", "--old", "dup"], 2, "no new text is given");
    store.refuses(&["edit", "note:a", "--delete"], 2, "--old");
    store.refuses(&["edit", "note:a", "--old", "dup", "--new", "x", "--delete"], 2, "cannot be used with");
    store.refuses(&["edit", "note:a", "--old", "dup", "--new", "--delte"], 2, "looks like an option");
    store.refuses(&["forget", "long_term"], 2, "cannot be forgotten as a whole");
    store.refuses(&["edit", "note:none", "--old", "a", "--new", "b"], 1, &format!("there is no {none}"));
    store.refuses(&["forget", "note:none"], 1, "there is no");
    store.refuses(&["restore", "note:a"], 1, "no earlier text of");
}

#[test]
fn queries_without_words_or_beyond_measure_are_refused() {
    let store = Store::new();
    store.refuses(&["search", "   "], 2, "the query has no words");
    store.refuses(&["search"], 2, "WORDS");
    let query = "word ".repeat(210_000);
    store.run_with(&["search", "-"], query.as_bytes()).exits(3).complains("the limit is 4096").prints("");
}

#[test]
fn standard_input_that_is_not_text_is_refused() {
    let store = Store::new();
    store.run_with(&["write", "long_term", "-"], b"\xff\xfe").exits(3).complains("not UTF-8");
    assert!(store.tree().is_empty());
}

#[test]
fn the_date_of_a_log_has_no_extension() {
    let store = Store::new();
    store.put("daily/2026-01-02.md", "kept\n");
    let invalid = "invalid daily date name (expected YYYY-MM-DD: digits and hyphens only)";
    let tool = r#"{"target":"daily","name":"2026-01-02.md","old_str":"kept","new_str":"x"}"#;
    store.refuses(&["edit", "daily:2026-01-02.md", "--old", "kept", "--new", "x"], 3, invalid);
    store.refuses(&["tools", "memory_edit", tool], 3, invalid);
    store.refuses(&["show", "daily:2026-01-02.md"], 3, invalid);
    // As a page, it is the name of a file.
    store.run(&["edit", "2026-01-02.md", "--old", "kept", "--new", "changed"]).exits(0);
    store.run(&["edit", "daily:2026-01-02", "--old", "changed", "--new", "kept"]).exits(0);
}

#[test]
fn a_huge_file_is_refused_or_named() {
    let store = Store::new();
    let file = fs::File::create(store.root.join("MEMORY.md")).expect("made");
    file.set_len(200 << 20).expect("sparse");
    store.refuses(&["write", "long_term", "fact"], 3, "the limit for this command is");
    store.run(&["search", "fact"]).exits(1).complains("skipped MEMORY.md: too large");
    store.run(&["context"]).complains("MEMORY.md");
    store.run(&["log", "still", "works"]).exits(0);
    store.run(&["status"]).exits(0);
}

#[test]
fn a_root_that_cannot_be_one_is_refused() {
    let store = Store::new();
    let missing = store.here.join("none");
    let with_root = |root: &std::path::Path, arguments: &[&str]| {
        let mut command = store.bare(arguments);
        run(command.arg("--root").arg(root).args(["--engine", &crate::support::engine()]), None)
    };
    with_root(&missing, &["write", "long_term", "x"]).exits(3).complains("does not exist").prints("");
    with_root(&missing, &["show", "--path", "root"]).exits(3).complains("does not exist");
    assert!(!missing.exists());
    let file = store.here.join("file");
    fs::write(&file, "x").expect("written");
    with_root(&file, &["list", "--kind", "file"]).exits(3).complains("is not a folder");
    let mut command = store.bare(&["list", "--kind", "file", "--engine", &crate::support::engine()]);
    let named = run(command.env("SADDLEBAG_ROOT", &missing), None).exits(3).complains("SADDLEBAG_ROOT");
    assert!(!named.stderr.contains("none"), "{named:?}");
}

#[cfg(unix)]
#[test]
fn a_read_only_root_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let store = Store::new();
    fs::set_permissions(&store.root, fs::Permissions::from_mode(0o500)).expect("set");
    // Root may write anywhere.
    if fs::write(store.root.join("probe"), "x").is_err() {
        store.refuses(&["write", "long_term", "x"], 3, "permission denied");
    }
    fs::set_permissions(&store.root, fs::Permissions::from_mode(0o700)).expect("set");
}

#[cfg(unix)]
#[test]
fn links_below_the_root_are_never_followed() {
    use std::os::unix::fs::symlink;

    let store = Store::new();
    let secret = store.here.join("secret.md");
    fs::write(&secret, "secret words\n").expect("written");
    store.put("notes/own.md", "own words\n");
    symlink(&secret, store.file("notes/planted.md")).expect("linked");
    symlink(&store.here, store.file("daily")).expect("linked");
    store.refuses(&["show", "note:planted"], 3, "symbolic link");
    store.refuses(&["write", "note:planted", "x"], 3, "symbolic link");
    store.refuses(&["log", "x"], 3, "symbolic link");
    let found = store.run(&["search", "words"]);
    assert!(!found.stdout.contains("secret"), "{found:?}");
    assert_eq!(fs::read_to_string(&secret).expect("there"), "secret words\n");
    assert!(!store.here.join("2026-05-30.md").exists());
}

#[cfg(feature = "component")]
#[test]
fn the_environment_cannot_name_another_component() {
    let store = Store::new();
    let foreign = store.here.join("foreign.wasm");
    fs::write(&foreign, b"\0asm\x0d\0\x01\0").expect("written");
    let mut command = store.bare(&["--notebook", "--engine", "component", "--root"]);
    command.arg(&store.root).args(["write", "long_term", "x"]).env("SADDLEBAG_COMPONENT", foreign);
    run(&mut command, None).exits(0);
    assert_eq!(store.text("MEMORY.md"), "x\n");
}

#[test]
fn a_project_that_does_not_exist_is_an_error() {
    let store = Store::new();
    let root = store.root.to_str().unwrap();
    let engine = engine();
    for command in [&["status"][..], &["write", "scratchpad", "x"]] {
        let arguments = [&["--root", root, "--project", "no/such/folder", "--engine", &engine], command].concat();
        let run = run(&mut store.bare(&arguments), None).exits(2);
        run.complains("the project `no/such/folder` does not exist");
    }
    assert_eq!(std::fs::read_dir(&store.root).unwrap().count(), 0);
}

#[test]
fn a_block_that_is_empty_is_never_silent() {
    let store = Store::new();
    std::fs::write(store.here.join("empty.md"), "").unwrap();
    std::fs::write(store.here.join("base.md"), "You help.\n").unwrap();
    let nothing = "memory has nothing for a block";
    for arguments in [&["context"][..], &["context", "--append-to", "empty.md"]] {
        store.run(arguments).exits(1).prints("").complains(nothing);
    }
    store.run(&["context", "--append-to", "base.md"]).exits(0).complains("memory has nothing for a block");
}

#[cfg(unix)]
#[test]
fn a_notebook_that_is_the_home_folder_is_warned_of_once() {
    let store = Store::new();
    let inner = store.root.join("people/me");
    fs::create_dir_all(&inner).expect("made");
    let warnings = |root: &std::path::Path, home: &std::path::Path| {
        let mut command = store.bare(&["--json", "--notebook", "--engine", &engine(), "--root"]);
        let run = run(command.arg(root).arg("status").env("HOME", home), None).exits(0);
        run.stderr.matches("every Markdown file below it is memory").count()
    };
    assert_eq!(warnings(&store.root, &store.root), 1);
    assert_eq!(warnings(&store.root, &inner), 1);
    assert_eq!(warnings(&store.root.join("people/me/../.."), &inner), 1);
    assert_eq!(warnings(&inner, &store.root), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_name_is_not_utf_8_is_named_with_the_way_out() {
    use std::os::unix::ffi::OsStrExt as _;

    let store = Store::new();
    store.run(&["write", "long_term", "a fact"]).exits(0);
    fs::create_dir_all(store.file("notes")).expect("made");
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    fs::write(store.file("notes").join(name), "a fact").expect("written");
    let skipped = format!("skipped {}: its name is not UTF-8", store.printed("notes/caf\u{fffd}.md"));
    store.run(&["search", "fact"]).exits(0).complains(&skipped).complains("rename it");
    store.run(&["list", "--kind", "file"]).exits(0).complains(&skipped);
}
