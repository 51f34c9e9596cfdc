//! `memory`: subcommands for the memory as a whole: create, move and approve.

mod init;
mod slash;

use crate::export::ExportArgs;
use crate::import::ImportArgs;
use crate::prompt::PreambleArgs;
use crate::subcommand::subcommands;
use crate::trust::{ApproveArgs, PendingArgs, RejectArgs};

subcommands! {
    /// The subcommands of the memory as a whole.
    Command {
        Init(init::InitArgs),
        Export(ExportArgs),
        Import(ImportArgs),
        Pending(PendingArgs),
        Approve(ApproveArgs),
        Reject(RejectArgs),
        Preamble(PreambleArgs),
        Slash(slash::SlashArgs),
    }
}
