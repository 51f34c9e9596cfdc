//! The arguments of `sync`.

use clap::Args;

use crate::help::example;

/// Make the memory of several machines the same, through git
///
/// Conflict copies of Syncthing, Dropbox, iCloud and Obsidian Sync are merged into their files, also without git. If `setup git` has marked what is shared,
/// the changes are committed, those of other machines are fetched and merged, and the result is pushed. All projects of the store
/// take part.
#[derive(Debug, Args)]
#[command(after_help = example("sync --dry-run"))]
pub(crate) struct SyncArgs {
    /// Print what would be merged, received and sent, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Most files that one run may delete, here or for others
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) max_deletes: usize,
}
