//! `sync`: makes this machine's memory and that of others the same, through git, and merges what other tools left.
//!
//! [`names`] knows conflict copies by their names, and [`copies`] merges them. [`remote`] commits, merges and pushes what [`mod@fetch`] gets,
//! under [`locks`], and [`receive`] writes what comes. [`merge_commits`] merges what two commits changed, and [`merge_named`] two files that a person or git names; links follow [`renames`]. All of them get what
//! others wrote through [`incoming`], which merges two versions of a file, or keeps both. [`rejections`] shares the values that were
//! rejected, and [`expunged`] the [`digests`] of text that was expunged. All write through [`disk`], which changes a file only if nobody
//! else has changed it since it was read, and tells the history of the [`memories`]. [`report`] is what is printed.

mod args;
mod copies;
mod digests;
mod disk;
mod expunged;
mod fetch;
mod incoming;
mod locks;
mod memories;
mod merge_commits;
mod merge_named;
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
use self::copies::Copies;
pub(crate) use self::digests::ExpungedLine;
use self::disk::Disk;
pub(crate) use self::disk::Refused;
use self::expunged::Expunges;
pub(crate) use self::expunged::{line_for, received, share};
pub(crate) use self::incoming::Received;
pub(crate) use self::memories::{MadeOperation, scope_of};
pub(crate) use self::merge_named::{MergedInStore, Versions, merge_for_git, merge_into_store};
use self::remote::Sync;
use self::report::Synced;
pub(crate) use self::report::{name_operations, name_refused};
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
        Copies::new(&mut disk, &mut expunges, global, self.dry_run).merge_all(&mut synced, output)?;
        synced.reviews = synced.copies.iter().filter_map(|copy| copy.review.clone()).collect();
        let is_by_git = !shared.is_empty();
        let shared = if is_by_git { shared } else { sharing::shared(root)? };
        if !self.dry_run && !shared.is_empty() {
            rejections::exchange(&mut disk, &shared)?;
        }
        match &mut repository {
            Some(repository) if is_by_git => {
                let (args, shared) = (&self, &shared);
                let expunges = &mut expunges;
                let mut sync = Sync { repository, disk: &mut disk, args, global, shared, expunges };
                if let Err(failure) = remote::synchronise(&mut sync, &mut synced, output) {
                    synced.take_refused(&mut disk);
                    name_refused(&synced.rejected, &synced.unrecorded, output);
                    return Err(failure);
                }
                if !self.dry_run {
                    rejections::exchange(&mut disk, shared)?;
                }
            }
            Some(_) if synced.copies.is_empty() && shared.is_empty() => {
                let message = "nothing of this store is marked to be shared through git";
                let help = "`saddlebag setup git` shares the memory of this project";
                return Err(Failure::new(ErrorCode::NotFound, message, help));
            }
            // Another tool writes files without a question.
            _ => expunges.report_files(&mut disk, |path| sharing::is_shared(&shared, path.as_str()))?,
        }
        synced.take_refused(&mut disk);
        synced.operations = disk.operations();
        let left = if self.dry_run { expunges.texts.left() } else { expunges.finish(&mut disk)? };
        let place = |left: &Received| left.item.as_ref().map_or_else(|| left.line.place(), RelPath::to_string);
        synced.expunged = left.iter().map(place).collect::<BTreeSet<String>>().into_iter().collect();
        synced.replaced = std::mem::take(&mut expunges.texts.replaced).into_iter().collect();
        synced.message = synced.told();
        synced.print(output)?;
        if !synced.received.is_empty() {
            let is_received = |other: &Other| {
                let folder = format!("{PROJECTS_FOLDER}/{}/", other.name);
                synced.received.iter().any(|file| file.path.starts_with(&folder))
            };
            others(global).iter().filter(|other| is_received(other)).for_each(|other| output.note(&other.hint()));
        }
        let is_left = synced.not_reached.is_some() || synced.not_sent.is_some() || !synced.expunged.is_empty();
        Ok(if is_left { Exit::Left } else { Exit::Done })
    }
}
