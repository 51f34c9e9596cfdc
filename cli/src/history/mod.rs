//! The subcommands of the history: what was changed, the versions of an item, and undo.

mod commit;
mod diff;
mod exported;
mod expunge;
mod log;
mod op;
mod redo;
mod shared;
mod snapshot;
mod undo;

pub(crate) use commit::CommitArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use expunge::ExpungeArgs;
pub(crate) use log::HistoryArgs;
pub(crate) use op::OpArgs;
pub(crate) use redo::RedoArgs;
pub(crate) use snapshot::SnapshotArgs;
pub(crate) use undo::UndoArgs;
