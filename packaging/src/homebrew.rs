//! The Homebrew formula: the archive of each target with its digest.

use std::path::{Path, PathBuf};

use crate::archive::{read, sha256, write};
use crate::release::Release;

const TEMPLATE: &str = "packaging/homebrew/saddlebag.rb";

/// Archives of the formula: block of the system, block of the processor, target.
const ARCHIVES: [(&str, &str, &str); 4] = [
    ("on_macos", "on_arm", "aarch64-apple-darwin"),
    ("on_macos", "on_intel", "x86_64-apple-darwin"),
    ("on_linux", "on_arm", "aarch64-unknown-linux-musl"),
    ("on_linux", "on_intel", "x86_64-unknown-linux-musl"),
];

/// Writes the formula from the archives that the folder has. Returns its path; `None` if there is no archive.
pub(crate) fn build(release: &Release, out: &Path) -> Result<Option<PathBuf>, String> {
    let mut blocks = String::new();
    for system in ["on_macos", "on_linux"] {
        let mut inside = String::new();
        for (_, processor, triple) in ARCHIVES.into_iter().filter(|(of, ..)| *of == system) {
            let name = release.archive(triple);
            let path = out.join(&name);
            if !path.exists() {
                continue;
            }
            let (url, digest) = (release.download(&name), sha256(&read(&path)?));
            inside += &format!("    {processor} do\n      url \"{url}\"\n      sha256 \"{digest}\"\n    end\n");
        }
        if !inside.is_empty() {
            blocks += &format!("  {system} do\n{inside}  end\n\n");
        }
    }
    if blocks.is_empty() {
        return Ok(None);
    }
    let filled = [
        ("@DESCRIPTION@", release.description.as_str()),
        ("@HOMEPAGE@", &release.repository),
        ("@VERSION@", &release.version),
        ("@LICENSE@", &license(&release.license)?),
        ("@ARCHIVES@", blocks.trim()),
    ];
    let mut formula = release.text(TEMPLATE)?;
    for (mark, text) in filled {
        formula = formula.replace(mark, text);
    }
    write(&out.join("saddlebag.rb"), formula.as_bytes()).map(Some)
}

/// Returns a choice of licences as Ruby spells it.
fn license(expression: &str) -> Result<String, String> {
    if expression.contains(" AND ") || expression.contains('(') {
        return Err(format!("the formula cannot spell the licence `{expression}`"));
    }
    let names: Vec<String> = expression.split(" OR ").map(|name| format!("\"{name}\"")).collect();
    Ok(if names.len() == 1 { names.concat() } else { format!("any_of: [{}]", names.join(", ")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_names_each_archive_that_is_there_with_its_digest() {
        let release = Release::read().expect("a release");
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(build(&release, folder.path()), Ok(None));
        let there = ["aarch64-apple-darwin", "x86_64-unknown-linux-musl"];
        for triple in there {
            write(&folder.path().join(release.archive(triple)), triple.as_bytes()).expect("written");
        }
        let path = build(&release, folder.path()).expect("built");
        let formula = String::from_utf8(read(&path.expect("a formula")).expect("bytes")).expect("text");
        for triple in there {
            let digest = sha256(triple.as_bytes());
            let block = format!("url \"{}\"\n      sha256 \"{digest}\"", release.download(&release.archive(triple)));
            assert!(formula.contains(&block), "{formula}");
        }
        assert_eq!(formula.matches("url ").count(), there.len(), "{formula}");
        assert!(!formula.contains('@'), "a mark was not filled:\n{formula}");
        assert!(formula.contains("license any_of: [\"MIT\", \"Apache-2.0\"]"), "{formula}");
    }
}
