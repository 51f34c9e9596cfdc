//! [`Program`]: a released program, which archives and packages are made of. It has the optimised component, compiled
//! for its target, and neither compiler nor code cache.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::paths;
use crate::run::{Output, cargo_with, has_target, root};

/// Folder of the build. It is not the usual one: cargo would replace what a build with other features left there.
const BUILD: &str = "target/programs";
const PROFILE: &str = "release";

/// Script of the linker for programs for Linux.
const WITHOUT_UNWIND_TABLES: &str = "packaging/linux/without-unwind-tables.ld";

/// Arguments that choose the package and the features of a released program: the default ones, and a compiler for every
/// architecture at build time.
pub(super) const SELECTION: [&str; 5] =
    ["--package", "saddlebag-cli", "--no-default-features", "--features", "component,cross,server"];

/// Maximum size of a program in bytes: the bar of `docs/benchmarks.md`.
const MAX_BYTES: u64 = 16_000_000;

/// Crates that compile, which no released program has.
const COMPILERS: [&str; 3] = ["cranelift-codegen", "wasmtime-internal-cranelift", "blake3"];

/// A program as a release has it: stripped, with the compiled component in it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The file, on this machine.
    pub(crate) path: PathBuf,
    /// Target triple, for example `x86_64-unknown-linux-musl`.
    pub(crate) target: String,
    /// Version of the release, without `v`.
    pub(crate) version: String,
}

/// Builds the programs for this machine with this component. A target that cannot be built here is named.
pub(super) fn build(component: &Path) -> Result<Vec<Program>, String> {
    let host = host()?;
    let mut targets = vec![host.clone()];
    if let Some(machine) = host.strip_suffix("-unknown-linux-gnu") {
        let musl = format!("{machine}-unknown-linux-musl");
        match musl_is_missing(&musl) {
            None => targets.push(musl),
            Some(missing) => eprintln!("left out: the static program for {musl}, as {missing}"),
        }
    }
    targets.into_iter().map(|target| build_for(target, component)).collect()
}

