//! Crashes: a driver is killed, and another one must find every acknowledged change, and no half of one.
//!
//! In the first part, the kit runs commands, the driver performs their operations and is killed after
//! a number of changes. The same commands are interrupted at the same place in memory, and the files and the answers of
//! the next driver must be those of the next engine in memory. In the second part, the driver is killed in the middle of
//! an operation: then both the state before and the state after are right, unless it has answered.

use std::collections::BTreeMap;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use saddlebag::protocol::{EntryKind, FsError, FsOp, FsOutcome};
use saddlebag_host::Executor;
use serde_json::Value;

use crate::bench::{Bench, Stores};
use crate::driver::{Driver, Lock, Program};
use crate::host::{CallingHost, INDEX, InMemory, OwnedOpening, calls_of, native, time, value};
use crate::locks;
use crate::ops::{append, read, remove_with, rename, word, write, write_with};
use crate::report::{Ended, Part, Ran, Report, check, left_out};

const PART: Part = Part::Crashes;

/// Runs both parts.
pub(crate) fn run(
    rounds: u32,
    kills: u32,
    driver: &mut Driver,
    stores: &Stores,
    report: &mut Report<'_>,
) -> io::Result<()> {
    let survives = stores_survive(driver, stores);
    let goes_on = survives.is_ok();
    report.add(PART, "another driver finds what a killed one has written", survives)?;
    if !goes_on {
        return Ok(());
    }
    report.add(PART, "a host is killed between two changes", between_changes(rounds, driver, stores))?;
    let program = driver.program();
    let ended: Vec<Result<Kills, Ended>> = thread::scope(|scope| {
        // Together, because the lease of a dead holder lasts for seconds.
        let threads = CHANGES.map(|(_, change)| scope.spawn(move || during(change, kills, program, stores)));
        let panicked = |_| Err(Ended::Failed("a thread of the kit panicked".into()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
    });
    for ((name, _), ran) in CHANGES.into_iter().zip(ended) {
        let kills = ran.as_ref().map(|Kills { made, held }| format!(": {made} times, {held} of them holding a lock"));
        report.add(PART, format!("a host is killed during {name}{}", kills.unwrap_or_default()), ran.map(drop))?;
    }
    Ok(())
}

/// Fails unless another driver finds what a killed one has written.
fn stores_survive(driver: &mut Driver, stores: &Stores) -> Ran {
    let mut bench = Bench::open(driver, stores)?;
    bench.put("a.md", "text")?;
    bench.driver.kill();
    bench.reopen(2)?;
    match bench.perform(&read("a.md", 0, 9))? {
        answer if word(&answer) == "absent" && !bench.driver.hello().folder => {
            left_out("the stores end with their driver")
        }
        _ => bench.holds("a.md", Some("text")),
    }
}

fn between_changes(rounds: u32, driver: &mut Driver, stores: &Stores) -> Ran {
    let scheme = driver.hello().version_scheme.clone();
    let whole = story(&scheme, &mut InMemory::like(driver.hello()), u32::MAX)?;
    let rounds = rounds.clamp(1, whole.changes);
    for round in 0..rounds {
        let at = round * whole.changes / rounds;
        let expected = story(&scheme, &mut InMemory::like(driver.hello()), at)?;
        let mut bench = Bench::open(driver, stores)?;
        let found = story(&scheme, &mut bench, at)?;
        let context =
            || format!("killed after {at} of {} changes, in call {}", whole.changes, expected.answered.len() + 1);
        for (what, expected, found) in
            [("the next driver", &expected.crashed, &found.crashed), ("its end", &expected.ended, &found.ended)]
        {
            if let Some(difference) = files_differ(expected, found) {
                return Err(Ended::Failed(format!("{}: at {what}, {difference}", context())));
            }
        }
        for (which, expected, found) in
            [("before", &expected.answered, &found.answered), ("after", &expected.again, &found.again)]
        {
            let differing = expected.iter().zip(found).position(|(one, other)| one != other);
            check!(
                differing.is_none() && expected.len() == found.len(),
                "{}: the answers {which} it are {found:?} instead of {expected:?}",
                context()
            );
        }
    }
    Ok(())
}

/// What happens to a store whose host is killed.
struct Story {
    /// Answers before the crash.
    answered: Vec<String>,
    /// Files after the crash.
    crashed: Files,
    /// Answers to the interrupted command and to all after it.
    again: Vec<String>,
    /// Files at the end.
    ended: Files,
    /// Number of changes before the crash.
    changes: u32,
}

type Files = BTreeMap<String, Vec<u8>>;

/// A store whose host can be killed.
trait Crashing: Executor {
    /// Kills the host, and starts another one on the same store.
    fn crash(&mut self) -> Result<(), String>;

    /// Returns all files that a listing shows.
    fn files(&mut self) -> Result<Files, String>;
}

impl Crashing for InMemory {
    fn crash(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn files(&mut self) -> Result<Files, String> {
        Ok(self.disk.files())
    }
}

impl Executor for Bench<'_> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        // A driver that is in trouble shows it in the answers of the commands.
        value(op).and_then(|op| Bench::perform(self, &op)).unwrap_or_else(|trouble| Err(FsError::Other(trouble)))
    }
}

impl Crashing for Bench<'_> {
    fn crash(&mut self) -> Result<(), String> {
        self.driver.kill();
        self.reopen(2)
    }

    fn files(&mut self) -> Result<Files, String> {
        let (mut files, mut folders) = (Files::new(), vec![None::<String>, Some(".saddlebag".into())]);
        let reason = |ended| match ended {
            Ended::Failed(reason) | Ended::LeftOut(reason) => reason,
        };
        while let Some(folder) = folders.pop() {
            for entry in self.entries(folder.as_deref()).map_err(reason)? {
                let path = entry.path.to_string();
                match entry.kind {
                    EntryKind::Directory => folders.push(Some(path)),
                    _ => drop(files.insert(path.clone(), self.content(&path).map_err(reason)?.bytes)),
                }
            }
        }
        Ok(files)
    }
}

