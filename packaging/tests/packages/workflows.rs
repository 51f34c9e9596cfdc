use std::fs;
use std::path::PathBuf;

use saddlebag_packaging::{RELEASED, Release};

fn workflows() -> Vec<PathBuf> {
    let folder = Release::read().expect("a release").root().join(".github/workflows");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("workflows").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert_eq!(files.len(), 2, "{files:?}");
    files
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
        for job in ["crates", "pypi", "npm"] {
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
