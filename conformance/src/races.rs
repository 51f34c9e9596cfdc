//! Races: several drivers change the same files of one store, and some are killed meanwhile. Nothing that was
//! acknowledged may be lost, and no line may be torn or there twice.
//!
//! Chance may spare a host that takes no lock. So the kit also holds the lock of a file itself, changes the file once the driver has
//! begun a change of it, and gives the lock back: the driver must not have looked at the file before.

use std::collections::BTreeMap;
use std::io;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use serde_json::Value;

use crate::bench::{Bench, Stores};
use crate::driver::{Answer, Driver, Hello, Lock, Program, short};
use crate::host::value;
use crate::locks::{self, Held, Kind};
use crate::ops::{append, matches, remove, rename, with, word, write};
use crate::report::{Ended, Part, Ran, Report, at_once, check, left_out};

const PART: Part = Part::Races;
/// Files that all writers append to.
const LOGS: [&str; 2] = ["log.md", "daily/log.md"];
/// File with a number for each writer.
const COUNTS: &str = "counts.md";
/// One change out of this many is interrupted.
const KILLED: u32 = 20;
/// Attempts at one edit before the host is said to make no progress.
const ATTEMPTS: u32 = 10_000;
/// Time in which a driver that does not wait for a lock makes its change.
const HELD: Duration = Duration::from_millis(200);

/// Races `writers` drivers, taken in turn from `programs`.
pub(crate) fn run(
    programs: &[Program],
    writers: u32,
    rounds: u32,
    driver: &mut Driver,
    stores: &Stores,
    report: &mut Report<'_>,
) -> io::Result<()> {
    for kind in Kind::ALL {
        report.add(PART, format!("changes wait for another host with {}", kind.name()), wait(kind, driver, stores))?;
    }
    let name = if programs.len() > 1 { "hosts of one store" } else { "drivers of one store" };
    let ran = race(programs, writers, rounds, driver, stores);
    let found = ran.as_ref().map(|found| format!(": {found}")).unwrap_or_default();
    report.add(PART, format!("{writers} {name}{found}"), ran.map(drop))
}

/// Begins each change while the kit holds the lock, and changes the files before it gives the lock back.
fn wait(kind: Kind, driver: &mut Driver, stores: &Stores) -> Ran {
    let (path, free, other, kept) = (&*locks::path(0), &*locks::path(1), "other.md", "kept.md");
    type Change<'a> = (&'a str, &'a dyn Fn(Value) -> Value, &'a str, &'a [(&'a str, Option<&'a str>)]);
    let changes: [Change<'_>; 6] = [
        ("an append", &|_| append(path, b"new\n", true, "any"), "written", &[(path, Some("theirs\nnew\n"))]),
        ("a write", &|version| write(path, b"new", version), "stale(v)", &[(path, Some("theirs\n"))]),
        (
            "a write with `keep-as`",
            &|_| with(write(path, b"new", "any"), "keep-as", kept),
            "written",
            &[(path, Some("new")), (kept, Some("theirs\n"))],
        ),
        ("a removal", &|version| remove(path, version), "stale(v)", &[(path, Some("theirs\n"))]),
        ("a move", &|version| rename(path, other, version), "stale(v)", &[(path, Some("theirs\n")), (other, None)]),
        (
            "a move to the path of the lock",
            &|_| rename("moved.md", free, "any"),
            "exists",
            &[(free, Some("theirs\n")), ("moved.md", Some("moved"))],
        ),
    ];
    for (what, change, expected, files) in changes {
        let mut bench = Bench::open(driver, stores)?;
        let root = bench.on_disk()?;
        if bench.driver.hello().lock == Lock::None {
            return left_out("the host has no lock, so it must be the only writer");
        }
        let version = bench.put(path, "old")?;
        bench.put("moved.md", "moved")?;
        let op = change(matches(&version));
        let held = Held::new(&root, kind, &["\n".into()])?;
        bench.driver.begin(&op)?;
        thread::sleep(HELD);
        for path in [path, free] {
            locks::replace(&root, path, "theirs\n")?;
        }
        held.release()?;
        let answer = bench.driver.finish(&op)?;
        let found = if word(&answer) == expected {
            files.iter().try_for_each(|(path, text)| bench.holds(path, *text))
        } else {
            Err(Ended::Failed(format!("it gave {} instead of `{expected}`", shown(&answer))))
        };
        found.map_err(|ended| ended.within(&format!("{what} did not wait, or looked at the files before"), ""))?;
    }
    Ok(())
}

