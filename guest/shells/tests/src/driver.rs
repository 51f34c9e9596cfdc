//! The driver of the folder as a WebAssembly command, for the conformance kit: `saddlebag-conformance -- driver-shell`.
//!
//! It may use the folder for temporary files, in which the kit makes its stores, and the folder `SADDLEBAG_STORES`. Its
//! arguments are those of the driver.

#![allow(clippy::panic, reason = "a program of the tests")]

use std::path::PathBuf;
use std::process::ExitCode;

use saddlebag_shells_tests::{Shell, State};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtxBuilder};

fn main() -> ExitCode {
    let shell = Shell::new("guest-driver");
    let mut wasi = WasiCtxBuilder::new();
    wasi.allow_blocking_current_thread(true).inherit_stdio().arg("driver");
    wasi.args(&std::env::args().skip(1).collect::<Vec<_>>());
    let stores = std::env::var_os("SADDLEBAG_STORES").map(PathBuf::from);
    for folder in stores.into_iter().chain([std::env::temp_dir()]) {
        let name = folder.display().to_string();
        if let Err(error) = wasi.preopened_dir(&folder, &name, FsPerms::ReadWrite) {
            panic!("{name}: {error:#}");
        }
    }
    let mut store = shell.store(State::new(wasi.build()));
    let command = shell.command().instantiate(&mut store);
    match command.and_then(|command| command.wasi_cli_run().call_run(&mut store)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(())) => ExitCode::FAILURE,
        Err(error) => match error.downcast::<I32Exit>() {
            Ok(exit) => ExitCode::from(exit.0 as u8),
            Err(error) => panic!("{error:#}"),
        },
    }
}
