//! The packages of a release, each made from the programs that were built: an archive, a Python wheel, npm packages, a Debian package, an
//! `.mcpb` bundle, the context of a container, a Homebrew formula, `server.json`, a bill of materials, OCI layouts of the components and the digests.
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
mod oci;
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
    // First what the program must answer, so that a program that cannot leaves no file.
    let tools = program.tools()?;
    let mut made = Made::default();
    let sbom = sbom::text(&release, &program.target)?;
    let notices = notices::text(&release, &program.target.triple)?;
    made.files.push(archive::write(&out.join(sbom::file_name(&release, &program.target)), sbom.as_bytes())?);
    made.files.push(tarball::build(&release, &program, &notices, out)?);
    made.files.push(wheel::build(&release, &program, &notices, &sbom, out)?);
    made.files.push(npm::build_for_target(&release, &program, &notices, out)?);
    made.files.push(bundle::build(&release, &program, &notices, &tools, out)?);
    if let Some(architecture) = program.target.debian_architecture() {
        match debian::build(&release, &program, &notices, architecture, out)? {
            Some(path) => made.files.push(path),
            None => made.left_out.push("the Debian package: `dpkg-deb` is not installed".to_string()),
        }
    }
    Ok(made)
}

/// Makes an OCI layout of each component in the folder, and of the package of the contract.
///
/// # Errors
///
/// A file cannot be read or written, or is not a component.
pub fn package_components(out: &Path) -> Result<Made, String> {
    Ok(Made { files: oci::build(&Release::read()?, out)?, left_out: Vec::new() })
}

/// Makes the files that name several targets, from what the folder has of each. Each file that a complete release has and the
/// folder lacks is named.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn package_release(out: &Path) -> Result<Made, String> {
    let release = Release::read()?;
    let mut made = Made { files: vec![npm::build_launcher(&release, out)?], left_out: Vec::new() };
    made.files.extend(homebrew::build(&release, out)?);
    made.files.extend(bundle::build_for_all(&release, out)?);
    made.files.extend(container::build(&release, out)?);
    made.files.push(registry::build(&release, out)?);
    made.files.extend(oci::build(&release, out)?);
    made.files.push(manifest::build(&release, out)?);
    made.files.push(digests::build(out)?);
    for triple in RELEASED {
        let files = files_of(&release, &Target::of(triple)?)?;
        let missing: Vec<String> = files.into_iter().filter(|name| !out.join(name).exists()).collect();
        if !missing.is_empty() {
            made.left_out.push(format!("{triple}: the folder has no {}", missing.join(", ")));
        }
    }
    Ok(made)
}

/// Returns the names of the files that a release has of a target.
fn files_of(release: &Release, target: &Target) -> Result<Vec<String>, String> {
    let mut names = vec![
        release.archive(&target.triple),
        sbom::file_name(release, target),
        wheel::file_name(&wheel::python_version(&release.version)?, &target.wheel_tags(None)),
        npm::file_name(release, target),
        bundle::file_of(release, &target.triple),
    ];
    names.extend(target.debian_architecture().map(|architecture| debian::file_name(release, architecture)));
    Ok(names)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Answers as the program does, so that packages are made without building it.
    const SCRIPT: &str = r#"#!/bin/sh
case "$1" in
  --version) echo "saddlebag VERSION" ;;
  tools) echo '{"tools": [{"name": "memory_recall", "description": "Find."}]}' ;;
  completions)
    case "$2" in
      man) mkdir -p "$4" && echo page > "$4/saddlebag.1" ;;
      *) echo "complete $2" ;;
    esac ;;
esac
"#;

    #[test]
    fn every_package_is_the_same_byte_for_byte_when_it_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("saddlebag");
        program::script::write_program(&program, &SCRIPT.replace("VERSION", env!("CARGO_PKG_VERSION")));
        let make = |name: &str| {
            let out = folder.path().join(name);
            let mut made = Made::default();
            // The bundle of the release has both processors of Linux to choose from.
            for triple in ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"] {
                made.files.extend(package_target(&program, triple, &out).expect("packages").files);
            }
            made.files.extend(package_release(&out).expect("a release").files);
            let files = made.files.iter().map(|path| {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                (name, sha256(&std::fs::read(path).expect("bytes")))
            });
            files.collect::<Vec<_>>()
        };
        let first = make("first");
        assert!(first.len() >= 13, "{first:?}");
        assert_eq!(first, make("second"));
    }
}
