//! Races: several drivers change the same files of one store, and some are killed meanwhile. Nothing that was
//! acknowledged may be lost, and no line may be torn or there twice.

use std::collections::BTreeMap;
use std::fmt;
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use serde_json::Value;

use super::bench::{Bench, Stores};
use super::driver::{Driver, Lock, Program};
use super::ops::{append, matches, word, write};
use super::report::{Ended, Ran, Report};
use crate::failure::Failure;

const PART: &str = "races";
/// Files that all writers append to.
const LOGS: [&str; 2] = ["log.md", "daily/log.md"];
/// File with a number for each writer.
const COUNTS: &str = "counts.md";
/// One change out of this many is interrupted.
const KILLED: u32 = 20;
/// Attempts at one edit before the host is said to make no progress.
const ATTEMPTS: u32 = 10_000;

/// Races `writers` drivers, taken in turn from `programs`.
pub(super) fn run(
    programs: &[Program],
    writers: u32,
    rounds: u32,
    driver: &mut Driver,
    stores: &Stores,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let name = if programs.len() > 1 { "hosts of one store" } else { "drivers of one store" };
    let ran = race(programs, writers, rounds, driver, stores);
    let name = match &ran {
        Ok(found) => format!("{writers} {name}: {found}"),
        Err(_) => format!("{writers} {name}"),
    };
    report.add(PART, name, ran.map(drop))
}

/// Totals of all writers.
struct Found {
    lines: usize,
    edits: u32,
    killed: u32,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, edits, killed } = self;
        write!(f, "{lines} lines and {edits} edits, {killed} times killed")
    }
}

fn race(programs: &[Program], writers: u32, rounds: u32, driver: &mut Driver, stores: &Stores) -> Result<Found, Ended> {
    let mut bench = Bench::open(driver, stores)?;
    let mut drivers = Vec::new();
    for number in 0..writers {
        let driver = Driver::start(programs[number as usize % programs.len()].clone())?;
        let hello = driver.hello();
        if hello.lock == Lock::None {
            let reason = format!("{} has no lock, so it must be the only writer", hello.name);
            return Err(Ended::LeftOut(reason));
        }
        if hello.folder != bench.driver.hello().folder {
            return Err(Ended::LeftOut(format!("{} has no store on the disk", hello.name)));
        }
        drivers.push(driver);
    }
    let counts: String = (0..writers).map(|who| count_line(who, 0)).collect();
    bench.put(COUNTS, &counts)?;
    if !bench.driver.hello().folder {
        for driver in &mut drivers {
            let mut other = Bench::on(driver, bench.store(), 2)?;
            if !matches!(other.holds(COUNTS, Some(&counts)), Ok(())) {
                return Err(Ended::LeftOut("two drivers have no store in common".into()));
            }
        }
    }
    let store = bench.store();
    let ended: Vec<Result<Writer, Ended>> = thread::scope(|scope| {
        let work = |(who, mut driver): (u32, Driver)| {
            let mut bench = Bench::on(&mut driver, store, u64::from(who) * 1_000_000 + 3)?;
            let mut writer = Writer { who, epoch: u64::from(who) * 1_000_000 + 3, ..Writer::default() };
            for number in 0..rounds {
                writer.append(number, &mut bench)?;
                writer.edit(&mut bench)?;
            }
            Ok(writer)
        };
        let threads: Vec<_> = (0..).zip(drivers).map(|each| scope.spawn(move || work(each))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|ended| ended.unwrap_or_else(|_| Err(Ended::Failed("a writer of the kit panicked".into()))))
            .collect()
    });
    let writers: Vec<Writer> = ended.into_iter().collect::<Result<_, _>>()?;
    judge(&mut bench, &writers)
}

/// Reads what is there in the end, and compares it with what each writer knows.
fn judge(bench: &mut Bench<'_>, writers: &[Writer]) -> Result<Found, Ended> {
    let mut text = String::new();
    for log in LOGS {
        text += &String::from_utf8_lossy(&bench.content(log)?.bytes);
    }
    let mut found: BTreeMap<&str, u32> = BTreeMap::new();
    text.lines().for_each(|line| *found.entry(line).or_default() += 1);
    let mut lines = 0;
    for writer in writers {
        for (line, acknowledged) in &writer.lines {
            let times = found.remove(line.as_str()).unwrap_or_default();
            let allowed = if *acknowledged { 1..=1 } else { 0..=1 };
            if !allowed.contains(&times) {
                let what = if *acknowledged { "acknowledged" } else { "interrupted" };
                return Err(Ended::Failed(format!("the {what} line {line:?} is there {times} times")));
            }
            lines += times as usize;
        }
    }
    if let Some((line, _)) = found.into_iter().next() {
        return Err(Ended::Failed(format!("nobody has written the line {line:?}")));
    }
    let counts = String::from_utf8_lossy(&bench.content(COUNTS)?.bytes).into_owned();
    for writer in writers {
        writer.knows(&counts)?;
    }
    let sum = |of: fn(&Writer) -> u32| writers.iter().map(of).sum();
    Ok(Found { lines, edits: sum(|writer| writer.edits), killed: sum(|writer| writer.killed) })
}

/// A writer, and what it knows about its changes.
#[derive(Default)]
struct Writer {
    who: u32,
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
        match self.change(&op, bench)? {
            Some("written") => self.lines.push((line, true)),
            Some("locked" | "timed-out") => {}
            None | Some("unknown") => self.lines.push((line, false)),
            Some(other) => return Err(Ended::Failed(format!("an append gave `{other}`"))),
        }
        Ok(())
    }

    /// Adds one to the number of this writer.
    fn edit(&mut self, bench: &mut Bench<'_>) -> Ran {
        for _ in 0..ATTEMPTS {
            let content = bench.content(COUNTS)?;
            let counts = String::from_utf8_lossy(&content.bytes).into_owned();
            self.edits = self.knows(&counts)?;
            self.is_unsure = false;
            let new = counts.replacen(&count_line(self.who, self.edits), &count_line(self.who, self.edits + 1), 1);
            match self.change(&write(COUNTS, new.as_bytes(), matches(&content.version)), bench)? {
                Some("written") => {
                    self.edits += 1;
                    return Ok(());
                }
                None | Some("unknown") => {
                    self.is_unsure = true;
                    return Ok(());
                }
                Some("stale(v)" | "locked" | "timed-out") => {}
                Some(other) => return Err(Ended::Failed(format!("an edit gave `{other}`"))),
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

    /// Performs a change, and kills the driver meanwhile now and then. Returns the word of the result, if there is one.
    fn change(&mut self, op: &Value, bench: &mut Bench<'_>) -> Result<Option<&'static str>, Ended> {
        if self.random.u32(0..KILLED) > 0 {
            return Ok(Some(word(&bench.perform(op)?)));
        }
        bench.driver.begin(op)?;
        thread::sleep(Duration::from_micros(self.random.u64(0..3000)));
        let answer = bench.driver.kill();
        self.killed += 1;
        self.epoch += 1;
        bench.reopen(self.epoch)?;
        Ok(answer.as_ref().map(word))
    }
}

fn count_line(who: u32, number: u32) -> String {
    format!("writer {who} has {number};\n")
}
