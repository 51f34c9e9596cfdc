//! The project's own commands: `cargo xtask demo`, `test`, `budget`, `audit`, `count`, `bench`, `build`, `shells`, `dist`.
//!
//! It has no dependencies and needs no component, so it starts in seconds on a machine that cannot build the component
//! yet, and installs what such a machine lacks.

#![allow(clippy::print_stderr, reason = "it shows the commands that it runs")]

mod budget;
mod clients;
mod compare;
mod component;
mod dist;
mod new_user;
mod paths;
mod release;
mod remote;
mod run;
mod shells;
mod structure;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

use run::{NATIVE_PROGRAM, add_target, cargo, root};

const USAGE: &str = "\
usage: cargo xtask demo [--engine component|native] [--keep]
       cargo xtask test [--quick]
       cargo xtask test --slow [--without-clients]
       cargo xtask test --remote
       cargo xtask budget [--lower]
       cargo xtask audit
       cargo xtask count
       cargo xtask bench [PART]... [--notes N] [--write]
       cargo xtask bench questions locomo|longmemeval|beam|conversations|prompts|languages PATH
       cargo xtask bench compare [PROGRAM]
       cargo xtask bench servers
       cargo xtask build
       cargo xtask shells [test]
       cargo xtask dist [oci|twice]

  demo                Build the program and show an agent's memory at work on a sample store
    --engine native   Without the WebAssembly component: builds in a third of the time
    --keep            Keep the folder of the sample store and print its path
    --remote          Show two processes at work on a store in a bucket, and on one in PostgreSQL
  test                Check what a change breaks most often
    --quick           Only what needs no component
    --slow            Check the rest: slow tests, the release component, docs, packages, clients
    --remote          Stores in MiniStack, Ceph and PostgreSQL, with many clients, of which 1,500 are killed
    --without-clients Leave out the clients from PyPI and npm, which need those registries once
  budget              Print how large the project is, and fail above a limit of budget.toml
    --lower           Lower each limit to what is reached
  audit               Check the advisories, licences and sources of all dependencies; needs cargo-deny
  count               Print how many files, lines, imports and circular imports each crate has
  bench               Measure beside ripgrep, the native engine and fixed bars, and print the table
    PART              Only search, recall, index, block, commands, hooks, server, prompts or tools
    --notes N         With N notes, instead of 10,000 and 100,000
    --write           Also write the table to docs/benchmarks.md
    questions         Measure recall on the files of a public set, or what prompts bring beside a folder of pages
    compare           Ask other memories the same questions; needs Python 3.12 and Node.js
    servers           Measure changes a second of stores on servers
  build               Build the component of a release, check its size and print its path
  shells              Build the components for runtimes that load them, into target/shells
    test              Build them quickly, and run their tests in wasmtime
  dist                Build the files of a release: components, program, packages; needs Node.js
    oci               Only the components, and an OCI layout of each and of the contract
    twice             Only the components, each twice, and compare the bytes";

enum Task {
    Demo { native: bool, keep: bool },
    Test { quick: bool, slow: bool, without_clients: bool },
    TestRemote,
    DemoRemote,
    Budget { lower: bool },
    Audit,
    Count,
    Bench(Vec<String>),
    Compare { program: Option<PathBuf> },
    BenchServers,
    Build,
    Shells { test: bool },
    Dist(Dist),
    Help,
}

/// Part of a release.
#[derive(Clone, Copy)]
enum Dist {
    Everything,
    Oci,
    Twice,
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
    let (mut native, mut keep, mut quick, mut slow, mut without_clients, mut remote) =
        (false, false, false, false, false, false);
    let mut lower = false;
    let Some((task, options)) = words.split_first() else { return Ok(Task::Help) };
    if task == "bench" {
        return Ok(match options.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["compare"] => Task::Compare { program: None },
            ["compare", program] => Task::Compare { program: Some(program.into()) },
            ["servers"] => Task::BenchServers,
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
            ("demo" | "test", "--remote") if options.len() == 0 => remote = true,
            ("demo", "--keep") => keep = true,
            ("test", "--quick") if !slow => quick = true,
            ("test", "--slow") if !quick => slow = true,
            ("test", "--without-clients") => without_clients = true,
            ("budget", "--lower") => lower = true,
            ("shells", "test") => test = true,
            ("dist", "oci") => dist = Dist::Oci,
            ("dist", "twice") => dist = Dist::Twice,
            (_, "--help" | "-h") => return Ok(Task::Help),
            (task, option) => return Err(format!("`{task}` does not take `{option}`\n\n{USAGE}")),
        }
    }
    match task.as_str() {
        "demo" if remote => Ok(Task::DemoRemote),
        "test" if remote => Ok(Task::TestRemote),
        "demo" => Ok(Task::Demo { native, keep }),
        "test" => Ok(Task::Test { quick, slow, without_clients }),
        "budget" => Ok(Task::Budget { lower }),
        "audit" => Ok(Task::Audit),
        "count" => Ok(Task::Count),
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
        Task::TestRemote => remote::test(remote::Length::Full),
        Task::DemoRemote => remote::demo(),
        Task::Test { quick: true, .. } => test::quick(),
        Task::Test { slow: true, without_clients, .. } => test::slow(without_clients),
        // It has no clients, with the option or without.
        Task::Test { .. } => test::all(),
        Task::Budget { lower: true } => budget::lower(),
        Task::Budget { lower: false } => budget::check(),
        Task::Audit => release::audit(),
        Task::Count => structure::count(),
        Task::Bench(arguments) => bench(&arguments),
        Task::Compare { program } => compare::compare(program),
        Task::BenchServers => remote::bench(),
        Task::Build => {
            let built = component::build()?;
            eprintln!("built {}", built.display());
            Ok(())
        }
        Task::Shells { test: true } => shells::test(),
        Task::Shells { test: false } => shells::build(true),
        Task::Dist(Dist::Everything) => dist::dist(),
        Task::Dist(Dist::Oci) => dist::oci(),
        Task::Dist(Dist::Twice) => dist::twice(),
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
        // No `--package`: the selection decides the features of dependencies, and `test` uses the same one.
        run.extend(["--bin", "saddlebag", "--", "demo"]);
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
    // Questions are asked in one process; the other parts may run the program of a release.
    if arguments.first().is_none_or(|first| first != "questions") {
        cargo(["build", "--release", "--package", "saddlebag-cli", "--features", "native"])?;
        run.extend(["--program".to_string(), root()?.join("target/release/saddlebag").display().to_string()]);
    }
    cargo(&run)
}
