//! The component: as a release embeds it, and as other hosts load it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{add_target, cargo_with, root};
use crate::{budget, paths};

pub(crate) const TARGET: &str = "wasm32-wasip2";

/// Maximum size of the component before `wasm-opt` in bytes, so that it does not grow unnoticed.
const MAX_BYTES: u64 = 4_225_000;

/// Profile of the component that the program embeds.
const FAST: &str = "component";

/// Profile of components that are small rather than fast.
pub(crate) const SMALL: &str = "component-small";

/// Arguments of cargo that compile the component as the build script of `saddlebag-component` does for tests.
pub(crate) const COMPILE_FOR_TESTS: [&str; 12] = [
    "rustc",
    "--package",
    "saddlebag",
    "--lib",
    "--target",
    TARGET,
    "--profile",
    "component-dev",
    "--crate-type",
    "cdylib",
    "--target-dir",
    "target/component",
];

/// A component of a release.
pub(crate) struct Build {
    /// Name of its file, without `.wasm`.
    pub(crate) name: &'static str,
    /// True for the world `saddlebag-json`, false for `saddlebag`.
    is_json: bool,
    profile: &'static str,
    /// Maximum size in bytes after `wasm-opt`.
    pub(crate) max_bytes: u64,
}

/// The component that the program embeds.
const EMBEDDED: Build = Build { name: "saddlebag", is_json: false, profile: FAST, max_bytes: 3_900_000 };

/// The component that has the interfaces with types, for other hosts.
pub(crate) const TYPED: Build = Build { name: "saddlebag-small", is_json: false, profile: SMALL, max_bytes: 3_500_000 };

/// The component whose calls are JSON text.
pub(crate) const JSON: Build = Build { name: "saddlebag-json", is_json: true, profile: SMALL, max_bytes: 3_200_000 };

pub(crate) const BUILDS: [Build; 3] = [EMBEDDED, TYPED, JSON];

/// Folder in which cargo builds what is not embedded.
const FOLDER: &str = "target/worlds";

impl Build {
    /// Returns the options of cargo that choose its world.
    fn features(&self) -> &'static [&'static str] {
        if self.is_json { &["--features", "json"] } else { &[] }
    }
}

/// Builds the component with the profile of releases and checks its size.
pub(crate) fn build() -> Result<PathBuf, String> {
    // In the folder that the build script of `saddlebag-component` uses, so that a release build finds it.
    let built = build_profile(&EMBEDDED, FAST, "target/component", &[])?;
    budget::keep("component_bytes", check_size(&built, MAX_BYTES)?)?;
    Ok(built)
}

/// Builds a component for tests: quickly, and not optimised.
pub(crate) fn build_for_tests(build: &Build) -> Result<PathBuf, String> {
    build_profile(build, "component-dev", FOLDER, &[])
}

/// Builds a component for a release.
pub(crate) fn build_released(build: &Build) -> Result<PathBuf, String> {
    let built = build_profile(build, build.profile, FOLDER, &paths::left_out(TARGET)?)?;
    paths::check(&built)?;
    Ok(built)
}

/// Builds a component with another profile, and these options of cargo.
fn build_profile(build: &Build, profile: &str, folder: &str, options: &[String]) -> Result<PathBuf, String> {
    add_target(TARGET)?;
    let kind = ["rustc", "--quiet", "--package", "saddlebag", "--lib", "--target", TARGET, "--profile", profile];
    // As in the build script of `saddlebag-component`: without the ordinary library, cargo optimises across crates.
    let chosen = ["--crate-type", "cdylib", "--target-dir", folder];
    let arguments = kind.into_iter().chain(build.features().iter().copied()).chain(chosen);
    let arguments = arguments.chain(options.iter().map(String::as_str));
    cargo_with(arguments, &[])?;
    Ok(root()?.join(folder).join(TARGET).join(profile).join("saddlebag.wasm"))
}

/// Returns the size of a component, or an error if it exceeds a limit.
pub(crate) fn check_size(component: &Path, max_bytes: u64) -> Result<u64, String> {
    let size = fs::metadata(component).map_err(|error| format!("cannot read {}: {error}", component.display()))?.len();
    if size > max_bytes {
        let path = component.display();
        return Err(format!("{path} has {size} bytes, more than the {max_bytes} of xtask/src/component.rs"));
    }
    Ok(size)
}
