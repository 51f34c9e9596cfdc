//! The notebook: indexing and recall, and the growth of their cost.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use saddlebag::files::{FilesCommand, Recall};
use saddlebag::{Command, Config, Memory};
use saddlebag_host::{ComponentRuntime, Durability, Engine, Host, NativeEngine};

use crate::corpus;
use crate::report::{Bar, Report};
use crate::shared::{NOW, Result, disk, median, ripgrep};

pub(crate) const LINKS: usize = 3;
const QUESTION: &str = "which port does postgres listen on";
const WORDS: [&str; 3] = ["port", "postgres", "listen"];

pub(crate) fn config(epoch: u64, index_file: bool) -> Config {
    Config { epoch, index_file, ..Config::default() }
}

pub(crate) fn recall(assume_unchanged: bool) -> Command {
    Command::Files(FilesCommand::Recall(Recall {
        query: QUESTION.into(),
        limit: 10,
        assume_unchanged,
        ..Recall::default()
    }))
}

type OpenHost = Host<Box<dyn Engine>, saddlebag_host::LocalDir>;

/// Opens a new engine on a store.
fn open(runtime: Option<&ComponentRuntime>, root: &Path, epoch: u64, index_file: bool) -> Result<OpenHost> {
    let config = config(epoch, index_file);
    let engine: Box<dyn Engine> = match runtime {
        Some(runtime) => Box::new(runtime.open(config)?),
        None => Box::new(NativeEngine::new(Memory::open(config)?)),
    };
    Ok(Host::new(engine, disk(root, Durability::Full)?))
}

/// Measures indexing and recall of `notes` notes, and the growth of indexing from a tenth of them to five times as
/// many.
pub(crate) fn measure(report: &mut Report, runtime: &ComponentRuntime, notes: usize) -> Result<()> {
    let mut growth = Vec::new();
    for notes in [notes / 10, notes, notes * 5] {
        eprintln!("measuring a notebook of {notes} notes");
        let folder = tempfile::tempdir()?;
        let bytes = corpus::write_notebook(folder.path(), notes, LINKS)?;
        std::thread::sleep(Duration::from_millis(50));
        growth.push((notes, at_size(report, runtime, folder.path(), notes, bytes)?));
    }
    for pair in growth.windows(2) {
        let [(fewer, short), (more, long)] = pair else { continue };
        let times = *more as f64 / *fewer as f64;
        report.add_ratio(
            &format!("indexing, time a note: {more} notes against {fewer}"),
            long.as_secs_f64() / short.as_secs_f64() / times,
            1.5,
        );
    }
    Ok(())
}

/// Returns the time of indexing.
fn at_size(report: &mut Report, runtime: &ComponentRuntime, root: &Path, notes: usize, bytes: u64) -> Result<Duration> {
    let what = |work: &str| format!("notebook, {notes} notes with {LINKS} links: {work}");
    let runs = if notes > 10_000 { 1 } else { 5 };
    let index = median(runs, || Ok(open(Some(runtime), root, 1, false)?.run(NOW, recall(false))?))?;
    let index_in_native = median(runs, || Ok(open(None, root, 1, false)?.run(NOW, recall(false))?))?;
    let two_seconds = Duration::from_secs_f64(2.0 * notes as f64 / 10_000.0);
    report.add(
        &what("first recall without an index file"),
        index,
        &[
            Bar { baseline: "2 s for 10000", time: Some(two_seconds), at_most: 1.0 },
            Bar { baseline: "native engine", time: Some(index_in_native), at_most: 1.6 },
        ],
    );

    let ripgrep = ripgrep(root, &WORDS)?;
    // This run writes the index file for the next one.
    open(Some(runtime), root, 2, true)?.run(NOW, recall(false))?;
    let first = median(5, || Ok(open(Some(runtime), root, 3, true)?.run(NOW, recall(false))?))?;
    let bars = [
        Bar {
            baseline: "60 ms for 10000",
            time: Some(Duration::from_secs_f64(0.06 * notes as f64 / 10_000.0)),
            at_most: 1.0,
        },
        Bar { baseline: "rg", time: ripgrep, at_most: 1.0 },
    ];
    report.add(&what("first recall of a new engine"), first, &bars);

    let mut warm = open(Some(runtime), root, 4, true)?;
    let mut warm_native = open(None, root, 4, true)?;
    let listed = median(11, || Ok(warm.run(NOW, recall(false))?))?;
    report.add(
        &what("recall, nothing changed, checked by one list"),
        listed,
        &[Bar { baseline: "rg", time: ripgrep, at_most: f64::INFINITY }],
    );
    let vouched = median(11, || Ok(warm.run(NOW, recall(true))?))?;
    warm_native.run(NOW, recall(false))?;
    let vouched_in_native = median(11, || Ok(warm_native.run(NOW, recall(true))?))?;
    report.add(
        &what("recall, host vouches that nothing changed"),
        vouched,
        &[
            Bar { baseline: "2 ms", time: Some(Duration::from_millis(2)), at_most: 1.0 },
            Bar { baseline: "native engine", time: Some(vouched_in_native), at_most: 1.6 },
        ],
    );
    let note = root.join("facts/a-changed-note.md");
    let mut changes = 0;
    let changed = median(5, || {
        changes += 1;
        fs::write(&note, format!("# A changed note\n\nChange {changes} of the port.\n"))?;
        let start = Instant::now();
        warm.run(NOW, recall(false))?;
        Ok(start.elapsed())
    })?;
    fs::remove_file(&note)?;
    report.add(
        &what("recall after one note changed"),
        changed,
        &[Bar { baseline: "rg", time: ripgrep, at_most: f64::INFINITY }],
    );

    let mut engine = runtime.open(config(5, false))?;
    Host::new(&mut engine as &mut dyn Engine, disk(root, Durability::Full)?).run(NOW, recall(false))?;
    report.add_ratio(
        &what("memory after indexing, of the notes' bytes"),
        engine.memory_bytes() as f64 / bytes as f64,
        3.0,
    );
    Ok(index)
}
