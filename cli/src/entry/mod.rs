//! `entry`: facts under keys.

mod hydrate;
mod purge;
mod run;
pub(crate) mod shared;
mod store;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of entries.
    Command {
        Store(store::StoreArgs),
        Purge(purge::PurgeArgs),
        Hydrate(hydrate::HydrateArgs),
        Run(run::RunArgs),
    }
}
