//! Files for other hosts: the components, optimised, and the package of `wit/`.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::component::{BUILDS, TYPED, build_released, check_size};
use crate::install::{jco, run_jco};
use crate::run::{cargo, root};

/// Options of `wasm-opt`: the features that the components use and declare. Low memory is unused, because only the end of the
/// stack is there; a stack that overflows still traps.
const OPTIMISED: [&str; 8] = [
    "-Oz",
    "--low-memory-unused",
    "--enable-simd",
    "--enable-bulk-memory",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-mutable-globals",
    "--emit-target-features",
];

/// Maximum size of the JavaScript of [`TYPED`] in bytes, so that it does not grow unnoticed.
const MAX_JAVASCRIPT_BYTES: u64 = 900_000;

/// Builds every file in the folder, checks their sizes, and returns a line about each.
pub(super) fn build(folder: &Path) -> Result<Vec<String>, String> {
    let root = root()?;
    jco()?;
    let mut sizes = Vec::new();
    for build in BUILDS {
        let built = build_released(&build)?;
        let path = folder.join(format!("{}.wasm", build.name));
        let before = check_size(&built, u64::MAX)?;
        let optimised = built.with_extension("optimised.wasm");
        let optimise = ["opt".into(), "--quiet".into(), built.into_os_string(), "-o".into(), optimised.clone().into()];
        let options = std::iter::once("--").chain(OPTIMISED).map(OsString::from);
        run_jco(optimise.into_iter().chain(options))?;
        replace_if_different(&optimised, &path)?;
        sizes.push((format!("{}.wasm", build.name), before, check_size(&path, build.max_bytes)?));
    }
    let javascript = root.join("target/worlds/javascript");
    let component = folder.join(format!("{}.wasm", TYPED.name));
    // The component is trusted to hand out what its types allow.
    let options = ["transpile", "--quiet", "--valid-lifting-optimization"].map(OsString::from);
    let translate = options.into_iter().chain([component.into_os_string(), "-o".into()]);
    let named = [javascript.clone().into_os_string(), "--name".into(), "saddlebag".into()];
    run_jco(translate.chain(named))?;
    let bytes = check_size(&javascript.join("saddlebag.js"), MAX_JAVASCRIPT_BYTES)?;
    let package = folder.join("saddlebag.wit.wasm");
    let write = [
        "run",
        "--quiet",
        "--package",
        "saddlebag-tests-shared",
        "--features",
        "contract",
        "--bin",
        "wit-package",
        "--",
    ];
    cargo(write.map(OsString::from).into_iter().chain([package.into()]))?;
    let sizes = sizes.into_iter();
    let mut lines: Vec<String> =
        sizes.map(|(name, before, after)| format!("{name}: {after} bytes ({before} before wasm-opt)")).collect();
    lines.push("saddlebag.wit.wasm: the package of the contract, with its documentation".to_string());
    lines.push(format!("JavaScript of {}: {bytes} bytes, not minified", TYPED.name));
    Ok(lines)
}

/// Moves a file, unless the one in its place has the same bytes: the programs are built again for a newer component.
fn replace_if_different(new: &Path, old: &Path) -> Result<(), String> {
    let bytes = fs::read(new).map_err(|error| format!("cannot read {}: {error}", new.display()))?;
    if fs::read(old).is_ok_and(|before| before == bytes) {
        return Ok(());
    }
    fs::rename(new, old).map_err(|error| format!("cannot move {} to {}: {error}", new.display(), old.display()))
}
