//! One file for each key: what follows when a file was made, or moved to the folder of another category.

use alloc::vec::Vec;

use super::document::{Entry, Fields, version_of};
use super::removal::retire;
use super::rules::{Base, check_trust_state, is_gone, refusal};
use super::scope::{EntriesScope, Pool};
use super::state::Entries;
use super::types::StoreState;
use super::view::{Stored, has_rival, look};
use crate::engine::{Backups, Call, Change, Loaded, create, load, remove_version, update};
use crate::protocol::{Error, ErrorCode};
use crate::store::RelPath;
use crate::trust::{Removal, Screened};

/// How many times a change is computed again because others move, make or remove the same entry meanwhile.
pub(super) const MAX_RACES: u32 = 64;

/// A file that was made, or moved to the folder of another category.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) path: &'a RelPath,
    pub(super) version: &'a str,
    pub(super) is_new: bool,
}

/// Sees to it that a file that was made or moved is the only one of its key.
///
/// Others may make or move one at the same moment. Whoever writes later sees both files here. Of those the latest
/// one stays, by the order that every reader goes by, if it may replace the others as they are now. `false`: it
/// yields to them, and the change has to be computed on what they say. A new file is removed again then. One that
/// was moved stays until that is done, as it holds what was stored before.
pub(super) async fn settles(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    pool: &Pool,
    written: Written<'_>,
    fields: &Fields,
    base: &Base,
) -> Result<bool, Error> {
    let Written { path, version, is_new } = written;
    if pool.shared {
        // All of it are in one folder, so that a key has one place.
        return Ok(true);
    }
    for _ in 0..MAX_RACES {
        // Twice, as a file that is moved from one folder to another meanwhile may be seen in neither. The entry is
        // stored: if the host cannot list others now, readers go by the latest file all the same.
        let mut is_alone = true;
        for _ in 0..2 {
            is_alone = is_alone && !has_rival(call, pool, path, &fields.key).await.unwrap_or_default();
        }
        if is_alone {
            return Ok(true);
        }
        let view = match look(call, entries, scope).await {
            Err(error) if error.code == ErrorCode::Internal => return Err(error),
            Err(_) => return Ok(true),
            Ok(view) => view,
        };
        let latest = view.of_key(pool.shared, &fields.key);
        let mut all = latest.into_iter().chain(view.copies_of(pool.shared, &fields.key));
        let Some(own) = all.find(|stored| stored.path == *path && stored.entry.version == version) else {
            // Somebody has stored or forgotten it since.
            return Ok(true);
        };
        let all = latest.into_iter().chain(view.copies_of(pool.shared, &fields.key));
        let others: Vec<&Stored> = all.filter(|stored| stored.path != *path).collect();
        if others.is_empty() {
            // What was seen has gone since, or is just moved to where the listing had been before.
            continue;
        }
        let is_latest = latest.is_some_and(|latest| latest.path == *path);
        let replaces = |other: &&Stored| {
            let before = &*other.entry;
            let stands = is_gone(call, before) || check_trust_state(&before.fields, fields).is_ok();
            stands && !matches!(refusal(call, before, fields, base), Some(StoreState::Forgotten | StoreState::Conflict))
        };
        let replaces_all = others.iter().all(replaces);
        let yields = !is_latest || !replaces_all;
        if yields && !is_new {
            return Ok(!replaces_all || *base != Base::Any);
        }
        if yields {
            // It was made by this command.
            if remove_version(&call.fs, path, own.version.clone(), Removal::OF_COPY).await? {
                return Ok(false);
            }
            continue;
        }
        for other in others {
            if retire(call, other, path).await.is_err() {
                // It stays named as a problem, and `purge` removes it.
                return Ok(true);
            }
        }
    }
    Ok(true)
}

/// Puts the file of an entry into the folder of its category, which it says already. Whatever is cut short here
/// leaves the entry, or the entry and a copy of it. Gives where the file is.
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
    let limit = call.scope.limits.max_file_bytes;
    let Loaded::Whole { bytes, version: old } = load(&call.fs, &from, limit).await? else { return Ok(from) };
    let Ok(text) = core::str::from_utf8(&bytes) else { return Ok(from) };
    // It must say the same there: what a file does not say is taken from its path.
    let reads = Entry::parse(&pool.folder, target, text, call.now.epoch_nanoseconds(), pool.shared);
    if version_of(text) != version || !reads.is_ok_and(|entry| entry.fields.key == key) {
        return Ok(from);
    }
    // Where something stands in the way, the entry stays: its category is what it says.
    if !create(&call.fs, target, &Screened::unchanged(&bytes)).await? {
        return Ok(from);
    }
    if remove_version(&call.fs, &from, old, Removal::OF_COPY).await? {
        return Ok(target.clone());
    }
    // Somebody has changed it meanwhile, so the copy is the outdated one.
    let is_copy = |found: Option<&[u8]>| {
        let is_copy = found == Some(bytes.as_slice());
        Ok(if is_copy { Change::Remove(Removal::OF_COPY, ()) } else { Change::Keep(()) })
    };
    update(&call.fs, target, limit, Backups::Off, is_copy).await?;
    Ok(from)
}
