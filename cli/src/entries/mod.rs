//! The subcommands of entries.
//!
//! Every verb is a word of its own, as in the other families. What lists is named by what it lists: `list` has
//! files, `notes` has notes, `entries` has entries. `forget` is one verb for both families: a note by its name,
//! an entry by `--key`.

mod explain;
mod find;
mod get;
mod hydrate;
mod list;
mod purge;
mod run;
mod shared;
mod store;

use crate::export::ExportArgs;
use crate::import::ImportArgs;
use crate::subcommand::subcommands;

pub(crate) use store::StoreArgs;

subcommands! {
    /// The subcommands of entries.
    Command {
        Store(store::StoreArgs),
        Get(get::GetArgs),
        Find(find::FindArgs),
        Entries(list::EntriesArgs),
        Purge(purge::PurgeArgs),
        Hydrate(hydrate::HydrateArgs),
        Explain(explain::ExplainArgs),
        Run(run::RunArgs),
        Export(ExportArgs),
        Import(ImportArgs),
    }
}
