//! Cases: the promises of each operation that the table does not have.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use saddlebag::protocol::{EntryKind, FsOutcome, ReadOutcome, Version};

use crate::bench::{Bench, Stores, on_disk};
use crate::driver::{Driver, short};
use crate::names;
use crate::ops::{
    append, append_to_log, list, make_directory, matches, read, remove, remove_directory, remove_with, rename, word,
    write, write_with,
};
use crate::report::{Ended, Part, Ran, Report, check, left_out};

const PART: Part = Part::Operations;

/// A case, on a fresh store.
type Case = (&'static str, fn(&mut Bench<'_>) -> Ran);

const CASES: [Case; 37] = [
    ("a read gives the bytes from the offset on, at most `max-bytes`", reads_give_parts),
    ("any bytes are kept as they are", any_bytes_are_kept),
    ("a large file is read and written whole", large_files),
    ("the versions of a write, a read and a listing name the same bytes", versions_agree),
    ("a version changes with the bytes, even within one tick of a clock", versions_change),
    ("a version changes with the bytes that somebody else writes", others_change_versions),
    ("preconditions decide about a write", preconditions_of_writes),
    ("preconditions decide about an append", preconditions_of_appends),
    ("preconditions decide about a removal", preconditions_of_removals),
    ("preconditions decide about a move", preconditions_of_moves),
    ("an append adds at the end, after a newline if asked for", appends_add_at_the_end),
    ("a write keeps the replaced bytes with `keep-as`", writes_keep),
    ("a removal keeps the bytes with `keep-as`", removals_keep),
    ("nothing is kept by a change that is not made", nothing_is_kept_in_vain),
    ("a new file is written with `like`", writes_with_like),
    ("a removal with `may-return` is made", removals_that_may_return),
    ("an append with `may-tear` and `may-vanish` is made", additions_to_logs),
    ("a move needs a free name and makes folders", moves),
    ("only an empty folder is removed, and none above it", folders_are_removed),
    ("a folder is made with those above it", folders_are_made),
    ("a listing is sorted by whole paths, and has the folders", listings_are_sorted),
    ("an entry has its kind, size and version", entries_are_whole),
    ("a listing comes in pages", listings_come_in_pages),
    ("a page that still has the version of `unless` is `unchanged`", pages_have_versions),
    ("names that no path can have are left out and counted", names::names_are_left_out),
    ("a file that cannot be read is listed", names::unreadable_files_are_listed),
    ("a file above the path is `not-directory`", names::a_file_above),
    ("a link in the path is `symbolic-link`, wherever it leads", names::links_are_not_followed),
    ("a link is listed as `other`", names::links_are_listed),
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
    for content in [bytes.as_slice(), b""] {
        bench.expect(&write("a.md", content, "any"), &["written"])?;
        check!(bench.content("a.md")?.bytes == content, "{} bytes were changed by a write", content.len());
        bench.expect(&append("b.md", content, false, "any"), &["written"])?;
        check!(bench.content("b.md")?.bytes == bytes, "{} bytes were changed by an append", content.len());
    }
    Ok(())
}