/// Runs the commands until the host is killed after `at` changes, and then the rest.
fn story<S: Crashing>(scheme: &str, store: &mut S, at: u32) -> Result<Story, String> {
    let calls = calls_of("crashes")?;
    let answer = |host: &mut CallingHost<Mortal<'_, S>>, number: usize, epoch| {
        let called = host.call(time(number as u32, epoch), &calls[number].tool, calls[number].input.to_string());
        called.map(|called| called.answer.text.as_str().to_string()).unwrap_or_else(|error| error.to_string())
    };
    let (mut answered, mut again) = (Vec::new(), Vec::new());
    let mut host = opened(scheme, 1, store, at)?;
    for number in 0..calls.len() {
        let text = answer(&mut host, number, 1);
        if host.executor_mut().is_dead() {
            break;
        }
        answered.push(text);
    }
    let changes = host.executor_mut().made;
    store.crash()?;
    let crashed = without_index(store.files()?);
    let mut host = opened(scheme, 2, store, u32::MAX)?;
    for number in answered.len()..calls.len() {
        again.push(answer(&mut host, number, 2));
    }
    let ended = without_index(store.files()?);
    Ok(Story { answered, crashed, again, ended, changes })
}

fn opened<'a, S: Crashing>(
    scheme: &str,
    epoch: u64,
    store: &'a mut S,
    left: u32,
) -> Result<CallingHost<Mortal<'a, S>>, String> {
    let opening = OwnedOpening { epoch, project: None, agent: Some("ada".into()) };
    let store = Mortal { store, left, made: 0 };
    CallingHost::open(&native, opening, scheme, store).map_err(|error| error.to_string())
}

/// Executor that performs a number of changes, and then nothing more.
struct Mortal<'a, S> {
    store: &'a mut S,
    left: u32,
    made: u32,
}

impl<S> Mortal<'_, S> {
    /// Returns true if a change was asked for that was not made any more.
    fn is_dead(&self) -> bool {
        self.made > self.left
    }
}

impl<S: Executor> Executor for Mortal<'_, S> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        let counts = match op {
            FsOp::Write { path, .. } | FsOp::Append { path, .. } | FsOp::Remove { path, .. } => {
                !path.as_str().contains(INDEX)
            }
            FsOp::Rename { .. } | FsOp::MakeDirectory { .. } | FsOp::RemoveDirectory { .. } => true,
            _ => false,
        };
        self.made += u32::from(counts && !self.is_dead());
        if self.is_dead() { Err(FsError::Other("the host was killed".into())) } else { self.store.perform(op) }
    }
}

fn without_index(mut files: Files) -> Files {
    files.retain(|path, _| !path.contains(INDEX));
    files
}

/// Describes the first file that differs.
fn files_differ(expected: &Files, found: &Files) -> Option<String> {
    let shown = |bytes: Option<&Vec<u8>>| {
        bytes.map_or("nothing".to_string(), |bytes| format!("{:?}", String::from_utf8_lossy(bytes)))
    };
    let path = expected.keys().chain(found.keys()).find(|path| expected.get(*path) != found.get(*path))?;
    Some(format!("`{path}` holds {} instead of {}", shown(found.get(path)), shown(expected.get(path))))
}

