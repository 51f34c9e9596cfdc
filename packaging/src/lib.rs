//! The packages of a release, each made from the programs that were built: an archive, a Python wheel, npm packages, a Debian package, an
//! `.mcpb` bundle, the context of a container, a Homebrew formula, `server.json`, a bill of materials and the digests.
//!
//! [`package_target`] makes what contains the program of one target, on a machine that can run it. [`package_release`]
//! makes what names several targets, from the files of all of them in one folder. Nothing is published.
//!
//! Every file is reproducible: the same program gives the same bytes. Name, version, description, licence and repository
//! come from the manifest of the program.

mod archive;
mod bundle;
mod container;
mod debian;
mod digests;
mod homebrew;
mod manifest;
mod notices;
mod npm;
mod program;
mod registry;
mod release;
mod sbom;
mod tarball;
mod target;
mod wheel;

use std::path::{Path, PathBuf};

pub use archive::{entries_of_zip, sha256};
pub use program::Program;
pub use release::Release;
pub use target::{RELEASED, Target};

/// Result of making packages.
#[derive(Debug, Default)]
pub struct Made {
    /// Files that were written.
    pub files: Vec<PathBuf>,
    /// Packages that could not be made here, with the reason.
    pub left_out: Vec<String>,
}

/// Makes every package that contains the program of one target.
///
/// # Errors
///
/// The program does not run on this machine, or needs more than its target has, or a file cannot be written.
pub fn package_target(program: &Path, triple: &str, out: &Path) -> Result<Made, String> {
    let release = Release::read()?;
    let program = Program::read(program, Target::of(triple)?, &release)?;
    let mut made = Made::default();
    let sbom = sbom::text(&release, &program.target)?;
    made.files.push(archive::write(&out.join(sbom::file_name(&release, &program.target)), sbom.as_bytes())?);
    made.files.push(tarball::build(&release, &program, out)?);
    made.files.push(wheel::build(&release, &program, &sbom, out)?);
    made.files.push(npm::build_for_target(&release, &program, out)?);
    made.files.push(bundle::build(&release, &program, &program.tools()?, out)?);
    if let Some(architecture) = program.target.debian_architecture() {
        match debian::build(&release, &program, architecture, out)? {
            Some(path) => made.files.push(path),
            None => made.left_out.push("the Debian package: `dpkg-deb` is not installed".to_string()),
        }
    }
    Ok(made)
}

/// Makes the files that name several targets, from what the folder has of each. A released target that the folder has
/// nothing of is left out, and named.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn package_release(out: &Path) -> Result<Made, String> {
    let release = Release::read()?;
    let mut made = Made { files: vec![npm::build_launcher(&release, out)?], left_out: Vec::new() };
    let (formula, missing) = homebrew::build(&release, out)?;
    made.files.extend(formula);
    made.left_out
        .extend(missing.iter().map(|triple| format!("{triple}: the folder has no {}", release.archive(triple))));
    let (bundle, missing) = bundle::build_for_all(&release, out)?;
    made.files.extend(bundle);
    made.left_out
        .extend(missing.iter().map(|triple| format!("{triple} in the bundle: the folder has no bundle of it")));
    let (context, missing) = container::build(&release, out)?;
    made.files.extend(context);
    made.left_out
        .extend(missing.iter().map(|triple| format!("{triple} in the container: the folder has no bundle of it")));
    made.files.push(registry::build(&release, out)?);
    made.files.push(manifest::build(&release, out)?);
    made.files.push(digests::build(out)?);
    Ok(made)
}