fn large_files(bench: &mut Bench<'_>) -> Ran {
    const BYTES: usize = 1 << 20;
    let content: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
    bench.expect(&write("a.md", &content, "any"), &["written"])?;
    bench.expect(&append("a.md", &content, false, "any"), &["written"])?;
    let found = bench.content("a.md")?;
    check!(found.bytes == [content.as_slice(), &content].concat(), "{} bytes came back", found.bytes.len());
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

fn preconditions_of_writes(bench: &mut Bench<'_>) -> Ran {
    bench.expect(&write("d/a.md", b"1", "absent"), &["written"])?;
    let first = bench.versioned(&write("d/a.md", b"2", "absent"), "stale(v)")?;
    bench.holds("d/a.md", Some("1"))?;
    let second = bench.versioned(&write("d/a.md", b"2", matches(&first)), "written")?;
    let current = bench.versioned(&write("d/a.md", b"3", matches(&first)), "stale(v)")?;
    bench.holds("d/a.md", Some("2"))?;
    bench.expect(&write("d/a.md", b"3", matches(&current)), &["written"])?;
    bench.expect(&write("d/a.md", b"4", matches(&second)), &["stale(v)"])?;
    bench.holds("d/a.md", Some("3"))?;
    bench.put("d/a.md", "5")?;
    bench.holds("d/a.md", Some("5"))
}

fn preconditions_of_appends(bench: &mut Bench<'_>) -> Ran {
    let first = bench.versioned(&append("a.md", b"1\n", true, "absent"), "written")?;
    bench.expect(&append("a.md", b"2\n", true, "absent"), &["stale(v)"])?;
    let second = bench.versioned(&append("a.md", b"2\n", true, matches(&first)), "written")?;
    let current = bench.versioned(&append("a.md", b"3\n", true, matches(&first)), "stale(v)")?;
    bench.holds("a.md", Some("1\n2\n"))?;
    bench.expect(&write("a.md", b"3\n", matches(&current)), &["written"])?;
    bench.expect(&append("a.md", b"4\n", true, matches(&second)), &["stale(v)"])?;
    bench.holds("a.md", Some("3\n"))
}

fn preconditions_of_removals(bench: &mut Bench<'_>) -> Ran {
    let first = bench.put("a.md", "one")?;
    bench.put("a.md", "two")?;
    bench.expect(&remove("a.md", matches(&first)), &["stale(v)"])?;
    let current = bench.versioned(&remove("a.md", "absent"), "stale(v)")?;
    bench.holds("a.md", Some("two"))?;
    for precondition in [matches(&current), "any".into(), "absent".into(), matches(&current)] {
        bench.expect(&remove("a.md", precondition), &["done"])?;
        bench.holds("a.md", None)?;
    }
    Ok(())
}

fn preconditions_of_moves(bench: &mut Bench<'_>) -> Ran {
    let first = bench.put("a.md", "one")?;
    bench.put("a.md", "two")?;
    bench.expect(&rename("a.md", "b.md", matches(&first)), &["stale(v)"])?;
    let current = bench.versioned(&rename("a.md", "b.md", "absent"), "stale(v)")?;
    bench.holds("b.md", None)?;
    bench.expect(&rename("a.md", "b.md", matches(&current)), &["done"])?;
    bench.holds("b.md", Some("two"))?;
    bench.holds("a.md", None)
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

fn writes_keep(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "one")?;
    for (text, precondition, kept) in [("two", None, "one"), ("three", Some(()), "two")] {
        let precondition = match precondition {
            None => "any".into(),
            Some(()) => matches(&bench.content("a.md")?.version),
        };
        let op = write_with("a.md", text.as_bytes(), precondition, Some("deep/er/kept.md"), None);
        let written = bench.versioned(&op, "written")?;
        bench.holds("a.md", Some(text))?;
        bench.holds("deep/er/kept.md", Some(kept))?;
        bench.expect(&write("a.md", text.as_bytes(), matches(&written)), &["written"])?;
    }
    check!(bench.paths(None)? == ["a.md", "deep"], "the folder has {:?}", bench.paths(None)?);
    Ok(())
}

fn removals_keep(bench: &mut Bench<'_>) -> Ran {
    for text in ["one", "two"] {
        let version = bench.put("a.md", text)?;
        bench.expect(&remove_with("a.md", matches(&version), Some("deep/kept.md"), false), &["done"])?;
        bench.holds("a.md", None)?;
        bench.holds("deep/kept.md", Some(text))?;
    }
    Ok(())
}

fn nothing_is_kept_in_vain(bench: &mut Bench<'_>) -> Ran {
    bench.put("kept.md", "kept")?;
    let earlier = bench.put("a.md", "one")?;
    bench.put("a.md", "two")?;
    for op in [
        write_with("a.md", b"three", matches(&earlier), Some("kept.md"), None),
        write_with("a.md", b"three", "absent", Some("kept.md"), None),
        remove_with("a.md", matches(&earlier), Some("kept.md"), false),
    ] {
        bench.expect(&op, &["stale(v)"])?;
    }
    bench.holds("a.md", Some("two"))?;
    bench.expect(&write_with("new.md", b"new", "any", Some("kept.md"), None), &["written"])?;
    bench.expect(&remove_with("none.md", "any", Some("kept.md"), false), &["done"])?;
    bench.holds("kept.md", Some("kept"))
}

fn writes_with_like(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "one")?;
    for (path, like) in [("b.md", "a.md"), ("c.md", "none.md"), ("d.md", "none/x.md")] {
        bench.expect(&write_with(path, b"new", "absent", None, Some(like)), &["written"])?;
        bench.holds(path, Some("new"))?;
    }
    bench.holds("a.md", Some("one"))
}