fn build_for(target: String, component: &Path) -> Result<Program, String> {
    has_no_compiler(&target, &SELECTION)?;
    let build = ["rustc", "--bin", "saddlebag", "--profile", PROFILE, "--target-dir", BUILD, "--target", &target];
    let component = component.to_string_lossy();
    let environment = [("SADDLEBAG_COMPONENT", &*component)];
    let link = link_arguments(&target)?;
    let paths = paths::left_out(&target)?;
    let options = paths.iter().chain(&link).map(String::as_str);
    let arguments = build.into_iter().chain(SELECTION).chain(options);
    cargo_with(arguments, &environment, &mut Output::Inherited)?;
    let name = if target.contains("-windows-") { "saddlebag.exe" } else { "saddlebag" };
    let path = root()?.join(BUILD).join(&target).join(PROFILE).join(name);
    let bytes = fs::metadata(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?.len();
    if bytes > MAX_BYTES {
        return Err(format!(
            "{} has {bytes} bytes, more than the {MAX_BYTES} of xtask/src/dist/program.rs",
            path.display()
        ));
    }
    paths::check(&path)?;
    Ok(Program { path, target, version: version()? })
}

/// Returns the arguments of `cargo rustc` that leave the tables for unwinding the stack, 0.6 MB, out of a program for Linux. It
/// aborts on a panic and has no symbols, so a backtrace would name nothing.
fn link_arguments(target: &str) -> Result<Vec<String>, String> {
    if !target.contains("-linux-") {
        return Ok(Vec::new());
    }
    let script = root()?.join(WITHOUT_UNWIND_TABLES);
    let script = format!("link-arg=-Wl,-T,{}", script.display());
    Ok(["--", "-C", "link-arg=-Wl,--no-eh-frame-hdr", "-C", &script].map(str::to_string).to_vec())
}

/// Targets of a release that other machines build.
const OTHERS: [&str; 3] = ["aarch64-apple-darwin", "aarch64-unknown-linux-musl", "x86_64-pc-windows-gnu"];

/// Checks that the program compiles for targets that this machine does not build, and that this component compiles to
/// their code. A target that is not installed is named.
pub(super) fn check_other_targets(component: &Path) -> Result<(), String> {
    if cfg!(windows) {
        eprintln!("left out: the check of other targets, which needs the program `true`");
        return Ok(());
    }
    for target in OTHERS {
        if !has_target(target) {
            eprintln!("left out: the check for {target}, as the target is not installed: `rustup target add {target}`");
            continue;
        }
        let check = ["check", "--quiet", "--profile", PROFILE, "--target-dir", BUILD, "--target", target];
        let component = component.to_string_lossy();
        let underscored = target.replace('-', "_");
        let (compiler, archiver) = (format!("CC_{underscored}"), format!("AR_{underscored}"));
        // Wasmtime has a file in C. A check links nothing, so it needs no C compiler for the target.
        let environment = [("SADDLEBAG_COMPONENT", &*component), (&*compiler, "true"), (&*archiver, "true")];
        cargo_with(check.into_iter().chain(SELECTION), &environment, &mut Output::Inherited)?;
        has_no_compiler(target, &SELECTION)?;
    }
    Ok(())
}

/// Returns an error that names the crate if the program that these arguments choose would contain a compiler.
fn has_no_compiler(target: &str, selection: &[&str]) -> Result<(), String> {
    let tree = ["tree", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--target", target];
    let output = output("cargo", tree.iter().chain(selection).copied())?;
    let crates: Vec<&str> = output.lines().filter_map(|line| line.split(' ').next()).collect();
    if !crates.contains(&"wasmtime") {
        return Err(format!("`cargo tree` lists no wasmtime in the program for {target}, so nothing was checked"));
    }
    match COMPILERS.iter().find(|name| crates.contains(name)) {
        Some(name) => Err(format!("the program for {target} would contain {name}: see the features of saddlebag-cli")),
        None => Ok(()),
    }
}

/// Returns the target triple of this machine.
pub(super) fn host() -> Result<String, String> {
    let output = output("rustc", ["--version", "--verbose"])?;
    let host = output.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_string).ok_or_else(|| "`rustc --version --verbose` names no host".to_string())
}

/// Returns the reason why the static program cannot be built here.
fn musl_is_missing(target: &str) -> Option<String> {
    if !has_target(target) {
        return Some(format!("the target is not installed: `rustup target add {target}`"));
    }
    let compiler = Command::new("musl-gcc").arg("--version").output();
    let is_there = compiler.is_ok_and(|output| output.status.success());
    (!is_there).then(|| "`musl-gcc` is not installed: it is in the package musl-tools of Debian".to_string())
}

/// Returns the version of all crates.
fn version() -> Result<String, String> {
    let manifest = root()?.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
    let version = text.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    version.map(str::to_string).ok_or_else(|| format!("{} names no version", manifest.display()))
}

/// Runs a program of the toolchain at the root of the workspace, and returns what it prints.
fn output<'a>(program: &str, arguments: impl IntoIterator<Item = &'a str>) -> Result<String, String> {
    let arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
    let ended = Command::new(program).args(&arguments).current_dir(root()?).output();
    let ended = ended.map_err(|error| format!("cannot run `{program}`: {error}"))?;
    if ended.status.success() {
        Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
    } else {
        Err(format!("`{program}` failed: {}", String::from_utf8_lossy(&ended.stderr)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_program_has_no_compiler_on_any_target() {
        for target in ["x86_64-unknown-linux-musl", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"] {
            has_no_compiler(target, &SELECTION).expect("no compiler");
        }
    }

    #[test]
    fn what_cargo_install_builds_has_no_compiler_either() {
        has_no_compiler(&host().expect("a host"), &["--package", "saddlebag-cli"]).expect("no compiler");
    }
}
