//! `sync`: makes this machine's memory and that of others the same, through git, and merges what other tools left.
//!
//! [`names`] knows conflict copies by their names, and [`copies`] merges them. [`remote`] commits, merges and pushes what [`mod@fetch`] gets,
//! under [`locks`], and [`receive`] writes what comes, without what is [`left_out`]. [`merge_commits`] merges what two commits changed, and [`merge_named`] two files that a person or git names; links follow [`renames`]. All of them get what
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
mod left_out;
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
use std::path::Path;

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
use self::left_out::Withheld;
pub(crate) use self::memories::{MadeOperation, scope_of};
pub(crate) use self::merge_named::{MergedInStore, Versions, merge_for_git, merge_into_store};
use self::remote::Sync;
use self::report::{LeftOut, Synced};
pub(crate) use self::report::{name_operations, name_refused};
use crate::failure::{Exit, Failure, set_changes};
use crate::git::repository::Repository;
use crate::global::Global;
use crate::output::{Output, single_line};
use crate::project::{Other, opened, others};
use crate::setup::sharing;
use crate::store::{Root, named_project};
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
        let is_by_git = !shared.is_empty();
        let shared = if is_by_git { shared } else { sharing::shared(root)? };
        Copies::new(&mut disk, &mut expunges, global, self.dry_run, &shared).merge_all(&mut synced, output)?;
        synced.reviews = synced.copies.iter().filter_map(|copy| copy.review.clone()).collect();
        if !self.dry_run && !shared.is_empty() {
            rejections::exchange(&mut disk, &shared)?;
        }
        match &mut repository {
            Some(repository) if is_by_git => {
                let (args, shared) = (&self, &shared);
                let (expunges, withheld) = (&mut expunges, Withheld::read(&repository.state)?);
                let mut sync = Sync { repository, disk: &mut disk, args, global, shared, expunges, withheld };
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
        offer_left_out(&synced, root, global, output);
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

/// Names memory that was left out and may be that of this folder, under the name that its project has on another machine. Its folder
/// is made, so that `project` knows the name.
fn offer_left_out(synced: &Synced, root: &Path, global: &Global, output: &mut Output) {
    let stem = |name: &str| name.rsplit_once('-').map(|(stem, _)| stem.to_string());
    let Some(own) = opened(global, &named_project(global)).filter(|own| stem(own).is_some()) else { return };
    let below = |left: &LeftOut| Some(left.path.strip_prefix(PROJECTS_FOLDER)?.split('/').nth(1)?.to_string());
    let names: BTreeSet<String> = synced.left_out.iter().filter_map(below).collect();
    for name in names.iter().filter(|name| **name != own && stem(name) == stem(&own)) {
        if !synced.dry_run && std::fs::create_dir_all(root.join(PROJECTS_FOLDER).join(name)).is_err() {
            continue;
        }
        let name = single_line(name);
        output.note(&format!(
            "`{name}` has the name of this folder; if it is this project, run `saddlebag project {name}`, `saddlebag setup git`, and \
             this again"
        ));
    }
}
