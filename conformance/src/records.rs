//! Records: what holders that died have left in their locks, and the next holder carries out.
//!
//! The kit writes the files that a holder leaves that dies at some moment. Then the driver makes a change under the same lock.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::bench::{Bench, Stores, on_disk};
use crate::driver::{Driver, Lock};
use crate::locks::{self, Held, Kind};
use crate::report::{Ended, Part, Ran, Report, at_once, check, left_out};

const PART: Part = Part::Records;
/// Number of drivers that clean up at the same time, if each has to wait until a holder counts as dead.
const DRIVERS: usize = 6;
/// Number of a file of no case.
const FREE: usize = 99;
/// Time after which the holder of a lease that it does not renew counts as dead.
const DEAD_AFTER: Duration = Duration::from_secs(8);
/// Time in which a busy machine notices.
const BUSY: Duration = Duration::from_secs(20);

/// A holder that died.
struct Case {
    /// Words of its record, which are the names of files, or `new` and `old`. After `cut`, the line has no end.
    record: &'static str,
    /// Moment of its death.
    died: &'static str,
    /// Names of the files at this moment, and the text of each. Files of one text are two names of one file.
    left: &'static str,
    /// The files after they were cleaned up. A host may choose.
    then: Vec<&'static str>,
}

/// The cases: the fields of each, with ` or ` between what a host may choose.
const CASES: &str = "\
staged temporary file | before it made its file | file old | file old
staged temporary file | before it moved its file | file old, temporary new | file old
staged temporary file | after it moved its file | file new | file new
staged temporary file cut | within its record | file old, temporary new | file old, temporary new
staged kept file | with a file of a person in its record | file old, kept older | file old, kept older
placing temporary file new old | before the exchange | file old, temporary new | file old or file old, recovered new
placing temporary file new old | after the exchange | file new, temporary old | file new or file new, recovered old
placing temporary file new old | after a person's text came out | file new, temporary theirs | file new, recovered theirs
placing temporary file new old | at its end | file new | file new
placing temporary file new old kept | before the exchange | file old, kept older, temporary new | file old, kept older
placing temporary file new old kept | after the exchange | file new, kept older, temporary old | file new, kept old
placing temporary file new old kept | after the exchange, without an older file | file new, temporary old | file new, kept old
placing temporary file new old kept | after a person's text came out | file new, temporary theirs \
    | file new, kept theirs or file new, recovered theirs
placing temporary file new old kept | at its end | file new, kept old | file new, kept old
keeping temporary file kept | before the second name | file old, kept older, temporary new | file old, kept older
keeping temporary file kept | before it moved its file | file old, kept older, second old, temporary new | file old, kept older
keeping temporary file kept | after it moved its file | file new, kept older, second old | file new, kept old
keeping temporary file kept | after it moved its file, without an older one | file new, second old | file new, kept old
keeping temporary file kept | with one file of both names | file new, kept old, second old | file new, kept old
keeping temporary file kept | at its end | file new, kept old | file new, kept old
";

fn cases() -> Vec<Case> {
    let case = |line: &'static str| {
        let mut fields = line.split('|').map(str::trim);
        let mut field = || fields.next().unwrap_or_default();
        Case { record: field(), died: field(), left: field(), then: field().split(" or ").collect() }
    };
    CASES.lines().map(case).collect()
}

/// Runs all cases: each in a lock file, and all of them as the leases of one lock.
pub(crate) fn run(driver: &mut Driver, stores: &Stores, report: &mut Report<'_>) -> io::Result<()> {
    let hello = driver.hello();
    let reason = match hello.lock {
        _ if !hello.folder => "the store is not a folder of the disk",
        Lock::None => "the host has no lock",
        _ if !cfg!(unix) => "the records of this system are not known",
        Lock::Kernel | Lock::Lease => "",
    };
    if !reason.is_empty() {
        return report.add(PART, "what dead holders left is carried out", left_out(reason));
    }
    let drivers = if hello.lock == Lock::Lease { DRIVERS } else { 1 };
    let all: Vec<(usize, Case)> = cases().into_iter().enumerate().collect();
    let mut batches = vec![(Kind::Lease, &*all, all.len())];
    batches.extend(all.chunks(all.len().div_ceil(drivers)).map(|some| (Kind::File, some, 1)));
    let program = driver.program();
    // Together, because a lock may have to stay unchanged for seconds before its holder counts as dead.
    let ended = at_once(batches.iter().map(|&(kind, some, size)| {
        move || {
            let driver = &mut Driver::start(program.clone())?;
            let mut ended = Vec::new();
            for cases in some.chunks(size) {
                ended.extend(carried_out(&mut Bench::open(driver, stores)?, kind, cases)?);
            }
            Ok(ended)
        }
    }));
    for ((kind, some, _), ended) in batches.into_iter().zip(ended) {
        let kind = kind.name();
        match ended {
            Ok(ended) => {
                for ((_, Case { record, died, .. }), ran) in some.iter().zip(ended) {
                    report.add(PART, format!("`{record}` in {kind}: its holder died {died}"), ran)?;
                }
            }
            Err(ended) => report.add(PART, format!("{kind} of a dead holder is taken over"), Err(ended))?,
        }
    }
    Ok(())
}

