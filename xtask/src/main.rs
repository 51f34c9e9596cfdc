//! The project's own commands: `cargo xtask demo`, `test`, `budget`, `audit`, `count`, `bench`, `scale`, `eval`, `compare`, `build`,
//! `shells`, `dist`.
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

use std::ffi::OsString;
use std::path::{Path, PathBuf};
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
       cargo xtask bench [--notes N] [--write]
       cargo xtask scale
       cargo xtask eval locomo|longmemeval|beam|conversations|prompts|languages PATH
       cargo xtask compare [PROGRAM]
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
  bench               Measure against what the original does, and print the ratios
    --notes N         With N notes, instead of 1,000 and 10,000
    --write           Also write the table to docs/benchmarks.md
  scale               Measure changes a second on servers
  eval                Measure recall on a public set of questions, or what prompts bring beside a folder of pages
    PATH              The files of the set, as they are published
  compare             Ask other memories the same questions, and print the table; needs Python 3.12 and Node.js
    PROGRAM           The program to measure, instead of that of a release build
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
    Bench { notes: Option<usize>, write: bool },
    Scale,
    Eval { set: String, path: PathBuf },
    Compare { program: Option<PathBuf> },
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
    let (mut notes, mut write, mut lower) = (None, false, false);
    let Some((task, options)) = words.split_first() else { return Ok(Task::Help) };
    if let ("eval", [set, path]) = (task.as_str(), options) {
        return Ok(Task::Eval { set: set.clone(), path: path.into() });
    }
    let (mut program, mut dist, mut test) = (None, Dist::Everything, false);
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
            ("bench", "--notes") => {
                let number = options.next().and_then(|text| text.parse().ok());
                notes = Some(number.ok_or_else(|| format!("--notes takes a number\n\n{USAGE}"))?);
            }
            ("bench", "--write") => write = true,
            ("budget", "--lower") => lower = true,
            ("compare", path) if !path.starts_with('-') && program.is_none() => program = Some(PathBuf::from(path)),
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
        "bench" => Ok(Task::Bench { notes, write }),
        "scale" => Ok(Task::Scale),
        "eval" => Err(format!("`eval` takes a set and a path\n\n{USAGE}")),
        "compare" => Ok(Task::Compare { program }),
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
        Task::Bench { notes, write } => bench(notes, write),
        Task::Scale => remote::scale(),
        Task::Eval { set, path } => eval(&set, &path),
        Task::Compare { program } => compare::compare(program),
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

fn eval(set: &str, path: &Path) -> Result<(), String> {
    let run = ["run", "--quiet", "--profile", "measured", "--package", "saddlebag-eval", "--", set];
    cargo(run.iter().map(OsString::from).chain([path.as_os_str().to_owned()]))
}

fn bench(notes: Option<usize>, write: bool) -> Result<(), String> {
    add_target(component::TARGET)?;
    cargo(["build", "--release", "--package", "saddlebag-cli", "--features", "native"])?;
    let program = root()?.join("target/release/saddlebag");
    let mut arguments: Vec<String> =
        ["run", "--profile", "measured", "--package", "saddlebag-bench", "--bin", "saddlebag-bench", "--"]
            .map(String::from)
            .to_vec();
    arguments.extend(["--program".to_string(), program.display().to_string()]);
    if let Some(notes) = notes {
        arguments.extend(["--notes".to_string(), notes.to_string()]);
    }
    if write {
        arguments.extend(["--write".to_string(), "docs/benchmarks.md".to_string()]);
    }
    cargo(&arguments)
}
