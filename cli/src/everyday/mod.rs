//! The everyday subcommands: store, find, show, change and log memory, and print what a model gets.

mod changed;
mod edit;
mod forget;
mod link;
mod log;
mod moves;
mod recall;
mod remember;
mod restore;
mod search;
mod show;
mod status;
mod today;

use crate::list::ListArgs;
use crate::prompt::ContextArgs;
use crate::subcommand::subcommands;

subcommands! {
    /// The everyday subcommands.
    Command {
        Remember(remember::RememberArgs),
        Recall(recall::RecallArgs),
        Show(show::ShowArgs),
        List(ListArgs),
        Edit(edit::EditArgs),
        Move(moves::MoveArgs),
        Link(link::LinkArgs),
        Forget(forget::ForgetArgs),
        Restore(restore::RestoreArgs),
        Log(log::LogArgs),
        Context(ContextArgs),
        Search(search::SearchArgs),
        Today(today::TodayArgs),
        Status(status::StatusArgs),
    }
}
