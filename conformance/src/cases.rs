//! Cases: the promises of each operation that the table does not have.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use saddlebag::protocol::{EntryKind, FsOutcome, ReadOutcome, Version};

use crate::bench::{Bench, Stores, on_disk};
use crate::driver::{Driver, short};
use crate::names;
use crate::ops::{append, list, make_directory, matches, read, remove, remove_directory, rename, with, word, write};
use crate::report::{Ended, Part, Ran, Report, check, left_out};

const PART: Part = Part::Operations;

/// A case, on a fresh store.
type Case = (&'static str, fn(&mut Bench<'_>) -> Ran);

const CASES: [Case; 26] = [
    ("a read gives the bytes from the offset on, at most `max-bytes`", reads_give_parts),
    ("any bytes are kept as they are, also many", any_bytes_are_kept),
    ("the versions of a write, a read and a listing name the same bytes", versions_agree),
    ("a version changes with the bytes, even within one tick of a clock", versions_change),
    ("a version changes with the bytes that somebody else writes", others_change_versions),
    ("an append adds at the end, after a newline if asked for", appends_add_at_the_end),
    ("a change keeps the replaced bytes with `keep-as`", changes_keep),
    ("nothing is kept by a change that is not made", nothing_is_kept_in_vain),
    ("`like`, `may-tear`, `may-vanish` and `may-return` change no bytes", hints_change_no_bytes),
    ("a move makes folders, and its own place is not free", moves),
    ("only an empty folder is removed, and none above it", folders),
    ("a listing is sorted by whole paths, and has the folders", listings_are_sorted),
    ("a listing comes in pages", listings_come_in_pages),
    ("a page that still has the version of `unless` is `unchanged`", pages_have_versions),
    ("names that no path can have are left out and counted", names::names_are_left_out),
    ("a file that cannot be read is listed", names::unreadable_files_are_listed),
    ("a file above the path is `not-directory`", names::a_file_above),
    (
        "a link in the path is `symbolic-link`, wherever it leads, and is listed as `other`",
        names::links_are_not_followed,
    ),
    ("a pipe is `not-regular`", names::pipes),
    ("the second name of a file keeps its text", names::second_names_keep_their_text),
    ("a file is kept at its own second name", names::second_names_are_kept),
    ("a segment of 255 bytes is a name", names::long_names),
    ("paths that are not valid are refused", names::invalid_paths_are_refused),
    ("the host's own names are refused", names::own_names_are_refused),
    ("the host's own names are not listed", names::own_names_are_not_listed),
    ("`generation` is unsupported, or changes with each change", generations),
];

/// Runs all cases.
pub(crate) fn run(driver: &mut Driver, stores: &Stores, report: &mut Report<'_>) -> io::Result<()> {
    for (name, case) in CASES {
        let ran = Bench::open(driver, stores).map_err(Ended::from);
        report.add(PART, name, ran.and_then(|mut bench| case(&mut bench)))?;
    }
    Ok(())
}

fn reads_give_parts(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "0123456789")?;
    for (offset, max_bytes, expected) in
        [(0, 4, "0123"), (8, 4, "89"), (10, 4, ""), (11, 4, ""), (u64::MAX, u32::MAX, ""), (3, 0, ""), (0, 0, "")]
    {
        let op = read("a.md", offset, max_bytes);
        let Ok(FsOutcome::Read(ReadOutcome::Content(content))) = bench.answer(&op, &["content"])? else { continue };
        check!(
            (content.bytes.as_slice(), content.size) == (expected.as_bytes(), 10),
            "offset {offset}, max-bytes {max_bytes}: {:?} of {} bytes",
            String::from_utf8_lossy(&content.bytes),
            content.size
        );
    }
    Ok(())
}

fn any_bytes_are_kept(bench: &mut Bench<'_>) -> Ran {
    let bytes: Vec<u8> = (0..=255).chain(*b"\r\n\r\xef\xbb\xbf").collect();
    for content in [&bytes, &bytes.repeat(4000), &Vec::new()] {
        bench.expect(&write("a.md", content, "any"), &["written"])?;
        check!(bench.content("a.md")?.bytes == *content, "{} bytes were changed by a write", content.len());
        bench.expect(&append("a.md", content, false, "any"), &["written"])?;
        check!(bench.content("a.md")?.bytes == content.repeat(2), "{} bytes were changed by an append", content.len());
    }
    Ok(())
}

