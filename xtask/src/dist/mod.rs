//! `cargo xtask dist`: the files of a release. The components are in `target/dist/`, archives and packages in
//! `target/distrib/`, the folder of `dist`. Nothing is published.

mod check;
mod packages;
mod program;
mod worlds;

use std::fs;

use crate::run::{Kit, cargo, root};
use crate::{install, new_user};
use program::Build;

/// Folder of the components.
const COMPONENTS: &str = "target/dist";

/// Ways of installing that are tried from the first step to the last one.
const WAYS: [&str; 4] = ["archive", "installer", "wheel", "npm"];

/// Builds and checks every file that this machine can build, installs each package, and prints what it built.
pub(crate) fn dist() -> Result<(), String> {
    install::tools()?;
    let folder = root()?.join(COMPONENTS);
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut built = worlds::build(&folder)?;
    let component = folder.join("saddlebag.wasm");
    packages::list_licenses()?;
    let program = program::build(Build::Release { component: &component })?;
    let trace = root()?.join("target/worlds/session.jsonl");
    check::record(&trace)?;
    built.push(check::check_program(&program, &Kit::build()?.0)?);
    check::check_components(&folder, &trace)?;
    packages::build(&program.target)?;
    new_user::install()?;
    new_user::run(&root()?.join(packages::FOLDER), &program::ways(&program.target, &WAYS))?;
    eprintln!("\nin {COMPONENTS} and {}:", packages::FOLDER);
    for line in built {
        eprintln!("{line}");
    }
    Ok(())
}

/// Makes the files of a release from a program that is built quickly, installs each into an empty folder, and works with it to the
/// first recall.
pub(crate) fn rehearse() -> Result<(), String> {
    install::tools()?;
    let program = packages::without_licenses(|| program::build(Build::Rehearsal))?;
    packages::build(&program.target)?;
    packages::check_workflows()?;
    // Now that `dist` is installed, a test asks it what it plans.
    cargo(["test", "--quiet", "--test", "packages", "--", "configuration::"])?;
    new_user::install()?;
    new_user::run(&root()?.join(packages::FOLDER), &program::ways(&program.target, &WAYS))
}

/// Makes what names several targets, from the files of all of them.
pub(crate) fn assemble() -> Result<(), String> {
    install::tools()?;
    packages::assemble()
}