fn removals_that_may_return(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "one")?;
    bench.expect(&remove_with("a.md", "any", None, true), &["done"])?;
    bench.holds("a.md", None)
}

fn additions_to_logs(bench: &mut Bench<'_>) -> Ran {
    let line = |letter: &str, size: usize| letter.repeat(size) + "\n";
    let mut log = String::new();
    for (letter, size, may_vanish) in [("a", 10, true), ("b", 9_000, true), ("c", 9_000, false)] {
        let line = line(letter, size);
        bench.expect(&append_to_log("log/a.log", line.as_bytes(), may_vanish), &["written"])?;
        log.push_str(&line);
        bench.holds("log/a.log", Some(&log))?;
    }
    Ok(())
}

fn moves(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "a")?;
    bench.put("b.md", "b")?;
    for to in ["b.md", "a.md"] {
        bench.expect(&rename("a.md", to, "any"), &["exists"])?;
    }
    bench.expect(&rename("a.md", "new/deep/c.md", "any"), &["done"])?;
    bench.expect(&rename("a.md", "new/deep/c.md", "any"), &["absent"])?;
    bench.holds("new/deep/c.md", Some("a"))?;
    bench.holds("b.md", Some("b"))
}

fn folders_are_removed(bench: &mut Bench<'_>) -> Ran {
    bench.needs_folders()?;
    bench.put("d/e/a.md", "text")?;
    for (path, word) in [("d", "not-empty"), ("d/e", "not-empty")] {
        bench.expect(&remove_directory(path), &[word])?;
    }
    bench.holds("d/e/a.md", Some("text"))?;
    bench.expect(&remove("d/e/a.md", "any"), &["done"])?;
    for (path, word) in [("d", "not-empty"), ("d/e", "removed"), ("d/e", "absent"), ("d/e/f", "absent")] {
        bench.expect(&remove_directory(path), &[word])?;
    }
    check!(bench.paths(None)? == ["d"], "the folder above was removed too");
    bench.put("d/e/a.md", "again")?;
    bench.holds("d/e/a.md", Some("again"))
}

fn folders_are_made(bench: &mut Bench<'_>) -> Ran {
    bench.needs_folders()?;
    bench.expect(&make_directory("d/e"), &["done"])?;
    bench.expect(&make_directory("d/e"), &["done"])?;
    check!(bench.paths(Some("d"))? == ["d/e"], "`d/e` is not listed");
    check!(bench.paths(Some("d/e"))?.is_empty(), "a new folder is not empty");
    Ok(())
}

/// Files whose order differs between whole paths, names and languages.
const UNSORTED: [&str; 7] = ["a/b.md", "a-b.md", "a.md", "a/b/c.md", "é.md", "Z.md", "a0.md"];

fn listings_are_sorted(bench: &mut Bench<'_>) -> Ran {
    for name in UNSORTED {
        bench.put(name, "text")?;
    }
    for (folder, expected) in
        [(None, &["Z.md", "a", "a-b.md", "a.md", "a0.md", "é.md"][..]), (Some("a"), &["a/b", "a/b.md"])]
    {
        let found = bench.paths(folder)?;
        check!(found == expected, "the listing is {found:?} instead of {expected:?}");
    }
    Ok(())
}

