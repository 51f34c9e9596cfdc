//! The component: as a release embeds it, and as the smaller worlds that other hosts load.

use std::fs;
use std::path::{Path, PathBuf};

use crate::paths;
use crate::run::{Output, add_target, cargo_with, root};

pub(crate) const TARGET: &str = "wasm32-wasip2";

/// Maximum size of the component in bytes, so that it does not grow unnoticed. The bar is lower: see
/// `docs/benchmarks.md`.
const MAX_BYTES: u64 = 4_590_000;

/// Profile of the component that the program embeds.
const FAST: &str = "component";

/// Profile of the components that other hosts load.
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

/// A world of `wit/world.wit`.
pub(crate) struct World {
    pub(crate) name: &'static str,
    /// Cargo features that select it.
    pub(crate) features: &'static str,
    /// Cargo profile of a release: the profile of the program's component, or the profile for small components.
    pub(crate) profile: &'static str,
    /// Maximum size of its optimised component in bytes.
    pub(crate) max_bytes: u64,
}

/// Worlds, the smallest first.
pub(crate) const WORLDS: [World; 6] = [
    World { name: "journal-memory", features: "journal", profile: SMALL, max_bytes: 1_220_000 },
    World { name: "entries-memory", features: "entries", profile: SMALL, max_bytes: 1_470_000 },
    World { name: "journal-entries-memory", features: "journal,entries", profile: SMALL, max_bytes: 1_570_000 },
    World { name: "notebook-memory", features: "notebook", profile: SMALL, max_bytes: 2_840_000 },
    World { name: "saddlebag", features: "everything", profile: FAST, max_bytes: 3_900_000 },
    World { name: "saddlebag-json", features: "json", profile: SMALL, max_bytes: 3_200_000 },
];

/// Builds the component with the profile of releases and checks its size.
pub(crate) fn build() -> Result<PathBuf, String> {
    build_with(&mut Output::Inherited)
}

pub(crate) fn build_with(output: &mut Output) -> Result<PathBuf, String> {
    // In the folder that the build script of `saddlebag-component` uses, so that a release build finds it.
    let built = build_world("everything", FAST, "target/component", &[], output)?;
    check_size(&built, MAX_BYTES)?;
    Ok(built)
}

/// Builds the component of a smaller world for tests: quickly, and not optimised.
pub(crate) fn build_for_tests(world: &World, output: &mut Output) -> Result<PathBuf, String> {
    let built = build_world(world.features, "component-dev", "target/worlds", &[], output)?;
    let kept = built.with_file_name(format!("{}.wasm", world.name));
    fs::copy(&built, &kept).map_err(|error| format!("cannot copy {}: {error}", built.display()))?;
    Ok(kept)
}

/// Builds the component of a world for a release.
pub(crate) fn build_released(world: &World, output: &mut Output) -> Result<PathBuf, String> {
    build_released_in("target/worlds", world, output)
}

/// Builds the component of a world for a release in this folder.
pub(crate) fn build_released_in(folder: &str, world: &World, output: &mut Output) -> Result<PathBuf, String> {
    let built = build_world(world.features, world.profile, folder, &paths::left_out(TARGET)?, output)?;
    paths::check(&built)?;
    Ok(built)
}

/// Builds the component that these features choose, with these options of cargo.
fn build_world(
    features: &str,
    profile: &str,
    folder: &str,
    options: &[String],
    output: &mut Output,
) -> Result<PathBuf, String> {
    add_target(TARGET)?;
    let build = ["rustc", "--quiet", "--package", "saddlebag", "--lib", "--target", TARGET, "--profile", profile];
    // As in the build script of `saddlebag-component`: without the ordinary library, cargo optimises across crates.
    let chosen = ["--crate-type", "cdylib", "--no-default-features", "--features", features, "--target-dir", folder];
    let arguments = build.into_iter().chain(chosen).chain(options.iter().map(String::as_str));
    cargo_with(arguments, &[], output)?;
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