/// A change beside `a.md` or of it, and the files after it.
type Change = fn(&[u8]) -> (Value, Vec<(&'static str, Vec<u8>)>);

/// Changes that take long enough to be interrupted.
const CHANGES: [(&str, Change); 6] = [
    ("a write", |new| (write("a.md", new, "any"), vec![("a.md", new.to_vec())])),
    ("an append", |new| (append("a.md", new, true, "any"), vec![("a.md", [OLD, new].concat())])),
    ("an append to a new file", |new| {
        (append("d/b.md", new, true, "any"), vec![("a.md", OLD.to_vec()), ("d/b.md", new.to_vec())])
    }),
    ("a write with `keep-as`", |new| {
        (
            write_with("a.md", new, "any", Some("d/kept.md"), None),
            vec![("a.md", new.to_vec()), ("d/kept.md", OLD.to_vec())],
        )
    }),
    ("a removal with `keep-as`", |_| {
        (remove_with("a.md", "any", Some("d/kept.md"), false), vec![("d/kept.md", OLD.to_vec())])
    }),
    ("a move", |_| (rename("a.md", "d/b.md", "any"), vec![("d/b.md", OLD.to_vec())])),
];
const OLD: &[u8] = b"the old text\n";
/// Time in which a change takes its lock.
const HELD_WITHIN: Duration = Duration::from_millis(500);

/// Number of drivers that were killed, and of those that held a lock of the disk.
#[derive(Default)]
struct Kills {
    made: u32,
    held: u32,
}

fn during(change: Change, kills: u32, program: &Program, stores: &Stores) -> Result<Kills, Ended> {
    let driver = &mut Driver::start(program.clone())?;
    let new = b"a line of the new text\n".repeat(20_000);
    let (op, after) = change(&new);
    let after: Files = after.into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect();
    let before: Files = [("a.md".to_string(), OLD.to_vec())].into();
    let (mut usual, mut killed) = (Duration::from_millis(1), Kills::default());
    let has_locks = driver.hello().folder && driver.hello().lock != Lock::None;
    // The first one is not killed, and shows how long it takes.
    for kill in 0..=2 * kills {
        // Chance may spare all that held a lock.
        if kill > kills && (!has_locks || killed.held > 0) {
            break;
        }
        let mut bench = Bench::open(driver, stores)?;
        bench.expect(&write("a.md", OLD, "any"), &["written"])?;
        bench.driver.begin(&op)?;
        let begun = Instant::now();
        let answer = if kill == 0 {
            let answer = bench.driver.finish(&op)?;
            usual = begun.elapsed();
            Some(answer)
        } else {
            let is_held = |bench: &Bench<'_>| Ok::<_, Ended>(has_locks && locks::is_any_held(&bench.on_disk()?));
            if kill <= kills {
                thread::sleep(usual.mul_f64(f64::from(kill) / f64::from(kills) * 1.1));
            } else {
                while begun.elapsed() < HELD_WITHIN && !is_held(&bench)? {}
            }
            let answer = bench.driver.kill();
            killed.made += 1;
            killed.held += u32::from(is_held(&bench)?);
            answer
        };
        let is_done = answer.as_ref().is_some_and(|answer| matches!(word(answer), "written" | "done"));
        check!(answer.is_none() || is_done, "it gave {answer:?}");
        bench.driver.kill();
        bench.reopen(2)?;
        // An interrupted `keep-as` is finished before the next change, even one that is refused.
        for path in ["a.md", "d/b.md", "d/kept.md"] {
            bench.expect(&write(path, b"x", crate::ops::matches(&no_version())), &["stale(v)", "stale(none)"])?;
        }
        let found = without_index(bench.files()?);
        let is_after = files_differ(&after, &found);
        let difference = if is_done { is_after } else { is_after.and_then(|_| files_differ(&before, &found)) };
        if let Some(difference) = difference {
            let shown: String = difference.chars().take(200).collect();
            let when = if is_done { "after its answer" } else { "before its answer" };
            return Err(Ended::Failed(format!("killed {when}: {shown}")));
        }
        bench.put("a.md", "it goes on")?;
        bench.holds("a.md", Some("it goes on"))?;
    }
    Ok(killed)
}

fn no_version() -> saddlebag::protocol::Version {
    saddlebag::protocol::Version("no such version".into())
}
