//! `SHA256SUMS`: the digest of every file of a release, as `sha256sum --check` reads it.

use std::path::{Path, PathBuf};

use crate::archive::{read, sha256, write};

const NAME: &str = "SHA256SUMS";

/// Writes the digests of all files directly in the folder, sorted by name, and returns the path.
pub(crate) fn build(out: &Path) -> Result<PathBuf, String> {
    let failed = |error| format!("cannot list {}: {error}", out.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(out).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && name != NAME {
            names.push(name);
        }
    }
    names.sort();
    let mut lines = String::new();
    for name in names {
        lines += &format!("{}  {name}\n", sha256(&read(&out.join(&name))?));
    }
    write(&out.join(NAME), lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_a_line_and_the_list_itself_has_none() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("b"), "abc").expect("written");
        std::fs::write(folder.path().join("a"), "").expect("written");
        for _ in 0..2 {
            let path = build(folder.path()).expect("built");
            let text = std::fs::read_to_string(path).expect("text");
            let names: Vec<&str> =
                text.lines().filter_map(|line| line.split_once("  ").map(|(_, name)| name)).collect();
            assert_eq!(names, ["a", "b"]);
            assert!(text.contains(&format!("{}  b\n", sha256(b"abc"))), "{text}");
        }
    }
}
