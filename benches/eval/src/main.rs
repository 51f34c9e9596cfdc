//! Measures how well recall finds the evidence for questions of public sets, beside BM25 over single turns.
//!
//! The files are read as they are published, and none of their text is part of this project.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it prints a table")]

mod baseline;
mod formats;
mod languages;
mod measure;
mod prompts;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;

/// Reason why nothing was measured.
type Failure = Box<dyn std::error::Error>;

const USAGE: &str = "usage: saddlebag-eval locomo|longmemeval|beam|conversations|prompts|languages PATH";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [set, path] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match evaluate(set, Path::new(path)) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the report of a set in a file or a folder.
fn evaluate(set: &str, path: &Path) -> Result<String, Failure> {
    match set {
        "prompts" => return prompts::own(path),
        "languages" => return languages::report(path),
        _ => {}
    }
    let data = formats::read(set, path)?;
    let apart = measure::apart(&data.histories)?;
    let together = measure::together(&data.histories)?;
    let prompts = prompts::of_histories(&data.histories)?;
    Ok(format!("{}\n\n{prompts}", measure::report(set, &data, &apart, &together)))
}
