//! The project's own commands: `cargo xtask demo`, `test`, `bench`, `build`.
//!
//! It depends on nothing that needs the component, so it runs on a machine that cannot build it yet, and
//! makes it one that can.

#![allow(clippy::print_stderr, reason = "it tells what it runs")]

mod clients;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Parser, Subcommand};

const COMPONENT_TARGET: &str = "wasm32-wasip2";
/// Has no standard library at all: what builds for it uses none.
const NO_STD_TARGET: &str = "wasm32v1-none";

/// Builds, tests and measures Saddlebag.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build everything and show an agent's memory at work on a sample store.
    Demo {
        /// Keep the folder of the sample store and say where it is.
        #[arg(long)]
        keep: bool,
    },
    /// Check everything that a change must pass.
    Test {
        /// Leave out the clients from PyPI and npm, which need those registries once.
        #[arg(long)]
        without_clients: bool,
    },
    /// Measure against what the original does, and print the ratios.
    Bench {
        /// Measure with this many notes alone, instead of 1,000 and 10,000.
        #[arg(long)]
        notes: Option<usize>,
        /// Also write the table to docs/benchmarks.md.
        #[arg(long)]
        write: bool,
    },
    /// Build the component alone and say where it is.
    Build,
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<(), String> {
    match task {
        Task::Demo { keep } => {
            add_target(COMPONENT_TARGET)?;
            let keep = if keep { ["--keep"].as_slice() } else { &[] };
            cargo(["run", "--quiet", "--package", "saddlebag-cli", "--", "demo"].iter().chain(keep))
        }
        Task::Test { without_clients } => test(without_clients),
        Task::Bench { notes, write } => bench(notes, write),
        Task::Build => {
            add_target(COMPONENT_TARGET)?;
            cargo([
                "build",
                "--package",
                "saddlebag",
                "--lib",
                "--target",
                COMPONENT_TARGET,
                "--profile",
                "component",
            ])?;
            let built = Path::new("target").join(COMPONENT_TARGET).join("component/saddlebag.wasm");
            eprintln!("built {}", built.display());
            Ok(())
        }
    }
}

fn test(without_clients: bool) -> Result<(), String> {
    add_target(COMPONENT_TARGET)?;
    add_target(NO_STD_TARGET)?;
    cargo(["fmt", "--all", "--check"])?;
    cargo(["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])?;
    cargo(["check", "--quiet", "--package", "saddlebag", "--lib", "--target", NO_STD_TARGET])?;
    cargo(["test", "--workspace"])?;
    command("cargo", ["doc", "--workspace", "--no-deps", "--quiet"], &[("RUSTDOCFLAGS", "--deny warnings")])?;
    // The program as the tests have built it: another selection of packages would compile wasmtime again.
    command(&program()?.to_string_lossy(), ["demo"], &[])?;
    if without_clients {
        eprintln!("left out: the clients from PyPI and npm");
        return Ok(());
    }
    clients::run()
}

fn bench(notes: Option<usize>, write: bool) -> Result<(), String> {
    add_target(COMPONENT_TARGET)?;
    // Both at once, so that wasmtime is compiled once, with the features that all of them ask for.
    cargo(["build", "--release", "--workspace"])?;
    let program = root()?.join("target/release/saddlebag");
    let mut arguments: Vec<String> = ["run", "--release", "--bin", "saddlebag-bench", "--"].map(String::from).to_vec();
    arguments.extend(["--program".to_string(), program.display().to_string()]);
    if let Some(notes) = notes {
        arguments.extend(["--notes".to_string(), notes.to_string()]);
    }
    if write {
        arguments.extend(["--write".to_string(), "docs/benchmarks.md".to_string()]);
    }
    cargo(&arguments)
}

/// Adds a compilation target unless it is there. Machines without rustup have what they have.
fn add_target(target: &str) -> Result<(), String> {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let help = format!("add the target {target} to your Rust toolchain: `rustup target add {target}`");
    match installed {
        Ok(output) if String::from_utf8_lossy(&output.stdout).lines().any(|line| line == target) => Ok(()),
        Ok(_) => command("rustup", ["target", "add", target], &[]).map_err(|error| format!("{error}\n  {help}")),
        Err(_) if has_sysroot(target) => Ok(()),
        Err(error) => Err(format!("cannot run rustup ({error}), and the target is missing\n  {help}")),
    }
}

fn has_sysroot(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    output.is_ok_and(|output| {
        let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        sysroot.join("lib/rustlib").join(target).is_dir()
    })
}

fn cargo(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    command(&cargo, arguments, &[])
}

/// Runs a command at the root of the workspace, and says which.
fn command(
    program: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    environment: &[(&str, &str)],
) -> Result<(), String> {
    let arguments: Vec<_> = arguments.into_iter().map(|argument| argument.as_ref().to_os_string()).collect();
    let name = Path::new(program).file_stem().unwrap_or(OsStr::new(program)).to_string_lossy().into_owned();
    let line =
        std::iter::once(name.into()).chain(arguments.iter().map(|a| a.to_string_lossy())).collect::<Vec<_>>().join(" ");
    eprintln!("$ {line}");
    let status = Command::new(program)
        .args(&arguments)
        .envs(environment.iter().copied())
        .current_dir(root()?)
        .status()
        .map_err(|error| format!("cannot run `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}

/// The program, as `cargo test --workspace` builds it.
fn program() -> Result<PathBuf, String> {
    Ok(root()?.join("target/debug").join(format!("saddlebag{}", std::env::consts::EXE_SUFFIX)))
}

fn root() -> Result<PathBuf, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map(Path::to_path_buf).ok_or_else(|| "xtask is not in a workspace".to_string())
}
