//! The packages of a release, made from the archives that `dist` makes: a Python wheel, npm packages, an `.mcpb` bundle and
//! `server.json`. Each has the program of the archive, byte for byte.
//!
//! [`package_target`] makes what contains the program of one target. [`package_release`] makes what names several targets, from
//! the files of all of them in one folder. Nothing is published.
//!
//! Every file is reproducible: the same program gives the same bytes. Name, version, description, licence and repository
//! come from the manifest of the program.

mod archive;
mod bundle;
mod npm;
mod program;
mod registry;
mod release;
mod target;
mod template;
mod wheel;

use std::path::{Path, PathBuf};

pub use archive::{Entry, entries_of_tar_gz, entries_of_zip, sha256};
use program::Program;
pub use release::Release;
pub use target::{Os, RELEASED, Target};

/// Makes the wheel and the npm package of one target, from its archive in the folder, and returns their paths.
///
/// # Errors
///
/// The folder has no such archive, its program needs more than the target has, or a file cannot be written.
pub fn package_target(triple: &str, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (release, target) = (Release::read()?, Target::of(triple)?);
    let program = Program::find(&release, &target, folder)?;
    let program = program.ok_or_else(|| format!("{} has no {}", folder.display(), release.archive(&target)))?;
    Ok(vec![wheel::build(&release, &program, folder)?, npm::build_for_target(&release, &program, folder)?])
}

/// Makes the files that name several targets, from the archives in the folder, and returns their paths.
///
/// # Errors
///
/// No archive has a program that runs here, or a file cannot be read or written.
pub fn package_release(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let release = Release::read()?;
    let mut programs = Vec::new();
    for triple in RELEASED.into_iter().chain(target::GNU) {
        programs.extend(Program::find(&release, &Target::of(triple)?, folder)?);
    }
    let bundle = bundle::build(&release, &programs, folder)?;
    let entry = registry::build(&release, &bundle, folder)?;
    Ok(vec![npm::build_launcher(&release, folder)?, bundle, entry])
}

/// Returns the names of the files that a complete release has of its targets and the folder lacks.
///
/// # Errors
///
/// The manifest of the program cannot be read.
pub fn missing(folder: &Path) -> Result<Vec<String>, String> {
    let release = Release::read()?;
    let mut names = Vec::new();
    for triple in RELEASED {
        let target = Target::of(triple)?;
        names.push(release.archive(&target));
        names.push(wheel::file_name(&wheel::python_version(&release.version)?, &target.wheel_tags(None)));
        names.push(npm::file_name(&release, &target));
    }
    names.retain(|name| !folder.join(name).exists());
    Ok(names)
}
