//! The component as a release embeds it.

use std::fs;
use std::path::PathBuf;

use crate::run::{Output, add_target, cargo_with, root};

pub(crate) const TARGET: &str = "wasm32-wasip2";

/// Keeps the component from growing unseen. The bar is lower: see `docs/benchmarks.md`.
const MAX_BYTES: u64 = 3_310_000;

/// Builds the component with the profile of releases and checks its size.
pub(crate) fn build() -> Result<PathBuf, String> {
    build_with(&mut Output::Inherited)
}

pub(crate) fn build_with(output: &mut Output) -> Result<PathBuf, String> {
    add_target(TARGET)?;
    // In the folder that the build script of `saddlebag-component` uses, so that a release build finds it.
    let folder = "target/component";
    let build = ["build", "--package", "saddlebag", "--lib", "--target", TARGET, "--profile", "component"];
    cargo_with(build.into_iter().chain(["--target-dir", folder]), &[], output)?;
    let built = root()?.join(folder).join(TARGET).join("component/saddlebag.wasm");
    let size = fs::metadata(&built).map_err(|error| format!("cannot read {}: {error}", built.display()))?.len();
    if size > MAX_BYTES {
        return Err(format!("the component has {size} bytes, more than the {MAX_BYTES} of xtask/src/component.rs"));
    }
    Ok(built)
}
