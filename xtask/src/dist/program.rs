//! [`Program`]: a released program, which archives and packages are made of. It has the optimised component, compiled
//! for its target, and neither compiler nor code cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::packages::{FOLDER, dist};
use crate::paths;
use crate::run::{cargo, cargo_messages, has_target, printed, root};

/// Profile that `dist` builds with.
const PROFILE: &str = "dist";

/// Component of a debug build.
const COMPONENT: &str = "target/component/wasm32-wasip2/component-dev/saddlebag.wasm";

/// Script of the linker for programs for Linux.
const WITHOUT_UNWIND_TABLES: &str = "packaging/linux/without-unwind-tables.ld";

/// Arguments that choose the released program, which `cargo install` builds too.
const RELEASED: [&str; 2] = ["--package", "saddlebag-cli"];

/// Maximum size of a program in bytes: the bar of `docs/benchmarks.md`.
const MAX_BYTES: u64 = 16_000_000;

/// Crates that compile, which no released program has.
const COMPILERS: [&str; 3] = ["cranelift-codegen", "wasmtime-internal-cranelift", "blake3"];

/// A program in its archive, which also has its licences.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The file, on this machine.
    pub(crate) path: PathBuf,
    /// Target triple, for example `x86_64-unknown-linux-musl`.
    pub(crate) target: String,
    /// Version of the release, without `v`.
    pub(crate) version: String,
}

/// Purpose of a build.
#[derive(Clone, Copy)]
pub(super) enum Build<'a> {
    /// A release, with this optimised component.
    Release { component: &'a Path },
    /// A test of the packages. Nothing is optimised, and the component is that of a debug build.
    Rehearsal,
}

/// Builds the program for this machine and its archive, by `dist`. On Linux a release is static, if the target and `musl-gcc` are
/// installed.
pub(super) fn build(how: Build<'_>) -> Result<Program, String> {
    let root = root()?;
    // Archives of other builds must not get into the packages.
    let packages = root.join(FOLDER);
    if packages.exists() {
        fs::remove_dir_all(&packages).map_err(|error| format!("cannot remove {}: {error}", packages.display()))?;
    }
    let target = match how {
        Build::Release { .. } => released_target()?,
        Build::Rehearsal => host()?,
    };
    let local = ["--artifacts=local".to_string(), format!("--target={target}")];
    // It is not a target of a release, and `dist` builds it only if it may choose.
    let options =
        if target.ends_with("-gnu") { vec!["--artifacts=host"] } else { local.iter().map(String::as_str).collect() };
    let component = match how {
        Build::Release { component } => component.to_path_buf(),
        Build::Rehearsal => root.join(COMPONENT),
    };
    if !component.exists() {
        cargo(["build", "--bin", "saddlebag"])?;
    }
    let component = component.to_string_lossy();
    let flags = flags(&target)?;
    let quick = [
        ("CARGO_PROFILE_DIST_OPT_LEVEL", "0"),
        ("CARGO_PROFILE_DIST_LTO", "off"),
        ("CARGO_PROFILE_DIST_CODEGEN_UNITS", "16"),
    ];
    let mut environment = vec![("SADDLEBAG_COMPONENT", &*component)];
    match how {
        Build::Release { .. } => environment.push(("RUSTFLAGS", &flags)),
        Build::Rehearsal => environment.extend(quick),
    }
    let manifest = dist(&options, &environment)?;
    // The step that makes the formula takes the digests of the archives from it.
    let at = packages.join(format!("{target}-dist-manifest.json"));
    fs::write(&at, manifest).map_err(|error| format!("cannot write {}: {error}", at.display()))?;
    let name = if target.contains("-windows-") { "saddlebag.exe" } else { "saddlebag" };
    let path = root.join("target").join(&target).join(PROFILE).join(name);
    if let Build::Release { .. } = how {
        has_no_compiler(&target, &RELEASED)?;
        let bytes = fs::metadata(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?.len();
        if bytes > MAX_BYTES {
            let bar = "of xtask/src/dist/program.rs";
            return Err(format!("{} has {bytes} bytes, more than the {MAX_BYTES} {bar}", path.display()));
        }
        paths::check(&path)?;
    }
    Ok(Program { path, target, version: version()? })
}

/// Returns the ways of installing the packages of a target. `dist` makes no installer where it builds for one target alone.
pub(super) fn ways(target: &str, all: &[&'static str]) -> Vec<&'static str> {
    let has_installer = target.ends_with("-gnu");
    all.iter().copied().filter(|way| has_installer || *way != "installer").collect()
}

/// Returns the flags of the compiler for a release. They leave the paths of this machine out, and on Linux the tables for
/// unwinding the stack, 0.6 MB: the program aborts on a panic and has no symbols, so a backtrace would name nothing.
fn flags(target: &str) -> Result<String, String> {
    let mut flags = paths::flags()?.to_vec();
    if target.contains("-linux-") {
        let script = root()?.join(WITHOUT_UNWIND_TABLES);
        flags.push("-Clink-arg=-Wl,--no-eh-frame-hdr".to_string());
        flags.push(format!("-Clink-arg=-Wl,-T,{}", script.display()));
    }
    Ok(flags.join(" "))
}

/// Returns the target of a release that this machine builds.
fn released_target() -> Result<String, String> {
    let host = host()?;
    let Some(machine) = host.strip_suffix("-unknown-linux-gnu") else { return Ok(host) };
    let musl = format!("{machine}-unknown-linux-musl");
    match musl_is_missing(&musl) {
        None => Ok(musl),
        Some(missing) => {
            eprintln!("the program is built for {host} and not for {musl}, as {missing}");
            Ok(host)
        }
    }
}

/// Returns an error that names the crate if the program that these arguments choose would contain a compiler.
fn has_no_compiler(target: &str, selection: &[&str]) -> Result<(), String> {
    let tree = ["tree", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--target", target];
    let output = cargo_messages(tree.iter().chain(selection))?;
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
fn host() -> Result<String, String> {
    let output = printed("rustc", ["--version", "--verbose"], &[])?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_program_has_no_compiler_on_any_target() {
        for target in ["x86_64-unknown-linux-musl", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"] {
            has_no_compiler(target, &RELEASED).expect("no compiler");
        }
    }
}
