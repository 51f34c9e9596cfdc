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

/// Destination of a command's output.
pub(crate) enum Output {
    /// The terminal, as the output arrives.
    Inherited,
    /// This text, which is shown if the command fails.
    Captured(String),
}

pub(crate) fn cargo(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<(), String> {
    cargo_with(arguments, &[], &mut Output::Inherited)
}

pub(crate) fn cargo_with(
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    environment: &[(&str, &str)],
    output: &mut Output,
) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    command(&cargo, arguments, environment, output)
}

/// Runs cargo and returns its messages. What it says to people goes to the terminal.
pub(crate) fn cargo_messages(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<String, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let arguments: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().into()).collect();
    let line = arguments.iter().map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ");
    eprintln!("$ cargo {line}");
    let output = Command::new(cargo).args(&arguments).current_dir(root()?).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot run `cargo {line}`: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(messages) } else { Err(format!("`cargo {line}` failed")) }
}

/// Runs a command at the root of the workspace and prints it first.
pub(crate) fn command(
    program: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    environment: &[(&str, &str)],
    output: &mut Output,
) -> Result<(), String> {
    let arguments: Vec<OsString> = arguments.into_iter().map(|argument| argument.as_ref().into()).collect();
    let name = Path::new(program).file_stem().unwrap_or(OsStr::new(program)).to_string_lossy().into_owned();
    let line =
        std::iter::once(name.into()).chain(arguments.iter().map(|a| a.to_string_lossy())).collect::<Vec<_>>().join(" ");
    let mut command = Command::new(program);
    command.args(&arguments).envs(environment.iter().copied()).current_dir(root()?);
    let cannot = |error| format!("cannot run `{line}`: {error}");
    let status = match output {
        Output::Inherited => {
            eprintln!("$ {line}");
            command.status().map_err(cannot)?
        }
        Output::Captured(text) => {
            let ended = command.output().map_err(cannot)?;
            text.push_str(&format!("$ {line}\n"));
            text.push_str(&String::from_utf8_lossy(&ended.stdout));
            text.push_str(&String::from_utf8_lossy(&ended.stderr));
            ended.status
        }
    };
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}

/// Returns true if a compilation target is installed.
pub(crate) fn has_target(target: &str) -> bool {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let by_rustup =
        installed.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line == target));
    by_rustup || has_sysroot(target)
}

/// Adds a compilation target unless it is installed. A machine without rustup must have it already.
pub(crate) fn add_target(target: &str) -> Result<(), String> {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let help = format!("add the target {target} to your Rust toolchain: `rustup target add {target}`");
    match installed {
        Ok(output) if String::from_utf8_lossy(&output.stdout).lines().any(|line| line == target) => Ok(()),
        Ok(_) => command("rustup", ["target", "add", target], &[], &mut Output::Inherited)
            .map_err(|error| format!("{error}\n  {help}")),
        Err(_) if has_sysroot(target) => Ok(()),
        Err(error) => Err(format!("cannot run rustup ({error}), and the target is missing\n  {help}")),
    }
}

fn has_sysroot(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    output.is_ok_and(|output| {
        let sysroot = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        sysroot.join("lib/rustlib").join(target).is_dir()
    })
}

/// The program of a debug build.
pub(crate) fn program() -> Result<PathBuf, String> {
    Ok(root()?.join("target/debug").join(format!("saddlebag{}", std::env::consts::EXE_SUFFIX)))
}

/// Builds the conformance kit, and returns its program.
pub(crate) fn conformance_kit() -> Result<PathBuf, String> {
    cargo(["build", "--quiet", "--bin", "saddlebag-conformance"])?;
    Ok(program()?.with_file_name(format!("saddlebag-conformance{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns the command of the driver of the host on the local disk, which the kit has.
pub(crate) fn local_driver(kit: &Path) -> String {
    format!("'{}' --driver", kit.display())
}

pub(crate) fn root() -> Result<PathBuf, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map(Path::to_path_buf).ok_or_else(|| "xtask is not in a workspace".to_string())
}
