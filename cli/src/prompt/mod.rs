//! The subcommands that make text for a prompt.

mod agents_md;
mod context;
mod folder;
mod preamble;
mod syncing;

use crate::subcommand::subcommands;

pub(crate) use context::ContextArgs;
pub(crate) use preamble::PreambleArgs;
pub(crate) use syncing::{clear_in, files_in};

subcommands! {
    /// The subcommands of `agents-md`.
    AgentsMd {
        Sync(agents_md::SyncArgs),
    }
}
