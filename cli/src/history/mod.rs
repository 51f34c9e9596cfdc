//! The subcommands of the history: what was changed, the versions of an item, and undo.

mod commit;
mod diff;
mod exported;
mod expunge;
mod log;
mod op;
mod shared;
mod undo;

pub(crate) use commit::CommitArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use expunge::ExpungeArgs;
pub(crate) use log::HistoryArgs;
pub(crate) use op::{OpArgs, SnapshotArgs};
pub(crate) use undo::{RedoArgs, UndoArgs};
