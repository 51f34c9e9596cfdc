//! Checks of a host of this process: its driver is a function, or it is an executor.

use std::fmt::Debug;
use std::io::{self, BufRead, BufReader, Write, pipe};
use std::thread;

use saddlebag::protocol::{FsOp, FsOutcome, Precondition, ReadOutcome};
use saddlebag::store::RelPath;
use saddlebag_host::{Executor, PACKAGE};

use crate::bench::Stores;
use crate::driver::{Driver, Hello, Lock, PROTOCOL};
use crate::host::native;
use crate::host_driver::HostDriver;
use crate::ops::word;
use crate::parts::{self, Options};
use crate::report::{Ended, Part, Ran, Report, check};

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
    checked(driver, |driver, stores, report| parts::run(parts, &[], &Options::default(), driver, stores, report))
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
        let (name, package, version_scheme) = ("executor".into(), PACKAGE.into(), "any".into());
        let folder = kind == StoreKind::Folder;
        let (links, folders, lock) = (folder, kind != StoreKind::Flat, Lock::None);
        let hello = Hello { protocol: PROTOCOL, name, package, version_scheme, folder, links, folders, lock };
        let mut driver = HostDriver::new(hello, native, move |store| Ok(opened(store)));
        Box::new(move |line| driver.answer(line))
    };
    checked(driver, move |driver, stores, report| {
        parts::run(&[Part::Table, Part::Operations], &[], &Options::default(), driver, stores, report)?;
        let ran = stores.fresh(driver.hello()).map_err(Ended::from);
        let ran = ran.and_then(|store| many_at_once(&mut open(&store)));
        report.add(Part::Operations, "each of many operations has its result, as if it came alone in its place", ran)
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

fn path(text: &str) -> Result<RelPath, Ended> {
    RelPath::new(text).map_err(|error| Ended::Failed(format!("`{text}`: {error}")))
}

fn failed(result: impl Debug) -> Ended {
    Ended::Failed(format!("{result:?}"))
}

/// Performs many operations at once: a read sees the changes before it and no later ones, and the others have the results
/// that they have alone.
fn many_at_once(store: &mut dyn Executor) -> Ran {
    let read = |at: &str| Ok::<_, Ended>(FsOp::Read { path: path(at)?, offset: 0, max_bytes: u32::MAX });
    store.perform(&FsOp::write(path("d/b.md")?, b"text".into(), Precondition::Any)).map_err(failed)?;
    store.perform(&FsOp::MakeDirectory { path: path("folder")? }).map_err(failed)?;
    let append = FsOp::append(path("a.md")?, b"x".to_vec(), false, Precondition::Any);
    let folder = Some(path("d")?);
    let others = [
        read("folder")?,
        read(".saddlebag/locks/1")?,
        read("d/b.md/below")?,
        read("none.md")?,
        FsOp::ListDirectory { folder, after: None, limit: 9, unless: None },
    ];
    let alone = others.each_ref().map(|op| word(&store.perform(op)));
    let read = read("a.md")?;
    let (mut ops, mut expected) = (Vec::new(), Vec::new());
    for round in 1..=3 {
        ops.push(&append);
        expected.push(("written".to_string(), 0));
        // Enough reads between two changes to use threads.
        for number in 0..70 {
            let other = others.get(number % 10);
            ops.push(other.unwrap_or(&read));
            expected.push(other.map_or(("content".into(), round), |_| (alone[number % 10].clone(), 0)));
        }
    }
    let results = store.perform_all(&ops);
    check!(results.len() == ops.len(), "{} operations have {} results", ops.len(), results.len());
    for ((op, expected), result) in ops.iter().zip(expected).zip(results) {
        let length = match &result {
            Ok(FsOutcome::Read(ReadOutcome::Content(content))) => content.bytes.len(),
            _ => 0,
        };
        check!((word(&result), length) == expected, "{op:?} gave {result:?} instead of {expected:?}");
    }
    let counts = (store.perform_all(&[]).len(), store.perform_all(&ops[..1]).len());
    check!(counts == (0, 1), "no operation and one operation have {counts:?} results");
    Ok(())
}
