//! `memory`: subcommands for the memory as a whole: move and approve.

use crate::export::ExportArgs;
use crate::import::ImportArgs;
use crate::subcommand::subcommands;
use crate::trust::{ApproveArgs, RejectArgs};

subcommands! {
    /// The subcommands of the memory as a whole.
    Command {
        Export(ExportArgs),
        Import(ImportArgs),
        Approve(ApproveArgs),
        Reject(RejectArgs),
    }
}
