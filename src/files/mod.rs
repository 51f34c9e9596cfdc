//! The files of a scope by their paths, its items by their names, and recall over notes and entries.
//!
//! The files are the Markdown files directly in the root, the files of the project that are not hidden, and the files
//! of the entries that the memory was opened for. Commands cannot name any other file.
//!
//! [`merge`] is not a command: it makes two changes of one file together, and needs no memory.

mod edit;
mod everywhere;
mod list;
mod merge;
mod recall;
mod resolve;
mod show;
mod tag;
mod timeline;
mod types;

pub use crate::journal::FileState;
pub use crate::notebook::{
    DEFAULT_HITS, ItemKind, MAX_RECALL_BYTES, Recall, RecallHit, RecallReply, ScorePart, TagReply,
};
pub use edit::{Edit, EditReply};
pub use list::{FilePage, ListFiles, MAX_LISTED_FILES};
pub use merge::{
    MAX_MERGED_BYTES, MergeConflict, MergePart, MergeReview, MergeSides, MergedFile, REVIEW_SOURCE, common_version,
    merge,
};
pub use resolve::{Item, Resolve};
pub use show::{Show, Shown};
pub use tag::Tag;

pub(crate) use edit::edit;
pub(crate) use recall::{answer as answer_recall, has_name};
pub(crate) use resolve::{Handle, candidates, handle};
pub(crate) use show::show;
pub(crate) use timeline::{
    Dated, TimeAsked, beginning, beginning_of, entries_of, latest_asked, notes_of, time_asked, time_of,
};
pub(crate) use types::{FileListing, FilesCall, Names, is_listed};

use crate::family::family;

family! {
    "files", run with FilesCall<'_>;
    /// A command about items.
    FilesCommand =>
    /// Reply of a [`FilesCommand`].
    FilesReply {
        Edit { name, kind, old_text, new_text: parts "new text" },
        ListFiles,
        Recall,
        Resolve,
        Show,
        Tag { name, kind, add: name "tag", remove },
    }
}
