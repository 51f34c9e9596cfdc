//! The everyday subcommands: store, find, show, change and log memory, and print what a model gets.

mod changed;
mod edit;
mod forget;
mod log;
mod moves;
mod open;
mod path;
mod recall;
mod related;
mod remember;
mod restore;
mod review;
mod search;
mod sessions;
mod show;
mod status;
mod tag;
mod today;
mod write;

use crate::history::{CommitArgs, DiffArgs, ExpungeArgs, HistoryArgs, OpArgs, RedoArgs, SnapshotArgs, UndoArgs};
use crate::list::ListArgs;
use crate::prompt::ContextArgs;
use crate::subcommand::subcommands;

#[cfg(feature = "server")]
pub(crate) use sessions::{LISTED, Sessions, newest};
#[cfg(feature = "server")]
pub(crate) use status::sizes;

subcommands! {
    /// The everyday subcommands.
    Command {
        Remember(remember::RememberArgs),
        Recall(recall::RecallArgs),
        Show(show::ShowArgs),
        List(ListArgs),
        Edit(edit::EditArgs),
        Write(write::WriteArgs),
        Move(moves::MoveArgs),
        Tag(tag::TagArgs),
        Link(related::LinkArgs),
        Related(related::RelatedArgs),
        Forget(forget::ForgetArgs),
        Restore(restore::RestoreArgs),
        Unforget(restore::UnforgetArgs),
        History(HistoryArgs),
        Diff(DiffArgs),
        Undo(UndoArgs),
        Redo(RedoArgs),
        Snapshot(SnapshotArgs),
        Op(OpArgs),
        Commit(CommitArgs),
        #[command(visible_alias = "redact")]
        Expunge(ExpungeArgs),
        Sessions(sessions::SessionsArgs),
        Review(review::ReviewArgs),
        Open(open::OpenArgs),
        Log(log::LogArgs),
        Context(ContextArgs),
        Search(search::SearchArgs),
        Today(today::TodayArgs),
        Status(status::StatusArgs),
    }
}