fn versions_agree(bench: &mut Bench<'_>) -> Ran {
    for (made_by, op) in
        [("a write", write("a.md", b"one", "any")), ("an append", append("a.md", b"two\n", true, "any"))]
    {
        for given_by in [made_by, "a read", "a listing"] {
            let made = bench.versioned(&op, "written")?;
            let version = match given_by {
                "a read" => bench.content("a.md")?.version,
                "a listing" => {
                    let listed = bench.entries(None)?.into_iter().find(|entry| entry.path.as_str() == "a.md");
                    listed.ok_or_else(|| Ended::Failed("`a.md` is not listed".into()))?.version
                }
                _ => made,
            };
            check!(!version.0.is_empty(), "the version of {given_by} is empty");
            // A version that keeps its meaning may have two spellings, so it is tried instead of compared.
            let word = word(&bench.perform(&append("a.md", b"", false, matches(&version)))?);
            check!(word == "written", "the version `{}` of {given_by} does not match the file: `{word}`", version.0);
        }
    }
    Ok(())
}

fn versions_change(bench: &mut Bench<'_>) -> Ran {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for number in 0..40 {
        let text = format!("text {number:02}");
        let written = bench.put("a.md", &text)?;
        for version in [written, bench.content("a.md")?.version] {
            let other = seen.insert(version.0.clone(), text.clone()).filter(|other| *other != text);
            check!(other.is_none(), "`{}` is the version of {other:?} and of {text:?}", version.0);
        }
    }
    Ok(())
}

fn others_change_versions(bench: &mut Bench<'_>) -> Ran {
    let file = bench.on_disk()?.join("a.md");
    bench.put("a.md", "text 00")?;
    let mut last = bench.content("a.md")?.version;
    for number in 1..20 {
        let text = format!("text {number:02}");
        // An editor writes in place, or replaces the file.
        let aside = file.with_extension("new");
        let edited = if number % 2 == 0 {
            fs::write(&file, &text)
        } else {
            fs::write(&aside, &text).and_then(|()| fs::rename(&aside, &file))
        };
        edited.map_err(|error| on_disk("a.md", &error))?;
        let content = bench.content("a.md")?;
        check!(content.bytes == text.as_bytes(), "a read does not see what somebody else wrote");
        check!(content.version != last, "`{}` is the version before and after an edit of the same size", last.0);
        bench.expect(&write("a.md", b"lost?", matches(&last)), &["stale(v)"])?;
        last = content.version;
    }
    Ok(())
}

fn appends_add_at_the_end(bench: &mut Bench<'_>) -> Ran {
    for (content, newline_first, expected) in [
        ("a", true, "a"),
        ("b", true, "a\nb"),
        ("c\n", false, "a\nbc\n"),
        ("d\n", true, "a\nbc\nd\n"),
        ("", true, "a\nbc\nd\n"),
    ] {
        bench.expect(&append("log/a.md", content.as_bytes(), newline_first, "any"), &["written"])?;
        bench.holds("log/a.md", Some(expected))?;
    }
    bench.expect(&append("new.md", b"", true, "absent"), &["written"])?;
    bench.holds("new.md", Some(""))
}

fn changes_keep(bench: &mut Bench<'_>) -> Ran {
    for (text, condition) in [("one", false), ("two", true)] {
        for (change, left) in [(write("a.md", b"new", "any"), Some("new")), (remove("a.md", "any"), None)] {
            let version = bench.put("a.md", text)?;
            let condition = if condition { matches(&version) } else { "any".into() };
            let change = with(with(change, "precondition", condition), "keep-as", "deep/er/kept.md");
            bench.expect(&change, &["written", "done"])?;
            bench.holds("a.md", left)?;
            bench.holds("deep/er/kept.md", Some(text))?;
        }
    }
    check!(bench.paths(None)? == ["deep"], "the folder has {:?}", bench.paths(None)?);
    Ok(())
}

