//! What a release needs: dependencies that satisfy `deny.toml`, and crates that a registry takes.

use std::process::Command;

use crate::run::{Output, cargo, cargo_with};

const HOW_TO_INSTALL: &str = "install it with `cargo install --locked cargo-deny`, or take a program from \
                              https://github.com/EmbarkStudios/cargo-deny/releases";

/// Checks the advisories, licences, sources and versions of all dependencies.
pub(crate) fn audit() -> Result<(), String> {
    let found = Command::new("cargo").args(["deny", "--version"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        return Err(format!("`cargo deny` is not installed, so nothing was checked; {HOW_TO_INSTALL}"));
    }
    cargo(["deny", "--workspace", "--all-features", "check"])
}

/// Packages every crate that is published, without building it.
pub(crate) fn package(output: &mut Output) -> Result<(), String> {
    cargo_with(["package", "--workspace", "--quiet", "--allow-dirty", "--no-verify", "--offline"], &[], output)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use crate::run::root;

    /// What a registry shows of a crate, as its manifest spells it.
    const SHOWN: [&str; 6] = [
        "description = ",
        "license.workspace = true",
        "repository.workspace = true",
        "readme.workspace = true",
        "keywords.workspace = true",
        "categories.workspace = true",
    ];

    #[test]
    fn every_crate_is_internal_or_has_what_a_registry_shows() {
        let manifests = manifests();
        assert!(manifests.len() > 5, "{manifests:?}");
        for path in manifests {
            let text = fs::read_to_string(&path).expect("text");
            let (_, package) = text.split_once("[package]\n").expect("a package");
            let package = package.split_once("\n[").map_or(package, |(package, _)| package);
            if package.lines().any(|line| line == "publish = false") {
                continue;
            }
            for field in SHOWN {
                let is_there = package.lines().any(|line| line.starts_with(field));
                assert!(is_there, "{} lacks `{field}`, or `publish = false`", path.display());
            }
        }
    }

    #[test]
    fn every_crate_of_the_workspace_that_another_depends_on_has_a_version() {
        let text = fs::read_to_string(root().expect("a root").join("Cargo.toml")).expect("text");
        let version = text.lines().find_map(|line| line.strip_prefix("version = ")).expect("the version of all crates");
        let ours: Vec<&str> =
            text.lines().filter(|line| line.starts_with("saddlebag") && line.contains("path")).collect();
        assert!(ours.len() > 3, "{ours:?}");
        for line in ours {
            assert!(line.contains(&format!("version = {version}")), "{line}: its version is not {version}");
        }
    }

    /// The manifests of all crates.
    fn manifests() -> Vec<PathBuf> {
        let root = root().expect("a root");
        let folders = ["", "benches", "cli", "host-harness", "tests", "xtask"].map(|folder| root.join(folder));
        let crates = fs::read_dir(root.join("crates")).expect("the folder of crates");
        let crates = crates.map(|entry| entry.expect("an entry").path());
        let manifest = |folder: PathBuf| folder.join(Path::new("Cargo.toml"));
        folders.into_iter().chain(crates).map(manifest).filter(|path| path.exists()).collect()
    }
}
