//! [`Release`]: facts that every package repeats, read from the manifests.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::target::{Os, Target};

/// Authors, as the licence names them.
pub(crate) const AUTHORS: &str = "The Saddlebag developers";

/// A release, as the manifest of the program describes it.
#[derive(Clone, Debug)]
pub struct Release {
    /// Version, without `v`.
    pub version: String,
    /// One line about the program, without a full stop.
    pub description: String,
    /// SPDX expression of the licence.
    pub license: String,
    /// Address of the repository.
    pub repository: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    root: PathBuf,
}

impl Release {
    /// Name of the program and of its packages.
    pub const NAME: &str = "saddlebag";
    /// Name of the package of Rust with the program.
    pub const CRATE: &str = "saddlebag-cli";

    /// Reads the manifest of the program in this workspace.
    ///
    /// # Errors
    ///
    /// Cargo does not run, or the manifest lacks a field.
    pub fn read() -> Result<Self, String> {
        let metadata = cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"])?;
        let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("`cargo metadata`: {error}"))?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.clone().find(|package| package["name"] == Self::CRATE);
        let package = package.ok_or_else(|| format!("the workspace has no package {}", Self::CRATE))?;
        let field = |name: &str| -> Result<String, String> {
            let text = package[name].as_str().ok_or_else(|| format!("{} has no field `{name}`", Self::CRATE))?;
            Ok(text.to_string())
        };
        let keywords = package["keywords"].as_array().into_iter().flatten();
        Ok(Self {
            version: field("version")?,
            description: field("description")?,
            license: field("license")?,
            repository: field("repository")?,
            keywords: keywords.filter_map(|word| word.as_str().map(str::to_string)).collect(),
            root: root(),
        })
    }

    /// Root of the repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the address of a file of this release.
    pub fn download(&self, file: &str) -> String {
        format!("{}/releases/download/v{}/{file}", self.repository, self.version)
    }

    /// Name of the archive of a target, as `dist` makes it. A tar file has a top folder with this name without `.tar.gz`; a zip
    /// file has none.
    pub fn archive(&self, target: &Target) -> String {
        format!("{}-{}.{}", Self::CRATE, target.triple, if target.os == Os::Win32 { "zip" } else { "tar.gz" })
    }

    /// Name in the registry of MCP servers: the account that owns the repository, reversed.
    ///
    /// # Errors
    ///
    /// The repository is not on GitHub.
    pub fn server_name(&self) -> Result<String, String> {
        let owner = self.repository.strip_prefix("https://github.com/").and_then(|path| path.split('/').next());
        let owner = owner.ok_or_else(|| format!("the repository {} is not on GitHub", self.repository))?;
        Ok(format!("io.github.{owner}/{}", Self::NAME))
    }

    /// Returns the values for the marks of a template that every package has.
    pub(crate) fn values(&self) -> Result<Vec<(&'static str, Value)>, String> {
        Ok(vec![
            ("VERSION", json!(self.version)),
            ("DESCRIPTION", json!(self.description)),
            ("LICENSE", json!(self.license)),
            ("REPOSITORY", json!(self.repository)),
            ("KEYWORDS", json!(self.keywords)),
            ("AUTHORS", json!(AUTHORS)),
            ("SERVER", json!(self.server_name()?)),
        ])
    }

    /// Reads the text file of the repository.
    pub(crate) fn text(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.root.join(path)).map_err(|error| format!("cannot read {path}: {error}"))
    }
}

/// Root of the repository.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// Runs cargo at the root of the repository and returns its output.
fn cargo(arguments: &[&str]) -> Result<String, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let line = format!("cargo {}", arguments.join(" "));
    let ended = Command::new(cargo).args(arguments).current_dir(root()).output();
    let ended = ended.map_err(|error| format!("cannot run `{line}`: {error}"))?;
    if !ended.status.success() {
        return Err(format!("`{line}` failed: {}", String::from_utf8_lossy(&ended.stderr).trim()));
    }
    String::from_utf8(ended.stdout).map_err(|error| format!("`{line}`: {error}"))
}
