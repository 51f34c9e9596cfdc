//! [`NamedFile`]: a file that a name may mean.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::protocol::{Error, ErrorCode};
use crate::store::RelPath;

/// Maximum number of files that a message names.
const NAMED_FILES: usize = 5;

/// A file that a name may mean.
#[derive(Clone, Debug)]
pub(crate) struct NamedFile {
    pub(crate) path: RelPath,
    /// Title of a note, key of an entry, name of any other file.
    pub(crate) name: String,
    pub(crate) unapproved: bool,
}

impl NamedFile {
    /// Keeps the only approved one of several. Text that nobody has approved must not hide the file that a name meant
    /// before.
    pub(crate) fn prefer_approved(found: &mut Vec<Self>) {
        if found.iter().filter(|file| !file.unapproved).count() == 1 {
            found.retain(|file| !file.unapproved);
        }
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
