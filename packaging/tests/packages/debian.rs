use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::made::{Made, made};
use crate::tool::{is_installed, run, shown};
use crate::used::use_program;

/// Returns the package; `None` where it is not made, and names the check.
fn package(check: &str) -> Option<(&'static Made, PathBuf)> {
    if !cfg!(target_os = "linux") {
        eprintln!("left out: {check}, because this is not Linux");
        return None;
    }
    is_installed("dpkg-deb", check).then(|| (made(), made().file("saddlebag_", ".deb")))
}

#[test]
fn the_debian_package_has_the_program_its_manual_completions_and_copyright() {
    let Some((made, package)) = package("the content of the Debian package") else { return };
    let field = |name: &str| run(Command::new("dpkg-deb").arg("--field").arg(&package).arg(name)).trim().to_string();
    assert_eq!(field("Package"), "saddlebag");
    assert!(field("Version").starts_with(&made.release.version.replacen('-', "~", 1)));
    assert_eq!(field("Homepage"), made.release.repository);
    assert_eq!(field("Depends").contains("libc6 (>= "), made.target.is_gnu);
    let content = run(Command::new("dpkg-deb").arg("--contents").arg(&package));
    for path in [
        "./usr/bin/saddlebag",
        "./usr/share/man/man1/saddlebag.1.gz",
        "./usr/share/man/man1/saddlebag-recall.1.gz",
        "./usr/share/bash-completion/completions/saddlebag",
        "./usr/share/zsh/vendor-completions/_saddlebag",
        "./usr/share/fish/vendor_completions.d/saddlebag.fish",
        "./usr/share/doc/saddlebag/copyright",
        "./usr/share/doc/saddlebag/changelog.Debian.gz",
        "./usr/share/doc/saddlebag/THIRD-PARTY-LICENSES.txt.gz",
    ] {
        assert!(content.lines().any(|line| line.ends_with(&format!(" {path}"))), "{path} is missing:\n{content}");
    }
    // The same owner and time for every file, so that the package is reproducible.
    let is_fixed = |line: &str| line.contains(" root/root ") && line.contains(" 1980-01-01 ");
    assert!(content.lines().all(is_fixed), "{content}");
}

#[test]
fn dpkg_installs_the_debian_package_into_an_empty_folder_and_removes_all_of_it() {
    let Some((made, package)) = package("the installation of the Debian package") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (root, admin) = (folder.path().join("root"), folder.path().join("admin"));
    for path in [root.clone(), admin.join("info"), admin.join("updates")] {
        fs::create_dir_all(path).expect("a folder");
    }
    fs::write(admin.join("status"), "").expect("written");
    let dpkg = |action: &str, what: &std::ffi::OsStr| {
        let mut dpkg = Command::new("dpkg");
        // The empty folder has no C library, and the user of the test may own nothing else.
        dpkg.args(["--force-not-root", "--force-depends", "--log=/dev/null"]);
        dpkg.arg(format!("--instdir={}", root.display())).arg(format!("--admindir={}", admin.display()));
        run(dpkg.arg(action).arg(what))
    };
    dpkg("--install", package.as_os_str());
    use_program(made, || Command::new(root.join("usr/bin/saddlebag")));
    dpkg("--purge", std::ffi::OsStr::new("saddlebag"));
    let left: Vec<_> = fs::read_dir(&root).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Complaints that are taken as they are.
const TAKEN: [&str; 5] = [
    // A static program, on purpose: it needs no C library. Which of the two is said depends on the linker.
    "statically-linked-binary",
    "shared-library-lacks-prerequisites",
    // The licences of the crates in the program, beside its own.
    "extra-license-file",
    // `setup --uninstall` reads the list of dpkg's files, to leave the program to dpkg.
    "uses-dpkg-database-directly",
    // There is no bug in Debian that asks for this package.
    "initial-upload-closes-no-bugs",
];

#[test]
fn lintian_finds_nothing_in_the_debian_package() {
    let Some((_, package)) = package("the check of the Debian package by lintian") else { return };
    if std::env::var_os("SADDLEBAG_DIST").is_none() {
        return eprintln!(
            "left out: the check of the Debian package by lintian, which takes long: `cargo xtask dist` runs it"
        );
    }
    if !is_installed("lintian", "the check of the Debian package") {
        return;
    }
    let mut lintian = Command::new("lintian");
    lintian.args(["--fail-on", "error,warning", "--suppress-tags", &TAKEN.join(","), "--allow-root"]);
    let output = lintian.arg(&package).output().expect("lintian runs");
    assert!(output.status.success(), "{}", shown(&output));
}
