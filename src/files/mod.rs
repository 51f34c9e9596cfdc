//! Files of a scope by their paths, for programs that show memory as files.
//!
//! The files are the Markdown files directly in the root, the files of the project that are not hidden, and the files
//! of the entries that the memory was opened for. Commands cannot name any other file.

mod list;
mod read;
mod resolve;
mod types;

pub use list::{FilePage, ListFiles, MAX_LISTED_FILES};
pub use read::ReadFile;
pub use resolve::{Item, ItemKind, Resolve};

pub(crate) use resolve::{Names, candidates};
pub(crate) use types::{FileListing, FilesCall};

use crate::family::family;

family! {
    "files", run with FilesCall<'_>;
    /// A command about files. It does not change any file.
    FilesCommand =>
    /// Reply of a [`FilesCommand`].
    FilesReply {
        ListFiles,
        ReadFile,
        Resolve,
    }
}
