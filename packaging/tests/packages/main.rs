//! The packages that are made from an archive, the launcher of npm, and the configuration of the tools that make a release.
//!
//! The program in the archive is a script, so nothing is built. `cargo xtask test --nightly` makes the packages of the real
//! program, installs each into an empty folder and uses it.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, clippy::print_stderr)]

mod configuration;
#[cfg(unix)]
mod launcher;
#[cfg(unix)]
mod made;
mod workflows;
