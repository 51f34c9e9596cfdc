//! Removal of an entry: forgetting it, which leaves a tombstone, or removing it for good.

use super::document::{Entry, Fields, version_of};
use super::retention::{is_expired, stamp};
use super::rules::{Base, read_entry};
use super::scope::Pool;
use super::view::{Stored, View, absent};
use crate::changes::{Backups, Call, Change, File};
use crate::store::{Layout, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Turns an entry into a tombstone. Returns its version, and true if it was one before.
pub(super) async fn bury(
    call: &Call,
    view: &View,
    pool: &Pool,
    stored: &Stored,
    base: &Base,
) -> Result<(String, bool), Error> {
    let key = &stored.entry.fields.key;
    let now = stamp(call.now.epoch_nanoseconds(), view.newest(pool));
    let change = |file: &File| {
        let Some(bytes) = file.bytes() else { return Err(absent(view, key)) };
        let (text, before) = read_entry(call, pool, &stored.path, bytes, key)?;
        if before.forgotten.is_some() {
            return Ok((None, (before.version, true)));
        }
        if !base.holds(Some(&before.version)) {
            let message = format!("`{key}` is no longer what it was: its version is {}", before.version);
            return Err(Error::new(ErrorCode::StaleVersion, message, "look at it again"));
        }
        let forgotten = Entry { forgotten: Some(now), ..before.clone() };
        let text = forgotten.rewrite(text, &before)?;
        let version = version_of(&text);
        Ok((Some(call.screen.write(file, text)?), (version, false)))
    };
    Ok(call.update(&stored.path, Backups::Off, change).await?.0)
}

/// Returns the removal of an entry's file; `None` if it changed since it was seen.
///
/// # Errors
///
/// This memory may not remove the text.
pub(super) async fn removal_of(call: &Call, stored: &Stored) -> Result<Option<Change>, Error> {
    let file = call.load(&stored.path).await?;
    removal_if_same(call, stored, &file)
}

/// Returns the removal of a file that has the text of an entry. The text is compared, because a host may make another version
/// of the same bytes when a file is no longer new.
fn removal_if_same(call: &Call, stored: &Stored, file: &File) -> Result<Option<Change>, Error> {
    let is_same = file.text().ok().flatten().is_some_and(|text| version_of(text) == stored.entry.version);
    is_same.then(|| call.screen.remove(file)).transpose()
}

/// Returns the removal of the file of an entry that has expired; `None` if it changed since it was seen.
pub(super) async fn expired_removal(call: &Call, pool: &Pool, stored: &Stored) -> Result<Option<Change>, Error> {
    let file = call.load(&stored.path).await?;
    Ok(call.screen.remove_expired(&file, |bytes| {
        let now = call.now.epoch_nanoseconds();
        let entry = read_entry(call, pool, &stored.path, bytes, &stored.entry.fields.key);
        entry.is_ok_and(|(_, entry)| is_expired(&entry.fields.category, entry.updated, now))
    }))
}

/// Removes an entry and its backup for good. Returns `false` if it changed, in which case it stays.
pub(super) async fn discard(call: &Call, pool: &Pool, removal: Option<Change>, fields: &Fields) -> Result<bool, Error> {
    match removal {
        Some(removal) if call.apply(&removal).await? => call.apply(&backup_removal(pool, fields, true)?).await,
        _ => Ok(false),
    }
}

/// Returns the removal of the backup of an entry.
pub(super) fn backup_removal(pool: &Pool, fields: &Fields, is_durable: bool) -> Result<Change, Error> {
    Ok(Change::backup_removal(&pool.file(fields.category.as_str(), &fields.key)?, is_durable))
}

/// Removes the file of a command that lost a race. Its text becomes the backup of the newer file.
pub(super) async fn retire(call: &Call, stored: &Stored, later: &RelPath) -> Result<(), Error> {
    remove_to(call, stored, Backups::KeepAs(&Layout::backup_of(later))).await
}

/// Removes a file of a key that was outdated before the key was stored at `target`, whose backup is the text that counted. Text
/// that is not kept elsewhere becomes the backup of its own file. The file stays if both have one backup, or if a sync tool or a
/// person named it, because nobody would look for a backup of that name.
pub(super) async fn clear(call: &Call, stored: &Stored, target: &RelPath, is_kept: bool) -> Result<(), Error> {
    let is_elsewhere = stored.path != *target && stored.path.file_name() == target.file_name();
    match () {
        () if is_kept => remove_to(call, stored, Backups::Off).await,
        () if is_elsewhere => remove_to(call, stored, Backups::Keep).await,
        () => Ok(()),
    }
}

async fn remove_to(call: &Call, stored: &Stored, backups: Backups<'_>) -> Result<(), Error> {
    let change = |file: &File| Ok((removal_if_same(call, stored, file)?, ()));
    call.update(&stored.path, backups, change).await.map(|((), _)| ())
}
