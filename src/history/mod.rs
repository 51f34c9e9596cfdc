//! The history of a store: its operations, the versions of its files, and undoing an operation.
//!
//! `changes` writes the records. Here `log` reads those of the scope, `files` says which versions a file
//! had, and `revert` computes the files without an operation. [`merge`] is not a command: it makes two changes of one file
//! together, and needs no memory. A memory sees the records of files that it may read, and no
//! others.

mod compare_versions;
mod expunge;
mod expunged_logs;
mod files;
mod forgotten;
mod history_policy;
mod list_operations;
mod list_versions;
mod log;
mod meant;
mod merge;
mod past;
mod places;
mod replace_file;
mod restore_version;
mod revert;
mod snapshot;
mod types;
mod undo;
mod unmade;

pub use compare_versions::{CompareVersions, Comparison};
pub use expunge::{Expunge, ExpungeReply, PlaceKind, TextPlace};
pub use history_policy::{HistoryLog, HistoryPolicyReply, SetHistoryPolicy};
pub use list_operations::{ListOperations, OperationList};
pub use list_versions::{ListVersions, VersionInfo, VersionList};
pub use merge::{
    MAX_MERGED_BYTES, MergeConflict, MergePart, MergeReview, MergeSides, MergedFile, REVIEW_SOURCE, common_version,
    merge,
};
pub use replace_file::{ReplaceFile, ReplacedFile};
pub use snapshot::{Snapshot, SnapshotTaken};
pub use types::{
    ChangeKind, DEFAULT_HISTORY_ITEMS, FileChange, MAX_HISTORY_ITEMS, MIN_OPERATION_DIGITS, OperationInfo,
};
pub use undo::{SkippedOperation, Undo, UndoReply};

pub use crate::changes::EXPUNGED;

pub(crate) use forgotten::{ForgottenNote, forgotten_notes};
pub(crate) use list_versions::text_of_version;
pub(crate) use meant::meant;
pub(crate) use past::look_back;
pub(crate) use restore_version::{NewText, last_before_removal, restore_version, version_before};

use crate::family::family;
use crate::names::Stores;

family! {
    "history", run with Stores<'_>;
    /// A command about the history.
    HistoryCommand =>
    /// Reply of a [`HistoryCommand`].
    HistoryReply {
        ListOperations,
        ListVersions,
        CompareVersions,
        Undo { operations, session, by, since, after, only_own, skip_conflicts, dry_run, redo },
        SetHistoryPolicy,
        Expunge { text, name, dry_run },
        Snapshot { message: name "message" },
        ReplaceFile { path, version, content },
    }
}
