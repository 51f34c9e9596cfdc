//! The Debian package: the program, its manual, completions, and the files that the policy of Debian asks for.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::archive::{gzip, read, write};
use crate::notices;
use crate::program::Program;
use crate::release::{AUTHORS, Release, TIME};

/// Shells with the place of their completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/saddlebag"),
    ("zsh", "usr/share/zsh/vendor-completions/_saddlebag"),
    ("fish", "usr/share/fish/vendor_completions.d/saddlebag.fish"),
];

/// Address that Debian asks for. It takes no mail; the homepage says where to write.
const MAINTAINER: &str = "saddlebag-memory@users.noreply.github.com";

const BUILDER: &str = "dpkg-deb";

/// Builds the package and returns its path; `None` if `dpkg-deb` is not installed.
pub(crate) fn build(
    release: &Release,
    program: &Program,
    notices: &str,
    architecture: &str,
    out: &Path,
) -> Result<Option<PathBuf>, String> {
    if !Command::new(BUILDER).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Ok(None);
    }
    let folder = tempfile::tempdir().map_err(|error| format!("cannot make a folder: {error}"))?;
    let root = folder.path().join("package");
    let put = |path: &str, bytes: &[u8]| write(&root.join(path), bytes);
    make_program(&put("usr/bin/saddlebag", &program.bytes)?)?;
    let manual = folder.path().join("manual");
    program.write_manual(&manual)?;
    for page in std::fs::read_dir(&manual).map_err(|error| format!("cannot list {}: {error}", manual.display()))? {
        let page = page.map_err(|error| format!("cannot list {}: {error}", manual.display()))?.path();
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        put(&format!("usr/share/man/man1/{name}.gz"), &gzip(&read(&page)?)?)?;
    }
    for (shell, path) in COMPLETIONS {
        put(path, program.completions(shell)?.as_bytes())?;
    }
    let version = debian_version(&release.version);
    put("usr/share/doc/saddlebag/copyright", copyright(release)?.as_bytes())?;
    put(&format!("usr/share/doc/saddlebag/{}.gz", notices::NAME), &gzip(notices.as_bytes())?)?;
    put("usr/share/doc/saddlebag/changelog.gz", &gzip(release.text("CHANGELOG.md")?.as_bytes())?)?;
    put("usr/share/doc/saddlebag/changelog.Debian.gz", &gzip(changelog(&version).as_bytes())?)?;
    let size = size(&root)?;
    put("DEBIAN/control", control(release, program, &version, architecture, size).as_bytes())?;
    let path = out.join(file_name(release, architecture));
    let mut command = Command::new(BUILDER);
    // Reproducible: fixed times and owners, one thread. Level 1 of xz is smaller than gzip, and as quick.
    command.args(["--root-owner-group", "-Zxz", "-z1", "--build"]).arg(&root).arg(&path);
    let ended = command.env("SOURCE_DATE_EPOCH", TIME.to_string()).output();
    let ended = ended.map_err(|error| format!("cannot run `{BUILDER}`: {error}"))?;
    if !ended.status.success() {
        return Err(format!("`{BUILDER}` failed: {}", String::from_utf8_lossy(&ended.stderr).trim()));
    }
    Ok(Some(path))
}

/// Returns the name of the package.
pub(crate) fn file_name(release: &Release, architecture: &str) -> String {
    format!("{}_{}_{architecture}.deb", Release::NAME, debian_version(&release.version))
}

fn control(release: &Release, program: &Program, version: &str, architecture: &str, kilobytes: u64) -> String {
    let depends = program
        .glibc
        .map_or(String::new(), |(major, minor)| format!("Depends: libc6 (>= {major}.{minor}), libgcc-s1\n"));
    let (name, homepage) = (Release::NAME, &release.repository);
    format!(
        "Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {AUTHORS} <{MAINTAINER}>\n\
         Installed-Size: {kilobytes}\n{depends}Section: utils\nPriority: optional\nHomepage: {homepage}\n\
         Description: {}\n Remembers facts, decisions and open tasks of an agent between sessions. The\n memory is a \
         folder of Markdown files that any editor may change. The program\n is a command line and a server of the Model \
         Context Protocol; it uses no\n network.\n",
        synopsis(&release.description)
    )
}

/// Returns the first line of a description: it begins in lower case, as it continues the name of the package.
fn synopsis(description: &str) -> String {
    let mut letters = description.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

fn copyright(release: &Release) -> Result<String, String> {
    let mit = release.text("LICENSE-MIT")?;
    let holder = mit.lines().find_map(|line| line.strip_prefix("Copyright (c) "));
    let holder = holder.ok_or("LICENSE-MIT does not say whose copyright it is")?;
    let (_, terms) = mit.split_once(holder).ok_or("LICENSE-MIT has no terms")?;
    let terms: String =
        terms.trim().lines().map(|line| if line.is_empty() { " .\n".into() } else { format!(" {line}\n") }).collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: {}\nSource: {}\n\n\
         Files: *\nCopyright: {holder}\nLicense: Expat or Apache-2.0\n\nLicense: Expat\n{terms}\nLicense: Apache-2.0\n On Debian \
         systems, the text of the licence is in\n /usr/share/common-licenses/Apache-2.0.\n",
        Release::NAME,
        release.repository
    ))
}

fn changelog(version: &str) -> String {
    let name = Release::NAME;
    format!(
        "{name} ({version}) unstable; urgency=medium\n\n  * New release: see changelog.gz.\n\n \
         -- {AUTHORS} <{MAINTAINER}>  Tue, 01 Jan 1980 00:00:00 +0000\n"
    )
}

/// Returns a version as Debian sorts it: a release candidate is before its release.
fn debian_version(version: &str) -> String {
    format!("{}-1", version.replacen('-', "~", 1))
}

/// Returns the size of a folder in kilobytes, as Debian counts it: each file rounded up, and one for each folder.
fn size(folder: &Path) -> Result<u64, String> {
    let failed = |error| format!("cannot list {}: {error}", folder.display());
    let mut total = 1;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let metadata = entry.metadata().map_err(failed)?;
        total += if metadata.is_dir() { size(&entry.path())? } else { metadata.len().div_ceil(1024) };
    }
    Ok(total)
}

#[cfg(unix)]
fn make_program(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;

    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).map_err(|error| format!("cannot change {}: {error}", path.display()))
}

#[cfg(not(unix))]
fn make_program(_: &Path) -> Result<(), String> {
    Err("a Debian package cannot be built here: files have no mode".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_candidate_sorts_before_its_release() {
        assert_eq!(debian_version("0.1.0"), "0.1.0-1");
        assert_eq!(debian_version("0.2.0-rc.1"), "0.2.0~rc.1-1");
    }
}
