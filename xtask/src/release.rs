//! Checks for a release: dependencies satisfy `deny.toml`, and a registry accepts the crates.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::install::CargoTool;
use crate::run::{cargo, command, root};

const DENY: CargoTool = CargoTool { name: "deny", version: "0.20.2" };

/// Checks the licences, sources and versions of all dependencies, and their advisories where the database can be fetched.
pub(crate) fn audit() -> Result<(), String> {
    let deny = DENY.find_or_install()?;
    let deny = |arguments: &[&str]| {
        command(&deny.to_string_lossy(), ["--workspace", "--all-features"].iter().chain(arguments), &[])
    };
    deny(&["check", "bans", "licenses", "sources"])?;
    match deny(&["fetch", "db"]) {
        Ok(()) => deny(&["check", "--disable-fetch", "advisories"]),
        Err(error) => {
            eprintln!("left out: advisories of dependencies, because their database cannot be fetched: {error}");
            Ok(())
        }
    }
}

/// Packages every crate that is published, without building it.
pub(crate) fn package() -> Result<(), String> {
    let mut arguments =
        ["package", "--workspace", "--quiet", "--allow-dirty", "--no-verify", "--offline"].map(String::from).to_vec();
    for path in manifests(&root()?).map_err(|error| format!("the manifests cannot be found: {error}"))? {
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let package = package_of(&text);
        if is_internal(package) {
            let name = package.lines().find_map(|line| line.strip_prefix("name = ")).unwrap_or_default();
            arguments.extend(["--exclude".into(), name.trim_matches('"').into()]);
        }
    }
    cargo(arguments)
}

/// The part of a manifest that describes the package.
fn package_of(manifest: &str) -> &str {
    let package = manifest.split_once("[package]\n").map_or("", |(_, package)| package);
    package.split_once("\n[").map_or(package, |(package, _)| package)
}

/// Returns true for a package that is never published.
fn is_internal(package: &str) -> bool {
    package.lines().any(|line| line == "publish = false")
}

/// The manifests of all packages of the workspace.
fn manifests(root: &Path) -> io::Result<Vec<PathBuf>> {
    let text = fs::read_to_string(root.join("Cargo.toml"))?;
    let members = text.lines().find_map(|line| line.strip_prefix("members = ")).unwrap_or_default();
    let mut folders = vec![root.to_path_buf()];
    for member in members.split('"').skip(1).step_by(2) {
        match member.strip_suffix("/*") {
            Some(parent) => folders.extend(fs::read_dir(root.join(parent))?.flatten().map(|entry| entry.path())),
            None => folders.push(root.join(member)),
        }
    }
    Ok(folders.into_iter().map(|folder| folder.join("Cargo.toml")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields that a registry shows, as a manifest spells them.
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
        let manifests = manifests(&root().expect("a root")).expect("the manifests");
        assert!(manifests.len() > 20, "{manifests:?}");
        for path in manifests {
            let text = fs::read_to_string(&path).expect("text");
            let package = package_of(&text);
            if is_internal(package) {
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
}
