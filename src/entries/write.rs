//! Changes of entries: `store`, `forget` and `purge`, and what goes with them by age and at the cap.
//!
//! Every change is computed from the bytes that it replaces and made under their version: a file that a
//! person edits meanwhile is read again, and one that cannot be read as an entry is never written over.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Entries;
use super::category::Tier;
use super::checks::checked_key;
use super::document::{Entry, Fields, version_of};
use super::retention::{Kept, is_expired, over_cap, stamp};
use super::scope::{EntriesScope, Pool};
use super::view::{Stored, View, look};
use crate::engine::{Backups, Call, Change, Loaded, load, remove_version, update};
use crate::protocol::{Error, ErrorCode};
use crate::store::{RelPath, utc_text};
use crate::trust::Provenance;

/// What storing came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreState {
    /// The key is new, or was forgotten and is back with something else to say.
    Stored,
    /// What the key said is replaced.
    Updated,
    /// The entry is of another category now; the text is the one that it had.
    Moved(String),
    /// It says this already; nothing was written.
    Unchanged,
    /// It was forgotten, and this is what was forgotten or what was known before: nothing was written.
    Forgotten,
    /// It is no longer what `base` says; nothing was written.
    Conflict,
    /// It is kept by the run, until the next checkpoint if its category is one that is stored at all.
    Held,
}

/// What came of storing an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreReply {
    /// The entry.
    pub key: String,
    /// Its category now.
    pub category: String,
    /// What was done.
    pub state: StoreState,
    /// The version of its file now; empty for what is held by a run.
    pub version: String,
    /// Its file; empty for what is held by a run.
    pub path: String,
    /// The keys that went as they are too old.
    pub swept: Vec<String>,
    /// The keys that went as there are too many.
    pub evicted: Vec<String>,
    /// All of this for a person or a model.
    pub message: String,
}

/// What came of forgetting an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetEntryReply {
    /// The entry.
    pub key: String,
    /// Its file; empty for what was held by a run alone.
    pub path: String,
    /// The version of its file now: with it as `base`, the same can be stored again.
    pub version: String,
    /// Whether it was forgotten before.
    pub already_forgotten: bool,
    /// All of this for a person or a model.
    pub message: String,
}

/// What came of removing forgotten entries for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeReply {
    /// The keys that are gone.
    pub purged: Vec<String>,
    /// All of this for a person or a model.
    pub message: String,
}

/// What an entry must be for a change of it to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Base {
    /// Anything, unless it was forgotten and the change says the same again.
    #[default]
    Any,
    /// There is none.
    Absent,
    /// It has this version.
    Version(String),
}

impl Base {
    pub(super) fn of(version: Option<String>) -> Self {
        version.map_or(Self::Any, Self::Version)
    }

    fn holds(&self, version: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => version.is_none(),
            Self::Version(base) => version == Some(base),
        }
    }
}

/// A change that was made, or not.
pub(super) struct Applied {
    pub(super) state: StoreState,
    pub(super) path: RelPath,
    pub(super) version: String,
    pub(super) removed: Removed,
}

/// The keys that went with a change.
#[derive(Default)]
pub(super) struct Removed {
    pub(super) swept: Vec<String>,
    pub(super) evicted: Vec<String>,
}

/// Stores an entry: makes it, replaces what it says, or moves it to another category.
pub(super) async fn store(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    fields: &Fields,
    base: &Base,
) -> Result<Applied, Error> {
    let pool = scope.pool(&fields.category)?;
    let view = look(call, entries, scope).await?;
    check_room(call, &view, pool, fields)?;
    let now = stamp(call.now.epoch_nanoseconds(), view.newest(pool));
    let target = pool.folder.file(fields.category.as_str(), &fields.key).map_err(internal)?;
    let known = view.of_key(pool.shared, &fields.key);
    // What the agent kept for itself and now shares is moved, too.
    let own = known.or_else(|| if pool.shared { view.of_key(false, &fields.key) } else { None });
    let (state, path, version) = match own {
        Some(stored) if is_elsewhere(stored, pool, fields) => {
            relocate(call, scope, pool, stored, &target, fields, base, now).await?
        }
        known => {
            let path = known.map_or(&target, |stored| &stored.path);
            let (state, version) = put(call, pool, path, fields, base, now).await?;
            (state, path.clone(), version)
        }
    };
    let removed = match state {
        StoreState::Stored | StoreState::Updated | StoreState::Moved(_) => trim(call, &view, pool, fields).await,
        _ => Removed::default(),
    };
    Ok(Applied { state, path, version, removed })
}

