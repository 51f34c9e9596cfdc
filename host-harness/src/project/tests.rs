use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// Returns a temporary folder with its canonical path. It is removed after its last use.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = canonical(dir.path()).expect("it exists");
    (dir, path)
}

fn put(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, text).expect("written");
}

fn mkdir(path: PathBuf) -> PathBuf {
    fs::create_dir_all(&path).expect("folders");
    path
}

/// Runs git. Returns `false` if git is not installed.
fn git(folder: &Path, arguments: &[&str]) -> bool {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"];
    let mut git = Command::new("git");
    git.current_dir(folder).args(identity).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
        git.env_remove(variable);
    }
    git.output().is_ok_and(|output| output.status.success())
}

#[test]
fn without_version_control_a_path_is_its_own_project() {
    let (_dir, root) = folder();
    let sub = mkdir(root.join("a/b"));
    assert_eq!(project_root(&sub), sub);
    assert_eq!(project_root(&sub.join("../b/.")), sub);
    assert_eq!(project_root(&root.join("not/there")), root.join("not/there"));
}

#[test]
fn every_folder_of_a_working_copy_is_of_its_project() {
    for marker in [".git", ".hg", ".jj", ".svn"] {
        let (_dir, root) = folder();
        mkdir(root.join(marker));
        let sub = mkdir(root.join("src/deep"));
        assert_eq!(project_root(&sub), root, "{marker}");
        assert_eq!(project_root(&root), root, "{marker}");
    }
}

#[test]
fn the_nearest_root_counts() {
    let (_dir, root) = folder();
    mkdir(root.join(".git"));
    let inner = mkdir(root.join("vendor/lib"));
    mkdir(inner.join(".hg"));
    assert_eq!(project_root(&mkdir(inner.join("x"))), inner);
}

#[test]
fn worktrees_of_one_repository_share_their_project() {
    let (_dir, root) = folder();
    let main = mkdir(root.join("api"));
    let made = git(&main, &["init", "-q"])
        && git(&main, &["commit", "-q", "--allow-empty", "-m", "x"])
        && git(&main, &["worktree", "add", "-q", "../api-fix", "-b", "fix"]);
    if !made {
        return;
    }
    let worktree = mkdir(root.join("api-fix/src"));
    assert_eq!(project_root(&worktree), main);
    assert_eq!(project_slug(&project_root(&worktree)), project_slug(&main));
}

#[test]
fn worktrees_of_a_bare_repository_share_it() {
    let (_dir, root) = folder();
    let made = git(&root, &["init", "-q", "seed"])
        && git(&root.join("seed"), &["commit", "-q", "--allow-empty", "-m", "x"])
        && git(&root, &["clone", "-q", "--bare", "seed", "api.git"])
        && git(&root.join("api.git"), &["worktree", "add", "-q", "../wt", "-b", "wt"]);
    if !made {
        return;
    }
    assert_eq!(project_root(&root.join("wt")), root.join("api.git"));
}

#[test]
fn a_bare_repository_beside_its_worktrees_belongs_to_their_folder() {
    let (_dir, root) = folder();
    mkdir(root.join("api/.bare/worktrees/main"));
    put(root.join("api/.git"), "gitdir: ./.bare\n");
    put(root.join("api/.bare/worktrees/main/commondir"), "../..\n");
    put(root.join("api/.bare/worktrees/main/gitdir"), "../../../main/.git\n");
    put(root.join("api/main/.git"), "gitdir: ../.bare/worktrees/main\n");
    assert_eq!(project_root(&root.join("api/main")), root.join("api"));
    assert_eq!(project_root(&root.join("api")), root.join("api"));
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let (_dir, root) = folder();
    let made = git(&root, &["init", "-q", "lib"])
        && git(&root.join("lib"), &["commit", "-q", "--allow-empty", "-m", "x"])
        && git(&root, &["init", "-q", "app"])
        && git(&root.join("app"), &["submodule", "add", "-q", "../lib", "vendor/lib"]);
    if !made {
        return;
    }
    let submodule = root.join("app/vendor/lib");
    assert_eq!(project_root(&submodule), submodule);
    if git(&submodule, &["worktree", "add", "-q", "../../../lib-fix", "-b", "fix"]) {
        assert_eq!(project_root(&root.join("lib-fix")), submodule);
    }
}

#[test]
fn a_broken_git_file_marks_its_own_folder() {
    for text in ["", "gitdir:", "gitdir: ../nowhere", "not a pointer", "gitdir: .\0"] {
        let (_dir, root) = folder();
        put(root.join(".git"), text);
        assert_eq!(project_root(&mkdir(root.join("src"))), root, "{text:?}");
    }
}

#[test]
fn a_folder_cannot_claim_to_be_a_worktree_of_another_project() {
    let (_dir, root) = folder();
    let victim = mkdir(root.join("victim"));
    let known = mkdir(victim.join(".git/worktrees/known"));
    put(known.join("commondir"), "../..\n");
    put(root.join("known/.git"), &format!("gitdir: {}\n", known.display()));
    put(known.join("gitdir"), &format!("{}\n", root.join("known/.git").display()));
    assert_eq!(project_root(&root.join("known")), victim);

    let forged = root.join("forged");
    put(forged.join("fake/commondir"), &victim.join(".git").display().to_string());
    put(forged.join(".git"), "gitdir: fake\n");
    assert_eq!(project_root(&forged), forged);
    put(forged.join(".git"), &format!("gitdir: {}\n", known.display()));
    assert_eq!(project_root(&forged), forged);
    #[cfg(unix)]
    {
        let linked = mkdir(root.join("linked"));
        std::os::unix::fs::symlink("../known/.git", linked.join(".git")).expect("linked");
        assert_eq!(project_root(&linked), linked);
    }
    // The worktree was removed, or there is no record of its place.
    fs::remove_dir_all(root.join("known")).expect("removed");
    assert_eq!(project_root(&forged), forged);
    fs::remove_file(known.join("gitdir")).expect("removed");
    assert_eq!(project_root(&forged), forged);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_project_is_the_project() {
    let (_dir, root) = folder();
    let project = mkdir(root.join("real"));
    std::os::unix::fs::symlink(&project, root.join("link")).expect("linked");
    assert_eq!(project_root(&root.join("link")), project);
}
