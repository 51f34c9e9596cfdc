//! [`Program`]: a released program, which archives and packages are made of.

use std::path::PathBuf;

/// A program as a release has it: stripped, with the compiled component in it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The file, on this machine.
    pub(crate) path: PathBuf,
    /// Target triple, for example `x86_64-unknown-linux-musl`.
    pub(crate) target: String,
    /// Version of the release, without `v`.
    pub(crate) version: String,
}
