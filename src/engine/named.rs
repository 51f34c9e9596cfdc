//! [`NamedFile`]: a file that a name may mean.

use crate::store::RelPath;
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of files that a message names.
const NAMED_FILES: usize = 5;

/// A file that a name may mean.
#[derive(Clone, Debug)]
pub(crate) struct NamedFile {
    pub(crate) path: RelPath,
    /// Title of a note, key of an entry, name of any other file.
    pub(crate) name: String,
    /// Origin of its text, if nobody has approved it.
    pub(crate) unapproved: Option<Provenance>,
}

/// Keeps the only approved one of several meanings of a name. Text that nobody has approved must not hide the file that the
/// name meant before.
pub(crate) fn prefer_approved<T>(found: &mut Vec<T>, is_approved: impl Fn(&T) -> bool) {
    if found.iter().filter(|one| is_approved(one)).count() == 1 {
        found.retain(is_approved);
    }
}

/// Returns the error for a name that could mean several files.
pub(crate) fn ambiguous(name: &str, mut files: Vec<String>) -> Error {
    let more = files.len().saturating_sub(NAMED_FILES);
    files.truncate(NAMED_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("`{}` could be {}{more}", name.escape_debug(), files.join(", "));
    Error::new(ErrorCode::AmbiguousName, message, "give the path of one of them")
}
