//! `entry`: facts under keys.

mod edit;
mod explain;
mod forget;
mod hydrate;
mod list;
mod purge;
mod recall;
mod restore;
mod run;
pub(crate) mod shared;
mod show;
mod store;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of entries.
    Command {
        Store(store::StoreArgs),
        Show(show::ShowArgs),
        List(list::ListArgs),
        Recall(recall::RecallArgs),
        Edit(edit::EditArgs),
        Forget(forget::ForgetArgs),
        Restore(restore::RestoreArgs),
        Purge(purge::PurgeArgs),
        Hydrate(hydrate::HydrateArgs),
        Explain(explain::ExplainArgs),
        Run(run::RunArgs),
    }
}