fn is_elsewhere(stored: &Stored, pool: &Pool, fields: &Fields) -> bool {
    stored.shared != pool.shared || stored.entry.fields.category != fields.category
}

/// Writes an entry into its file.
async fn put(
    call: &Call,
    pool: &Pool,
    path: &RelPath,
    fields: &Fields,
    base: &Base,
    now: u64,
) -> Result<(StoreState, String), Error> {
    let change = |bytes: Option<&[u8]>| {
        let Some(bytes) = bytes else {
            if !base.holds(None) {
                return Ok(Change::Keep((StoreState::Conflict, String::new())));
            }
            let text = new_entry(pool, fields, now).render();
            let version = version_of(&text);
            return Ok(Change::Write(text.into_bytes(), (StoreState::Stored, version)));
        };
        let (text, before) = read_entry(call, pool, path, bytes, &fields.key)?;
        if !is_gone(call, &before) {
            check_standing(&before.fields, fields)?;
        }
        if let Some(state) = refusal(call, &before, fields, base) {
            return Ok(Change::Keep((state, before.version)));
        }
        let text = changed(call, &before, fields, now).rewrite(text, &before);
        let state = if is_gone(call, &before) { StoreState::Stored } else { StoreState::Updated };
        let version = version_of(&text);
        Ok(Change::Write(text.into_bytes(), (state, version)))
    };
    let (done, _) = update(&call.fs, path, call.scope.limits.max_file_bytes, Backups::Off, change).await?;
    Ok(done)
}

/// Writes an entry into the folder of another category, and then removes the file that it had. In between
/// there are two files of one key, of which the later one counts.
#[allow(clippy::too_many_arguments, reason = "one step of `store`, with what it has found out")]
async fn relocate(
    call: &Call,
    scope: &EntriesScope,
    pool: &Pool,
    stored: &Stored,
    target: &RelPath,
    fields: &Fields,
    base: &Base,
    now: u64,
) -> Result<(StoreState, RelPath, String), Error> {
    let limit = call.scope.limits.max_file_bytes;
    let from = if stored.shared == pool.shared { pool } else { &scope.own };
    let (bytes, old_version) = match load(&call.fs, &stored.path, limit).await? {
        Loaded::Whole { bytes, version } => (bytes, version),
        Loaded::Absent => {
            let (state, version) = put(call, pool, target, fields, base, now).await?;
            return Ok((state, target.clone(), version));
        }
        Loaded::TooLarge(size) => return Err(Error::file_too_large(&stored.path, size, u64::from(limit))),
    };
    let (text, before) = read_entry(call, from, &stored.path, &bytes, &fields.key)?;
    if !is_gone(call, &before) {
        check_standing(&before.fields, fields)?;
    }
    if let Some(state) = refusal(call, &before, fields, base) {
        return Ok((state, stored.path.clone(), before.version));
    }
    let mut now_says = changed(call, &before, fields, now);
    let text = if from.shared == pool.shared {
        now_says.rewrite(text, &before)
    } else {
        now_says.owner = Some(pool.owner.clone());
        now_says.render()
    };
    let version = version_of(&text);
    let move_in = |found: Option<&[u8]>| {
        if let Some(bytes) = found {
            // What a move that was cut short has left, or a file that another key has.
            read_entry(call, pool, target, bytes, &fields.key)?;
        }
        Ok(Change::Write(text.clone().into_bytes(), ()))
    };
    if *target != stored.path {
        update(&call.fs, target, limit, Backups::Off, move_in).await?;
        // A file that changed meanwhile stays, and is named as a second one of this key.
        remove_version(&call.fs, &stored.path, old_version).await?;
        let state = moved(call, &before, fields);
        return Ok((state, target.clone(), version));
    }
    let (state, version) = put(call, pool, target, fields, base, now).await?;
    Ok((state, target.clone(), version))
}

fn moved(call: &Call, before: &Entry, fields: &Fields) -> StoreState {
    if is_gone(call, before) {
        StoreState::Stored
    } else if before.fields.content == fields.content {
        StoreState::Moved(before.fields.category.as_str().to_string())
    } else {
        StoreState::Updated
    }
}

/// Whether nobody is shown it, so that to store it is to make it anew.
fn is_gone(call: &Call, entry: &Entry) -> bool {
    let is_old = is_expired(&entry.fields.category, entry.updated, call.now.epoch_nanoseconds());
    is_old || entry.forgotten.is_some()
}

