//! Checks of a host of this process: its driver is a function, or it is an executor.

use std::fmt::Debug;
use std::io::{self, BufRead, BufReader, Write, pipe};
use std::thread;

use saddlebag::protocol::{AppendOutcome, FsError, FsOp, FsOutcome, ListOutcome, Precondition, ReadOutcome};
use saddlebag::store::RelPath;
use saddlebag_host::{Executor, PACKAGE};
use serde_json::{Value, json};

use crate::bench::Stores;
use crate::driver::{Driver, Hello, Lock, PROTOCOL};
use crate::local::performed;
use crate::ops::word;
use crate::report::{Ended, Part, Ran, Report, check, left_out};
use crate::{calls, cases, grid};

/// Driver: answers a line.
pub type Answers = Box<dyn FnMut(&str) -> String>;

/// Storage of a checked store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// A folder of the disk.
    Folder,
    /// Something else that has folders.
    Tree,
    /// Something without folders.
    Flat,
}

/// Checks a host whose driver is a function, which `driver` makes in a thread. Crashes, records and races need a program.
///
/// # Errors
///
/// The cases that failed, with their reasons.
pub fn check_driver(parts: &[Part], driver: impl FnOnce() -> Answers + Send + 'static) -> Result<(), Vec<String>> {
    checked(driver, |driver, stores, report| {
        parts.iter().try_for_each(|part| match part {
            Part::Table => grid::run(driver, stores, report),
            Part::Operations => cases::run(driver, stores, report),
            Part::Loop => calls::run(driver, stores, report),
            Part::Crashes | Part::Records | Part::Races => {
                report.add(*part, "driver", left_out("it is not a program that can be killed"))
            }
        })
    })
}

/// Checks operations of an executor, one after the other and many at once. `open` opens the store of a name.
///
/// # Errors
///
/// The cases that failed, with their reasons.
pub fn check_executor<X: Executor + 'static>(
    kind: StoreKind,
    open: impl Fn(&str) -> X + Clone + Send + 'static,
) -> Result<(), Vec<String>> {
    let opened = open.clone();
    let driver = move || -> Answers {
        let mut store = None;
        Box::new(move |line| {
            answer(line, kind, &opened, &mut store).unwrap_or_else(|reason| json!({ "err": reason })).to_string()
        })
    };
    checked(driver, move |driver, stores, report| {
        grid::run(driver, stores, report)?;
        cases::run(driver, stores, report)?;
        for (name, case) in TOGETHER {
            let ran = stores.fresh(driver.hello()).map_err(Ended::from);
            report.add(Part::Operations, name, ran.and_then(|store| case(&mut open(&store))))?;
        }
        Ok(())
    })
}

