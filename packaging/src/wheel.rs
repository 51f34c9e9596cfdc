//! The Python wheel with the program, as the standard for binary distributions describes it.
//!
//! Maturin would write the same, but it compiles the program itself. This wheel has the program of the archive, so that one
//! attestation holds for both.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::archive::{Entry, write, zip};
use crate::program::Program;
use crate::release::{AUTHORS, Release};

/// Page that PyPI and npm show.
pub(crate) const ABOUT: &str = "packaging/about.md";

/// Builds the wheel and returns its path.
pub(crate) fn build(release: &Release, program: &Program, out: &Path) -> Result<PathBuf, String> {
    let name = Release::NAME;
    let version = python_version(&release.version)?;
    let tags = program.target.wheel_tags(program.glibc);
    let stem = format!("{name}-{version}");
    let info = format!("{stem}.dist-info");
    let script = format!("{stem}.data/scripts/{}", program.target.os.program());
    let mut entries = vec![
        Entry::program(script, &program.bytes),
        Entry::text(format!("{info}/METADATA"), metadata(release, program, &version)?),
        Entry::text(format!("{info}/WHEEL"), wheel(&tags, release)),
    ];
    for license in &program.licenses {
        entries.push(Entry::text(format!("{info}/licenses/{}", license.path), license.bytes.clone()));
    }
    entries.push(record(&entries, format!("{info}/RECORD")));
    write(&out.join(file_name(&version, &tags)), &zip(&entries)?)
}

/// Returns the name of a wheel for these platforms.
pub(crate) fn file_name(version: &str, tags: &[String]) -> String {
    format!("{}-{version}-py3-none-{}.whl", Release::NAME, tags.join("."))
}

fn metadata(release: &Release, program: &Program, version: &str) -> Result<String, String> {
    let licenses: String = program.licenses.iter().map(|license| format!("License-File: {}\n", license.path)).collect();
    Ok(format!(
        "Metadata-Version: 2.4\nName: {}\nVersion: {version}\nSummary: {}\nKeywords: {}\nAuthor: {AUTHORS}\n\
         License-Expression: {}\n{licenses}Project-URL: Source Code, {}\n\
         Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM\n\n{}",
        Release::NAME,
        release.description,
        release.keywords.join(","),
        release.license,
        release.repository,
        release.text(ABOUT)?,
    ))
}

fn wheel(tags: &[String], release: &Release) -> String {
    let tags: String = tags.iter().map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
    format!(
        "Wheel-Version: 1.0\nGenerator: {}-packaging {}\nRoot-Is-Purelib: false\n{tags}",
        Release::NAME,
        release.version
    )
}

/// Returns the list of all files with their digests. Its own line has none.
fn record(entries: &[Entry], path: String) -> Entry {
    let mut text = String::new();
    for entry in entries {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
        text += &format!("{},sha256={digest},{}\n", entry.path, entry.bytes.len());
    }
    text += &format!("{path},,\n");
    Entry::text(path, text)
}

/// Returns a version as Python spells it: `0.2.0-rc.1` is `0.2.0rc1`.
pub(crate) fn python_version(version: &str) -> Result<String, String> {
    let Some((numbers, stage)) = version.split_once('-') else { return Ok(version.to_string()) };
    let stages = [("alpha.", "a"), ("beta.", "b"), ("rc.", "rc")];
    let known = stages.iter().find_map(|(long, short)| Some(format!("{short}{}", stage.strip_prefix(long)?)));
    let stage = known.filter(|stage| stage.ends_with(|last: char| last.is_ascii_digit()));
    let stage =
        stage.ok_or_else(|| format!("Python cannot spell the version `{version}`; use -alpha.N, -beta.N or -rc.N"))?;
    Ok(format!("{numbers}{stage}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_before_a_release_is_spelled_as_python_sorts_it() {
        assert_eq!(python_version("0.1.0").as_deref(), Ok("0.1.0"));
        assert_eq!(python_version("0.2.0-rc.1").as_deref(), Ok("0.2.0rc1"));
        assert_eq!(python_version("0.2.0-beta.12").as_deref(), Ok("0.2.0b12"));
        let refused = python_version("0.2.0-nightly").expect_err("refused");
        assert!(refused.contains("0.2.0-nightly") && refused.contains("-rc.N"), "{refused}");
    }
}
