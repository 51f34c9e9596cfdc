use std::fs;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use saddlebag_packaging::entries_of_zip;
use sha2::{Digest, Sha256};

use crate::made::made;
use crate::tool::{PYTHON, installed_below_target, is_installed, of_python, run};
use crate::used::{answer_of_server, in_home, use_program};

fn python(check: &str) -> bool {
    is_installed(PYTHON, check)
}

/// Makes an environment without packages, which another `pip` fills.
fn environment(folder: &Path) -> Command {
    run(Command::new(PYTHON).args(["-m", "venv", "--without-pip"]).arg(folder));
    let mut pip = Command::new(PYTHON);
    pip.args(["-m", "pip", "--disable-pip-version-check", "--python"]).arg(folder);
    pip
}

#[test]
fn pip_installs_the_wheel_offline_and_removes_all_of_it() {
    if !python("the installation of the wheel") {
        return;
    }
    let made = made();
    let folder = tempfile::tempdir().expect("a folder");
    let environment = || environment(folder.path());
    let mut pip = environment();
    let before = files(folder.path());
    run(pip.args(["install", "--quiet", "--no-index", "--no-compile"]).arg(made.file("saddlebag-", ".whl")));
    let script = if cfg!(windows) { "Scripts/saddlebag.exe" } else { "bin/saddlebag" };
    use_program(made, || Command::new(folder.path().join(script)));
    let mut pip = Command::new(PYTHON);
    pip.args(["-m", "pip", "--disable-pip-version-check", "--python"]).arg(folder.path());
    run(pip.args(["uninstall", "--quiet", "--yes", "saddlebag"]));
    assert_eq!(files(folder.path()), before);
}

#[test]
fn uvx_starts_the_server_from_the_wheel() {
    let made = made();
    let check = "the start of the wheel by uvx";
    let Some(uvx) = installed_below_target(made.release.root(), &of_python("uvx"), check) else { return };
    let home = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(uvx);
    in_home(&mut command, home.path()).args(["--offline", "--no-index", "--no-python-downloads", "--from"]);
    command.arg(made.file("saddlebag-", ".whl")).args(["saddlebag", "mcp"]);
    let answer = answer_of_server(command);
    assert_eq!(answer["result"]["serverInfo"]["name"], "saddlebag", "{answer}");
}

/// Returns the path of every file in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

#[test]
fn the_record_lists_every_file_of_the_wheel_with_its_digest() {
    let bytes = fs::read(made().file("saddlebag-", ".whl")).expect("the wheel");
    let entries = entries_of_zip(&bytes).expect("a zip file");
    let record = entries.iter().find(|entry| entry.path.ends_with("/RECORD")).expect("a record");
    let lines = String::from_utf8(record.bytes.clone()).expect("text");
    let expected: Vec<String> = entries
        .iter()
        .map(|entry| match entry.path == record.path {
            true => format!("{},,", entry.path),
            false => {
                let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
                format!("{},sha256={digest},{}", entry.path, entry.bytes.len())
            }
        })
        .collect();
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES.txt"] {
        assert!(entries.iter().any(|entry| entry.path.ends_with(&format!(".dist-info/licenses/{name}"))), "{name}");
    }
    let programs: Vec<&str> =
        entries.iter().filter(|entry| entry.is_program).map(|entry| entry.path.as_str()).collect();
    assert!(matches!(programs.as_slice(), [only] if only.contains(".data/scripts/saddlebag")), "{programs:?}");
}

/// The name of the file and its tags say the same, which installers rely on.
#[test]
fn the_tags_of_the_wheel_are_those_of_its_name() {
    let path = made().file("saddlebag-", ".whl");
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let platforms = name.rsplit('-').next().expect("tags").split('.');
    let entries = entries_of_zip(&fs::read(&path).expect("the wheel")).expect("a zip file");
    let wheel = entries.iter().find(|entry| entry.path.ends_with("/WHEEL")).expect("the file WHEEL");
    let wheel = String::from_utf8(wheel.bytes.clone()).expect("text");
    let tags: Vec<&str> = wheel.lines().filter_map(|line| line.strip_prefix("Tag: py3-none-")).collect();
    assert_eq!(tags, platforms.collect::<Vec<_>>());
}

/// Fields of the metadata that both have.
const SHARED: [&str; 6] = ["Metadata-Version", "Name", "Version", "Summary", "Keywords", "Project-URL"];

/// Builds from the sources use `pyproject.toml`, so its metadata must be that of the wheel.
#[test]
fn maturin_reads_the_same_metadata_from_the_project_file() {
    let made = made();
    let check = "the comparison of the wheel with maturin";
    let Some(maturin) = installed_below_target(made.release.root(), &of_python("maturin"), check) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(maturin);
    command.current_dir(made.release.root().join("packaging/python"));
    command.args(["pep517", "write-dist-info", "--offline", "--interpreter", PYTHON, "--metadata-directory"]);
    let named = run(command.arg(folder.path()));
    let named = named.lines().last().expect("the folder that it wrote").trim();
    let theirs = fs::read_to_string(folder.path().join(named).join("METADATA")).expect("the metadata of maturin");
    let entries = entries_of_zip(&fs::read(made.file("saddlebag-", ".whl")).expect("the wheel")).expect("a zip file");
    let ours = entries.iter().find(|entry| entry.path.ends_with("/METADATA")).expect("the metadata");
    let ours = String::from_utf8(ours.bytes.clone()).expect("text");
    for field in SHARED {
        let line = |text: &str| text.lines().find(|line| line.starts_with(&format!("{field}:"))).map(str::to_string);
        assert!(line(&ours).is_some(), "{ours}");
        assert_eq!(line(&ours), line(&theirs));
    }
    let about = |text: &str| text.split_once("\n\n").map(|(_, about)| about.trim_end().to_string());
    assert_eq!(about(&ours), about(&theirs));
}
