//! The files of a scope, each by its path: for those who show memory as files, whatever wrote it.
//!
//! The Markdown files of the scope are those directly in the root, all of the project, none of them hidden, and
//! those of the entries that the memory was opened for. Nothing else can be named.

mod list;
mod read;
mod types;

pub use list::{FilePage, ListFiles, MAX_LISTED_FILES};
pub use read::ReadFile;

pub(crate) use types::FilesCall;

use crate::family::family;

family! {
    "files", run with FilesCall<'_>;
    /// A command about files. None of them changes any.
    FilesCommand =>
    /// The reply of a [`FilesCommand`].
    FilesReply {
        ListFiles,
        ReadFile,
    }
}