/// Refuses text of a tool or an import in the place of text that goes into prompts: it would take it out of them.
pub(super) fn check_standing(before: &Fields, fields: &Fields) -> Result<(), Error> {
    if fields.standing.unapproved().is_none() || before.standing.unapproved().is_some() || fields.is_same(before) {
        return Ok(());
    }
    let provenance = fields.standing.provenance;
    let message = format!("text of `{provenance}` cannot replace what `{}` says", fields.key);
    let help = "store it under a key of its own; nothing was changed";
    Err(Error::new(ErrorCode::NotPermitted, message, help))
}

/// Whether a person says what nobody has approved yet.
pub(super) fn approves(before: &Fields, fields: &Fields) -> bool {
    fields.standing.provenance == Provenance::User && before.standing.unapproved().is_some()
}

/// Why nothing is to be written, if nothing is.
fn refusal(call: &Call, before: &Entry, fields: &Fields, base: &Base) -> Option<StoreState> {
    let is_same = fields.is_same(&before.fields);
    let has_more = fields.supersedes.is_some() && fields.supersedes != before.fields.supersedes;
    let is_current = base.holds(Some(&before.version));
    match before.forgotten {
        // What knows of the tombstone may bring the same back.
        Some(_) if !is_current || (is_same && *base == Base::Any) => Some(StoreState::Forgotten),
        Some(_) => None,
        None if is_same && !has_more && !is_gone(call, before) && !approves(&before.fields, fields) => {
            Some(StoreState::Unchanged)
        }
        None => (!is_current).then_some(StoreState::Conflict),
    }
}

fn new_entry(pool: &Pool, fields: &Fields, now: u64) -> Entry {
    Entry {
        fields: fields.clone(),
        owner: Some(pool.owner.clone()),
        created: now,
        updated: now,
        forgotten: None,
        version: String::new(),
    }
}

/// The entry with what is new of it. `updated` tells of its content, its category and its tags alone.
fn changed(call: &Call, before: &Entry, fields: &Fields, now: u64) -> Entry {
    let mut entry = before.clone();
    let is_gone = is_gone(call, before);
    let is_same = fields.is_same(&before.fields);
    // To repeat what nobody has approved does not approve it, unless a person does.
    let is_kept = before.fields.standing.unapproved().is_some() || !is_gone;
    let keeps = is_same && is_kept && !approves(&before.fields, fields);
    entry.fields = Fields {
        standing: if keeps { before.fields.standing } else { fields.standing },
        source: fields.source.clone().or_else(|| before.fields.source.clone()),
        supersedes: fields.supersedes.clone().or_else(|| before.fields.supersedes.clone()),
        ..fields.clone()
    };
    if is_gone || !is_same {
        entry.updated = now.max(before.updated.saturating_add(1));
    }
    if is_gone {
        (entry.created, entry.forgotten) = (entry.updated, None);
    }
    entry
}

/// Reads a file that is to hold the entry of a key.
pub(super) fn read_entry<'a>(
    call: &Call,
    pool: &Pool,
    path: &RelPath,
    bytes: &'a [u8],
    key: &str,
) -> Result<(&'a str, Entry), Error> {
    let shown = call.scope.shown(path);
    let text = core::str::from_utf8(bytes).map_err(|_| Error::not_text(path))?;
    // When the file changed is of no effect here: what it does not say is written down with the change.
    let entry =
        Entry::parse(&pool.folder, path, text, call.now.epoch_nanoseconds(), pool.shared).map_err(|problem| {
            let message = format!("{shown} cannot be read as an entry: {}", problem.message);
            Error::invalid_argument(message, "correct the file, or move it away; nothing was changed")
        })?;
    if entry.fields.key != key {
        let message = format!("{shown} has the key `{}`, not `{key}`", entry.fields.key);
        let help = "rename that file, or correct its key; nothing was changed";
        return Err(Error::invalid_argument(message, help));
    }
    Ok((text, entry))
}

/// The entries of a pool but the one of this key.
fn others<'a>(view: &'a View, pool: &Pool, fields: &'a Fields) -> impl Iterator<Item = &'a Stored> {
    view.of_pool(pool).filter(|stored| stored.entry.fields.key != fields.key)
}

