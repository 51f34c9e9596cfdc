//! `THIRD-PARTY-LICENSES.txt`: the licence of every crate that is in a program, with its text as the crate has it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::release::{Release, cargo};
use crate::sbom::{COMPONENT_TARGET, Crate, licenses_of_crates};

/// Name of the file in an archive.
pub(crate) const NAME: &str = "THIRD-PARTY-LICENSES.txt";

/// Packages in the program that are not crates: name, licence, and the file with the text of the licence.
const VENDORED: [(&str, &str, &str); 2] = [
    ("htm 3.1.1 (npm)", "Apache-2.0", "cli/src/ui/page/vendor/LICENSE-htm"),
    ("preact 10 (npm, in htm)", "MIT", "cli/src/ui/page/vendor/LICENSE-preact"),
];

/// Beginnings of the names of files with a licence, in lower case.
const FILES: [&str; 6] = ["license", "licence", "copying", "notice", "unlicense", "copyright"];

/// Returns the licences of all crates that the program for a target is built of.
///
/// Text that several crates have is printed once, with all of their names. A crate without a licence file gets the
/// licence of a licence that its manifest names, if it is in this repository.
pub(crate) fn text(release: &Release, triple: &str) -> Result<String, String> {
    let used = licenses_of_crates(triple)?;
    let mut folders = BTreeMap::new();
    // For these targets alone, so that cargo needs no crate of another.
    for target in [triple, COMPONENT_TARGET] {
        let metadata = cargo(&["metadata", "--locked", "--filter-platform", target, "--format-version", "1"])?;
        let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("`cargo metadata`: {error}"))?;
        folders.extend(folders_of(&metadata)?);
    }
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut list = String::new();
    let mut without = Vec::new();
    for (each, license) in &used {
        let (name, version) = each;
        if name.starts_with(Release::NAME) {
            continue;
        }
        let shown = format!("{name} {version}");
        if license.is_empty() {
            return Err(format!("{shown} names no licence"));
        }
        list += &format!("{shown}: {license}\n");
        let folder = folders.get(each).ok_or_else(|| format!("`cargo metadata` does not list {shown}"))?;
        let found = texts_in(Path::new(folder))?;
        if found.is_empty() {
            without.push((shown.clone(), license.clone()));
        }
        for text in found {
            texts.entry(text).or_default().insert(shown.clone());
        }
    }
    for (shown, license) in without {
        let own = own_text(release, &license)?;
        let own =
            own.ok_or_else(|| format!("{shown} has no text of its licence, {license}: add it to this repository"))?;
        texts.entry(own).or_default().insert(shown);
    }
    for (name, license, file) in VENDORED {
        let text = release.text(file)?;
        list += &format!("{name}: {license}\n");
        texts.entry(text.trim().to_string()).or_default().insert(name.to_string());
    }
    let rule = "-".repeat(80);
    let mut all = format!(
        "The program {} contains these crates and packages, which others wrote. Their licences come after the list.\n\n{list}",
        Release::NAME
    );
    for (text, names) in texts {
        let names: Vec<String> = names.into_iter().collect();
        all += &format!("\n{rule}\n{}\n{rule}\n\n{text}\n", names.join(", "));
    }
    Ok(all)
}

/// Returns the folder of each crate.
fn folders_of(metadata: &Value) -> Result<BTreeMap<Crate, String>, String> {
    let packages = metadata["packages"].as_array().ok_or("`cargo metadata` lists no packages")?;
    let folder = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let name = package["name"].as_str()?.to_string();
        Some(((name, package["version"].as_str()?.to_string()), manifest.parent()?.to_string_lossy().into_owned()))
    };
    Ok(packages.iter().filter_map(folder).collect())
}

/// Returns the licences in the folder of a crate, with uniform line ends.
fn texts_in(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && FILES.iter().any(|beginning| name.starts_with(beginning)) {
            paths.push(path);
        }
    }
    paths.sort();
    let text = |path| Ok(std::fs::read_to_string(path).map_err(failed)?.replace("\r\n", "\n").trim().to_string());
    paths.into_iter().map(text).collect()
}

/// Returns the text of this repository that satisfies a licence; `None` if there is none.
fn own_text(release: &Release, license: &str) -> Result<Option<String>, String> {
    let words: Vec<&str> = license.split([' ', '/', '(', ')']).filter(|word| !word.is_empty()).collect();
    let own = [("MIT", "LICENSE-MIT"), ("Apache-2.0", "LICENSE-APACHE")];
    let own = own.into_iter().find(|(word, _)| words.contains(word) && !words.contains(&"AND"));
    let Some((_, file)) = own else { return Ok(None) };
    let texts = release.licenses()?;
    Ok(texts.into_iter().find(|(name, _)| *name == file).map(|(_, text)| text.trim().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_of_a_program_is_listed_with_a_text() {
        let release = Release::read().expect("a release");
        let text = text(&release, "x86_64-unknown-linux-musl").expect("licences");
        for (name, license) in
            [("wasmtime 48", "Apache-2.0 WITH LLVM-exception"), ("serde 1", "MIT OR Apache-2.0"), ("preact 10", "MIT")]
        {
            let line = text.lines().find(|line| line.starts_with(name)).expect("a line of the list");
            assert!(line.ends_with(license), "{line}");
            let shown = line.split(':').next().expect("a name");
            let rule = text.lines().filter(|line| line.contains(shown)).count();
            assert!(rule > 1, "{shown} has no text");
        }
        assert!(!text.contains("cranelift-codegen"), "a released program has no compiler");
    }
}
