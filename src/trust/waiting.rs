//! [`Waiting`]: a file whose text nobody has approved yet.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use xxhash_rust::xxh3::xxh3_64;

use super::Provenance;
use crate::store::RelPath;

/// A file whose text nobody has approved yet.
pub(crate) struct Waiting {
    /// What it may be named by, the name that a report uses first.
    pub(crate) names: Vec<String>,
    pub(crate) path: RelPath,
    pub(crate) is_entry: bool,
    pub(crate) provenance: Provenance,
    pub(crate) source: Option<String>,
    /// Of the text.
    pub(crate) version: String,
    /// The size of the file in bytes.
    pub(crate) size: u64,
    /// What would go into a prompt.
    pub(crate) text: String,
}

/// Tells one text of a file from another.
pub(crate) fn version_of(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}
