//! Measures Saddlebag beside what it is compared with, in one run on one corpus, and prints one table with the bars.
//!
//! `cargo xtask bench` runs it. The arguments choose the parts; without any, all are measured.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

mod commands;
mod corpus;
mod engine;
mod hooks;
mod report;
mod selection;
mod server;
mod tokens;
mod train;
mod work;

use std::io::Read as _;
use std::process::ExitCode;

use report::Report;
use selection::Selection;
use work::Result;

/// Page with the table, and its place there.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/benchmarks.md");

/// A measurement that adds rows to the table.
type Part = fn(&mut Report, &Selection) -> Result<()>;

const PARTS: [(&str, Part); 8] = [
    ("search", engine::search),
    ("recall", engine::recall),
    ("index", engine::index),
    ("block", engine::block),
    ("commands", commands::measure),
    ("hooks", hooks::measure),
    ("server", server::measure),
    ("tools", tokens::measure),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["train"] => println!("{}", train::train()?),
        ["count-tokens"] => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            println!("{}", tokens::count(&text)?);
        }
        words => table(&Selection::parse(words, &PARTS.map(|(name, _)| name))?)?,
    }
    Ok(())
}

fn table(selection: &Selection) -> Result<()> {
    let mut report = Report::default();
    for (name, measure) in PARTS {
        if selection.parts.is_empty() || selection.parts.iter().any(|part| part == name) {
            eprintln!("measuring {name}");
            measure(&mut report, selection)?;
        }
    }
    println!("{}", report.table());
    if selection.write {
        let page = std::fs::read_to_string(PAGE)?;
        std::fs::write(PAGE, report.put_into(&page).ok_or("the page has no place for the table")?)?;
    }
    Ok(())
}
