//! The project's own commands: `cargo xtask demo`, `test`, `budget`, `audit`, `bench`, `build`, `shells`, `dist`.
//!
//! It has no dependencies and needs no component, so it starts in seconds on a machine that cannot build the component
//! yet, and installs what such a machine lacks.

#![allow(clippy::print_stderr, reason = "it shows the commands that it runs")]

mod budget;
mod clients;
mod compare;
mod component;
mod dist;
mod install;
mod new_user;
mod nextest;
mod paths;
mod release;
mod remote;
mod run;
mod shells;
#[cfg(test)]
mod structure;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

use run::{NATIVE_PROGRAM, add_target, cargo, root};

const USAGE: &str = "\
usage: cargo xtask demo [--engine component|native] [--keep]
       cargo xtask test [--quick]
       cargo xtask test --nightly [--again]
       cargo xtask test --remote
       cargo xtask budget [--lower]
       cargo xtask audit
       cargo xtask bench [PART]... [--notes N] [--write]
       cargo xtask bench compare [PROGRAM]
       cargo xtask train
       cargo xtask build
       cargo xtask shells [test]
       cargo xtask dist [assemble|rehearse]

  demo                Build the program and show an agent's memory at work on a sample store
    --engine native   Without the WebAssembly component: builds in a third of the time
    --keep            Keep the folder of the sample store and print its path
  test                Check all that a change must pass
    --quick           Only what needs no component
    --nightly         Check the rest, from the step where the last run stopped: long tests, the other engine, servers, clients,
                      packages, docs, dependencies
    --again           From the first step
    --remote          Stores in MiniStack and PostgreSQL, with many clients, of which 1,000 are killed
  budget              Print how large the project is, and fail above a limit of budget.toml
    --lower           Lower each limit to what is reached
  audit               Check the advisories, licences and sources of all dependencies
  bench               Measure beside ripgrep, the native engine and fixed bars, and print the table
    PART              Only search, recall, index, block, commands, hooks, server or tools
    --notes N         With N notes, instead of 10,000 and 100,000
    --write           Also write the table to docs/benchmarks.md
    compare           Ask other memories the same questions; needs Python 3.12 and Node.js
  train               Train the rule for prompts with the sets of prompts, write it, and print what sets left out get
  build               Build the component of a release, check its size and print its path
  shells              Build the components for runtimes that load them, into target/shells
    test              Build them quickly, and run their tests in wasmtime
  dist                Build the files of a release for this machine, install and use them; needs Python and Node.js
    assemble          Only what names several targets, from the files of each
    rehearse          Only the packages, of a program that is built quickly, and install and use them";

enum Task {
    Demo { native: bool, keep: bool },
    Test(Test),
    Budget { lower: bool },
    Audit,
    Train,
    Bench(Vec<String>),
    Compare { program: Option<PathBuf> },
    Build,
    Shells { test: bool },
    Dist(Dist),
    Help,
}

/// Choice of tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    All,
    Quick,
    Nightly,
    NightlyAgain,
    Remote,
}

