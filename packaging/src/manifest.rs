//! `manifest.json`: version, contract and every file of a release, for programs that install it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::archive::{read, sha256, write};
use crate::release::Release;
use crate::target::RELEASED;

const NAME: &str = "manifest.json";

/// Files that list other files, and would change whenever they are written.
const LISTS: [&str; 2] = [NAME, "SHA256SUMS"];

/// Component that the programs contain.
const COMPONENT: &str = "saddlebag.wasm";

/// Writes the manifest of all files directly in the folder, sorted by name, and returns its path.
pub(crate) fn build(release: &Release, out: &Path) -> Result<PathBuf, String> {
    let failed = |error| format!("cannot list {}: {error}", out.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(out).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_list = path.file_name().is_some_and(|name| LISTS.iter().any(|list| name == *list));
        if path.is_file() && !is_list {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut files, mut component) = (Vec::new(), Value::Null);
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = read(&path)?;
        let digest = sha256(&bytes);
        if name == COMPONENT {
            component = json!(digest);
        }
        let target = RELEASED.iter().find(|triple| name.contains(**triple));
        files.push(json!({ "name": name, "bytes": bytes.len(), "sha256": digest, "target": target }));
    }
    let manifest = json!({
        "name": Release::NAME,
        "version": release.version,
        "contract": contract(release)?,
        "component-sha256": component,
        "files": files,
    });
    write(&out.join(NAME), format!("{manifest:#}\n").as_bytes())
}

/// Returns the package of `wit/` with its version.
fn contract(release: &Release) -> Result<String, String> {
    let text = release.text("wit/world.wit")?;
    let package = text.lines().find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'));
    package.map(str::to_string).ok_or_else(|| "wit/world.wit names no package".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_listed_with_its_digest_and_its_target() {
        let (folder, release) = (tempfile::tempdir().expect("a folder"), Release::read().expect("a release"));
        let archive = release.archive("x86_64-unknown-linux-musl");
        for (name, text) in [(archive.as_str(), "abc"), (COMPONENT, ""), ("SHA256SUMS", "x")] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        for _ in 0..2 {
            let text = std::fs::read(build(&release, folder.path()).expect("built")).expect("text");
            let manifest: Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(manifest["contract"], "saddlebag:memory@0.3.0-dev");
            assert_eq!(manifest["component-sha256"], sha256(b""));
            assert_eq!(manifest["files"].as_array().map(Vec::len), Some(2));
            let listed = &manifest["files"][0];
            assert_eq!(listed["sha256"], sha256(b"abc"));
            assert_eq!((&listed["bytes"], &listed["target"]), (&json!(3), &json!("x86_64-unknown-linux-musl")));
        }
    }
}