/// Lets the driver clean up what the holders of one lock left that died one after the other.
fn carried_out(bench: &mut Bench<'_>, kind: Kind, cases: &[(usize, Case)]) -> Result<Vec<Ran>, Ended> {
    let root = bench.on_disk()?;
    // The first change of a store makes the files of the locks.
    bench.put("first.md", "text")?;
    let records = cases.iter().map(|(index, case)| lay_out(&root, *index, case)).collect::<Result<Vec<_>, _>>()?;
    drop(Held::new(&root, kind, &records)?);
    let began = Instant::now();
    bench.put(&locks::path(FREE), "it goes on")?;
    let waited = began.elapsed();
    check!(
        kind == Kind::File || (DEAD_AFTER..BUSY).contains(&waited),
        "a lease was taken over after {waited:?} instead of {DEAD_AFTER:?}"
    );
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    gather(&root, &root, &mut found).map_err(|error| on_disk("a listing", &error))?;
    let judged = cases.iter().map(|(index, Case { left, then, .. })| {
        let found = found.remove(index).unwrap_or_default().join(", ");
        check!(then.contains(&&*found), "`{left}` became `{found}` instead of `{}`", then.join("` or `"));
        Ok(())
    });
    Ok(judged.collect())
}

/// Returns the path of a file of a case.
fn path_of(name: &str, index: usize) -> String {
    match name {
        "file" => locks::path(index),
        "temporary" => format!("notes/.saddlebag-1-{index}-3.tmp"),
        "second" => format!("notes/.saddlebag-1-{index}-3-old.tmp"),
        _ => format!("kept/{index}.md"),
    }
}

fn text_of(word: &str, index: usize) -> String {
    format!("{word} {index}\n")
}

/// Makes the files of a case, and returns the record.
fn lay_out(root: &Path, index: usize, Case { record, left, .. }: &Case) -> Result<String, Ended> {
    let mut made: BTreeMap<&str, String> = BTreeMap::new();
    for (name, word) in left.split(", ").filter_map(|file| file.split_once(' ')) {
        let path = path_of(name, index);
        let put = fs::create_dir_all(root.join(&path).parent().unwrap_or(root)).and_then(|()| match made.get(word) {
            Some(first) => fs::hard_link(root.join(first), root.join(&path)),
            None => fs::write(root.join(&path), text_of(word, index)),
        });
        put.map_err(|error| on_disk(&path, &error))?;
        made.insert(word, path);
    }
    let fields = record.split(' ').filter(|word| *word != "cut").enumerate().map(|(at, word)| match word {
        _ if at == 0 => word.into(),
        "new" => made.get("new").and_then(|path| new_file(&root.join(path))).unwrap_or("s0.0.0.0".into()),
        "old" => Sha256::digest(text_of(word, index))
            .iter()
            .fold("h".to_string(), |text, byte| text + &format!("{byte:02x}")),
        name => path_of(name, index),
    });
    let fields: Vec<String> = fields.collect();
    // After the record comes the rest of a longer one.
    let end = if record.ends_with("cut") { "" } else { "\nearlier\t.saddlebag-1-2-3.tmp\n" };
    Ok(fields.join("\t") + end)
}

/// Returns how a record names a new file.
#[cfg(unix)]
fn new_file(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let status = fs::metadata(path).ok()?;
    let modified = i128::from(status.mtime()) * 1_000_000_000 + i128::from(status.mtime_nsec());
    Some(format!("s{:x}.{:x}.{:x}.{modified:x}", status.dev(), status.ino(), status.size()))
}

#[cfg(not(unix))]
fn new_file(_: &Path) -> Option<String> {
    None
}

/// Adds the names and texts of the files of all cases. A text says which case a file belongs to.
fn gather(root: &Path, folder: &Path, found: &mut BTreeMap<usize, Vec<String>>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            gather(root, &path, found)?;
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let Some((word, index)) = text.trim_end().split_once(' ') else { continue };
        let Ok(index) = index.parse() else { continue };
        let path = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        let names = ["file", "temporary", "second", "kept"];
        let name = names.into_iter().find(|name| path_of(name, index) == path);
        let name = name.unwrap_or(if path.starts_with(".saddlebag/recovered/") { "recovered" } else { &path });
        let files = found.entry(index).or_default();
        files.push(format!("{name} {word}"));
        files.sort();
    }
    Ok(())
}
