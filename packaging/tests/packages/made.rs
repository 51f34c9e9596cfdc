//! The packages under test, made once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use saddlebag_packaging::{Release, Target, package_release, package_target};

/// Packages of one target and what names several.
pub(crate) struct Made {
    pub(crate) release: Release,
    pub(crate) target: Target,
    pub(crate) folder: PathBuf,
}

impl Made {
    /// Returns the only file whose name has this beginning and end.
    pub(crate) fn file(&self, begin: &str, end: &str) -> PathBuf {
        let matches = |name: &str| name.starts_with(begin) && name.ends_with(end);
        let found: Vec<String> = self.names().into_iter().filter(|name| matches(name)).collect();
        let [name] = found.as_slice() else { panic!("files `{begin}*{end}`: {found:?} of {:?}", self.names()) };
        self.folder.join(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).expect("the folder of the packages");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    /// Returns true if the packages are for the machine that runs the tests.
    pub(crate) fn is_for_this_machine(&self) -> bool {
        let cpu = if self.target.is_arm { "aarch64" } else { "x86_64" };
        let os = if cfg!(windows) {
            "win32"
        } else if cfg!(target_os = "macos") {
            "darwin"
        } else {
            "linux"
        };
        self.target.os.name() == os && std::env::consts::ARCH == cpu
    }
}

/// Returns the packages, and makes them for the first test that asks.
pub(crate) fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let release = Release::read().expect("a release");
        let made = match std::env::var_os("SADDLEBAG_DIST") {
            Some(folder) => {
                let triple =
                    std::env::var("SADDLEBAG_DIST_TARGET").expect("SADDLEBAG_DIST_TARGET beside SADDLEBAG_DIST");
                let folder = release.root().join(folder);
                Made { target: Target::of(&triple).expect("a target"), release, folder }
            }
            None => make(release),
        };
        assert!(made.is_for_this_machine(), "packages for {} cannot be installed here", made.target.triple);
        made
    })
}

fn make(release: Release) -> Made {
    let built = release.root().join("target/debug").join(format!("saddlebag{}", std::env::consts::EXE_SUFFIX));
    assert!(built.exists(), "{} is missing: build it with `cargo build --bin saddlebag`", built.display());
    let folder = release.root().join("target/tmp/packages");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let program = stripped(&built, &folder.join("stripped"));
    let out = folder.join("made");
    let triple = host();
    package_target(&program, &triple, &out).expect("packages of this machine");
    package_release(&out).expect("packages of the release");
    Made { target: Target::of(&triple).expect("a target"), release, folder: out }
}

/// Returns the program without its debugging symbols, which are most of a debug build; with them if `strip` is missing.
fn stripped(program: &Path, to: &Path) -> PathBuf {
    let ended = Command::new("strip").arg("-o").arg(to).arg(program).output();
    if ended.is_ok_and(|output| output.status.success()) {
        return to.to_path_buf();
    }
    eprintln!("left out: `strip` is not installed, so the packages have debugging symbols");
    program.to_path_buf()
}

/// Returns the target that this test is built for.
fn host() -> String {
    let (cpu, env) = (std::env::consts::ARCH, if cfg!(target_env = "musl") { "musl" } else { "gnu" });
    if cfg!(windows) {
        return format!("{cpu}-pc-windows-{}", if cfg!(target_env = "msvc") { "msvc" } else { "gnu" });
    }
    if cfg!(target_os = "macos") { format!("{cpu}-apple-darwin") } else { format!("{cpu}-unknown-linux-{env}") }
}

/// Every file that a release has is listed with its digest.
#[test]
fn the_digests_are_those_of_the_files() {
    let made = made();
    let sums = fs::read_to_string(made.folder.join("SHA256SUMS")).expect("the digests");
    let mut listed = Vec::new();
    for line in sums.lines() {
        let (digest, name) = line.split_once("  ").expect("a line");
        let bytes = fs::read(made.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(digest, saddlebag_packaging::sha256(&bytes), "{name}");
        listed.push(name.to_string());
    }
    for name in made.names() {
        assert!(name == "SHA256SUMS" || listed.contains(&name), "{name} has no digest");
    }
}

/// The same program gives the same bytes, whenever the packages are made.
#[test]
fn packages_of_one_program_are_the_same_byte_for_byte() {
    let made = made();
    let folder = tempfile::tempdir().expect("a folder");
    // The launcher, the formula and `server.json` need no program, so they are quick to make again.
    for name in made.names().iter().filter(|name| name.ends_with(".mcpb") || name.ends_with(".tar.gz")) {
        fs::copy(made.folder.join(name), folder.path().join(name)).expect("copied");
    }
    let again = package_release(folder.path()).expect("made again");
    // These two list the folder, which has less in it.
    let lists = ["SHA256SUMS", "manifest.json"];
    for path in again.files.iter().filter(|path| !lists.iter().any(|list| path.ends_with(list))) {
        let name = path.file_name().expect("a name");
        let (first, second) = (fs::read(made.folder.join(name)), fs::read(path));
        assert!(first.expect("bytes") == second.expect("bytes"), "{} differs", path.display());
    }
}

/// The workflow asks for a complete release, so that a target whose build was lost cannot be left out unseen.
#[test]
fn a_release_that_lacks_a_target_is_not_complete_and_names_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_saddlebag-packaging"));
    let output = program.args(["release", "--complete", "--out"]).arg(folder.path()).output().expect("it runs");
    let text = crate::tool::shown(&output);
    assert!(!output.status.success(), "{text}");
    let version = made().release.version.as_str();
    for lacking in [
        format!("saddlebag-{version}-x86_64-pc-windows-msvc.tar.gz"),
        format!("saddlebag-{version}-py3-none-macosx_11_0_arm64.whl"),
        format!("saddlebag_{}-1_arm64.deb", version.replacen('-', "~", 1)),
        format!("saddlebag-npm-darwin-x64-{version}.tgz"),
    ] {
        assert!(text.contains(&lacking), "{lacking} is not named:\n{text}");
    }
}
