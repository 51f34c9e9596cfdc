//! The subcommands of trust: what waits to go into prompts, and what a person lets in.

mod approve;
mod pending;
mod shared;

use crate::subcommand::subcommands;

pub(crate) use shared::{flags, note_pending};

subcommands! {
    /// The subcommands of trust.
    Command {
        Pending(pending::PendingArgs),
        Approve(approve::ApproveArgs),
    }
}
