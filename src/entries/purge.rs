//! Forgetting an entry marks it in its file, so that it is no longer shown, and restoring it brings it back, or its text from before.
//! `purge-entries` removes it for good.

use super::category::Category;
use super::document::{Entry, Fields, version_of};
use super::put::{Applied, reply};
use super::removal::{bury, discard, removal_of};
use super::retention::stamp;
use super::room::Removed;
use super::rules::{Base, check_reach, check_trust_state, read_entry};
use super::runs::{Dropped, drop_held};
use super::scope::{EntriesScope, Pool};
use super::settle::MAX_RACES;
use super::state::{Entries, EntriesCall};
use super::types::{StoreReply, StoreState};
use super::view::{Stored, View, absent, found, look, look_for};
use crate::changes::{Backups, Call, Change, File, KeptText};
use crate::request::{Run, request};
use crate::store::{Layout, RelPath};
use crate::trust::{ForModel, Provenance};
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_protocol::{EntryKind, Error, ErrorCode};

/// Removes forgotten entries for good, and files of a key that a newer file of the same key replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeEntries {
    /// Key of the entry to purge, or path of its file; `None` for all.
    pub key: Option<String>,
}

/// Result of a purge.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PurgeReply {
    /// Keys that were removed.
    pub purged: Vec<String>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(PurgeEntries "purge-entries" => PurgeReply, Removes, |_| {
    vec![Self { key: None }, Self { key: Some("forgotten".into()) }]
});

impl Run<EntriesCall<'_>> for PurgeEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<PurgeReply, Error> {
        let EntriesCall { call, entries, scope, .. } = *with;
        let (view, key) = match &self.key {
            None => (look(call, entries, scope).await?, None),
            Some(name) => look_for(call, entries, scope, name).await.map(|(view, key)| (view, Some(key)))?,
        };
        let is_meant = |stored: &&Stored| key.as_ref().is_none_or(|key| stored.entry.fields.key == *key);
        let copies: Vec<&Stored> = view.outdated.iter().filter(is_meant).collect();
        if let Some(key) = &key {
            let Some((_, stored)) = found(&view, scope, key) else { return Err(absent(&view, key)) };
            if stored.entry.forgotten.is_none() && copies.is_empty() {
                let message = format!("`{key}` is not forgotten");
                return Err(Error::invalid_argument(message, "forget it first"));
            }
            removal_of(call, stored).await?;
        }
        // Entries that this memory may not remove are kept and counted.
        let mut kept = 0;
        // Older files of a key go first. Without the tombstone, one of them would count again.
        let mut copied: Vec<&str> = Vec::new();
        let mut removed: Vec<RelPath> = Vec::new();
        for stored in copies {
            let Some(removal) = permitted(removal_of(call, stored).await, &mut kept)? else { continue };
            if call.apply(&removal).await? {
                copied.push(&stored.entry.fields.key);
                removed.push(stored.path.clone());
            }
        }
        let mut purged = Vec::new();
        for pool in scope.pools() {
            let forgotten = view.of_pool(pool).filter(is_meant).filter(|stored| stored.entry.forgotten.is_some());
            for stored in forgotten {
                // An entry that was stored again meanwhile stays.
                let removal = permitted(removal_of(call, stored).await, &mut kept)?;
                if discard(call, pool, removal, &stored.entry.fields).await? {
                    purged.push(stored.entry.fields.key.clone());
                    removed.push(stored.path.clone());
                }
            }
        }
        for pool in scope.pools().filter(|pool| !pool.shared && !purged.is_empty()) {
            removed.extend(remove_stray_backups(call, pool, &purged).await?);
        }
        // Removes the folders of categories, which only entries name. The folder of all entries stays.
        let is_category = |folder: &RelPath| scope.pools().any(|pool| folder.is_below(pool.folder.root()));
        call.remove_emptied(removed.iter(), is_category).await;
        // A file that could not be read may be the tombstone.
        if let (None, Some((_, error))) = (&key, view.unread.first()) {
            return Err(error.clone());
        }
        let mut message = match (purged.as_slice(), copied.as_slice()) {
            ([], []) => "Nothing to purge".to_string(),
            ([], _) => String::new(),
            ([key], _) => format!("Purged {key}"),
            (keys, _) => format!("Purged {} entries", keys.len()),
        };
        if !copied.is_empty() {
            let begin = if message.is_empty() { "Removed" } else { "; removed" };
            let files = if copied.len() == 1 {
                "1 outdated file".to_string()
            } else {
                format!("{} outdated files", copied.len())
            };
            copied.dedup();
            message.push_str(&format!("{begin} {files} of {}", copied.join(", ")));
        }
        if kept > 0 {
            message.push_str(&format!("; kept {kept} whose text is trusted, which this memory may not remove"));
        }
        Ok(PurgeReply { purged, message: ForModel::escaped(&message) })
    }
}

