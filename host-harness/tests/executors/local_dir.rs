//! Properties of a store on disk: links, pipes, permissions, other programs.

use std::fs;

use saddlebag::protocol::{FsError, WriteOutcome};
use saddlebag_host::{LocalDir, LocalDirOptions, OpenError};

use crate::support::{Any, Ask, Matches, fast, open, paths};

#[test]
fn a_root_that_is_not_a_folder_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such");
    let error = LocalDir::open(&missing, fast()).unwrap_err();
    assert!(matches!(error, OpenError::Missing(_)));
    assert!(error.to_string().ends_with("does not exist; create it first"), "{error}");

    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("below")] {
        assert!(matches!(LocalDir::open(&path, fast()), Err(OpenError::NotDirectory(_))));
        assert!(matches!(LocalDir::create(&path, fast()), Err(OpenError::NotDirectory(_))));
    }

    assert!(LocalDir::create(&missing, LocalDirOptions::default()).is_ok());
    assert!(LocalDir::create(&missing, LocalDirOptions::default()).is_ok());
}

#[test]
fn a_store_can_move_to_another_thread() {
    fn is_send<T: Send>(_: &T) {}
    let folder = tempfile::tempdir().unwrap();
    is_send(&open(folder.path()));
    is_send(&saddlebag_host::Simulator::new(1));
}

#[test]
fn a_version_outlives_the_process_and_a_touch_changes_it() {
    let folder = tempfile::tempdir().unwrap();
    store_and_age(folder.path(), "a.md");
    let version = open(folder.path()).content("a.md").version;
    let mut store = open(folder.path());
    assert_eq!(store.content("a.md").version, version);
    assert_eq!(store.list("", false).unwrap()[0].version, version);

    fs::write(folder.path().join("a.md"), "TEXT").unwrap();
    assert_ne!(store.content("a.md").version, version);
    assert!(matches!(store.write("a.md", "", Matches(version)), Ok(WriteOutcome::Stale(Some(_)))));
}

#[test]
fn a_large_file_in_doubt_matches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let version = store.put("a.md", &"x".repeat(4 * 1024 * 1024 + 1));
    assert!(version.0.starts_with('r'), "{version:?}");
    let outcome = store.write("a.md", "", Matches(version));
    assert!(matches!(outcome, Ok(WriteOutcome::Stale(Some(_)))));
}

