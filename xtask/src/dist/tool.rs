//! `dist`, the program of cargo-dist, which builds archives and installers as `dist-workspace.toml` says.

use std::process::{Command, Stdio};

use crate::install::tool;
use crate::run::root;

/// Folder that it writes to, and that the packages are put into.
pub(super) const FOLDER: &str = "target/distrib";

/// Runs `dist build` with these options, and returns the manifest that it prints.
pub(super) fn dist(options: &[&str], environment: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    let program = tool("dist")?;
    let mut command = Command::new(&program);
    command
        .args(["build", "--output-format=json"])
        .args(options)
        .envs(environment.iter().copied())
        .current_dir(root()?);
    eprintln!("$ dist build {}", options.join(" "));
    let ended = command.stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|error| format!("cannot run {program}: {error}"))?;
    if ended.status.success() { Ok(ended.stdout) } else { Err("`dist build` failed".to_string()) }
}
