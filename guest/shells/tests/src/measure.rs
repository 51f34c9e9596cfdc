//! Measures calls of the command line's shell, each in a fresh instance of compiled code.
//!
//! `measure-shells FOLDER QUESTION` asks with and without the generation of the store. The folder is changed by its index
//! alone.

#![allow(clippy::print_stdout, reason = "a program of the command line")]

use std::path::Path;
use std::time::{Duration, Instant};

use saddlebag_shells_tests::Shell;

const RUNS: usize = 11;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, question] = arguments.as_slice() else {
        println!("usage: measure-shells FOLDER QUESTION");
        return;
    };
    let shell = Shell::optimised("cli");
    let command = shell.command();
    let recall = serde_json::json!({ "query": question }).to_string();
    let line = r#"{"entry": "measured"}"#;
    for only_hosts_write in ["0", "1"] {
        let environment = [("SADDLEBAG_ONLY_HOSTS_WRITE", only_hosts_write)];
        for (name, call) in [
            ("open", ["tools"].as_slice()),
            ("recall", &["mem_recall", &recall]),
            ("write", &["mem_log", line]),
            ("recall after a write", &["mem_recall", &recall]),
            ("recall again", &["mem_recall", &recall]),
        ] {
            // One call writes: every call after it would find the change of the previous call.
            let runs = if matches!(name, "open" | "recall again" | "write") { RUNS } else { 1 };
            let mut times: Vec<Duration> = Vec::new();
            for _ in 0..runs {
                let began = Instant::now();
                let ran = shell.run_by(&command, Path::new(folder), &environment, call, "");
                times.push(began.elapsed());
                assert_eq!(ran.code, 0, "{ran:?}");
            }
            times.sort();
            println!(
                "only hosts write: {only_hosts_write}, {name}: median {:.1} ms of {runs}, most {:.1} ms",
                times[runs / 2].as_secs_f64() * 1000.0,
                times[runs - 1].as_secs_f64() * 1000.0
            );
        }
    }
}