/// Puts a file there and waits until its times are beyond doubt.
fn store_and_age(root: &std::path::Path, name: &str) {
    fs::write(root.join(name), "text").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(25));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::*;

    #[test]
    fn locks_do_not_leave_through_a_link_either() {
        let outside = tempfile::tempdir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        symlink(outside.path(), folder.path().join(".saddlebag")).unwrap();
        let mut store = open(folder.path());
        assert_eq!(store.write("a.md", "x", Any), Err(FsError::SymbolicLink));
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_root_may_be_reached_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("real")).unwrap();
        symlink("real", folder.path().join("link")).unwrap();
        open(&folder.path().join("link")).put("a.md", "text");
        assert_eq!(fs::read_to_string(folder.path().join("real/a.md")).unwrap(), "text");
    }

    #[test]
    fn new_files_are_private_and_old_ones_keep_their_mode() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let mut store = open(root);
        store.put("d/e/a.md", "1");
        store.append("d/b.md", "1").unwrap();
        store.make_directory("f").unwrap();
        for (name, expected) in [("d", 0o700), ("d/e", 0o700), ("d/e/a.md", 0o600), ("d/b.md", 0o600), ("f", 0o700)] {
            assert_eq!(mode(&root.join(name)), expected, "{name}");
        }
        assert_eq!(mode(&root.join(".saddlebag/locks-3")), 0o700);

        fs::set_permissions(root.join("d/e/a.md"), fs::Permissions::from_mode(0o664)).unwrap();
        let version = store.content("d/e/a.md").version;
        store.write("d/e/a.md", "2", Matches(version)).unwrap();
        assert_eq!(mode(&root.join("d/e/a.md")), 0o664);
        store.put("d/e/a.md", "3");
        store.append("d/e/a.md", "4").unwrap();
        assert_eq!(mode(&root.join("d/e/a.md")), 0o664);

        let made = root.join("x/y");
        LocalDir::create(&made, fast()).unwrap();
        assert_eq!((mode(&root.join("x")), mode(&made)), (0o700, 0o700));
    }

    #[test]
    fn a_store_without_permission_to_write_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), "text").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
        let mut store = open(folder.path());
        assert_eq!(store.text("a.md"), "text");
        // Root may write anyway.
        if !rustix::process::geteuid().is_root() {
            assert_eq!(store.write("a.md", "x", Any), Err(FsError::Denied));
            assert_eq!(store.append("a.md", "x"), Err(FsError::Denied));
            assert_eq!(store.remove("a.md", Any), Err(FsError::Denied));
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn locks_work_again_after_somebody_has_deleted_them() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        store.put("a.md", "1");
        fs::remove_dir_all(folder.path().join(".saddlebag")).unwrap();
        store.put("a.md", "2");
        assert!(folder.path().join(".saddlebag/locks-3").is_dir());
    }

    /// Runs in a separate process, in which no file may grow beyond some size.
    #[test]
    #[ignore = "started by `an_append_that_does_not_fit_is_undone`"]
    fn append_beyond_the_limit() {
        let root = given_root();
        let mut store = open(&root);
        let before = "line\n".repeat(100);
        store.put("a.md", &before);
        assert!(store.append("a.md", &"x".repeat(1_000_000)).is_err());
        assert!(store.append("new.md", &"x".repeat(1_000_000)).is_err());
        assert!(store.write("a.md", &"x".repeat(1_000_000), Any).is_err());
        assert_eq!(store.text("a.md"), before);
        assert_eq!(file_names(&root), [".saddlebag", "a.md"]);
    }

    /// An append is there as a whole or not at all while the machine runs.
    #[test]
    fn an_append_that_does_not_fit_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let setup = "trap '' XFSZ; ulimit -f 64";
        assert!(run_again("append_beyond_the_limit", setup, folder.path(), &["sh", "-c"]));
    }

    /// Runs in a separate process, on a small file system.
    #[test]
    #[ignore = "started by `a_full_disk_is_reported_and_leaves_files_whole`"]
    fn fill_the_disk() {
        let root = given_root();
        let mut store = LocalDir::open(&root, LocalDirOptions::default()).unwrap();
        let before = "line\n".repeat(100);
        store.put("a.md", &before);
        let too_much = "x".repeat(1_000_000);
        assert_eq!(store.write("a.md", &too_much, Any), Err(FsError::NoSpace));
        assert_eq!(store.append("a.md", &too_much), Err(FsError::NoSpace));
        assert_eq!(store.append("new.md", &too_much), Err(FsError::NoSpace));
        assert_eq!(store.text("a.md"), before);
        assert_eq!(file_names(&root), [".saddlebag", "a.md"]);
        store.put("a.md", "after");
    }

    #[test]
    fn a_full_disk_is_reported_and_leaves_files_whole() {
        let folder = tempfile::tempdir().unwrap();
        let setup = "mount -t tmpfs -o size=256k tmpfs \"$SADDLEBAG_TEST_ROOT\" || exit 77";
        run_again("fill_the_disk", setup, folder.path(), &["unshare", "-rm", "sh", "-c"]);
    }

    /// Runs in a separate process, on a file system that cannot be written.
    #[test]
    #[ignore = "started by `a_read_only_file_system_can_be_read`"]
    fn change_what_is_read_only() {
        let root = given_root();
        let mut store = open(&root);
        assert_eq!(store.text("a.md"), "text");
        assert_eq!(paths(&store.list("", true).unwrap()), ["a.md"]);
        assert_eq!(store.write("a.md", "x", Any), Err(FsError::ReadOnly));
        assert_eq!(store.append("a.md", "x"), Err(FsError::ReadOnly));
        assert_eq!(store.remove("a.md", Any), Err(FsError::ReadOnly));
        assert_eq!(store.rename("a.md", "b.md", Any), Err(FsError::ReadOnly));
        assert_eq!(store.make_directory("d"), Err(FsError::ReadOnly));
    }

    #[test]
    fn a_read_only_file_system_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let setup = "cd \"$SADDLEBAG_TEST_ROOT\"; mount -t tmpfs tmpfs . || exit 77; cd \"$PWD\"; \
                     printf text > a.md; mount -o remount,ro \"$PWD\" || exit 77";
        run_again("change_what_is_read_only", setup, folder.path(), &["unshare", "-rm", "sh", "-c"]);
    }

    /// Starts this program again for one of its tests, after the shell has run `setup`. `false` if
    /// this machine does not let the setup happen.
    fn run_again(test: &str, setup: &str, root: &Path, shell: &[&str]) -> bool {
        let output = std::process::Command::new(shell[0])
            .args(&shell[1..])
            .arg(format!("{setup}; exec \"$0\" \"$@\""))
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &format!("local_dir::unix::{test}"), "--ignored"])
            .env("SADDLEBAG_TEST_ROOT", root)
            .output();
        let Ok(output) = output else { return false };
        let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let began = said.contains("running 1 test");
        assert!(!began || output.status.success(), "{said}{told}");
        began
    }

    fn given_root() -> std::path::PathBuf {
        std::env::var_os("SADDLEBAG_TEST_ROOT").expect("given by the other test").into()
    }

    fn file_names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }
}