fn nothing_is_kept_in_vain(bench: &mut Bench<'_>) -> Ran {
    bench.put("kept.md", "kept")?;
    let earlier = bench.put("a.md", "one")?;
    bench.put("a.md", "two")?;
    for (op, word) in [
        (write("a.md", b"three", matches(&earlier)), "stale(v)"),
        (write("a.md", b"three", "absent"), "stale(v)"),
        (remove("a.md", matches(&earlier)), "stale(v)"),
        (write("new.md", b"new", "any"), "written"),
        (remove("none.md", "any"), "done"),
    ] {
        bench.expect(&with(op, "keep-as", "kept.md"), &[word])?;
    }
    bench.holds("a.md", Some("two"))?;
    bench.holds("kept.md", Some("kept"))
}

fn hints_change_no_bytes(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "one")?;
    for (path, like) in [("b.md", "a.md"), ("c.md", "none.md"), ("d.md", "none/x.md")] {
        bench.expect(&with(write(path, b"new", "absent"), "like", like), &["written"])?;
        bench.holds(path, Some("new"))?;
    }
    let mut log = String::new();
    for (letter, size, may_vanish) in [("a", 10, true), ("b", 9_000, true), ("c", 9_000, false)] {
        let line = letter.repeat(size) + "\n";
        let op = with(append("log/a.log", line.as_bytes(), true, "any"), "may-tear", true);
        bench.expect(&with(op, "may-vanish", may_vanish), &["written"])?;
        log.push_str(&line);
        bench.holds("log/a.log", Some(&log))?;
    }
    bench.holds("a.md", Some("one"))?;
    bench.expect(&with(remove("a.md", "any"), "may-return", true), &["done"])?;
    bench.holds("a.md", None)
}

fn moves(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "a")?;
    bench.expect(&rename("a.md", "a.md", "any"), &["exists"])?;
    bench.expect(&rename("a.md", "new/deep/c.md", "any"), &["done"])?;
    bench.holds("new/deep/c.md", Some("a"))?;
    bench.holds("a.md", None)
}

fn folders(bench: &mut Bench<'_>) -> Ran {
    bench.needs_folders()?;
    bench.expect(&make_directory("d/e/f"), &["done"])?;
    check!(bench.paths(Some("d/e"))? == ["d/e/f"], "`d/e/f` is not listed");
    check!(bench.paths(Some("d/e/f"))?.is_empty(), "a new folder is not empty");
    for (path, word) in [("d", "not-empty"), ("d/e", "not-empty"), ("d/e/f", "removed"), ("d/e/f", "absent")] {
        bench.expect(&remove_directory(path), &[word])?;
    }
    check!(bench.paths(Some("d"))? == ["d/e"], "a folder above was removed too");
    bench.put("d/e/f/a.md", "again")?;
    bench.holds("d/e/f/a.md", Some("again"))
}

fn listings_are_sorted(bench: &mut Bench<'_>) -> Ran {
    // Their order differs between whole paths, names and languages.
    for name in ["a/b.md", "a-b.md", "a.md", "a/b/c.md", "é.md", "Z.md", "a0.md"] {
        bench.put(name, "text")?;
    }
    for (folder, expected) in
        [(None, &["Z.md", "a", "a-b.md", "a.md", "a0.md", "é.md"][..]), (Some("a"), &["a/b", "a/b.md"])]
    {
        let found = bench.paths(folder)?;
        check!(found == expected, "the listing is {found:?} instead of {expected:?}");
        for entry in bench.entries(folder)? {
            let is_file = entry.path.as_str().ends_with(".md");
            let (kind, size) = if is_file { (EntryKind::File, 4) } else { (EntryKind::Directory, 0) };
            let is_whole = entry.kind == kind && entry.size == size && entry.version.0.is_empty() != is_file;
            check!(is_whole, "wrong kind, size or version: {entry:?}");
        }
    }
    Ok(())
}

