//! Records: what holders that died have left in their locks, and the next holder carries out.
//!
//! The kit writes the files that a holder leaves that dies at some moment. Then the driver makes a change under the same lock.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::bench::{Bench, Stores, on_disk};
use crate::driver::{Driver, Lock};
use crate::locks::{self, Held, Kind};
use crate::report::{Ended, Part, Ran, Report, check, left_out};

const PART: Part = Part::Records;
/// Number of drivers that clean up at the same time, if each has to wait until a holder counts as dead.
const DRIVERS: usize = 6;
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
    then: &'static [&'static str],
}

const fn case(record: &'static str, died: &'static str, left: &'static str, then: &'static [&'static str]) -> Case {
    Case { record, died, left, then }
}

const STAGED: &str = "staged temporary file";
const PLACING: &str = "placing temporary file new old";
const PLACING_KEPT: &str = "placing temporary file new old kept";
const KEEPING: &str = "keeping temporary file kept";

const CASES: [Case; 20] = [
    case(STAGED, "before it made its file", "file old", &["file old"]),
    case(STAGED, "before it moved its file", "file old, temporary new", &["file old"]),
    case(STAGED, "after it moved its file", "file new", &["file new"]),
    case("staged temporary file cut", "within its record", "file old, temporary new", &["file old, temporary new"]),
    case(
        "staged kept file",
        "with a file of a person in its record",
        "file old, kept older",
        &["file old, kept older"],
    ),
    case(PLACING, "before the exchange", "file old, temporary new", &["file old", "file old, recovered new"]),
    case(PLACING, "after the exchange", "file new, temporary old", &["file new", "file new, recovered old"]),
    case(PLACING, "after a person's text came out", "file new, temporary theirs", &["file new, recovered theirs"]),
    case(PLACING, "at its end", "file new", &["file new"]),
    case(PLACING_KEPT, "before the exchange", "file old, kept older, temporary new", &["file old, kept older"]),
    case(PLACING_KEPT, "after the exchange", "file new, kept older, temporary old", &["file new, kept old"]),
    case(PLACING_KEPT, "after the exchange, without an older file", "file new, temporary old", &["file new, kept old"]),
    case(
        PLACING_KEPT,
        "after a person's text came out",
        "file new, temporary theirs",
        &["file new, kept theirs", "file new, recovered theirs"],
    ),
    case(PLACING_KEPT, "at its end", "file new, kept old", &["file new, kept old"]),
    case(KEEPING, "before the second name", "file old, kept older, temporary new", &["file old, kept older"]),
    case(
        KEEPING,
        "before it moved its file",
        "file old, kept older, second old, temporary new",
        &["file old, kept older"],
    ),
    case(KEEPING, "after it moved its file", "file new, kept older, second old", &["file new, kept old"]),
    case(KEEPING, "after it moved its file, without an older one", "file new, second old", &["file new, kept old"]),
    case(KEEPING, "with one file of both names", "file new, kept old, second old", &["file new, kept old"]),
    case(KEEPING, "at its end", "file new, kept old", &["file new, kept old"]),
];

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
    let all: Vec<usize> = (0..CASES.len()).collect();
    let program = driver.program();
    let work = |kind: Kind, batches: Vec<&[usize]>| -> Result<Vec<(usize, Ran)>, Ended> {
        let driver = &mut Driver::start(program.clone())?;
        let mut ended = Vec::new();
        for batch in batches {
            ended.extend(carried_out(&mut Bench::open(driver, stores)?, kind, batch)?);
        }
        Ok(ended)
    };
    let ended: Vec<_> = thread::scope(|scope| {
        // Together, because a lock may have to stay unchanged for seconds before its holder counts as dead.
        let mut threads = vec![(Kind::Lease, scope.spawn(|| work(Kind::Lease, vec![&all])))];
        for some in all.chunks(all.len().div_ceil(drivers)) {
            threads.push((Kind::File, scope.spawn(move || work(Kind::File, some.chunks(1).collect()))));
        }
        let panicked = |_| Err(Ended::Failed("a thread of the kit panicked".into()));
        threads.into_iter().map(|(kind, thread)| (kind, thread.join().unwrap_or_else(panicked))).collect()
    });
    for (kind, ended) in ended {
        match ended {
            Ok(ended) => {
                for (index, ran) in ended {
                    let Case { record, died, .. } = &CASES[index];
                    let word = record.split(' ').next().unwrap_or_default();
                    let path = if *record == PLACING_KEPT { " with a path" } else { "" };
                    report.add(PART, format!("`{word}`{path} in {}: its holder died {died}", kind.name()), ran)?;
                }
            }
            Err(ended) => report.add(PART, format!("{} of a dead holder is taken over", kind.name()), Err(ended))?,
        }
    }
    Ok(())
}

/// Lets the driver clean up what the holders of one lock left that died one after the other.
fn carried_out(bench: &mut Bench<'_>, kind: Kind, cases: &[usize]) -> Result<Vec<(usize, Ran)>, Ended> {
    let root = bench.on_disk()?;
    // The first change of a store makes the files of the locks.
    bench.put("first.md", "text")?;
    let records = cases.iter().map(|index| lay_out(&root, *index)).collect::<Result<Vec<_>, _>>()?;
    drop(Held::new(&root, kind, &records)?);
    let began = Instant::now();
    bench.put(&locks::path(CASES.len()), "it goes on")?;
    let waited = began.elapsed();
    check!(
        kind == Kind::File || (DEAD_AFTER..BUSY).contains(&waited),
        "a lease was taken over after {waited:?} instead of {DEAD_AFTER:?}"
    );
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    gather(&root, &root, &mut found).map_err(|error| on_disk("a listing", &error))?;
    let judged = cases.iter().map(|index| {
        let Case { left, then, .. } = &CASES[*index];
        let found = found.remove(index).unwrap_or_default().join(", ");
        let is_right = then.contains(&&*found);
        let wrong = || Ended::Failed(format!("`{left}` became `{found}` instead of `{}`", then.join("` or `")));
        (*index, if is_right { Ok(()) } else { Err(wrong()) })
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
fn lay_out(root: &Path, index: usize) -> Result<String, Ended> {
    let Case { record, left, .. } = &CASES[index];
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
