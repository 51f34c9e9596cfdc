//! Crashes: a driver is killed, and another one must find every acknowledged change, and no half of one.
//!
//! The driver is killed in the middle of a change: then both the state before and the state after are right, unless it has
//! answered.

use std::collections::BTreeMap;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use saddlebag::protocol::Version;
use serde_json::Value;

use crate::bench::{Bench, Stores};
use crate::driver::{Driver, Program};
use crate::ops::{append, matches, read, remove, rename, with, word, write};
use crate::report::{Ended, Part, Ran, Report, at_once, check, left_out};

const PART: Part = Part::Crashes;

/// Kills a driver `kills` times during each kind of change.
pub(crate) fn run(kills: u32, driver: &mut Driver, stores: &Stores, report: &mut Report<'_>) -> io::Result<()> {
    let survives = stores_survive(driver, stores);
    let goes_on = survives.is_ok();
    report.add(PART, "another driver finds what a killed one has written", survives)?;
    if !goes_on {
        return Ok(());
    }
    let program = driver.program();
    // Together, because the lease of a dead holder lasts for seconds.
    let ended = at_once(CHANGES.map(|(_, change)| move || during(change, kills, program, stores)));
    for ((name, _), ran) in CHANGES.into_iter().zip(ended) {
        report.add(PART, format!("a host is killed during {name}"), ran)?;
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

type Files = BTreeMap<String, Vec<u8>>;

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
        let op = with(write("a.md", new, "any"), "keep-as", "d/kept.md");
        (op, vec![("a.md", new.to_vec()), ("d/kept.md", OLD.to_vec())])
    }),
    ("a removal with `keep-as`", |_| {
        (with(remove("a.md", "any"), "keep-as", "d/kept.md"), vec![("d/kept.md", OLD.to_vec())])
    }),
    ("a move", |_| (rename("a.md", "d/b.md", "any"), vec![("d/b.md", OLD.to_vec())])),
];
const OLD: &[u8] = b"the old text\n";

fn during(change: Change, kills: u32, program: &Program, stores: &Stores) -> Ran {
    let driver = &mut Driver::start(program.clone())?;
    let new = b"a line of the new text\n".repeat(20_000);
    let (op, after) = change(&new);
    let after: Files = after.into_iter().map(|(path, bytes)| (path.to_string(), bytes)).collect();
    let before: Files = [("a.md".to_string(), OLD.to_vec())].into();
    let mut usual = Duration::from_millis(1);
    // The first one is killed after its answer, and shows how long it takes.
    for kill in 0..=kills {
        let mut bench = Bench::open(driver, stores)?;
        bench.expect(&write("a.md", OLD, "any"), &["written"])?;
        bench.driver.begin(&op)?;
        let begun = Instant::now();
        let answer = if kill == 0 {
            let answer = bench.driver.finish(&op)?;
            usual = begun.elapsed();
            bench.driver.kill();
            Some(answer)
        } else {
            thread::sleep(usual.mul_f64(f64::from(kill) / f64::from(kills) * 1.1));
            bench.driver.kill()
        };
        let is_done = answer.as_ref().is_some_and(|answer| ["written", "done"].contains(&&*word(answer)));
        check!(answer.is_none() || is_done, "it gave {answer:?}");
        bench.reopen(2)?;
        // An interrupted `keep-as` is finished before the next change, even one that is refused.
        for path in ["a.md", "d/b.md", "d/kept.md"] {
            let refused = write(path, b"x", matches(&Version("no such version".into())));
            bench.expect(&refused, &["stale(v)", "stale(none)"])?;
        }
        let found = bench.files()?;
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
    Ok(())
}
