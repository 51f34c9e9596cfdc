//! The kit on the executors of this project, and on drivers with faults.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod executors;
mod faults;
mod replay;

use std::process::Command;

/// Result of a run of the kit.
#[derive(Debug)]
struct Ran {
    code: i32,
    output: String,
    errors: String,
}

/// Runs the kit.
fn kit(arguments: &[&str]) -> Ran {
    run(&mut command(arguments))
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saddlebag-conformance"));
    command.args(arguments);
    command
}

fn run(command: &mut Command) -> Ran {
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: done.status.code().unwrap(), output: text(done.stdout), errors: text(done.stderr) }
}

/// Returns the command of the driver of the host on the local disk.
fn local() -> [&'static str; 2] {
    [env!("CARGO_BIN_EXE_saddlebag-conformance"), "--driver=fast"]
}
