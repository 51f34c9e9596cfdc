//! Whole runs of the program on a notebook: recall and search beside `rg`, and every other command against the clock.

use std::fs;
use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use crate::corpus;
use crate::report::{Bar, Report};
use crate::selection::Selection;
use crate::work::{QUERIES, Result, median, ripgrep, settle};

const RUNS: usize = 11;
/// Title of the note that the commands are about.
const NOTE: &str = "Anchor";
const FILE: &str = "anchor.md";
/// Text that an edit of this note replaces, and its replacement.
const DEPTHS: [&str; 2] = ["at 0 metres", "at 1 metre"];
/// Longest median of a command, except for recall and search.
const BAR: Duration = Duration::from_millis(300);

/// Runs a command, which must succeed.
fn run(program: &Path, root: &Path, arguments: &[&str]) -> Result<()> {
    let output = Process::new(program).arg("--root").arg(root).arg("--notebook").args(arguments).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

pub(crate) fn measure(report: &mut Report, selection: &Selection) -> Result<()> {
    let Some(program) = &selection.program else { return Ok(()) };
    for notes in &selection.notes {
        let folder = tempfile::tempdir()?;
        let root = folder.path();
        corpus::write_notebook(root, *notes, 3)?;
        fs::write(root.join(FILE), format!("# {NOTE}\n\nDropped {}. #harbour\n", DEPTHS[0]))?;
        settle();
        // The first run makes the index.
        run(program, root, &["recall", QUERIES[0].1[0]])?;
        let is_large = *notes > 50_000;
        for (name, words) in QUERIES {
            let rg = ripgrep(root, words)?;
            for (verb, at_most) in [("recall", [0.3, 0.4]), ("search", [1.0, 0.7])] {
                let words = words.join(" ");
                let time = median(RUNS, || run(program, root, &[verb, &words]))?;
                let bars = [Bar { baseline: "rg", time: rg, at_most: at_most[usize::from(is_large)] }];
                report.add(&format!("{verb} by a new process, {name}, {notes} notes"), time, &bars);
            }
        }
        others(report, program, root, *notes)?;
    }
    Ok(())
}

fn others(report: &mut Report, program: &Path, root: &Path, notes: usize) -> Result<()> {
    let mut number = 0;
    let mut add = |name: &str, arguments: &dyn Fn(usize) -> Vec<String>| -> Result<()> {
        let time = median(RUNS, || {
            number += 1;
            let arguments = arguments(number);
            run(program, root, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
        })?;
        let bar = Bar { baseline: "300 ms", time: Some(BAR), at_most: 1.0 };
        report.add(&format!("`{name}` by a new process, {notes} notes"), time, &[bar]);
        Ok(())
    };
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    for question in [&["status"][..], &["list", "--tag", "harbour"], &["show", NOTE], &["related", NOTE], &["history"]]
    {
        add(question[0], &|_| words(question))?;
    }
    add("log", &|number| words(&["log", &format!("Measured {number}")]))?;
    add("remember", &|number| words(&["remember", &format!("Measured {number}"), "Once more."]))?;
    add("edit", &|_| {
        let is_at_zero = fs::read_to_string(root.join(FILE)).is_ok_and(|text| text.contains(DEPTHS[0]));
        let [old, new] = if is_at_zero { DEPTHS } else { [DEPTHS[1], DEPTHS[0]] };
        words(&["edit", NOTE, "--old", old, "--new", new])
    })?;
    add("undo", &|_| words(&["undo"]))
}
