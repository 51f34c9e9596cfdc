//! [`PendingApproval`]: a file whose text nobody has approved yet.

use sha2::{Digest as _, Sha256};

use super::{Provenance, Writer};
use crate::store::RelPath;
use saddlebag_collections::prelude::*;

/// A file whose text nobody has approved yet.
pub(crate) struct PendingApproval {
    /// Key of the entry, or path of the note as replies show it.
    pub(crate) name: String,
    pub(crate) path: RelPath,
    pub(crate) is_entry: bool,
    pub(crate) provenance: Provenance,
    /// Projects whose prompts the text goes into without approval.
    pub(crate) projects: Vec<String>,
    pub(crate) source: Option<String>,
    pub(crate) writer: Writer,
    /// Version of the text.
    pub(crate) version: String,
    /// Size of the file in bytes.
    pub(crate) size: u64,
    /// Text that would go into a prompt.
    pub(crate) text: String,
}

impl PendingApproval {
    /// Returns true if the text does not go into prompts. An agent's entry goes into the prompts of its project, and
    /// can be approved for all.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.provenance.is_trusted()
    }
}

/// Returns a version that nobody can forge, because a person approves text by it.
pub(crate) fn version_of(text: &str) -> String {
    sha256(text)
}

/// Returns the SHA-256 of the text in hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|four| char::from_digit(u32::from(four), 16));
    Sha256::digest(text.as_bytes()).iter().flat_map(digits).flatten().collect()
}