/// Part of a release.
#[derive(Clone, Copy)]
enum Dist {
    Everything,
    Assemble,
    Rehearse,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match parse(&words).and_then(perform) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn parse(words: &[String]) -> Result<Task, String> {
    let (mut native, mut keep) = (false, false);
    let mut tests = Test::All;
    let mut lower = false;
    let Some((task, options)) = words.split_first() else { return Ok(Task::Help) };
    if task == "bench" {
        return Ok(match options.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["compare"] => Task::Compare { program: None },
            ["compare", program] => Task::Compare { program: Some(program.into()) },
            _ => Task::Bench(options.to_vec()),
        });
    }
    let (mut dist, mut test) = (Dist::Everything, false);
    let mut options = options.iter().map(String::as_str);
    while let Some(option) = options.next() {
        match (task.as_str(), option) {
            ("demo", "--engine") => {
                native = match options.next() {
                    Some("native") => true,
                    Some("component") => false,
                    other => return Err(format!("--engine takes component or native, not {other:?}\n\n{USAGE}")),
                }
            }
            ("demo", "--keep") => keep = true,
            ("test", "--quick") if tests == Test::All => tests = Test::Quick,
            ("test", "--nightly") if tests == Test::All => tests = Test::Nightly,
            ("test", "--again") if tests == Test::Nightly => tests = Test::NightlyAgain,
            ("test", "--remote") if tests == Test::All => tests = Test::Remote,
            ("budget", "--lower") => lower = true,
            ("shells", "test") => test = true,
            ("dist", "assemble") => dist = Dist::Assemble,
            ("dist", "rehearse") => dist = Dist::Rehearse,
            (_, "--help" | "-h") => return Ok(Task::Help),
            (task, option) => return Err(format!("`{task}` does not take `{option}`\n\n{USAGE}")),
        }
    }
    match task.as_str() {
        "demo" => Ok(Task::Demo { native, keep }),
        "test" => Ok(Task::Test(tests)),
        "budget" => Ok(Task::Budget { lower }),
        "audit" => Ok(Task::Audit),
        "train" => Ok(Task::Train),
        "build" => Ok(Task::Build),
        "shells" => Ok(Task::Shells { test }),
        "dist" => Ok(Task::Dist(dist)),
        "help" | "--help" | "-h" => Ok(Task::Help),
        other => Err(format!("there is no task `{other}`\n\n{USAGE}")),
    }
}

fn perform(task: Task) -> Result<(), String> {
    match task {
        Task::Demo { native, keep } => demo(native, keep),
        Task::Test(Test::All) => test::all(),
        Task::Test(Test::Quick) => test::quick(),
        Task::Test(Test::Nightly) => test::nightly(),
        Task::Test(Test::NightlyAgain) => test::forget_what_passed().and_then(|()| test::nightly()),
        Task::Test(Test::Remote) => remote::test(remote::Length::Full),
        Task::Budget { lower: true } => budget::lower(),
        Task::Budget { lower: false } => budget::check(true),
        Task::Audit => release::audit(),
        Task::Bench(arguments) => bench(&arguments),
        Task::Train => cargo(["run", "--quiet", "--package", "saddlebag-bench", "--", "train"]),
        Task::Compare { program } => compare::compare(program),
        Task::Build => {
            let built = component::build()?;
            eprintln!("built {}", built.display());
            Ok(())
        }
        Task::Shells { test: true } => shells::test(),
        Task::Shells { test: false } => shells::build(true),
        Task::Dist(Dist::Everything) => dist::dist(),
        Task::Dist(Dist::Assemble) => dist::assemble(),
        Task::Dist(Dist::Rehearse) => dist::rehearse(),
        Task::Help => {
            eprintln!("{USAGE}");
            Ok(())
        }
    }
}

fn demo(native: bool, keep: bool) -> Result<(), String> {
    let mut run: Vec<&str> = vec!["run", "--quiet"];
    if native {
        run.extend(NATIVE_PROGRAM);
        run.extend(["--", "demo", "--engine", "native"]);
    } else {
        add_target(component::TARGET)?;
        // The demo uses neither the server nor the page.
        run.extend(["--package", "saddlebag-cli", "--no-default-features", "--features", "component", "--", "demo"]);
    }
    if keep {
        run.push("--keep");
    }
    cargo(run)
}

fn bench(arguments: &[String]) -> Result<(), String> {
    add_target(component::TARGET)?;
    let mut run: Vec<String> =
        ["run", "--quiet", "--profile", "measured", "--package", "saddlebag-bench", "--"].map(String::from).to_vec();
    run.extend_from_slice(arguments);
    cargo(["build", "--release", "--package", "saddlebag-cli", "--features", "native"])?;
    run.extend(["--program".to_string(), root()?.join("target/release/saddlebag").display().to_string()]);
    cargo(&run)
}
