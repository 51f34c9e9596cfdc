//! `cargo xtask dist`: the files of a release, in `target/dist/`. Nothing is published.

#[expect(dead_code, reason = "no program is built yet")]
mod packages;
#[expect(dead_code, reason = "the archive and the packages come next")]
mod program;
mod worlds;

use std::fs;
use std::path::PathBuf;

use crate::run::root;

const FOLDER: &str = "target/dist";

/// Builds and checks every file, and prints what it built.
pub(crate) fn dist() -> Result<(), String> {
    let folder = folder()?;
    let built = worlds::build(&folder)?;
    eprintln!("\nin {FOLDER}:");
    for line in built {
        eprintln!("{line}");
    }
    Ok(())
}

/// Returns the folder of the files, and creates it.
fn folder() -> Result<PathBuf, String> {
    let folder = root()?.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}
