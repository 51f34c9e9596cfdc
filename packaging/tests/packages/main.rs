//! Every package that can be installed here is installed into an empty folder and used, and every file that has a published
//! schema is held against it.
//!
//! The packages are made from the program of a debug build, or they are those of a release: `SADDLEBAG_DIST` names their
//! folder and `SADDLEBAG_DIST_TARGET` the target to install. A check whose tool is not installed is named on standard error.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, clippy::print_stderr)]

mod archive;
mod binstall;
mod bundle;
mod container;
mod debian;
mod homebrew;
mod made;
mod npm;
mod oci;
mod registry;
mod sbom;
mod schema;
mod tool;
mod used;
mod wheel;
mod workflows;
