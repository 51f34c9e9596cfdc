//! The subcommands that make texts of a prompt.

mod agents_md;
mod context;
mod folder;
mod preamble;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands that make texts of a prompt.
    Command {
        Context(context::ContextArgs),
        Preamble(preamble::PreambleArgs),
        #[command(name = "agents-md")]
        AgentsMd(agents_md::AgentsMdArgs),
    }
}