/// Returns the totals of all writers.
fn race(
    programs: &[Program],
    writers: u32,
    rounds: u32,
    driver: &mut Driver,
    stores: &Stores,
) -> Result<String, Ended> {
    let mut bench = Bench::open(driver, stores)?;
    let counts: String = (1..=writers).map(|who| count_line(who, 0)).collect();
    bench.put(COUNTS, &counts)?;
    let mut drivers = Vec::new();
    for program in programs.iter().cycle().take(writers as usize) {
        let mut driver = Driver::start(program.clone())?;
        let Hello { name, lock, folder, .. } = driver.hello().clone();
        if lock == Lock::None {
            return Err(Ended::LeftOut(format!("{name} has no lock, so it must be the only writer")));
        }
        let are_folders = folder && bench.driver.hello().folder;
        if !are_folders && Bench::on(&mut driver, bench.store(), 2)?.holds(COUNTS, Some(&counts)).is_err() {
            return Err(Ended::LeftOut(format!("{name} has no store in common with the first driver")));
        }
        drivers.push(driver);
    }
    let store = bench.store();
    let work = (1..).zip(drivers).map(|(who, mut driver)| {
        move || {
            let (epoch, name) = (u64::from(who) * 1_000_000 + 3, format!("driver {who} ({})", driver.program()));
            let mut bench = Bench::on(&mut driver, store, epoch)?;
            let mut writer = Writer { who, epoch, name, ..Writer::default() };
            for number in 0..rounds {
                let appended = writer.append(number, &mut bench).map_err(|ended| ("append", ended));
                let changed = appended.and_then(|()| writer.edit(&mut bench).map_err(|ended| ("edit", ended)));
                changed.map_err(|(what, ended)| {
                    ended.within(&format!("{}, {what} {number}", writer.name), &bench.driver.errors())
                })?;
            }
            Ok(writer)
        }
    });
    let writers: Vec<Writer> = at_once(work).into_iter().collect::<Result<_, _>>()?;
    judge(&mut bench, &writers)
}

/// Reads what is there in the end, and compares it with what each writer knows.
fn judge(bench: &mut Bench<'_>, writers: &[Writer]) -> Result<String, Ended> {
    let [log, other_log, counts] = [LOGS[0], LOGS[1], COUNTS].map(|file| bench.text(file));
    let (logs, counts) = ([log?, other_log?], counts?);
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    logs.iter().flat_map(|log| log.lines()).for_each(|line| *found.entry(line).or_default() += 1);
    let (mut lines, mut edits, mut killed) = (0, 0, 0);
    for writer in writers {
        let name = &writer.name;
        for (line, acknowledged) in &writer.lines {
            let times = found.remove(line.as_str()).unwrap_or_default();
            let what = if *acknowledged { "acknowledged" } else { "interrupted" };
            let is_right = times == 1 || times == 0 && !acknowledged;
            check!(is_right, "{name}: the {what} line {line:?} is there {times} times");
            lines += times;
        }
        for log in &logs {
            // An interrupted change may be made later.
            let numbers = log.lines().filter_map(|line| writer.lines.iter().position(|own| own.1 && own.0 == line));
            check!(numbers.is_sorted(), "{name}: its lines are not in the order in which they were acknowledged");
        }
        writer.knows(&counts).map_err(|ended| ended.within(name, ""))?;
        (edits, killed) = (edits + writer.edits, killed + writer.killed);
    }
    check!(found.is_empty(), "nobody has written the lines {:?}", found.keys());
    Ok(format!("{lines} lines and {edits} edits, {killed} times killed"))
}

