//! cargo-nextest: it runs the tests of all packages side by side, with a time limit for each.

use crate::install::CargoTool;
use crate::run::{cargo, command};

const NEXTEST: CargoTool = CargoTool { name: "nextest", version: "0.9.143" };

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
    match NEXTEST.find_or_install() {
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
