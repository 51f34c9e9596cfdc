//! The subcommands of the journal.

mod edit;
mod list;
mod log;
mod path;
mod read;
mod restore;
mod search;
mod slash;
mod status;
mod target;
mod write;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of the journal.
    Command {
        Write(write::WriteArgs),
        Read(read::ReadArgs),
        List(list::ListArgs),
        Edit(edit::EditArgs),
        Restore(restore::RestoreArgs),
        Search(search::SearchArgs),
        Log(log::LogArgs),
        Status(status::StatusArgs),
        Path(path::PathArgs),
        Slash(slash::SlashArgs),
    }
}
