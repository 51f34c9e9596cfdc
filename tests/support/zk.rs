//! Recorded calls of `zk list`, made through `saddlebag zk list` on the recorded notebook.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tempfile::TempDir;

use super::Kind;

/// Recorded calls. Another folder may hold only cases, for the same notebook.
#[derive(Deserialize)]
pub struct Recorded {
    pub cases: Vec<Case>,
    #[serde(default)]
    json_all: Vec<RecordedNote>,
}

#[derive(Deserialize)]
pub struct Case {
    pub args: Vec<String>,
    rc: i32,
    paths: Vec<String>,
    stderr: Vec<String>,
}

#[derive(Deserialize)]
struct RecordedNote {
    path: String,
    modified: String,
}

impl Case {
    pub fn name(&self) -> String {
        self.args.join(" ")
    }
}

/// The recorded notebook in its own folder, with the times of its files.
pub struct Notebook(TempDir);

impl Notebook {
    pub fn recorded() -> Self {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/zk");
        let folder = tempfile::tempdir().unwrap();
        copy(&data.join("notebook"), folder.path());
        let text = fs::read_to_string(data.join("expected.json")).unwrap();
        let recorded: Recorded = serde_json::from_str(&text).unwrap();
        for note in recorded.json_all {
            let moment = saddlebag_host::parse_time(&note.modified).unwrap();
            let since = Duration::from_secs(u64::try_from(moment.seconds).unwrap());
            let file = File::options().write(true).open(folder.path().join(&note.path)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + since).unwrap();
        }
        Self(folder)
    }

    /// Makes a recorded call, and returns the difference of its outcome.
    pub fn check(&self, kind: Kind, case: &Case) -> Result<(), String> {
        let engine = match kind {
            Kind::Native => "native",
            Kind::Component => "component",
        };
        let output = Command::new(program())
            .args(["--engine", engine, "zk", "--no-input", "list", "-q", "-P", "-f", "path"])
            .args(&case.args)
            .current_dir(self.0.path())
            .env_remove("ZK_NOTEBOOK_DIR")
            .env("TZ", "UTC")
            .output()
            .map_err(|error| format!("cannot run the program: {error}"))?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let paths: Vec<&str> = stdout.lines().collect();
        if output.status.code() != Some(case.rc) || paths != case.paths {
            return Err(format!(
                "gave {:?} and {paths:?}, not {} and {:?}; {stderr}",
                output.status.code(),
                case.rc,
                case.paths
            ));
        }
        match case.stderr.first() {
            Some(first) if stderr.lines().next() != Some(first.as_str()) => Err(format!("says {stderr}, not {first}")),
            _ => Ok(()),
        }
    }
}

/// The program of this workspace, which `cargo test` builds beside the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    let program = folder.join(format!("saddlebag{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "{} is missing: run `cargo build --workspace`", program.display());
    program
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
