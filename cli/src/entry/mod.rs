//! `entry`: facts under keys.

mod hydrate;
mod run;
pub(crate) mod shared;
mod store;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of entries.
    Command {
        Store(store::StoreArgs),
        Hydrate(hydrate::HydrateArgs),
        Run(run::RunArgs),
    }
}
