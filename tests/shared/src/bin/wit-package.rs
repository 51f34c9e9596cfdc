//! Writes the package of `wit/`, with its documentation, as a binary that other tools read: wit-package FILE

#![allow(clippy::print_stderr, reason = "it says what went wrong")]

use std::path::Path;
use std::process::ExitCode;

use wit_parser::Resolve;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: wit-package FILE");
        return ExitCode::FAILURE;
    };
    match write(Path::new(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write(path: &Path) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("this crate is not in a workspace")?;
    let mut contract = Resolve::default();
    let (package, _) = contract.push_dir(root.join("wit")).map_err(|error| format!("wit/: {error:#}"))?;
    let encoded = wit_component::encode(&contract, package).map_err(|error| format!("wit/: {error:#}"))?;
    std::fs::write(path, encoded).map_err(|error| format!("{}: {error}", path.display()))
}
