//! Search, recall, the first index and the block in one process, through the component, beside `rg` and the native engine.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use saddlebag::context::{Context, PromptCommand};
use saddlebag::items::{ItemsCommand, Recall};
use saddlebag::journal::{JournalCommand, Search, Target, WriteFile, WriteMode};
use saddlebag::{Command, Config, Memory};
use saddlebag_host::{
    ComponentCode, ComponentOptions, ComponentRuntime, Durability, Engine, Host, LocalDir, NativeEngine,
};

use crate::corpus;
use crate::report::{Bar, Report};
use crate::selection::Selection;
use crate::work::{NOW, QUERIES, Result, disk, median, ripgrep, settle};

/// Links of each note.
const LINKS: usize = 3;

type OpenHost = Host<Box<dyn Engine>, LocalDir>;

fn runtime() -> Result<ComponentRuntime> {
    Ok(ComponentRuntime::new(ComponentOptions::new(ComponentCode::Embedded))?)
}

/// Opens a new engine on a store: the component's, or the native one.
fn open(runtime: Option<&ComponentRuntime>, root: &Path, config: Config) -> Result<OpenHost> {
    let engine: Box<dyn Engine> = match runtime {
        Some(runtime) => Box::new(runtime.open(config)?),
        None => Box::new(NativeEngine::new(Memory::open(config)?)),
    };
    Ok(Host::new(engine, disk(root, Durability::Full)?))
}

fn of_notebook(epoch: u64) -> Config {
    Config { epoch, index_file: true, ..Config::default() }
}

/// The native engine as baseline. Only work over 1 ms has a bar.
fn native(time: Duration) -> Bar {
    let at_most = if time >= Duration::from_millis(1) { 1.4 } else { f64::INFINITY };
    Bar { baseline: "native engine", time: Some(time), at_most }
}

pub(crate) fn search(report: &mut Report, selection: &Selection) -> Result<()> {
    questions(report, selection, "search", |words, assume_unchanged| {
        let search = Search { assume_unchanged, all_files: true, ..Search::new(words) };
        Command::Journal(JournalCommand::Search(search))
    })
}

pub(crate) fn recall(report: &mut Report, selection: &Selection) -> Result<()> {
    questions(report, selection, "recall", asked)
}

fn asked(query: String, assume_unchanged: bool) -> Command {
    Command::Items(ItemsCommand::Recall(Recall { query, limit: 10, assume_unchanged, ..Recall::default() }))
}

/// Measures questions when nothing has changed: checked by one list of the store, and vouched for by the host.
fn questions(
    report: &mut Report,
    selection: &Selection,
    what: &str,
    command: fn(String, bool) -> Command,
) -> Result<()> {
    let runtime = runtime()?;
    for notes in &selection.notes {
        let folder = tempfile::tempdir()?;
        corpus::write_notebook(folder.path(), *notes, LINKS)?;
        settle();
        let mut ours = open(Some(&runtime), folder.path(), of_notebook(1))?;
        let mut in_native = open(None, folder.path(), of_notebook(2))?;
        for (name, words) in QUERIES {
            let rg = ripgrep(folder.path(), words)?;
            for (how, vouches, at_most) in [("checked by one list", false, 0.3), ("host vouches", true, 0.01)] {
                let runs = if vouches { 101 } else { 11 };
                let time = |host: &mut OpenHost| {
                    host.run(NOW, command(words.join(" "), false))?;
                    median(runs, || Ok(host.run(NOW, command(words.join(" "), vouches))?))
                };
                let (ours, in_native) = (time(&mut ours)?, time(&mut in_native)?);
                let what = format!("{what}, {name}, {notes} notes, nothing changed: {how}");
                report.add(&what, ours, &[Bar { baseline: "rg", time: rg, at_most }, native(in_native)]);
            }
        }
    }
    Ok(())
}

/// Measures the first recall in a notebook, which reads every note and writes the index.
pub(crate) fn index(report: &mut Report, selection: &Selection) -> Result<()> {
    let runtime = runtime()?;
    let mut times = Vec::new();
    for notes in &selection.notes {
        let folder = tempfile::tempdir()?;
        corpus::write_notebook(folder.path(), *notes, LINKS)?;
        settle();
        let question = || asked(QUERIES[2].1.join(" "), false);
        let first = |host: &mut OpenHost| {
            let start = Instant::now();
            host.run(NOW, question())?;
            Ok::<_, Box<dyn std::error::Error>>(start.elapsed())
        };
        let in_native = first(&mut open(None, folder.path(), of_notebook(1))?)?;
        fs::remove_dir_all(folder.path().join(".saddlebag"))?;
        let mut engine = runtime.open(of_notebook(2))?;
        let start = Instant::now();
        Host::new(&mut engine as &mut dyn Engine, disk(folder.path(), Durability::Full)?).run(NOW, question())?;
        let (time, memory) = (start.elapsed(), engine.memory_bytes());
        let part = *notes as f64 / 100_000.0;
        let seven = Bar { baseline: "7 s for 100000", time: Some(Duration::from_secs_f64(7.0 * part)), at_most: 1.0 };
        report.add(&format!("first index, {notes} notes"), time, &[seven, native(in_native)]);
        let megabytes = memory as f64 / 1e6;
        let what = format!(
            "memory of the component after the first index, {notes} notes: {megabytes:.0} MB, of 150 MB for 100000"
        );
        report.add_ratio(&what, megabytes / (150.0 * part), 1.0);
        times.push(time.as_secs_f64() / part);
    }
    if let [fewer, .., more] = times.as_slice() {
        report.add_ratio("first index, time of a note: most notes against fewest", more / fewer, 1.5);
    }
    Ok(())
}

/// Measures work that does not depend on the number of notes.
pub(crate) fn block(report: &mut Report, _: &Selection) -> Result<()> {
    let runtime = runtime()?;
    let config = || Config { epoch: 1, project: Some(corpus::PROJECT.into()), ..Config::default() };
    let folder = tempfile::tempdir()?;
    corpus::write_journal(folder.path())?;
    settle();
    let context = |host: &mut OpenHost| median(101, || Ok(host.run(NOW, PromptCommand::Context(Context::default()))?));
    let ours = context(&mut open(Some(&runtime), folder.path(), config())?)?;
    let in_native = context(&mut open(None, folder.path(), config())?)?;
    let bar = Bar { baseline: "150 µs", time: Some(Duration::from_micros(150)), at_most: 1.0 };
    report.add("context block", ours, &[bar, native(in_native)]);
    let append = || {
        Command::from(WriteFile {
            target: Target::Daily(None),
            mode: WriteMode::Append,
            content: "- one more line of the log".into(),
            truncate: false,
        })
    };
    for (name, durability) in [("durable", Durability::Full), ("not synced", Durability::Fast)] {
        let engine: Box<dyn Engine> = Box::new(runtime.open(config())?);
        let mut host = Host::new(engine, disk(folder.path(), durability)?);
        report.add(&format!("append to a log, {name}"), median(101, || Ok(host.run(NOW, append())?))?, &[]);
    }
    // All instances are kept until the last is open, so that closing one is not measured.
    let mut opened = Vec::new();
    let instantiate = median(101, || {
        opened.push(runtime.open(config())?);
        Ok(())
    })?;
    let bar = Bar { baseline: "50 µs", time: Some(Duration::from_micros(50)), at_most: 1.0 };
    report.add("instantiate and open", instantiate, &[bar]);
    Ok(())
}
