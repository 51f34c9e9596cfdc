//! `entry`: facts under keys.

mod hydrate;
mod run;
pub(crate) mod shared;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of entries.
    Command {
        Hydrate(hydrate::HydrateArgs),
        Run(run::RunArgs),
    }
}
