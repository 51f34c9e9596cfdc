//! Removal of an entry: forgetting it, which leaves a tombstone, or removing it for good.

use alloc::format;
use alloc::string::String;

use super::document::{Entry, version_of};
use super::retention::stamp;
use super::rules::{Base, read_entry};
use super::scope::Pool;
use super::view::{Stored, View, absent};
use crate::engine::{Backups, Call, Change, remove, remove_version, update};
use crate::protocol::{Error, ErrorCode};
use crate::store::{Layout, RelPath};
use crate::trust::Removal;

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
    let change = |bytes: Option<&[u8]>| {
        let Some(bytes) = bytes else { return Err(absent(view, key)) };
        let (text, before) = read_entry(call, pool, &stored.path, bytes, key)?;
        if before.forgotten.is_some() {
            return Ok(Change::Keep((before.version, true)));
        }
        if !base.holds(Some(&before.version)) {
            let message = format!("`{key}` is no longer what it was: its version is {}", before.version);
            return Err(Error::new(ErrorCode::StaleVersion, message, "look at it again"));
        }
        let forgotten = Entry { forgotten: Some(now), ..before.clone() };
        let text = forgotten.rewrite(text, &before)?;
        let version = version_of(&text);
        Ok(Change::Write(call.screen.file(&stored.path, Some(bytes), text.into_bytes())?, (version, false)))
    };
    let limit = call.scope.limits.max_file_bytes;
    let (done, _) = update(&call.fs, &stored.path, limit, Backups::Off, change).await?;
    Ok(done)
}

/// Removes an entry and its backup for good. Returns `false` if it changed, in which case it stays.
pub(super) async fn discard(call: &Call, pool: &Pool, stored: &Stored, removal: Removal) -> Result<bool, Error> {
    if !remove_version(&call.fs, &stored.path, stored.version.clone(), removal).await? {
        return Ok(false);
    }
    remove(&call.fs, &pool.backup_of(&stored.entry.fields)?, removal).await?;
    Ok(true)
}

/// Removes an outdated file of a key. Its text becomes the backup of the newer file.
pub(super) async fn retire(call: &Call, stored: &Stored, later: &RelPath) -> Result<(), Error> {
    let change = |bytes: Option<&[u8]>| {
        let text = bytes.and_then(|bytes| core::str::from_utf8(bytes).ok());
        let is_same = text.is_some_and(|text| version_of(text) == stored.entry.version);
        Ok(if is_same { Change::Remove(Removal::OF_COPY, ()) } else { Change::Keep(()) })
    };
    let backup = Layout::backup_of(later);
    let limit = call.scope.limits.max_file_bytes;
    update(&call.fs, &stored.path, limit, Backups::KeepAs(&backup), change).await.map(|((), _)| ())
}
