//! Builds the component and tells the library where it is.
//!
//! It runs `cargo rustc --target wasm32-wasip2` with a profile for components, in its own target folder, without the
//! flags of the build that this script belongs to. Cargo runs it again when the sources or the contract change.
//! `SADDLEBAG_COMPONENT=path` embeds that file instead. A crate from a registry embeds the `saddlebag.wasm` that it
//! carries.
//!
//! With the feature `compiled` it also compiles the component to code of the target.

#![allow(clippy::print_stderr, clippy::print_stdout, reason = "how a build script speaks to cargo")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use sha2::{Digest, Sha256};

const TARGET: &str = "wasm32-wasip2";
const OVERRIDE: &str = "SADDLEBAG_COMPONENT";

/// Variables of the outer build that must not reach the inner one.
const INHERITED: [&str; 9] = [
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "TARGET",
];

fn main() -> ExitCode {
    match component().and_then(|path| embed(&path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

/// Tells the library where the component is, and its code.
fn embed(component: &Path) -> Result<(), String> {
    let bytes = std::fs::read(component).map_err(|error| format!("{}: {error}", component.display()))?;
    println!("cargo::rustc-env=SADDLEBAG_EMBEDDED_COMPONENT={}", component.display());
    println!("cargo::rustc-env=SADDLEBAG_EMBEDDED_DIGEST={}", digest(&bytes));
    #[cfg(feature = "compiled")]
    {
        let target = variable("TARGET")?;
        let is_released = variable("PROFILE")? == "release";
        let effort = if is_released { saddlebag_wasmtime::Effort::Full } else { saddlebag_wasmtime::Effort::Least };
        let code = saddlebag_wasmtime::precompile(&bytes, &target, effort)
            .map_err(|error| format!("compiling the component for {target} failed: {error:#}"))?;
        let path = PathBuf::from(variable("OUT_DIR")?).join("saddlebag.cwasm");
        std::fs::write(&path, code).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("cargo::rustc-env=SADDLEBAG_EMBEDDED_CODE={}", path.display());
        println!("cargo::rustc-env=SADDLEBAG_EMBEDDED_TARGET={target}");
    }
    Ok(())
}

fn component() -> Result<PathBuf, String> {
    println!("cargo::rerun-if-env-changed={OVERRIDE}");
    if let Some(path) = std::env::var_os(OVERRIDE).map(PathBuf::from) {
        println!("cargo::rerun-if-changed={}", path.display());
        return path.canonicalize().map_err(|error| format!("{OVERRIDE}: {}: {error}", path.display()));
    }
    let manifest = variable("CARGO_MANIFEST_DIR")?;
    // A crate from a registry has no sources of the component beside it, and carries the component itself.
    let packaged = Path::new(&manifest).join("saddlebag.wasm");
    if !Path::new(&manifest).join("../../wit").exists() {
        println!("cargo::rerun-if-changed={}", packaged.display());
        return packaged.canonicalize().map_err(|error| {
            format!("{}: {error}; the package of this crate was made without the component", packaged.display())
        });
    }
    let root = Path::new(&manifest).ancestors().nth(2).ok_or("this crate is not in a workspace")?.to_path_buf();
    for source in ["src", "wit", "Cargo.toml", "Cargo.lock", ".cargo/config.toml"] {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    for source in crates_below(&root)? {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    let target_dir = target_dir(Path::new(&variable("OUT_DIR")?));
    let profile = if variable("PROFILE")? == "release" { "component" } else { "component-dev" };
    build(&root, &target_dir, profile)?;
    let built = target_dir.join(TARGET).join(profile).join("saddlebag.wasm");
    built.canonicalize().map_err(|error| format!("the component was built, but not as {}: {error}", built.display()))
}

/// Returns the folders of the crates that the component consists of, by the manifests.
fn crates_below(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut manifests = vec![root.join("Cargo.toml")];
    while let Some(manifest) = manifests.pop() {
        let text = std::fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
        // The root's manifest also defines every crate of the workspace, by its path.
        let dependencies = text.lines().filter(|line| line.contains("workspace = true"));
        for name in dependencies.filter_map(|line| line.strip_prefix("saddlebag-")?.split([' ', '=', '.']).next()) {
            let folder = root.join("crates").join(name);
            if !folders.contains(&folder) {
                manifests.push(folder.join("Cargo.toml"));
                folders.push(folder);
            }
        }
    }
    Ok(folders)
}

/// Returns the SHA-256 in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a folder beside the folders of the profiles, so that every profile of the host shares one component:
/// `OUT_DIR` is `<target>/<profile>/build/<package>/out`.
fn target_dir(out_dir: &Path) -> PathBuf {
    out_dir.ancestors().nth(4).unwrap_or(out_dir).join("component")
}

fn build(root: &Path, target_dir: &Path, profile: &str) -> Result<(), String> {
    let mut cargo = Command::new(variable("CARGO")?);
    cargo
        .current_dir(root)
        .args(["rustc", "--quiet", "--package", "saddlebag", "--lib", "--target", TARGET, "--profile", profile])
        // As an ordinary library as well, it would be linked without optimisation across crates.
        .args(["--crate-type", "cdylib"])
        .arg("--target-dir")
        .arg(target_dir);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if INHERITED.contains(&&*name) || name.starts_with("CARGO_PROFILE_") || name.starts_with("CARGO_FEATURE_") {
            cargo.env_remove(&*name);
        }
    }
    let output = cargo.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    eprintln!("{errors}");
    Err(if errors.contains("can't find crate for `core`") || errors.contains("may not be installed") {
        format!(
            "the {TARGET} target is missing: run `rustup target add {TARGET}`, or `cargo xtask demo`, which does it"
        )
    } else {
        format!("building the component failed: {}", errors.lines().next().unwrap_or("no message"))
    })
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| format!("{name}: {error}"))
}
