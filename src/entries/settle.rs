//! One file per key: the steps after a file was created, or moved to the folder of another category.

use super::document::{Entry, Fields, version_of};
use super::removal::{removal_of, retire};
use super::rules::{Base, refusal};
use super::scope::{EntriesScope, Pool};
use super::state::Entries;
use super::types::StoreState;
use super::view::{Stored, View, has_rival, look_at};
use crate::changes::Call;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of attempts when others move, create or remove the same entry meanwhile.
pub(super) const MAX_RACES: u32 = 64;

/// A file that was created, or moved to the folder of another category.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) path: &'a RelPath,
    pub(super) version: &'a str,
    pub(super) is_new: bool,
    /// Entries before it was written.
    pub(super) before: &'a View,
}

/// Ensures that a file that was created or moved is the only one of its key.
///
/// Another process may create or move one at the same moment. The later writer sees both files here. It keeps the
/// newest, by the order that all readers use, if that file may replace the others as they are now. Files that were outdated
/// before are not of this race, and stay. Returns `false` if the own file must yield, and the change must be computed again
/// from the others. A new file is then removed. A moved file stays until the change is done, because it holds the stored text.
pub(super) async fn settles(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    pool: &Pool,
    written: Written<'_>,
    fields: &Fields,
    base: &Base,
) -> Result<bool, Error> {
    let Written { path, version, is_new, before } = written;
    if pool.shared {
        // All files of the workspace are in one folder, so a key has only one path.
        return Ok(true);
    }
    for _ in 0..MAX_RACES {
        // Looks twice, because a file that is moved between folders meanwhile can be missing from both listings. The
        // entry is stored by now: if the host cannot list the other folders, readers still use the newest file.
        let mut is_alone = true;
        for _ in 0..2 {
            is_alone = is_alone && !has_rival(call, pool, before, path, &fields.key).await.unwrap_or_default();
        }
        if is_alone {
            return Ok(true);
        }
        let view = match look_at(call, entries, scope, &fields.key).await {
            Err(error) if error.code == ErrorCode::Internal => return Err(error),
            Err(_) => return Ok(true),
            Ok(view) => view,
        };
        let latest = view.of_key(pool.shared, &fields.key);
        let mut all = latest.into_iter().chain(view.copies_of(pool.shared, &fields.key));
        let Some(own) = all.find(|stored| stored.path == *path && stored.entry.version == version) else {
            // Someone has stored or forgotten it since.
            return Ok(true);
        };
        let all = latest.into_iter().chain(view.copies_of(pool.shared, &fields.key));
        let others: Vec<&Stored> =
            all.filter(|stored| stored.path != *path && !before.has_copy(&stored.path, &stored.entry)).collect();
        if others.is_empty() {
            // The file is gone, or moved to a folder that was listed before.
            continue;
        }
        let is_latest = latest.is_some_and(|latest| latest.path == *path);
        let replaces = |other: &&Stored| {
            let reason = refusal(call, &other.entry, fields, base);
            !matches!(reason, Err(_) | Ok(Some(StoreState::Forgotten | StoreState::Conflict)))
        };
        let replaces_all = others.iter().all(replaces);
        let yields = !is_latest || !replaces_all;
        if yields && !is_new {
            return Ok(!replaces_all || *base != Base::Any);
        }
        if yields {
            // The file was created by this command.
            if let Some(removal) = removal_of(call, own).await?
                && call.apply(&removal).await?
            {
                return Ok(false);
            }
            continue;
        }
        for other in others {
            if retire(call, other, path).await.is_err() {
                // The file stays listed as a problem; `purge` removes it.
                return Ok(true);
            }
        }
    }
    Ok(true)
}

/// Moves the file of an entry into the folder of the category that it already names. Returns the path of the file.
pub(super) async fn moved_to(
    call: &Call,
    pool: &Pool,
    from: RelPath,
    target: &RelPath,
    version: &str,
    key: &str,
) -> Result<RelPath, Error> {
    if from == *target {
        return Ok(from);
    }
    let file = call.load(&from).await?;
    let Ok(Some(text)) = file.text() else { return Ok(from) };
    // The file must parse to the same entry there, because missing fields are taken from the path.
    let reads = Entry::parse(&pool.folder, target, text, call.now.epoch_nanoseconds(), pool.shared);
    if version_of(text) != version || !reads.is_ok_and(|entry| entry.fields.key == key) {
        return Ok(from);
    }
    // If another file is in the way, the entry stays in its folder; its category is the one that it names.
    let is_moved = call.apply(&call.screen.rename(&file, target)?).await?;
    Ok(if is_moved { target.clone() } else { from })
}