/// Runs parts of the kit with a driver that answers in a thread.
fn checked(
    driver: impl FnOnce() -> Answers + Send + 'static,
    parts: impl FnOnce(&mut Driver, &Stores, &mut Report<'_>) -> io::Result<()>,
) -> Result<(), Vec<String>> {
    let failed = || -> Result<Vec<String>, String> {
        let reason = |error: io::Error| error.to_string();
        let (requests, input) = pipe().map_err(reason)?;
        let (output, mut answers) = pipe().map_err(reason)?;
        thread::spawn(move || {
            let mut answer = driver();
            for line in BufReader::new(requests).lines().map_while(Result::ok) {
                if writeln!(answers, "{}", answer(&line)).is_err() {
                    break;
                }
            }
        });
        let (mut driver, stores, mut output) = (Driver::within(input, output)?, Stores::new()?, io::sink());
        let mut report = Report::new(&mut output);
        parts(&mut driver, &stores, &mut report).map_err(reason)?;
        Ok(report.into_failed())
    };
    match failed() {
        Ok(failed) if failed.is_empty() => Ok(()),
        Ok(failed) => Err(failed),
        Err(reason) => Err(vec![reason]),
    }
}

/// Answers a line as the driver of an executor.
fn answer<X: Executor>(
    line: &str,
    kind: StoreKind,
    open: &dyn Fn(&str) -> X,
    opened: &mut Option<X>,
) -> Result<Value, String> {
    let mut request: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if request.get("hello").is_some() {
        let (name, package, version_scheme) = ("executor".into(), PACKAGE.into(), "any".into());
        let folder = kind == StoreKind::Folder;
        let (links, folders, lock) = (folder, kind != StoreKind::Flat, Lock::None);
        let hello = Hello { protocol: PROTOCOL, name, package, version_scheme, folder, links, folders, lock };
        return Ok(json!({ "hello": hello }));
    }
    if let Some(opening) = request.get("open") {
        // The old one may lock its store.
        *opened = None;
        *opened = Some(open(opening["store"].as_str().ok_or("the name of the store is missing")?));
        return Ok(json!({ "ok": null }));
    }
    performed(opened.as_mut().ok_or("no store is open")?, request["perform"].take())
}

/// A case: its name, and what runs it.
type Case = (&'static str, fn(&mut dyn Executor) -> Ran);

/// Cases of many operations at once, which a driver cannot be asked for.
const TOGETHER: [Case; 2] = [
    ("each of many operations has one result in its place", each_has_its_result),
    ("a read among many operations sees the changes before it, and no later ones", reads_see_earlier_changes),
];

fn path(text: &str) -> Result<RelPath, Ended> {
    RelPath::new(text).map_err(|error| Ended::Failed(format!("`{text}`: {error}")))
}

fn failed(result: impl Debug) -> Ended {
    Ended::Failed(format!("{result:?}"))
}

/// A result without versions and times: a file that changed just now may have another version than later.
fn lasting(result: &Result<FsOutcome, FsError>) -> (&'static str, Vec<u8>, Vec<String>) {
    let (mut bytes, mut paths) = (Vec::new(), Vec::new());
    match result {
        Ok(FsOutcome::Read(ReadOutcome::Content(content))) => bytes.clone_from(&content.bytes),
        Ok(FsOutcome::ListDirectory(ListOutcome::Page(page))) => {
            paths.extend(page.entries.iter().map(|entry| entry.path.to_string()));
            paths.extend(page.next.iter().map(|next| format!("then {next}")));
        }
        _ => {}
    }
    (word(result), bytes, paths)
}

fn each_has_its_result(store: &mut dyn Executor) -> Ran {
    for number in 0..120 {
        let (path, text) = (path(&format!("d{}/{number:03}.md", number % 3))?, format!("text {number}"));
        store.perform(&FsOp::write(path, text.into(), Precondition::Any)).map_err(failed)?;
    }
    store.perform(&FsOp::MakeDirectory { path: path("folder")? }).map_err(failed)?;
    let read = |at: &str, max_bytes| Ok::<_, Ended>(FsOp::Read { path: path(at)?, offset: 0, max_bytes });
    let mut ops = Vec::new();
    for number in 0..150 {
        // The last thirty are absent.
        ops.push(read(&format!("d{}/{number:03}.md", number % 3), u32::MAX)?);
        ops.push(match number % 5 {
            0 => read("folder", 10)?,
            1 => read(".saddlebag/locks/1", 10)?,
            2 => read("d0/000.md/below", 10)?,
            3 => FsOp::ListDirectory { folder: Some(path("d1")?), after: None, limit: number, unless: None },
            _ => read("d2/002.md", number)?,
        });
    }
    let ops: Vec<&FsOp> = ops.iter().collect();
    let together = store.perform_all(&ops);
    check!(together.len() == ops.len(), "{} operations have {} results", ops.len(), together.len());
    for (op, together) in ops.iter().zip(together) {
        let alone = store.perform(op);
        check!(lasting(&together) == lasting(&alone), "{op:?} gave {together:?} among others and {alone:?} alone");
    }
    let counts = (store.perform_all(&[]).len(), store.perform_all(&ops[..1]).len());
    check!(counts == (0, 1), "no operation and one operation have {counts:?} results");
    Ok(())
}

fn reads_see_earlier_changes(store: &mut dyn Executor) -> Ran {
    let read = FsOp::Read { path: path("a.md")?, offset: 0, max_bytes: u32::MAX };
    let append = FsOp::append(path("a.md")?, b"x".to_vec(), false, Precondition::Any);
    // Enough reads between two changes to use threads.
    let mut ops = Vec::new();
    for _ in 0..3 {
        ops.push(&append);
        ops.extend([&read; 70]);
    }
    let outcomes = store.perform_all(&ops);
    check!(outcomes.len() == ops.len(), "{} operations have {} results", ops.len(), outcomes.len());
    for (index, outcome) in outcomes.into_iter().enumerate() {
        let is_right = match &outcome {
            Ok(FsOutcome::Read(ReadOutcome::Content(content))) => {
                index % 71 != 0 && content.bytes.len() == index / 71 + 1
            }
            Ok(FsOutcome::Append(AppendOutcome::Written(_))) => index % 71 == 0,
            _ => false,
        };
        check!(is_right, "operation {index} gave {outcome:?}");
    }
    Ok(())
}