/// Removes backups of purged keys from the folders of other categories, where outdated files and lost races leave them. Returns
/// their paths.
async fn remove_stray_backups(call: &Call, pool: &Pool, purged: &[String]) -> Result<Vec<RelPath>, Error> {
    let names = purged.iter().map(|key| Ok(pool.file(Category::Core.as_str(), key)?.file_name().to_string()));
    let names: SortedSet<String> = names.collect::<Result<_, Error>>()?;
    let mut removed = Vec::new();
    for folder in
        call.list(Some(pool.folder.root())).await?.into_iter().filter(|entry| entry.kind == EntryKind::Directory)
    {
        let files = call.list(Some(&folder.path)).await?;
        for file in &files {
            let of_purged = Layout::original_of(&file.path).filter(|original| names.contains(original.file_name()));
            // The key may have been stored again meanwhile.
            let Some(original) = of_purged.filter(|original| files.iter().all(|file| file.path != *original)) else {
                continue;
            };
            if call.apply(&Change::backup_removal(&original, true)).await? {
                removed.push(original);
            }
        }
    }
    Ok(removed)
}

/// Counts an entry that this memory may not remove, and keeps it.
fn permitted(removal: Result<Option<Change>, Error>, kept: &mut u32) -> Result<Option<Change>, Error> {
    match removal {
        Err(error) if error.code == ErrorCode::NotPermitted => {
            *kept += 1;
            Ok(None)
        }
        removal => removal,
    }
}

/// Result of forgetting an entry.
#[derive(Debug)]
pub(crate) struct ForgottenAs {
    /// Key of the entry.
    pub(crate) key: String,
    /// Path of its file; empty if only a run held it.
    pub(crate) path: String,
    /// Version of its file now; `None` if only a run held it.
    pub(crate) version: Option<String>,
    /// True if it had been forgotten before.
    pub(crate) already_forgotten: bool,
    pub(crate) message: ForModel,
}

/// Forgets an entry, if it has the expected version. Its file becomes a tombstone, so that older text cannot restore the entry.
pub(super) async fn forget(
    with: &EntriesCall<'_>,
    name: &str,
    expected_version: Option<String>,
) -> Result<ForgottenAs, Error> {
    let EntriesCall { call, entries, scope, run, .. } = *with;
    let dropped = match run {
        Some(run) => drop_held(call, entries, scope, run, name).await?,
        None => Dropped::default(),
    };
    if dropped.only_conversation {
        return Ok(let_go(name));
    }
    match forget_stored(call, entries, scope, name, &Base::from_version(expected_version)).await {
        Err(error) if error.code == ErrorCode::EntryNotFound && dropped.any => Ok(let_go(name)),
        forgotten => forgotten,
    }
}