fn entries_are_whole(bench: &mut Bench<'_>) -> Ran {
    for name in UNSORTED {
        bench.put(name, "text")?;
    }
    for entry in bench.entries(None)? {
        let is_file = entry.path.as_str().ends_with(".md");
        let kind = if is_file { EntryKind::File } else { EntryKind::Directory };
        let is_whole = entry.kind == kind && entry.size == if is_file { 4 } else { 0 };
        check!(is_whole && entry.version.0.is_empty() != is_file, "wrong kind, size or version: {entry:?}");
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
            let (mut found, mut after) = (Vec::new(), None::<String>);
            loop {
                let page = bench.page(&list(folder, after.as_deref(), limit, None))?;
                let paths: Vec<String> = page.entries.iter().map(|entry| entry.path.to_string()).collect();
                check!(paths.len() <= limit as usize, "a page of at most {limit} has {paths:?}");
                let is_later = after.is_none() || paths.iter().all(|path| Some(path) > after.as_ref());
                check!(is_later, "a page after {after:?} has {paths:?}");
                found.extend(paths);
                after = page.next.map(|next| next.to_string());
                if after.is_none() {
                    break;
                }
                check!(after.as_ref() == found.last(), "`next` is {after:?} after {found:?}");
            }
            found.retain(|path| path != ".saddlebag");
            check!(found == whole, "{folder:?} by {limit}: {found:?} instead of {whole:?}");
        }
    }
    for (after, expected) in [("b/0", &["b/1.md", "b/2.md"][..]), ("a", &["b/1.md", "b/2.md"]), ("c", &[])] {
        let page = bench.page(&list(Some("b"), Some(after), 9, None))?;
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
    let mut given = 0;
    for (what, change) in changes {
        let before = settled_page(bench, "d")?;
        if let Some(version) = &before {
            given += 1;
            bench.expect(&list(Some("d"), None, 9, Some(version)), &["unchanged"])?;
        }
        bench.expect(&change, &["written", "done"])?;
        let unless = before.unwrap_or_else(|| Version("nothing".into()));
        bench
            .expect(&list(Some("d"), None, 9, Some(&unless)), &["page"])
            .map_err(|ended| ended.within(&format!("after {what}"), ""))?;
    }
    if given == 0 { left_out("the host gives pages no version") } else { Ok(()) }
}

/// Returns the version of a page. A host may give none while a file has changed just now.
fn settled_page(bench: &mut Bench<'_>, folder: &str) -> Result<Option<Version>, Ended> {
    for _ in 0..5 {
        let version = bench.page(&list(Some(folder), None, 9, None))?.version;
        if version.is_some() {
            // The version that it has once the files have settled.
            std::thread::sleep(std::time::Duration::from_millis(30));
            let again = bench.page(&list(Some(folder), None, 9, None))?.version;
            return Ok(again.or(version));
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    Ok(None)
}

fn generations(bench: &mut Bench<'_>) -> Ran {
    bench.put("a.md", "text")?;
    let Some(first) = generation(bench)? else { return left_out("the host cannot tell whether anything changed") };
    let mut seen = vec![first];
    for op in [
        write("a.md", b"one", "any"),
        append("a.md", b"two", true, "any"),
        write_with("a.md", b"one", "any", Some("kept.md"), None),
        rename("a.md", "d/b.md", "any"),
        remove_with("d/b.md", "any", None, true),
        write("a.md", b"one", "any"),
    ] {
        bench.expect(&op, &["written", "done"])?;
        let next = generation(bench)?.ok_or_else(|| Ended::Failed(format!("there is none after {}", short(&op))))?;
        check!(!seen.contains(&next), "after {} it is `{next}` again", short(&op));
        seen.push(next);
    }
    bench.content("a.md")?;
    bench.page(&list(None, None, 9, None))?;
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
