//! `sync`: makes this machine's memory and that of others the same, through git, and merges what other tools left.
//!
//! [`names`] knows conflict copies by their names, and [`copies`] merges them. [`remote`] commits, fetches, merges and pushes, and
//! [`receive`] writes what comes. [`merge_commits`] merges what two commits changed, and [`merge_sides`] two versions of a file, or it
//! keeps both; links follow [`renames`]. [`rejections`] shares the values that were rejected, and [`expunged`] the [`digests`] of text that was expunged. All
//! write through [`disk`], which changes a file only if nobody else has changed it since it was read, and tells the history of the
//! [`memories`]. [`report`] is what is printed.

mod args;
mod copies;
mod digests;
mod disk;
mod expunged;
mod memories;
mod merge_commits;
mod merge_sides;
mod names;
mod receive;
mod rejections;
mod remote;
mod renames;
mod report;

use std::collections::BTreeSet;

use saddlebag::protocol::ErrorCode;
use saddlebag::store::{PROJECTS_FOLDER, RelPath};

pub(crate) use self::args::SyncArgs;
pub(crate) use self::digests::ExpungedLine;
pub(crate) use self::disk::{Disk, write_new};
use self::expunged::Expunges;
pub(crate) use self::expunged::{Received, line_for, received, share};
pub(crate) use self::memories::scope_of;
use self::remote::Sync;
use self::report::Synced;
use crate::failure::{Exit, Failure, set_changes};
use crate::git::repository::Repository;
use crate::global::Global;
use crate::output::Output;
use crate::project::{Other, others};
use crate::setup::sharing;
use crate::store::Root;
use crate::subcommand::Subcommand;

impl Subcommand for SyncArgs {
    type Json = Synced;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        global.require_person("synchronise")?;
        set_changes(true, false);
        let root = Root::from_options(global)?;
        let root = root.folder()?;
        let mut disk = Disk::open(global, "sync")?;
        let mut repository = match sharing::is_in_git(root) {
            true => Some(Repository::open(root, root)?),
            false => None,
        };
        let shared = repository.as_ref().map(sharing::shared_by_git).transpose()?.unwrap_or_default();
        let mut synced = Synced { dry_run: self.dry_run, ..Synced::default() };
        let mut expunges = Expunges::open(&mut disk, global, output)?;
        let mut left_out = Vec::new();
        synced.copies = copies::merge_copies(&mut disk, global, self.dry_run, &mut left_out, output)?;
        synced.left_out = left_out;
        synced.reviews = synced.copies.iter().filter_map(|copy| copy.review.clone()).collect();
        match &mut repository {
            Some(repository) if !shared.is_empty() => {
                if !self.dry_run {
                    rejections::exchange(&mut disk, &shared)?;
                }
                let (args, shared) = (&self, &shared);
                let expunges = &mut expunges;
                let mut sync = Sync { repository, disk: &mut disk, args, global, shared, expunges };
                if let Err(failure) = remote::synchronise(&mut sync, &mut synced, output) {
                    synced.take_refused(&mut disk);
                    synced.name_refused(output);
                    return Err(failure);
                }
                if !self.dry_run {
                    rejections::exchange(&mut disk, shared)?;
                }
            }
            Some(_) if synced.copies.is_empty() => {
                let message = "nothing of this store is marked to be shared through git";
                let help = "`saddlebag setup git` shares the memory of this project";
                return Err(Failure::new(ErrorCode::NotFound, message, help));
            }
            _ => {}
        }
        synced.take_refused(&mut disk);
        let left = if self.dry_run { expunges.left() } else { expunges.finish(&mut disk)? };
        let place = |left: &Received| left.item.as_ref().map_or_else(|| left.line.place(), RelPath::to_string);
        synced.expunged = left.iter().map(place).collect::<BTreeSet<String>>().into_iter().collect();
        synced.message = synced.told();
        synced.print(output)?;
        if !synced.received.is_empty() {
            let is_received = |other: &Other| {
                let folder = format!("{PROJECTS_FOLDER}/{}/", other.name);
                synced.received.iter().any(|file| file.path.starts_with(&folder))
            };
            others(global).iter().filter(|other| is_received(other)).for_each(|other| output.note(&other.hint()));
        }
        let is_left = synced.not_reached.is_some() || !synced.expunged.is_empty();
        Ok(if is_left { Exit::Left } else { Exit::Done })
    }
}
