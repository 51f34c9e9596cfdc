//! `cargo xtask dist`: the files of a release, in `target/dist/`. Nothing is published.

mod check;
mod packages;
mod program;
mod worlds;

use std::fs;
use std::path::PathBuf;

use crate::run::root;

const FOLDER: &str = "target/dist";

/// Builds and checks every file, and prints what it built.
pub(crate) fn dist() -> Result<(), String> {
    let folder = folder()?;
    let mut built = worlds::build(&folder)?;
    let component = folder.join("saddlebag.wasm");
    let programs = program::build(&component)?;
    let trace = root()?.join("target/worlds/session.jsonl");
    check::record(&trace)?;
    for program in &programs {
        built.push(check::check_program(program, &trace)?);
    }
    check::check_components(&folder, &trace)?;
    program::check_other_targets(&component)?;
    packages::build(&programs, &folder)?;
    eprintln!("\nin {FOLDER}:");
    for line in built {
        eprintln!("{line}");
    }
    Ok(())
}

/// Builds the components and their OCI layouts.
pub(crate) fn oci() -> Result<(), String> {
    let folder = folder()?;
    worlds::build(&folder)?;
    packages::build_layouts(&folder)
}

/// Builds every component twice, in different folders, and returns an error if two builds differ.
pub(crate) fn twice() -> Result<(), String> {
    worlds::build_twice()
}

/// Returns the folder of the files, and creates it.
fn folder() -> Result<PathBuf, String> {
    let folder = root()?.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}
