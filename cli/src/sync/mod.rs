//! `sync`: makes this machine's memory and that of others the same, through git, and merges what other tools left.
//!
//! [`names`] knows conflict copies by their names, and [`copies`] merges them. [`remote`] commits, fetches, merges and pushes.
//! [`rejections`] lets rejected values travel. All
//! write through [`disk`], which changes a file only if it still is what was read. [`report`] is what is printed.

mod args;
mod copies;
mod disk;
mod names;
mod rejections;
mod remote;
mod report;

use saddlebag::protocol::ErrorCode;
use saddlebag::trust::Provenance;

pub(crate) use self::args::SyncArgs;
use self::disk::Disk;
use self::report::Synced;
use crate::failure::{Exit, Failure, set_changes};
use crate::git::repository::Repository;
use crate::global::Global;
use crate::output::Output;
use crate::setup::sharing;
use crate::store::{self, Root};
use crate::subcommand::Subcommand;

impl Subcommand for SyncArgs {
    type Json = Synced;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let provenance = global.provenance.unwrap_or_default();
        if provenance != Provenance::User {
            let message = format!("only a person may synchronise, and this memory was opened for `{provenance}`");
            return Err(Failure::new(ErrorCode::NotPermitted, message, "leave --provenance out"));
        }
        set_changes(true, false);
        let root = Root::from_options(global)?;
        let mut disk = Disk::new(store::disk(global)?);
        let shared = sharing::shared_by_git(root.path());
        let mut repository = if !shared.is_empty() { Some(Repository::open(root.path(), root.path())?) } else { None };
        let mut synced = Synced { dry_run: self.dry_run, ..Synced::default() };
        let mut left_out = Vec::new();
        synced.copies = copies::merge_copies(&mut disk, global, self.dry_run, &mut left_out, output)?;
        synced.left_out = left_out;
        synced.reviews = synced.copies.iter().filter_map(|copy| copy.review.clone()).collect();
        match &mut repository {
            Some(repository) => {
                if !self.dry_run {
                    rejections::exchange(&mut disk, &shared)?;
                }
                remote::synchronise(repository, &mut disk, &self, global, &mut synced)?;
                if !self.dry_run {
                    rejections::exchange(&mut disk, &shared)?;
                }
            }
            None if synced.copies.is_empty() && sharing::is_in_git(root.path()) => {
                let message = "nothing of this store is marked to be shared through git";
                let help = "`saddlebag setup git` shares the memory of this project";
                return Err(Failure::new(ErrorCode::NotFound, message, help));
            }
            None => {}
        }
        synced.message = synced.told();
        synced.print(output)?;
        Ok(if synced.not_reached.is_some() { Exit::Left } else { Exit::Done })
    }
}
