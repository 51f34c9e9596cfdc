use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use saddlebag_packaging::{RELEASED, Target};
use serde_json::Value;

use crate::made::{Made, made};
use crate::tool::{is_installed, run, shown};
use crate::used::{answer_of_server, in_home, use_program};

const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };
const NPX: &str = if cfg!(windows) { "npx.cmd" } else { "npx" };

fn launcher_package(made: &Made) -> PathBuf {
    made.file(&format!("saddlebag-npm-{}", made.release.version), ".tgz")
}

/// Installs packages into an empty folder without a network.
fn install(made: &Made, packages: &[PathBuf], name: &str) -> PathBuf {
    let folder = made.release.root().join("target/tmp").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let mut npm = Command::new(NPM);
    npm.args(["install", "--offline", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).args(packages);
    // With its own cache it cannot take a package that the machine happens to have.
    npm.env("npm_config_cache", folder.join("cache")).env("npm_config_update_notifier", "false");
    run(in_home(&mut npm, &folder));
    folder
}

/// Returns the folder with the launcher and the program, which are installed for the first test that asks.
fn installed(made: &Made) -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let program = made.file(&format!("saddlebag-npm-{}-", made.target.npm()), ".tgz");
        install(made, &[launcher_package(made), program], "npm-installed")
    })
}

fn launcher(folder: &Path) -> PathBuf {
    folder.join("node_modules/saddlebag/bin/saddlebag.js")
}

#[test]
fn npm_installs_the_launcher_with_the_program_of_this_machine_and_npx_starts_it() {
    if !is_installed(NPM, "the installation of the npm packages") {
        return;
    }
    let made = made();
    let folder = installed(made);
    use_program(made, || {
        let mut command = Command::new("node");
        command.arg(launcher(folder));
        command
    });
    let mut npx = Command::new(NPX);
    npx.env("npm_config_update_notifier", "false");
    in_home(&mut npx, folder).args(["--offline", "--no", "saddlebag", "--", "mcp"]);
    let answer = answer_of_server(npx);
    assert_eq!(answer["result"]["serverInfo"]["name"], "saddlebag", "{answer}");
}

#[test]
fn the_exit_code_of_the_program_is_that_of_the_launcher() {
    if !is_installed(NPM, "the exit code of the npm launcher") {
        return;
    }
    let made = made();
    let folder = installed(made);
    let ended = |command: &mut Command| {
        let arguments = ["--root", "/no/such/folder", "recall", "x"];
        let output = in_home(command, folder).args(arguments).output().expect("it runs");
        (output.status.code(), shown(&output))
    };
    let package = folder.join("node_modules/@saddlebag").join(made.target.npm());
    assert!(package.join("THIRD-PARTY-LICENSES.txt").is_file());
    let program = package.join("bin");
    let direct = ended(&mut Command::new(program.join(made.target.os.program())));
    assert_ne!(direct.0, Some(0), "{}", direct.1);
    assert_eq!(ended(Command::new("node").arg(launcher(folder))), direct);
}

#[cfg(unix)]
#[test]
fn a_signal_to_the_launcher_ends_the_program_and_then_the_launcher() {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    if !is_installed(NPM, "the signals of the npm launcher") {
        return;
    }
    let made = made();
    let folder = installed(made);
    let mut node = Command::new("node");
    in_home(&mut node, folder).arg(launcher(folder)).arg("mcp");
    let mut server = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the launcher starts");
    // After its first answer the program runs, and the launcher listens to signals.
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    writeln!(server.stdin.as_mut().expect("an input"), "{hello}").expect("written");
    let mut output = BufReader::new(server.stdout.take().expect("an output"));
    output.read_line(&mut String::new()).expect("a line");
    run(Command::new("kill").args(["-TERM", &server.id().to_string()]));
    // The program holds the other end, so the end of its output is its own end.
    let mut rest = String::new();
    while output.read_line(&mut rest).expect("a line") > 0 {}
    let status = server.wait().expect("the launcher ends");
    let signal = status.signal().or_else(|| status.code().map(|code| code - 128));
    assert!(status.success() || signal == Some(15), "{status}, after {rest:?}");
}

#[test]
fn a_machine_without_a_package_gets_a_plain_error_that_names_the_others() {
    if !is_installed(NPM, "the errors of the npm launcher") {
        return;
    }
    let made = made();
    let folder = install(made, &[launcher_package(made)], "npm-without-program");
    let launcher = launcher(&folder);
    // The launcher asks Node.js for the platform, so another platform can be named before it starts.
    let elsewhere = "Object.defineProperty(process, 'platform', { value: 'sunos' }); require(process.argv[1]);";
    let mut node = Command::new("node");
    let output = in_home(&mut node, &folder).args(["-e", elsewhere]).arg(&launcher).output().expect("it runs");
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.starts_with("error: there is no package for sunos-"), "{text}");
    assert!(RELEASED.iter().all(|triple| text.contains(&Target::of(triple).expect("known").npm())), "{text}");
    // On this platform the package exists, and was not installed with the launcher.
    let mut node = Command::new("node");
    let output = in_home(&mut node, &folder).arg(&launcher).arg("--version").output().expect("it runs");
    let (text, name) = (shown(&output), format!("@saddlebag/{}", made.target.npm()));
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains(&format!("the package {name} is not installed")), "{text}");
    assert!(text.contains(&format!("npm install {name}@{}", made.release.version)), "{text}");
}

#[test]
fn the_launcher_asks_for_the_very_version_of_each_released_platform() {
    if !is_installed("tar", "the manifest of the npm launcher") {
        return;
    }
    let made = made();
    let folder = tempfile::tempdir().expect("a folder");
    run(Command::new("tar").arg("-xzf").arg(launcher_package(made)).arg("-C").arg(folder.path()));
    let text = fs::read_to_string(folder.path().join("package/package.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let platforms = manifest["optionalDependencies"].as_object().expect("an object");
    for triple in RELEASED {
        let name = format!("@saddlebag/{}", Target::of(triple).expect("known").npm());
        assert_eq!(platforms[&name], made.release.version.as_str(), "{name}");
    }
    assert_eq!(platforms.len(), RELEASED.len());
    assert_eq!(manifest["mcpName"], made.release.server_name().expect("a name"));
}