/// Refuses an entry that would itself be evicted at once.
fn check_room(call: &Call, view: &View, pool: &Pool, fields: &Fields) -> Result<(), Error> {
    let now = call.now.epoch_nanoseconds();
    let is_pinned = |stored: &&Stored| stored.entry.fields.category.tier() == Tier::Pinned;
    let pinned = others(view, pool, fields).filter(|stored| stored.is_live(now)).filter(is_pinned).count();
    let has_room = match fields.category.tier() {
        Tier::Pinned => pool.cap > 0,
        Tier::Windowed => pinned < pool.cap as usize,
    };
    if has_room {
        return Ok(());
    }
    let (key, category, cap) = (&fields.key, &fields.category, pool.cap);
    let message =
        format!("`{key}` would be evicted at once: {pinned} core entries hold all {cap} places, {category} needs 1");
    let help = "forget core entries that are no longer true; nothing was changed";
    Err(Error::new(ErrorCode::TooLarge, message, help))
}

/// Removes what is too old, and then what an entry that was stored has pushed out. One that cannot be removed
/// stays until the next time: the entry itself is safe.
async fn trim(call: &Call, view: &View, pool: &Pool, fields: &Fields) -> Removed {
    let now = call.now.epoch_nanoseconds();
    let mut removed = Removed::default();
    for stored in others(view, pool, fields).filter(|stored| stored.is_expired(now)) {
        let gone = remove_version(&call.fs, &stored.path, stored.version.clone()).await;
        if gone == Ok(true) && stored.entry.forgotten.is_none() {
            removed.swept.push(stored.entry.fields.key.clone());
        }
    }
    let kept: Vec<&Stored> = others(view, pool, fields).filter(|stored| stored.is_live(now)).collect();
    let new = Kept { tier: fields.category.tier(), updated: u64::MAX, key: &fields.key };
    let ranks = kept.iter().map(|stored| Kept {
        tier: stored.entry.fields.category.tier(),
        updated: stored.entry.updated,
        key: &stored.entry.fields.key,
    });
    let ranks: Vec<Kept<'_>> = ranks.chain([new]).collect();
    for stored in over_cap(&ranks, pool.cap).into_iter().filter_map(|place| kept.get(place)) {
        if remove_version(&call.fs, &stored.path, stored.version.clone()).await == Ok(true) {
            removed.evicted.push(stored.entry.fields.key.clone());
        }
    }
    removed
}

/// Forgets an entry: its file says so from now on, and nobody is shown it.
pub(super) async fn forget(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    key: &str,
    base: &Base,
) -> Result<ForgetEntryReply, Error> {
    let key = checked_key("key", key)?;
    let view = look(call, entries, scope).await?;
    let Some((pool, stored)) = found(&view, scope, &key) else { return Err(absent(&view, &key)) };
    let (version, already_forgotten) = bury(call, &view, pool, stored, base).await?;
    let path = call.scope.shown(&stored.path);
    let message = format!("Forgot {key}; `purge` removes it for good");
    Ok(ForgetEntryReply { key, path, version, already_forgotten, message })
}

/// Makes a tombstone of an entry. Gives its version, and whether it was one before.
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
            return Err(Error::new(ErrorCode::Contention, message, "look at it again; nothing was changed"));
        }
        let forgotten = Entry { forgotten: Some(now), ..before.clone() };
        let text = forgotten.rewrite(text, &before);
        let version = version_of(&text);
        Ok(Change::Write(text.into_bytes(), (version, false)))
    };
    let limit = call.scope.limits.max_file_bytes;
    let (done, _) = update(&call.fs, &stored.path, limit, Backups::Off, change).await?;
    Ok(done)
}

/// Removes forgotten entries for good: that of a key, or all.
pub(super) async fn purge(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    key: Option<&str>,
) -> Result<PurgeReply, Error> {
    let key = key.map(|key| checked_key("key", key)).transpose()?;
    let view = look(call, entries, scope).await?;
    if let Some(key) = &key {
        let Some((_, stored)) = found(&view, scope, key) else { return Err(absent(&view, key)) };
        if stored.entry.forgotten.is_none() {
            let message = format!("`{key}` is not forgotten");
            return Err(Error::invalid_argument(message, "forget it first; nothing was changed"));
        }
    }
    let mut purged = Vec::new();
    let is_meant = |stored: &&Stored| key.as_ref().is_none_or(|key| stored.entry.fields.key == *key);
    // An older file of the key would count again without the one that says that it is forgotten.
    let is_outdated = |stored: &&Stored| {
        let newer = view.of_key(stored.shared, &stored.entry.fields.key);
        newer.is_some_and(|newer| newer.entry.forgotten.is_some())
    };
    for stored in view.outdated.iter().filter(is_meant).filter(is_outdated) {
        remove_version(&call.fs, &stored.path, stored.version.clone()).await?;
    }
    for stored in view.entries.iter().filter(is_meant).filter(|stored| stored.entry.forgotten.is_some()) {
        // What was stored again meanwhile stays.
        if remove_version(&call.fs, &stored.path, stored.version.clone()).await? {
            purged.push(stored.entry.fields.key.clone());
        }
    }
    // A tombstone may be among what could not be read.
    if let (None, Some((_, error))) = (&key, view.unread.first()) {
        return Err(error.clone());
    }
    let message = match purged.as_slice() {
        [] => "Nothing to purge".to_string(),
        [key] => format!("Purged {key}"),
        keys => format!("Purged {} entries", keys.len()),
    };
    Ok(PurgeReply { purged, message })
}

