//! The packages, made from the programs by the package `saddlebag-packaging`. It is run as a program, so that xtask itself
//! needs no dependency.

use std::path::Path;

use super::program::Program;
use crate::run::{Output, cargo, cargo_with};
use crate::{clients, new_user};

/// Makes the packages of these programs in a folder, installs the packages for this machine into empty folders and uses
/// them.
pub(super) fn build(programs: &[Program], folder: &Path) -> Result<(), String> {
    let out = folder.to_string_lossy();
    let mut packaged = Vec::new();
    for program in programs.iter().filter(|program| !has_static_twin(program, programs)) {
        let path = program.path.to_string_lossy();
        run(&["target", "--program", &path, "--target", &program.target, "--out", &out])?;
        packaged.push(&program.target);
    }
    run(&["release", "--out", &out])?;
    // The tests name each check whose tool is missing.
    if let Err(error) = clients::install_tools(&mut Output::Inherited) {
        eprintln!("left out: the tools that check the packages: {error}");
    }
    for target in packaged {
        let test = ["test", "--quiet", "--package", "saddlebag-packaging", "--test", "packages", "--", "--nocapture"];
        cargo_with(test, &[("SADDLEBAG_DIST", &*out), ("SADDLEBAG_DIST_TARGET", target)], &mut Output::Inherited)?;
    }
    clients::install(&mut Output::Inherited)?;
    new_user::install(&mut Output::Inherited)?;
    new_user::run(folder, &["archive", "wheel", "npm"])
}

/// Makes the OCI layouts of the components in a folder.
pub(super) fn build_layouts(folder: &Path) -> Result<(), String> {
    run(&["oci", "--out", &folder.to_string_lossy()])
}

fn run(arguments: &[&str]) -> Result<(), String> {
    cargo(["run", "--quiet", "--package", "saddlebag-packaging", "--"].iter().chain(arguments))
}

/// True if there is a static program for the same processor: it also runs where this one does.
fn has_static_twin(program: &Program, programs: &[Program]) -> bool {
    let Some(cpu) = program.target.strip_suffix("-unknown-linux-gnu") else { return false };
    programs.iter().any(|other| other.target == format!("{cpu}-unknown-linux-musl"))
}
