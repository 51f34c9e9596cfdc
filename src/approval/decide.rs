//! [`decide`]: carries out what a person decided about items that wait for approval.

use super::types::{ApproveItem, MAX_NAMES, SkippedItem, named, pending_approvals};
use crate::changes::{Backups, Call, File};
use crate::entries;
use crate::history::REVIEW_SOURCE;
use crate::names::Stores;
use crate::notebook::forget_version;
use crate::origin::Origin;
use crate::store::RelPath;
use crate::trust::{PendingApproval, approve as approved_text, version_of};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::head;
use saddlebag_protocol::{Error, ErrorCode};

/// Decision of a person.
#[derive(Clone, Copy)]
pub(super) enum Decision {
    /// The text may go into prompts.
    Approve,
    /// The text is forgotten.
    Reject,
}

/// Result of a decision.
#[derive(Default)]
pub(super) struct Decided {
    /// Items that it was carried out for, as the request gave them.
    pub(super) items: Vec<ApproveItem>,
    pub(super) skipped: Vec<SkippedItem>,
    /// Summary, such as `Approved 2, skipped 1`.
    pub(super) message: String,
}

/// Carries out a decision of a person, for each item that still has the version that the person looked at.
pub(super) async fn decide(
    with: &Stores<'_>,
    decision: Decision,
    items: Vec<ApproveItem>,
    dry_run: bool,
) -> Result<Decided, Error> {
    let (verb, past) = match decision {
        Decision::Approve => ("approve", "Approved"),
        Decision::Reject => ("reject", "Rejected"),
    };
    with.call.scope.trust.check_person(&format!("{verb} text"))?;
    check_items(verb, &items)?;
    let waiting = pending_approvals(with.call, with.notebook, with.entries).await?;
    // A change may take a name away, so all names are resolved before the first one.
    let mut found = Vec::with_capacity(items.len());
    for given in items {
        let item = named(with, &waiting, &given.name).await;
        found.push((given, item));
    }
    let mut decided = Decided::default();
    let mut done: Vec<&RelPath> = Vec::new();
    for (given, item) in found {
        let result = match item {
            Ok(item) if item.version != given.version => Err(stale(&given.version)),
            Ok(item) if done.contains(&&item.path) => continue,
            Ok(item) => {
                done.push(&item.path);
                match decision {
                    _ if dry_run => Ok(()),
                    Decision::Approve => approve(with.call, item).await,
                    Decision::Reject => forget_item(with, &item.path, item.is_entry, item.version.clone()).await,
                }
            }
            Err(error) => Err(error),
        };
        match result {
            Ok(()) => decided.items.push(given),
            Err(error) if matches!(error.code, ErrorCode::Storage | ErrorCode::MemoryUnavailable) => return Err(error),
            Err(error) => decided.skipped.push(SkippedItem { name: given.name, reason: error.into_message() }),
        }
    }
    let done = if dry_run { format!("Would {verb}") } else { past.to_string() };
    decided.message = format!("{done} {}, skipped {}", decided.items.len(), decided.skipped.len());
    Ok(decided)
}

/// Refuses a request that names nothing, or too much.
pub(super) fn check_items(verb: &str, items: &[ApproveItem]) -> Result<(), Error> {
    if items.len() > MAX_NAMES {
        let message = format!("{} names, the limit is {MAX_NAMES}", items.len());
        return Err(Error::new(ErrorCode::TooLarge, message, format!("{verb} in parts")));
    }
    if items.is_empty() {
        let message = format!("the request names nothing to {verb}");
        let help = format!("give the keys or paths to {verb}, with the versions that `list --pending` shows");
        return Err(Error::invalid_argument(message, help));
    }
    Ok(())
}

/// Writes the time of the approval into the file, if it still has the version that the person looked at.
async fn approve(call: &Call, item: &PendingApproval) -> Result<(), Error> {
    if item.source.as_deref().is_some_and(|source| source.starts_with(REVIEW_SOURCE)) {
        let message = "it shows what a merge found, and is not memory: change the file that it names, then reject it";
        return Err(Error::new(ErrorCode::NotPermitted, message, "reject it"));
    }
    let stale = || stale(&item.version);
    let change = |file: &File| {
        let text = file.text().ok().flatten().ok_or_else(stale)?;
        if version_of(text) != item.version {
            return Err(stale());
        }
        let approved = approved_text(text, call.now.epoch_nanoseconds()).ok_or_else(|| {
            let message = format!(
                "the approval cannot be written into the frontmatter of {}",
                call.scope.display_path(&item.path)
            );
            Error::damaged_file(message, "add `approved: ` and the time by hand")
        })?;
        Ok((Some(call.screen.rewrite(file, approved)?), ()))
    };
    call.update(&item.path, Backups::Off, change).await.map(|_| ())
}

/// Forgets a note or an entry, if its file still has this version.
pub(super) async fn forget_item(
    with: &Stores<'_>,
    path: &RelPath,
    is_entry: bool,
    version: String,
) -> Result<(), Error> {
    if !is_entry {
        return forget_version(with.call, path, &version).await;
    }
    let shown = with.call.scope.display_path(path);
    entries::forget(with.call, with.entries, &Origin::default(), &shown, Some(version)).await.map(|_| ())
}

/// Returns the error for an item that has another version.
pub(super) fn stale(version: &str) -> Error {
    let message = format!("its text no longer has the version `{}`", head(version, 64).escape_debug());
    Error::new(ErrorCode::StaleVersion, message, "look at it again")
}
