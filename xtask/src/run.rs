//! Commands of others: cargo, rustup, and the programs that are built.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Arguments of cargo that choose the program with the native engine alone.
pub(crate) const NATIVE_PROGRAM: [&str; 5] =
    ["--package", "saddlebag-cli", "--no-default-features", "--features", "native"];

/// Arguments of cargo that choose the tests which compile components: chosen together, they share one wasmtime.
pub(crate) const COMPILING: [&str; 8] = [
    "--package",
    "saddlebag-host",
    "--package",
    "saddlebag-tests",
    "--package",
    "saddlebag-shells-tests",
    "--features",
    "compiler",
];

pub(crate) fn cargo(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<(), String> {
    cargo_with(arguments, &[])
}

pub(crate) fn cargo_with(
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    environment: &[(&str, &str)],
) -> Result<(), String> {
    command(&cargo_program(), arguments, environment)
}

/// Runs cargo and returns its messages.
pub(crate) fn cargo_messages(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<String, String> {
    printed(&cargo_program(), arguments, &[])
}

fn cargo_program() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string())
}

/// Runs a command at the root of the workspace and prints it first.
pub(crate) fn command(
    program: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    environment: &[(&str, &str)],
) -> Result<(), String> {
    let (line, mut command) = prepared(program, arguments, environment)?;
    eprintln!("$ {line}");
    let status = command.status().map_err(|error| format!("cannot run `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}

/// Runs a command at the root of the workspace, and shows what it prints only if it fails.
pub(crate) fn quiet(
    program: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    environment: &[(&str, &str)],
) -> Result<(), String> {
    let (line, mut command) = prepared(program, arguments, environment)?;
    let ended = command.output().map_err(|error| format!("cannot run `{line}`: {error}"))?;
    let [printed, complained] = [&ended.stdout, &ended.stderr].map(|text| String::from_utf8_lossy(text));
    if ended.status.success() { Ok(()) } else { Err(format!("`{line}` failed\n{printed}{complained}")) }
}

/// Runs a command at the root of the workspace and returns what it prints. What it says to people goes to the terminal.
pub(crate) fn printed(
    program: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    environment: &[(&str, &str)],
) -> Result<String, String> {
    let (line, mut command) = prepared(program, arguments, environment)?;
    eprintln!("$ {line}");
    let ended = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run `{line}`: {error}"))?;
    let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
    if ended.status.success() { Ok(printed) } else { Err(format!("`{line}` failed")) }
}

/// Returns a command at the root of the workspace, and the line that shows it.
fn prepared(
    program: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    environment: &[(&str, &str)],
) -> Result<(String, Command), String> {
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().copied()).current_dir(root()?);
    let name = Path::new(program).file_stem().unwrap_or(OsStr::new(program)).to_string_lossy();
    let words = std::iter::once(name).chain(command.get_args().map(OsStr::to_string_lossy));
    Ok((words.collect::<Vec<_>>().join(" "), command))
}

/// Returns true if a compilation target is installed.
pub(crate) fn has_target(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    output.is_ok_and(|output| {
        let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        sysroot.join("lib/rustlib").join(target).is_dir()
    })
}

/// Adds a compilation target unless it is installed. A machine without rustup must have it already.
pub(crate) fn add_target(target: &str) -> Result<(), String> {
    if has_target(target) {
        return Ok(());
    }
    command("rustup", ["target", "add", target], &[]).map_err(|error| {
        format!("{error}\n  add the target {target} to your Rust toolchain: `rustup target add {target}`")
    })
}

/// The program of a debug build.
pub(crate) fn program() -> Result<PathBuf, String> {
    Ok(root()?.join("target/debug").join(format!("saddlebag{}", std::env::consts::EXE_SUFFIX)))
}

/// The conformance kit, which checks a host through a driver.
pub(crate) struct Kit(pub(crate) PathBuf);

impl Kit {
    pub(crate) fn build() -> Result<Self, String> {
        cargo(["build", "--quiet", "--bin", "saddlebag-conformance"])?;
        Ok(Self(program()?.with_file_name(format!("saddlebag-conformance{}", std::env::consts::EXE_SUFFIX))))
    }

    /// Returns the command of the driver of the host on the local disk, which the kit has.
    pub(crate) fn local_driver(&self) -> String {
        format!("'{}' --driver", self.0.display())
    }

    /// Checks the host of a driver with these options.
    pub(crate) fn check(
        &self,
        options: &[&str],
        driver: impl IntoIterator<Item = impl Into<OsString>>,
        environment: &[(&str, &str)],
    ) -> Result<(), String> {
        let options = options.iter().chain(&["--"]).map(OsString::from);
        command(&self.0.to_string_lossy(), options.chain(driver.into_iter().map(Into::into)), environment)
    }
}

pub(crate) fn root() -> Result<PathBuf, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map(Path::to_path_buf).ok_or_else(|| "xtask is not in a workspace".to_string())
}
