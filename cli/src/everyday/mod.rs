//! The everyday subcommands: store, find and log memory, and print what a model gets.

mod log;
mod recall;
mod remember;
mod search;
mod status;
mod today;

use crate::prompt::ContextArgs;
use crate::subcommand::subcommands;

subcommands! {
    /// The everyday subcommands.
    Command {
        Remember(remember::RememberArgs),
        Recall(recall::RecallArgs),
        Log(log::LogArgs),
        Context(ContextArgs),
        Search(search::SearchArgs),
        Today(today::TodayArgs),
        Status(status::StatusArgs),
    }
}
