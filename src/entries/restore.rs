//! `restore`: puts an entry back to its text before it was forgotten or last overwritten.
//!
//! The text before is kept in the history, or in the backup of the entry beside it, `<key>.bak`. The text that a restore
//! replaces is kept in its place, so a second restore undoes the first.

use super::document::{Entry, Fields, version_of};
use super::put::{Applied, reply};
use super::retention::stamp;
use super::room::Removed;
use super::rules::{check_reach, check_trust_state, read_entry};
use super::scope::Pool;
use super::state::{Entries, EntriesCall};
use super::types::{StoreReply, StoreState};
use super::view::{Stored, View, absent, found, look_for};
use crate::changes::{Backups, Call, File, KeptText};
use crate::request::{Run, request};
use crate::store::RelPath;
use crate::trust::{ForModel, Provenance};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Restores an entry. A forgotten entry is shown again; any other gets the text from before it was last overwritten. A
/// second restore undoes the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreEntry {
    /// Key of the entry, or path of its file or backup.
    pub key: String,
}

request!(RestoreEntry "restore-entry" => StoreReply, Replaces, |name| vec![Self { key: name.into() }]);

impl Run<EntriesCall<'_>> for RestoreEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<StoreReply, Error> {
        let EntriesCall { call, entries, scope, provenance, .. } = *with;
        let of_backup = call.scope.original(&self.key).filter(|path| scope.pools().any(|pool| pool.folder.has(path)));
        let name = of_backup.map_or(self.key, |path| call.scope.display_path(&path));
        let (view, key) = look_for(call, entries, scope, &name).await?;
        let Some((pool, stored)) = found(&view, scope, &key) else { return Err(absent(&view, &key)) };
        match stored.entry.forgotten {
            Some(_) => revive(call, &view, pool, stored).await,
            None => put_back(call, &view, pool, stored, call.scope.trust.provenance_of(provenance)?).await,
        }
    }
}

/// Removes the tombstone of an entry.
async fn revive(call: &Call, view: &View, pool: &Pool, stored: &Stored) -> Result<StoreReply, Error> {
    let key = &stored.entry.fields.key;
    let now = stamp(call.now.epoch_nanoseconds(), view.newest(pool));
    let change = |file: &File| {
        let bytes = file.bytes().ok_or_else(|| absent(view, key))?;
        let (text, before) = read_entry(call, pool, &stored.path, bytes, key)?;
        if before.forgotten.is_none() {
            return Err(meanwhile(key));
        }
        let entry = Entry { forgotten: None, updated: now, ..before.clone() };
        let text = entry.rewrite(text, &before)?;
        let version = version_of(&text);
        Ok((Some(call.screen.restore(file, file, text)?), version))
    };
    let (version, _) = call.update(&stored.path, Backups::Off, change).await?;
    Ok(restored(call, stored, &stored.entry, StoreState::Stored, version, "forgotten"))
}

/// Swaps an entry with its backup.
async fn put_back(call: &Call, view: &View, pool: &Pool, stored: &Stored, by: Provenance) -> Result<StoreReply, Error> {
    let key = &stored.entry.fields.key;
    let backup = pool.backup_of(&stored.entry.fields)?;
    let Some(KeptText { file: kept, is_in_history }) = call.load_kept(&stored.path, &backup).await? else {
        let message = format!("there is no backup of `{key}`");
        let help = "a backup is made when an entry is overwritten";
        return Err(Error::new(ErrorCode::NotFound, message, help));
    };
    let bytes = kept.bytes().unwrap_or_default();
    let (kept_text, older) = read_backup(call, pool, stored, &backup, bytes)?;
    // A person may undo their own change. The text keeps its provenance, and waits for approval.
    if by != Provenance::User {
        check_trust_state(&stored.entry.fields, &older.fields)?;
    }
    check_reach(call, &stored.entry.fields)?;
    let now = stamp(call.now.epoch_nanoseconds(), view.newest(pool));
    let change = |file: &File| {
        let stands = file.bytes().ok_or_else(|| absent(view, key))?;
        let (_, before) = read_entry(call, pool, &stored.path, stands, key)?;
        if before.version != stored.entry.version {
            return Err(meanwhile(key));
        }
        // The entry keeps its category, because its file is in that category's folder.
        let mut entry = Entry { forgotten: None, updated: now.max(before.updated.saturating_add(1)), ..older.clone() };
        entry.fields.category = before.fields.category.clone();
        let text = entry.rewrite(kept_text, &older)?;
        let version = version_of(&text);
        Ok((Some(call.screen.restore(file, &kept, text)?), version))
    };
    let backups = if is_in_history { Backups::Keep } else { Backups::Exchange(&backup) };
    let (version, _) = call.update(&stored.path, backups, change).await?;
    Ok(restored(call, stored, &older, StoreState::Updated, version, "overwritten"))
}

/// Reads the backup of an entry.
fn read_backup<'a>(
    call: &Call,
    pool: &Pool,
    stored: &Stored,
    backup: &RelPath,
    bytes: &'a [u8],
) -> Result<(&'a str, Entry), Error> {
    let text = core::str::from_utf8(bytes).map_err(|_| Error::not_text(backup))?;
    let unusable = |reason: String| {
        let message = format!("{} cannot be read as an entry: {reason}", call.scope.display_path(backup));
        Error::damaged_file(message, "correct the file, or store the entry again")
    };
    // Fields that the text lacks come from the path of the entry, not from the path of the backup.
    let now = call.now.epoch_nanoseconds();
    let entry = Entry::parse(&pool.folder, &stored.path, text, now, pool.shared);
    let entry = entry.map_err(|problem| unusable(problem.message))?;
    let key = &stored.entry.fields.key;
    if entry.fields.key != *key {
        return Err(unusable(format!("it has the key `{}`, not `{key}`", entry.fields.key)));
    }
    Ok((text, entry))
}

/// Returns an earlier version of an entry's file with the category that the file has now, whose folder it is in. Other bytes are
/// returned as they are.
pub(crate) fn with_category_of(
    call: &Call,
    entries: &Entries,
    file: &File,
    path: &RelPath,
    earlier: Vec<u8>,
) -> Vec<u8> {
    let with_category = || {
        let pool = entries.scope().ok()?.pools().find(|pool| pool.folder.has(path))?;
        let now = call.now.epoch_nanoseconds();
        let parse = |bytes| Entry::parse(&pool.folder, path, core::str::from_utf8(bytes).ok()?, now, pool.shared).ok();
        let (stands, older) = (parse(file.bytes()?)?, parse(&earlier)?);
        if stands.fields.category == older.fields.category {
            return None;
        }
        let mut entry = older.clone();
        entry.fields.category = stands.fields.category;
        entry.rewrite(core::str::from_utf8(&earlier).ok()?, &older).ok().map(String::into_bytes)
    };
    with_category().unwrap_or(earlier)
}

fn restored(
    call: &Call,
    stored: &Stored,
    entry: &Entry,
    state: StoreState,
    version: String,
    before: &str,
) -> StoreReply {
    let fields = Fields { category: stored.entry.fields.category.clone(), ..entry.fields.clone() };
    let (more, path, removed) = (String::new(), stored.path.clone(), Removed::default());
    let mut reply = reply(call, &fields, Applied { state, more, path, version, removed });
    reply.message = ForModel::escaped(&format!("Restored {}, which was {before}", fields.key));
    reply
}

fn meanwhile(key: &str) -> Error {
    let message = format!("`{key}` was changed meanwhile");
    Error::new(ErrorCode::Contention, message, "look at it again")
}
