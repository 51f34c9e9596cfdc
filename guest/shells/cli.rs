//! `saddlebag-cli.wasm`: one call of a tool from the command line, for runtimes of `wasi:cli`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

use std::process::ExitCode;

use saddlebag_guest::environment::{now, open};

const USAGE: &str = "usage: saddlebag-cli [tools | TOOL JSON]\n\n\
                     tools      prints the tools, with their arguments as JSON Schema\n\
                     TOOL JSON  runs a tool and prints its answer\n";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok((text, false)) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        // WASI has one code for all failures.
        Ok((text, true)) | Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the text to print, and true if the tool failed.
fn run(arguments: &[&str]) -> Result<(String, bool), String> {
    match arguments {
        ["tools"] => {
            let tools = open()?.tools();
            let line = |tool| saddlebag_guest::tool_json(tool).to_string();
            Ok((tools.iter().map(line).collect::<Vec<String>>().join("\n"), false))
        }
        [tool, input] => {
            let answer = open()?.call(now()?, "", tool, input)?.answer;
            Ok((answer.text.into_string(), answer.is_error))
        }
        _ => Err(USAGE.into()),
    }
}
