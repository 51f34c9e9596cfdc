//! [`Program`]: a built program, as the archive of a release has it.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::archive::{Entry, entries_of_tar_gz, entries_of_zip, write};
use crate::release::Release;
use crate::target::{Os, Target};

/// A program and the licences beside it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Machine that it is built for.
    pub(crate) target: Target,
    /// Content of the file.
    pub(crate) bytes: Vec<u8>,
    /// Its own licences, and those of everything in it.
    pub(crate) licenses: Vec<Entry>,
    /// Newest version of the GNU C library that it asks for; `None` if it uses none.
    pub(crate) glibc: Option<(u32, u32)>,
}

impl Program {
    /// Reads the program of a target from its archive in a folder, and checks that it needs no more than its target has.
    /// Returns `None` if there is no such archive.
    pub(crate) fn find(release: &Release, target: &Target, folder: &Path) -> Result<Option<Self>, String> {
        let path = folder.join(release.archive(target));
        if !path.exists() {
            return Ok(None);
        }
        let shown = path.display();
        let bytes = std::fs::read(&path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let entries = if target.os == Os::Win32 { entries_of_zip(&bytes) } else { entries_of_tar_gz(&bytes) };
        let (mut program, mut licenses) = (None, Vec::new());
        for entry in entries.map_err(|error| format!("{shown}: {error}"))? {
            let name = entry.path.rsplit('/').next().unwrap_or_default().to_string();
            if name == target.os.program() {
                program = Some(entry.bytes);
            } else if name.starts_with("LICENSE") || name.starts_with("THIRD-PARTY") {
                licenses.push(Entry { path: name, ..entry });
            }
        }
        licenses.sort_by(|a, b| a.path.cmp(&b.path));
        let bytes = program.ok_or_else(|| format!("{shown} has no {}", target.os.program()))?;
        let glibc = if target.os == Os::Linux { glibc(&bytes) } else { None };
        let triple = &target.triple;
        match (target.is_gnu, glibc) {
            (false, Some((major, minor))) => {
                let needs = format!("version {major}.{minor} of the GNU C library");
                Err(format!("the program of {shown} needs {needs}, which {triple} lacks"))
            }
            (true, None) => Err(format!("the program of {shown} is not for {triple}: it asks for no GNU C library")),
            _ => Ok(Some(Self { target: target.clone(), bytes, licenses, glibc })),
        }
    }

    /// Returns true if this machine can run it.
    pub(crate) fn runs_here(&self) -> bool {
        let (os, cpu) = (self.target.os, if self.target.is_arm { "aarch64" } else { "x86_64" });
        let here = match std::env::consts::OS {
            "windows" => Os::Win32,
            "macos" => Os::Darwin,
            _ => Os::Linux,
        };
        os == here && std::env::consts::ARCH == cpu
    }

    /// Returns the tools that its MCP server offers, as `tools --json` lists them: names and descriptions.
    pub(crate) fn tools(&self) -> Result<Vec<Value>, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
        let path = write(&folder.path().join(self.target.os.program()), &self.bytes)?;
        make_executable(&path)?;
        let ended = loop {
            match Command::new(&path).args(["tools", "--json"]).output() {
                // A process that another thread starts at this moment holds the file open until it runs its own program.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {}
                ended => break ended,
            }
        };
        let ended = ended.map_err(|error| format!("cannot run `saddlebag tools --json`: {error}"))?;
        if !ended.status.success() {
            return Err(format!("`saddlebag tools --json` failed: {}", String::from_utf8_lossy(&ended.stderr).trim()));
        }
        let listed: Value =
            serde_json::from_slice(&ended.stdout).map_err(|error| format!("`saddlebag tools --json`: {error}"))?;
        let tools = listed["tools"].as_array().filter(|tools| !tools.is_empty());
        let tools = tools.ok_or("`saddlebag tools --json` lists no tools")?.iter();
        Ok(tools.map(|tool| serde_json::json!({ "name": tool["name"], "description": tool["description"] })).collect())
    }
}

/// Returns the newest version of the GNU C library that a program names. The linker names each version that a function of
/// it has, as `GLIBC_2.34`.
fn glibc(bytes: &[u8]) -> Option<(u32, u32)> {
    const MARK: &[u8] = b"\0GLIBC_";
    let found = bytes.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK);
    let versions = found.filter_map(|(at, _)| {
        let rest = bytes.get(at + MARK.len()..)?;
        let name = rest.split(|byte| *byte == 0).next()?;
        let mut numbers = std::str::from_utf8(name).ok()?.split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    });
    versions.max()
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;

    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).map_err(|error| format!("cannot change {}: {error}", path.display()))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tar_gz;

    #[test]
    fn the_newest_version_of_the_c_library_is_found_by_number_and_not_by_text() {
        let bytes = b"x\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0\"GLIBC_9.9\"";
        assert_eq!(glibc(bytes), Some((2, 34)));
        assert_eq!(glibc(b"none"), None);
    }

    #[test]
    fn a_program_that_needs_another_c_library_than_its_target_has_is_refused() {
        let release = Release::read().expect("a release");
        let refused = |program: &[u8], triple: &str| {
            let (folder, target) = (tempfile::tempdir().expect("a folder"), Target::of(triple).expect("known"));
            let archive = tar_gz(&[Entry::program("top/saddlebag", program)]).expect("an archive");
            write(&folder.path().join(release.archive(&target)), &archive).expect("written");
            Program::find(&release, &target, folder.path()).expect_err("refused")
        };
        let needs = refused(b"\0GLIBC_2.34\0", "x86_64-unknown-linux-musl");
        assert!(needs.contains("needs version 2.34 of the GNU C library"), "{needs}");
        assert!(refused(b"static", "x86_64-unknown-linux-gnu").contains("asks for no GNU C library"));
    }
}