/// Marks an entry in its file, so that it is no longer shown.
async fn forget_stored(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    name: &str,
    base: &Base,
) -> Result<ForgottenAs, Error> {
    let mut races = 0;
    loop {
        let (view, key) = look_for(call, entries, scope, name).await?;
        let Some((pool, stored)) = found(&view, scope, &key) else { return Err(absent(&view, &key)) };
        check_reach(call, &stored.entry.fields)?;
        let (version, already_forgotten) = match bury(call, &view, pool, stored, base).await {
            // The file is gone. It may have moved to another category, so look again.
            Err(error) if error.code == ErrorCode::EntryNotFound && races < MAX_RACES => {
                races += 1;
                continue;
            }
            buried => buried?,
        };
        let path = call.scope.display_path(&stored.path);
        let done = if already_forgotten { "It was forgotten before:" } else { "Forgot" };
        let message = format!("{done} {key}; `restore` brings it back");
        let (version, message) = (Some(version), ForModel::escaped(&message));
        return Ok(ForgottenAs { key, path, version, already_forgotten, message });
    }
}

/// Builds the reply for an entry that only a run held.
fn let_go(key: &str) -> ForgottenAs {
    let message = ForModel::escaped(&format!("Forgot {key}, which only the run held"));
    ForgottenAs { key: key.into(), path: String::new(), version: None, already_forgotten: false, message }
}

/// Restores the entry of a key, or the one whose file or backup has this path. A forgotten entry is shown again; any other gets
/// the text from before it was last overwritten, and a second restore undoes the first.
pub(super) async fn restore(with: &EntriesCall<'_>, name: &str) -> Result<StoreReply, Error> {
    let EntriesCall { call, entries, scope, provenance, .. } = *with;
    let of_backup = call.scope.original(name).filter(|path| scope.pools().any(|pool| pool.folder.has(path)));
    let name = of_backup.map_or_else(|| name.to_string(), |path| call.scope.display_path(&path));
    let (view, key) = look_for(call, entries, scope, &name).await?;
    let Some((pool, stored)) = found(&view, scope, &key) else { return Err(absent(&view, &key)) };
    check_reach(call, &stored.entry.fields)?;
    match stored.entry.forgotten {
        Some(_) => revive(call, &view, pool, stored).await,
        None => put_back(call, &view, pool, stored, call.scope.trust.provenance_of(provenance)?).await,
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
        let message = format!("no earlier text of `{key}` is kept");
        let help = "`history NAME` lists its versions, and `restore NAME --at N` brings one back";
        return Err(Error::new(ErrorCode::NotFound, message, help));
    };
    let bytes = kept.bytes().unwrap_or_default();
    let (kept_text, older) = read_backup(call, pool, stored, &backup, bytes)?;
    // A person may undo their own change. The text keeps its provenance, and waits for approval.
    if by != Provenance::User {
        check_trust_state(&stored.entry.fields, &older.fields)?;
    }
    check_reach(call, &older.fields)?;
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

/// Returns an earlier version of an entry's file as it is restored: it has the category that the file has now, whose folder it is in,
/// and is the last changed. Other bytes are returned as they are.
pub(crate) fn as_restored(call: &Call, entries: &Entries, file: &File, path: &RelPath, earlier: Vec<u8>) -> Vec<u8> {
    let restored = || {
        let pool = entries.scope().ok()?.pools().find(|pool| pool.folder.has(path))?;
        let now = call.now.epoch_nanoseconds();
        let parse = |bytes| Entry::parse(&pool.folder, path, core::str::from_utf8(bytes).ok()?, now, pool.shared).ok();
        let older = parse(&earlier).filter(|_| file.bytes() != Some(&earlier))?;
        let mut entry = Entry { updated: now.max(older.updated), ..older.clone() };
        if let Some(stands) = file.bytes().and_then(parse) {
            entry.updated = entry.updated.max(stands.updated.saturating_add(1));
            entry.fields.category = stands.fields.category;
        }
        entry.rewrite(core::str::from_utf8(&earlier).ok()?, &older).ok().map(String::into_bytes)
    };
    restored().unwrap_or(earlier)
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
