//! The launcher of npm, beside a script in place of the program. No package manager is needed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use saddlebag_packaging::{RELEASED, Release, Target};
use serde_json::json;
use tempfile::TempDir;

/// Packages as npm installs them.
struct Installed {
    folder: TempDir,
    platform: String,
}

impl Installed {
    /// Installs the launcher; `None` if there is no Node.js to start it, and names the check that is left out.
    fn launcher(check: &str) -> Option<Self> {
        let found = Command::new("node").args(["-p", "process.platform + '-' + process.arch"]).output();
        let Ok(found) = found else {
            eprintln!("left out: {check}, because `node` is not installed");
            return None;
        };
        let platform = String::from_utf8_lossy(&found.stdout).trim().to_string();
        let installed = Self { folder: tempfile::tempdir().expect("a folder"), platform };
        let launcher = Release::read().expect("a release").root().join("packaging/npm/launcher.js");
        fs::create_dir_all(installed.path().parent().expect("a folder")).expect("a folder");
        fs::copy(launcher, installed.path()).expect("copied");
        let platforms = RELEASED.map(|triple| Target::of(triple).expect("known").npm());
        let platforms: serde_json::Map<_, _> =
            platforms.into_iter().map(|platform| (format!("@saddlebag/{platform}"), json!("1.2.3"))).collect();
        let manifest = json!({ "version": "1.2.3", "optionalDependencies": platforms }).to_string();
        fs::write(installed.path().with_file_name("../package.json"), manifest).expect("written");
        Some(installed)
    }

    /// Installs the package of this platform, with a script as its program.
    fn with_program(self, script: &str) -> Self {
        let program = self.folder.path().join("node_modules/@saddlebag").join(&self.platform).join("bin/saddlebag");
        fs::create_dir_all(program.parent().expect("a folder")).expect("a folder");
        fs::write(&program, script).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
        self
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("node_modules/saddlebag/bin/saddlebag.js")
    }

    fn run(&self, before: &[&str], arguments: &[&str]) -> Output {
        Command::new("node").args(before).arg(self.path()).args(arguments).output().expect("it runs")
    }
}

#[test]
fn arguments_output_and_exit_code_of_the_launcher_are_those_of_the_program() {
    let Some(installed) = Installed::launcher("the exit code of the launcher") else { return };
    let installed = installed.with_program("#!/bin/sh\necho \"$# $2\"\necho failed >&2\nexit 2\n");
    let output = installed.run(&[], &["recall", "two words"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2 two words\n");
    assert_eq!((String::from_utf8_lossy(&output.stderr).as_ref(), output.status.code()), ("failed\n", Some(2)));
}

#[test]
fn a_signal_to_the_launcher_ends_the_program_and_then_the_launcher() {
    let Some(installed) = Installed::launcher("the signals of the launcher") else { return };
    let installed = installed.with_program("#!/bin/sh\ntrap 'echo ended; exit 7' TERM\necho ready\nread line\n");
    let mut node = Command::new("node");
    let mut launcher =
        node.arg(installed.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut output = BufReader::new(launcher.stdout.take().expect("an output")).lines().map(|line| line.expect("text"));
    assert_eq!(output.next().as_deref(), Some("ready"));
    let ended = Command::new("kill").args(["-TERM", &launcher.id().to_string()]).status().expect("it runs");
    assert!(ended.success());
    assert_eq!(output.collect::<Vec<_>>(), ["ended"]);
    let status = launcher.wait().expect("the launcher ends");
    assert_eq!((status.code(), status.signal()), (Some(7), None));
}

#[test]
fn a_program_that_a_signal_ends_is_reported_as_a_shell_does() {
    let Some(installed) = Installed::launcher("a killed program of the launcher") else { return };
    let status = installed.with_program("#!/bin/sh\nkill -TERM $$\n").run(&[], &[]).status;
    assert!(status.signal() == Some(15) || status.code() == Some(128 + 15), "{status}");
}

#[test]
fn a_machine_without_a_package_gets_a_plain_error_that_names_the_others() {
    let Some(installed) = Installed::launcher("the errors of the launcher") else { return };
    let shown = |output: Output| {
        assert_eq!(output.status.code(), Some(3));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    // The launcher asks Node.js for the platform, so another platform can be named before it starts.
    let elsewhere = "Object.defineProperty(process, 'platform', { value: 'sunos' }); require(process.argv[1]);";
    let text = shown(installed.run(&["-e", elsewhere], &[]));
    assert!(text.starts_with("error: there is no package for sunos-"), "{text}");
    assert!(RELEASED.iter().all(|triple| text.contains(&Target::of(triple).expect("known").npm())), "{text}");
    // On this platform the package exists, and was not installed with the launcher.
    let text = shown(installed.run(&[], &["--version"]));
    let name = format!("@saddlebag/{}", installed.platform);
    assert!(text.contains(&format!("the package {name} is not installed")), "{text}");
    assert!(text.contains(&format!("npm install {name}@1.2.3")), "{text}");
}
