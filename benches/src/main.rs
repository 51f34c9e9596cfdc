//! Measures Saddlebag and the original in one run on one corpus, and prints the ratios.
//!
//! `cargo xtask bench` runs it; `--write FILE` also puts the table into that page. `--only hooks` measures the hooks alone,
//! `--only recall` a question to a server, `--only first-index` the first index of `--notes` notes.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

mod baseline;
mod corpus;
mod entries;
mod first_index;
mod hooks;
mod mcp;
mod notebook;
mod report;
mod shared;

use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::time::Duration;

use saddlebag::context::{Context, PromptCommand};
use saddlebag::journal::{JournalCommand, Search, Target, Write, WriteMode};
use saddlebag::{Command, Config, Memory};
use saddlebag_bench::{MAX_TOKENS, default_tools};
use saddlebag_component::COMPONENT;
use saddlebag_host::{ComponentCode, ComponentOptions, ComponentRuntime, Durability, Engine, Host, NativeEngine};

use corpus::{LAST_DAY, PROJECT};
use report::{Bar, Report};
use shared::{NOW, QUERIES, Result, disk, median, ripgrep};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.iter().position(|word| word == name).and_then(|at| arguments.get(at + 1));
    let sizes: Vec<usize> = match value("--notes") {
        Some(notes) => vec![notes.parse()?],
        None => vec![1_000, 10_000],
    };
    let mut report = Report::default();
    if let (Some("hooks"), Some(program)) = (value("--only").map(String::as_str), value("--program")) {
        hooks::measure(&mut report, Path::new(program), value("--notes").map_or(Ok(10_000), |notes| notes.parse())?)?;
        println!("{}", report.table());
        return Ok(());
    }
    if let (Some("recall"), Some(program)) = (value("--only").map(String::as_str), value("--program")) {
        mcp::recall(&mut report, Path::new(program))?;
        println!("{}", report.table());
        return Ok(());
    }
    let runtime = ComponentRuntime::new(ComponentOptions::new(ComponentCode::Embedded))?;
    if value("--only").is_some_and(|only| only == "first-index") {
        return first_index::measure(&runtime, value("--notes").map_or(Ok(100_000), |notes| notes.parse())?);
    }
    for notes in sizes {
        eprintln!("measuring {notes} notes");
        searches(&mut report, &runtime, notes)?;
    }
    notebook::measure(&mut report, &runtime, value("--notes").map_or(Ok(10_000), |notes| notes.parse())?)?;
    entries::measure(&mut report, &runtime)?;
    small_work(&mut report, &runtime)?;
    footprint(&mut report, &runtime)?;
    let tokens = default_tools()?;
    let ratio = tokens as f64 / MAX_TOKENS as f64;
    report.add_ratio(&format!("the default tools, {tokens} tokens, of {MAX_TOKENS}"), ratio, 1.0);
    if let Some(program) = value("--program") {
        command_line(&mut report, Path::new(program))?;
        mcp::measure(&mut report, &runtime, Path::new(program))?;
        mcp::recall(&mut report, Path::new(program))?;
        hooks::measure(&mut report, Path::new(program), value("--notes").map_or(Ok(10_000), |notes| notes.parse())?)?;
    }
    println!("{}", report.table());
    if let Some(file) = value("--write") {
        let page = std::fs::read_to_string(file)?;
        std::fs::write(file, report.put_into(&page).ok_or("the page has no place for the table")?)?;
    }
    Ok(())
}

fn config(epoch: u64) -> Config {
    Config { epoch, project: Some(PROJECT.into()), ..Config::default() }
}

fn native() -> Result<Box<dyn Engine>> {
    Ok(Box::new(NativeEngine::new(Memory::open(config(1))?)))
}

fn component(runtime: &ComponentRuntime) -> Result<Box<dyn Engine>> {
    Ok(Box::new(runtime.open(config(1))?))
}

fn search(terms: &[&str], assume_unchanged: bool) -> Command {
    let request = Search { assume_unchanged, ..Search::new(terms.join(" ")) };
    Command::Journal(JournalCommand::Search(request))
}