/// The agent's own entry of a key that is not forgotten, else that of the workspace; a forgotten one where
/// there is no other.
fn found<'a>(view: &'a View, scope: &'a EntriesScope, key: &str) -> Option<(&'a Pool, &'a Stored)> {
    let mut of_pools = scope.pools().filter_map(|pool| Some((pool, view.of_key(pool.shared, key)?)));
    let first = of_pools.next()?;
    match (first.1.entry.forgotten, of_pools.next()) {
        (Some(_), Some(second)) if second.1.entry.forgotten.is_none() => Some(second),
        _ => Some(first),
    }
}

/// The error for a key that has no entry, or none that could be read.
pub(super) fn absent(view: &View, key: &str) -> Error {
    let of_key = |(unread, _): &&(Option<String>, Error)| unread.as_deref() == Some(key);
    if let Some((_, error)) = view.unread.iter().find(of_key) {
        return error.clone();
    }
    let forgotten = view.entries.iter().find(|stored| stored.entry.fields.key == key).map(|stored| &stored.entry);
    let help = match (view.problem_of(key), forgotten.and_then(|entry| Some((entry, entry.forgotten?)))) {
        (Some(problem), _) => format!("{} claims it and is no entry: {}", problem.path, problem.message),
        (None, Some((entry, moment))) => {
            format!("it was forgotten at {}; its version is {}", utc_text(moment), entry.version)
        }
        (None, None) => "`list` shows what there is, `find` searches".to_string(),
    };
    Error::new(ErrorCode::EntryNotFound, format!("UZ-MEM-004: no entry `{key}`"), help)
}

/// The reply to a change.
pub(super) fn reply(call: &Call, fields: &Fields, applied: Applied) -> StoreReply {
    let Applied { state, path, version, removed } = applied;
    let key = &fields.key;
    let mut message = match &state {
        StoreState::Stored => format!("Stored {key} in {}", fields.category),
        StoreState::Updated => format!("Updated {key} in {}", fields.category),
        StoreState::Moved(from) => format!("Moved {key} from {from} to {}", fields.category),
        StoreState::Unchanged => format!("{key} says this already; nothing was written"),
        StoreState::Forgotten => format!("{key} was forgotten; nothing was written"),
        StoreState::Conflict => format!("{key} is no longer what `base` says; nothing was written"),
        StoreState::Held => held(fields).message,
    };
    for (what, keys) in [("swept", &removed.swept), ("evicted", &removed.evicted)] {
        if !keys.is_empty() {
            message.push_str(&format!("; {what}: {}", keys.join(", ")));
        }
    }
    let Removed { swept, evicted } = removed;
    let (key, category, path) = (key.clone(), fields.category.as_str().into(), call.scope.shown(&path));
    StoreReply { key, category, state, version, path, swept, evicted, message }
}

/// The reply for what a run holds.
pub(super) fn held(fields: &Fields) -> StoreReply {
    StoreReply {
        key: fields.key.clone(),
        category: fields.category.as_str().into(),
        state: StoreState::Held,
        version: String::new(),
        path: String::new(),
        swept: Vec::new(),
        evicted: Vec::new(),
        message: format!("Held {} for the run", fields.key),
    }
}

/// The reply for what a run alone had.
pub(super) fn let_go(key: &str) -> ForgetEntryReply {
    let message = format!("Forgot {key}, which the run alone had");
    ForgetEntryReply { key: key.into(), path: String::new(), version: String::new(), already_forgotten: false, message }
}

/// A path that our own names cannot make.
pub(super) fn internal(error: crate::store::PathError) -> Error {
    Error::new(ErrorCode::Internal, format!("{error}"), "")
}