fn listings_come_in_pages(bench: &mut Bench<'_>) -> Ran {
    for name in ["a.md", "b-c.md", "b/1.md", "b/2.md", "b0.md", "c/d/e.md"] {
        bench.put(name, "text")?;
    }
    for folder in [None, Some("b"), Some("c"), Some("c/d")] {
        let whole = bench.paths(folder)?;
        for limit in 1..=whole.len() as u32 {
            let found: Vec<String> = bench.paged(folder, limit)?.iter().map(|entry| entry.path.to_string()).collect();
            check!(found == whole, "{folder:?} by {limit}: {found:?} instead of {whole:?}");
        }
    }
    for (after, expected) in [("b/0", &["b/1.md", "b/2.md"][..]), ("a", &["b/1.md", "b/2.md"]), ("c", &[])] {
        let page = bench.page(&with(list(Some("b"), 9), "after", after))?;
        let found: Vec<&str> = page.entries.iter().map(|entry| entry.path.as_str()).collect();
        check!(found == expected, "after `{after}` comes {found:?}");
    }
    Ok(())
}

fn pages_have_versions(bench: &mut Bench<'_>) -> Ran {
    bench.put("d/a.md", "one")?;
    bench.put("d/b.md", "one")?;
    let changes = [
        ("a write", write("d/a.md", b"two", "any")),
        ("an append", append("d/a.md", b"three", true, "any")),
        ("a new file", write("d/c.md", b"one", "any")),
        ("a removal", remove("d/b.md", "any")),
        ("a move", rename("d/a.md", "d/z.md", "any")),
        ("a new folder", write("d/e/f.md", b"one", "any")),
    ];
    let unless = |version: &Version| with(list(Some("d"), 9), "unless", &*version.0);
    let mut given = 0;
    for (what, change) in changes {
        let before = settled_page(bench)?;
        if let Some(version) = &before {
            given += 1;
            bench.expect(&unless(version), &["unchanged"])?;
        }
        bench.expect(&change, &["written", "done"])?;
        let listed = bench.expect(&unless(&before.unwrap_or_else(|| Version("nothing".into()))), &["page"]);
        listed.map_err(|ended| ended.within(&format!("after {what}"), ""))?;
    }
    if given == 0 { left_out("the host gives pages no version") } else { Ok(()) }
}

/// Returns the version of a page once the files have settled: a host may give none while a file has changed just now.
fn settled_page(bench: &mut Bench<'_>) -> Result<Option<Version>, Ended> {
    let mut last = None;
    for _ in 0..6 {
        let version = bench.page(&list(Some("d"), 9))?.version;
        if last.is_some() {
            return Ok(version.or(last));
        }
        last = version;
        thread::sleep(Duration::from_millis(30));
    }
    Ok(last)
}

fn generations(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "text")?;
    let Some(first) = generation(bench)? else { return left_out("the host cannot tell whether anything changed") };
    let mut seen = vec![first];
    for op in [
        write("a.md", b"one", "any"),
        append("a.md", b"two", true, "any"),
        with(write("a.md", b"one", "any"), "keep-as", "kept.md"),
        rename("a.md", "d/b.md", "any"),
        with(remove("d/b.md", "any"), "may-return", true),
        write("a.md", b"one", "any"),
    ] {
        bench.expect(&op, &["written", "done"])?;
        let next = generation(bench)?.ok_or_else(|| Ended::Failed(format!("there is none after {}", short(&op))))?;
        check!(!seen.contains(&next), "after {} it is `{next}` again", short(&op));
        seen.push(next);
    }
    bench.content("a.md")?;
    bench.page(&list(None, 9))?;
    check!(generation(bench)?.as_ref() == seen.last(), "it is another after a read and a listing alone");
    Ok(())
}

/// Returns the token of the store; `None` if the host cannot tell.
fn generation(bench: &mut Bench<'_>) -> Result<Option<String>, Ended> {
    match bench.answer(&"generation".into(), &["generation", "unsupported"])? {
        Ok(FsOutcome::Generation(token)) => Ok(Some(token)),
        _ => Ok(None),
    }
}