fn searches(report: &mut Report, runtime: &ComponentRuntime, notes: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let bytes = corpus::write_journal(folder.path(), notes)?;
    // Versions of files that were just written are content hashes; wait until they are not.
    std::thread::sleep(Duration::from_millis(50));
    let warm_component = &mut Host::new(component(runtime)?, disk(folder.path(), Durability::Full)?);
    let warm_native = &mut Host::new(native()?, disk(folder.path(), Durability::Full)?);
    for (name, terms) in QUERIES {
        let original = median(5, || baseline::search(folder.path(), PROJECT, terms).map_err(Into::into))?;
        let ripgrep = ripgrep(folder.path(), terms)?;
        let warm = median(11, || Ok(warm_component.run(NOW, search(terms, false))?))?;
        let vouched = median(101, || Ok(warm_component.run(NOW, search(terms, true))?))?;
        let warm_in_native = median(11, || Ok(warm_native.run(NOW, search(terms, false))?))?;
        let vouched_in_native = median(101, || Ok(warm_native.run(NOW, search(terms, true))?))?;
        let cold = median(5, || {
            let mut host = Host::new(component(runtime)?, disk(folder.path(), Durability::Full)?);
            Ok(host.run(NOW, search(terms, false))?)
        })?;
        let cold_in_native = median(5, || {
            let mut host = Host::new(native()?, disk(folder.path(), Durability::Full)?);
            Ok(host.run(NOW, search(terms, false))?)
        })?;
        let what = format!("search, {name}, {notes} notes");
        report.add(
            &format!("{what}: nothing changed, checked by one list"),
            warm,
            &[
                Bar { baseline: "original", time: Some(original), at_most: 0.3 },
                Bar { baseline: "rg", time: ripgrep, at_most: 0.5 },
                Bar { baseline: "native engine", time: Some(warm_in_native), at_most: 1.6 },
            ],
        );
        report.add(
            &format!("{what}: host vouches that nothing changed"),
            vouched,
            &[
                Bar { baseline: "rg", time: ripgrep, at_most: 0.08 },
                Bar { baseline: "native engine", time: Some(vouched_in_native), at_most: 1.6 },
            ],
        );
        report.add(
            &format!("{what}: fresh engine, without an index file"),
            cold,
            &[
                Bar { baseline: "original", time: Some(original), at_most: f64::INFINITY },
                Bar { baseline: "rg", time: ripgrep, at_most: f64::INFINITY },
                Bar { baseline: "native engine", time: Some(cold_in_native), at_most: 1.6 },
            ],
        );
    }
    let mut engine = runtime.open(config(1))?;
    Host::new(&mut engine as &mut dyn Engine, disk(folder.path(), Durability::Full)?)
        .run(NOW, search(&["redis"], false))?;
    report.add_ratio(
        &format!("memory after indexing {notes} notes, of their bytes"),
        engine.memory_bytes() as f64 / bytes as f64,
        3.0,
    );
    Ok(())
}

/// Measures the work that does not depend on the number of notes.
fn small_work(report: &mut Report, runtime: &ComponentRuntime) -> Result<()> {
    let folder = tempfile::tempdir()?;
    corpus::write_journal(folder.path(), 100)?;
    std::thread::sleep(Duration::from_millis(50));
    let context = || PromptCommand::Context(Context::default());
    let mut host = Host::new(component(runtime)?, disk(folder.path(), Durability::Full)?);
    let mut in_native = Host::new(native()?, disk(folder.path(), Durability::Full)?);
    let block = median(101, || Ok(host.run(NOW, context())?))?;
    let block_in_native = median(101, || Ok(in_native.run(NOW, context())?))?;
    let yesterday = "2026-05-24.md";
    let today = format!("{LAST_DAY}.md");
    let block_original =
        median(101, || baseline::context(folder.path(), PROJECT, [yesterday, &today]).map_err(Into::into))?;
    report.add(
        "context block",
        block,
        &[
            Bar { baseline: "1 ms", time: Some(Duration::from_millis(1)), at_most: 1.0 },
            Bar { baseline: "original", time: Some(block_original), at_most: f64::INFINITY },
            Bar { baseline: "native engine", time: Some(block_in_native), at_most: 1.6 },
        ],
    );
    let append = || {
        Command::Journal(JournalCommand::Write(Write {
            target: Target::Daily(None),
            mode: WriteMode::Append,
            content: "- one more line of the log".into(),
            truncate: false,
        }))
    };
    let log = folder.path().join("projects").join(PROJECT).join("daily").join(&today);
    for (name, durability) in [("durable", Durability::Full), ("not synced", Durability::Fast)] {
        std::fs::write(&log, "x".repeat(100_000))?;
        let original = median(101, || Ok(baseline::append(&log, "- one more line of the log")?))?;
        std::fs::write(&log, "x".repeat(100_000))?;
        let mut host = Host::new(component(runtime)?, disk(folder.path(), durability)?);
        let ours = median(101, || Ok(host.run(NOW, append())?))?;
        let bars = [Bar { baseline: "original, not synced", time: Some(original), at_most: f64::INFINITY }];
        report.add(&format!("append to a log of 100 KB, {name}"), ours, &bars);
    }
    Ok(())
}

fn footprint(report: &mut Report, runtime: &ComponentRuntime) -> Result<()> {
    // Measures the cost of opening a scope without the cost of closing it: all instances are kept until the last is
    // open.
    let mut opened = Vec::new();
    let instantiate = median(101, || {
        opened.push(runtime.open(config(1))?);
        Ok(())
    })?;
    let bar = Bar { baseline: "50 µs", time: Some(Duration::from_micros(50)), at_most: 1.0 };
    report.add("instantiate and open", instantiate, &[bar]);
    report.add_ratio("component size, of 900 KB", COMPONENT.len() as f64 / 900_000.0, 1.0);
    Ok(())
}

/// Measures a whole call of the program, with compiled code cached.
fn command_line(report: &mut Report, program: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    corpus::write_journal(folder.path(), 100)?;
    let program = PathBuf::from(program);
    let call = |arguments: &[&str]| {
        median(21, || {
            let mut process = Process::new(&program);
            process.arg("--root").arg(folder.path()).arg("--notebook").args(arguments);
            Ok(process.output()?)
        })
    };
    let with_component = call(&["status"])?;
    let in_native = call(&["--engine", "native", "status"])?;
    report.add(
        "command-line call (status)",
        with_component,
        &[
            Bar { baseline: "25 ms", time: Some(Duration::from_millis(25)), at_most: 1.0 },
            Bar { baseline: "native engine", time: Some(in_native), at_most: f64::INFINITY },
        ],
    );
    Ok(())
}
