//! `note`: the notes around a note, and what the subcommands about notes share.

pub(crate) mod filter;
mod related;
pub(crate) mod shared;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of notes.
    Command {
        Related(related::RelatedArgs),
    }
}