/// A writer, and what it knows about its changes.
#[derive(Default)]
struct Writer {
    who: u32,
    /// Number and command of its driver.
    name: String,
    epoch: u64,
    random: Rng,
    /// Lines, and whether they were acknowledged.
    lines: Vec<(String, bool)>,
    /// Number of acknowledged edits.
    edits: u32,
    /// True if an edit more may have been made.
    is_unsure: bool,
    killed: u32,
}

impl Writer {
    fn append(&mut self, number: u32, bench: &mut Bench<'_>) -> Ran {
        let line = format!("- writer {} line {number}.", self.who);
        let op = append(LOGS[number as usize % LOGS.len()], format!("{line}\n").as_bytes(), true, "any");
        let answer = self.change(&op, bench)?;
        match answer.as_ref().map(word).as_deref() {
            Some("written") => self.lines.push((line, true)),
            Some("locked" | "timed-out") => {}
            None | Some("unknown") => self.lines.push((line, false)),
            Some(_) => return Err(unexpected(&op, answer)),
        }
        Ok(())
    }

    /// Adds one to the number of this writer.
    fn edit(&mut self, bench: &mut Bench<'_>) -> Ran {
        for _ in 0..ATTEMPTS {
            let content = bench.content(COUNTS)?;
            let counts = String::from_utf8_lossy(&content.bytes);
            self.edits = self.knows(&counts)?;
            self.is_unsure = false;
            let new = counts.replacen(&count_line(self.who, self.edits), &count_line(self.who, self.edits + 1), 1);
            let op = write(COUNTS, new.as_bytes(), matches(&content.version));
            let answer = self.change(&op, bench)?;
            match answer.as_ref().map(word).as_deref() {
                Some("written") => {
                    self.edits += 1;
                    return Ok(());
                }
                None | Some("unknown") => {
                    self.is_unsure = true;
                    return Ok(());
                }
                Some("stale(v)" | "locked" | "timed-out") => {}
                Some(_) => return Err(unexpected(&op, answer)),
            }
        }
        Err(Ended::Failed(format!("an edit lost {ATTEMPTS} races in a row")))
    }

    /// Checks the number of this writer, and returns it.
    fn knows(&self, counts: &str) -> Result<u32, Ended> {
        let sure = count_line(self.who, self.edits);
        let is_there = |line: &str| counts.split_inclusive('\n').any(|one| one == line);
        if is_there(&sure) {
            return Ok(self.edits);
        }
        if self.is_unsure && is_there(&count_line(self.who, self.edits + 1)) {
            return Ok(self.edits + 1);
        }
        Err(Ended::Failed(format!("an acknowledged edit is lost: {sure:?} is not in {counts:?}")))
    }

    /// Performs a change, and kills the driver meanwhile now and then. Returns the result, if there is one.
    fn change(&mut self, op: &Value, bench: &mut Bench<'_>) -> Result<Option<Answer>, Ended> {
        if self.random.u32(0..KILLED) > 0 {
            return Ok(Some(bench.perform(op)?));
        }
        bench.driver.begin(op)?;
        thread::sleep(Duration::from_micros(self.random.u64(0..3000)));
        let answer = bench.driver.kill();
        self.killed += 1;
        self.epoch += 1;
        bench.reopen(self.epoch)?;
        Ok(answer)
    }
}

fn unexpected(op: &Value, answer: Option<Answer>) -> Ended {
    Ended::Failed(format!("{} gave {}", short(op), answer.map_or("nothing".into(), |answer| shown(&answer))))
}

fn shown(answer: &Answer) -> String {
    value(answer).map_or_else(|reason| reason, |answer| short(&answer))
}

fn count_line(who: u32, number: u32) -> String {
    format!("writer {who} has {number};\n")
}
