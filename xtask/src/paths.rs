//! Paths of the machine that builds a release. A release has none of them, so every machine builds the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::root;

/// Returns the options of cargo that leave the paths of this machine out of what it builds for a target.
pub(crate) fn left_out(target: &str) -> Result<Vec<String>, String> {
    let flags = flags()?.map(|flag| format!("{flag:?}"));
    Ok(vec!["--config".to_string(), format!("target.{target}.rustflags=[{}]", flags.join(","))])
}

/// Returns the flags of the compiler that leave the paths of this machine out.
pub(crate) fn flags() -> Result<[String; 2], String> {
    let paths = [(cargo_home()?, "cargo"), (root()?, ".")];
    Ok(paths.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())))
}

/// Returns an error if a file contains a path of this machine.
pub(crate) fn check(built: &Path) -> Result<(), String> {
    let bytes = fs::read(built).map_err(|error| format!("cannot read {}: {error}", built.display()))?;
    for path in [cargo_home()?, root()?] {
        let searched = path.to_string_lossy();
        if bytes.windows(searched.len()).any(|part| part == searched.as_bytes()) {
            return Err(format!("{} contains the path {searched} of this machine", built.display()));
        }
    }
    Ok(())
}

fn cargo_home() -> Result<PathBuf, String> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::home_dir().ok_or("neither CARGO_HOME nor a home directory is known")?;
    Ok(home.join(".cargo"))
}
