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
use super::view::{Stored, View, has_rival, look, look_for};
use crate::engine::{Backup, Backups, Call, Change, Loaded, create, load, remove, remove_version, update};
use crate::protocol::{Error, ErrorCode};
use crate::store::{Layout, RelPath, utc_text};
use crate::trust::{ForModel, Provenance, Removal, Screened};

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
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
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
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// What came of removing forgotten entries for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeReply {
    /// The keys that are gone.
    pub purged: Vec<String>,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
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
    /// What could not be done beside it.
    pub(super) warning: Option<String>,
}

/// The keys that went with a change.
#[derive(Default)]
pub(super) struct Removed {
    pub(super) swept: Vec<String>,
    pub(super) evicted: Vec<String>,
}

/// How many times a change is computed again because others move, make or remove the same entry meanwhile.
const MAX_RACES: u32 = 64;

/// Stores an entry: makes it, replaces what it says, or moves it to another category.
pub(super) async fn store(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    fields: &Fields,
    base: &Base,
) -> Result<Applied, Error> {
    for _ in 0..MAX_RACES {
        if let Some(applied) = try_store(call, entries, scope, fields, base).await? {
            return Ok(applied);
        }
    }
    let message = format!("`{}`: moved by others {MAX_RACES} times in a row", fields.key);
    Err(Error::new(ErrorCode::Contention, message, "try again when fewer writers are at work; nothing was changed"))
}

/// Stores an entry on what is there now. `None`: others were faster, nothing is left of the attempt.
async fn try_store(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    fields: &Fields,
    base: &Base,
) -> Result<Option<Applied>, Error> {
    let pool = scope.pool(&fields.category)?;
    let view = look(call, entries, scope).await?;
    check_room(call, &view, pool, fields)?;
    let now = stamp(call.now.epoch_nanoseconds(), view.newest(pool));
    let target = pool.folder.file(fields.category.as_str(), &fields.key).map_err(internal)?;
    let known = view.of_key(pool.shared, &fields.key);
    let own = if known.is_none() && pool.shared { view.of_key(false, &fields.key) } else { None };
    let put = match own {
        // What the agent kept for itself and now shares is moved.
        Some(own) => share(call, scope, pool, own, &target, fields, base, now).await?,
        None => put(call, pool, known, &target, fields, base, now).await?,
    };
    let Some(Put { state, mut path, version, is_new, warning }) = put else { return Ok(None) };
    let is_changed = matches!(state, StoreState::Stored | StoreState::Updated | StoreState::Moved(_));
    let mut is_settled = true;
    if let Some(known) = known.filter(|known| is_changed && known.entry.fields.category != fields.category) {
        // The copy of what it said is beside the new file. One that is left here says nothing of any entry.
        let _ = remove(&call.fs, &backup_of(pool, &known.entry.fields)?, Removal::OF_COPY).await;
        path = moved_to(call, pool, path, &target, &version, &fields.key).await?;
        is_settled = false;
    }
    if is_new || !is_settled {
        let written = Written { path: &path, version: &version, is_new };
        if !settles(call, entries, scope, pool, written, fields, base).await? {
            return Ok(None);
        }
    }
    let mut removed = Removed::default();
    if is_changed {
        for copy in view.copies_of(pool.shared, &fields.key).filter(|copy| copy.path != path) {
            // One that cannot be removed stays named as a problem, and `purge` removes it.
            let _ = retire(call, copy, &target).await;
        }
        removed = trim(call, &view, pool, fields).await;
    }
    Ok(Some(Applied { state, path, version, removed, warning }))
}

/// A file that was written, or was not to be.
struct Put {
    state: StoreState,
    path: RelPath,
    version: String,
    /// There was no file of this key, as far as this command knew.
    is_new: bool,
    warning: Option<String>,
}

/// Writes an entry into its file, in one step: an entry that is moved says its new category in the file that it
/// has. `None`: the file is gone, so the entry may be elsewhere by now.
async fn put(
    call: &Call,
    pool: &Pool,
    known: Option<&Stored>,
    target: &RelPath,
    fields: &Fields,
    base: &Base,
    now: u64,
) -> Result<Option<Put>, Error> {
    let path = known.map_or(target, |stored| &stored.path);
    let change = |bytes: Option<&[u8]>| {
        let Some(bytes) = bytes else {
            if known.is_some() {
                return Ok(Change::Keep(None));
            }
            if !base.holds(None) {
                return Ok(Change::Keep(Some((StoreState::Conflict, String::new(), false))));
            }
            let text = new_entry(pool, fields, now).render();
            let version = version_of(&text);
            let text = call.screen.file(path, None, text.into_bytes())?;
            return Ok(Change::Write(text, Some((StoreState::Stored, version, true))));
        };
        let (text, before) = read_entry(call, pool, path, bytes, &fields.key)?;
        if !is_gone(call, &before) {
            check_standing(&before.fields, fields)?;
        }
        if let Some(state) = refusal(call, &before, fields, base) {
            return Ok(Change::Keep(Some((state, before.version, false))));
        }
        let text = changed(call, &before, fields, now).rewrite(text, &before);
        let state = changed_state(call, &before, fields);
        let version = version_of(&text);
        // Nobody is shown what is gone, so that it is no more trusted than a new file.
        let replaced = Some(bytes).filter(|_| !is_gone(call, &before));
        Ok(Change::Write(call.screen.file(path, replaced, text.into_bytes())?, Some((state, version, false))))
    };
    let backup = Layout::backup_of(target);
    let limit = call.scope.limits.max_file_bytes;
    let (done, backup) = update(&call.fs, path, limit, Backups::KeepAs(&backup), change).await?;
    let warning = warning_of(&backup);
    Ok(done.map(|(state, version, is_new)| Put { state, path: path.clone(), version, is_new, warning }))
}

/// What a change of an entry that is there comes to.
fn changed_state(call: &Call, before: &Entry, fields: &Fields) -> StoreState {
    if is_gone(call, before) {
        StoreState::Stored
    } else if before.fields.category != fields.category && before.fields.content == fields.content {
        StoreState::Moved(before.fields.category.as_str().to_string())
    } else {
        StoreState::Updated
    }
}

/// What a person is told of a backup that failed.
fn warning_of(backup: &Backup) -> Option<String> {
    match backup {
        Backup::Elsewhere(file, error) => {
            Some(format!("what it replaced is in {file}, as the backup could not be written: {}", error.message))
        }
        Backup::None | Backup::Kept(_) => None,
    }
}

/// A file that was made, or moved to the folder of another category.
#[derive(Clone, Copy)]
struct Written<'a> {
    path: &'a RelPath,
    version: &'a str,
    is_new: bool,
}

/// Sees to it that a file that was made or moved is the only one of its key.
///
/// Others may make or move one at the same moment. Whoever writes later sees both files here. Of those the latest
/// one stays, by the order that every reader goes by, if it may replace the others as they are now. `false`: it
/// yields to them, and the change has to be computed on what they say. A new file is removed again then. One that
/// was moved stays until that is done, as it holds what was stored before.
async fn settles(
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
        let Ok(view) = look(call, entries, scope).await else { return Ok(true) };
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
            let stands = is_gone(call, before) || check_standing(&before.fields, fields).is_ok();
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

/// Removes a file whose key another file has and says later. Its text becomes the backup of that one.
async fn retire(call: &Call, stored: &Stored, later: &RelPath) -> Result<(), Error> {
    let change = |bytes: Option<&[u8]>| {
        let text = bytes.and_then(|bytes| core::str::from_utf8(bytes).ok());
        let is_same = text.is_some_and(|text| version_of(text) == stored.entry.version);
        Ok(if is_same { Change::Remove(Removal::OF_COPY, ()) } else { Change::Keep(()) })
    };
    let backup = Layout::backup_of(later);
    let limit = call.scope.limits.max_file_bytes;
    update(&call.fs, &stored.path, limit, Backups::KeepAs(&backup), change).await.map(|((), _)| ())
}

/// Puts the file of an entry into the folder of its category, which it says already. Whatever is cut short here
/// leaves the entry, or the entry and a copy of it. Gives where the file is.
async fn moved_to(
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
    let text = core::str::from_utf8(&bytes).unwrap_or_default();
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

/// Writes an entry of the agent into the folder of the workspace, and then removes the file that it had.
#[allow(clippy::too_many_arguments, reason = "one step of `store`, with what it has found out")]
async fn share(
    call: &Call,
    scope: &EntriesScope,
    pool: &Pool,
    stored: &Stored,
    target: &RelPath,
    fields: &Fields,
    base: &Base,
    now: u64,
) -> Result<Option<Put>, Error> {
    let limit = call.scope.limits.max_file_bytes;
    let (bytes, old_version) = match load(&call.fs, &stored.path, limit).await? {
        Loaded::Whole { bytes, version } => (bytes, version),
        Loaded::Absent => return Ok(None),
        Loaded::TooLarge(size) => return Err(Error::file_too_large(&stored.path, size, u64::from(limit))),
    };
    let (_, before) = read_entry(call, &scope.own, &stored.path, &bytes, &fields.key)?;
    if !is_gone(call, &before) {
        check_standing(&before.fields, fields)?;
    }
    let kept = |state, version| Put { state, path: stored.path.clone(), version, is_new: false, warning: None };
    if let Some(state) = refusal(call, &before, fields, base) {
        return Ok(Some(kept(state, before.version)));
    }
    let mut now_says = changed(call, &before, fields, now);
    now_says.owner = Some(pool.owner.clone());
    let text = now_says.render();
    let version = version_of(&text);
    let replaced = Some(bytes.as_slice()).filter(|_| !is_gone(call, &before));
    if !create(&call.fs, target, &call.screen.file(&stored.path, replaced, text.into_bytes())?).await? {
        // Another agent shares this key since.
        return Ok(None);
    }
    // A file that changed meanwhile stays: it is the agent's own again.
    if remove_version(&call.fs, &stored.path, old_version, Removal::OF_COPY).await? {
        let _ = remove(&call.fs, &backup_of(&scope.own, &before.fields)?, Removal::OF_COPY).await;
    }
    let state = changed_state(call, &before, fields);
    Ok(Some(Put { state, path: target.clone(), version, is_new: false, warning: None }))
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
    let live = || others(view, pool, fields).filter(|stored| stored.is_live(now));
    let is_full = live().count() >= pool.cap as usize;
    if is_full && fields.standing.unapproved().is_some() && !live().any(|stored| may_evict(fields, stored)) {
        let (key, cap, provenance) = (&fields.key, pool.cap, fields.standing.provenance);
        let message = format!(
            "no place for `{key}`: {cap} entries hold all {cap} places, and text of `{provenance}` \
             takes the place of none that goes into prompts"
        );
        return Err(Error::new(
            ErrorCode::TooLarge,
            message,
            "forget entries that are no longer true; nothing was changed",
        ));
    }
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

/// Unapproved text may only evict unapproved text.
fn may_evict(fields: &Fields, stored: &Stored) -> bool {
    fields.standing.unapproved().is_none() || stored.entry.fields.standing.unapproved().is_some()
}

/// Removes what is too old, and then what an entry that was stored has pushed out. One that cannot be removed
/// stays until the next time: the entry itself is safe.
async fn trim(call: &Call, view: &View, pool: &Pool, fields: &Fields) -> Removed {
    let now = call.now.epoch_nanoseconds();
    let mut removed = Removed::default();
    for stored in others(view, pool, fields).filter(|stored| stored.is_expired(now)) {
        if discard(call, pool, stored, Removal::OF_EXPIRED).await == Ok(true) && stored.entry.forgotten.is_none() {
            removed.swept.push(stored.entry.fields.key.clone());
        }
    }
    let live = || others(view, pool, fields).filter(|stored| stored.is_live(now));
    // What nobody has approved takes the place of nothing that goes into prompts.
    let may_go = |stored: &&Stored| may_evict(fields, stored);
    let cap = (pool.cap as usize).saturating_sub(live().filter(|stored| !may_go(stored)).count());
    let kept: Vec<&Stored> = live().filter(may_go).collect();
    let new = Kept { tier: fields.category.tier(), updated: u64::MAX, key: &fields.key };
    let ranks = kept.iter().map(|stored| Kept {
        tier: stored.entry.fields.category.tier(),
        updated: stored.entry.updated,
        key: &stored.entry.fields.key,
    });
    let ranks: Vec<Kept<'_>> = ranks.chain([new]).collect();
    for stored in over_cap(&ranks, cap).into_iter().filter_map(|place| kept.get(place)) {
        let Ok(removal) = call.screen.removed_of(&stored.path, stored.entry.fields.standing) else { continue };
        if discard(call, pool, stored, removal).await == Ok(true) {
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
    let mut races = 0;
    loop {
        let view = look_for(call, entries, scope, &key).await?;
        let Some((pool, stored)) = found(&view, scope, &key) else { return Err(absent(&view, &key)) };
        let (version, already_forgotten) = match bury(call, &view, pool, stored, base).await {
            // Its file is gone. Somebody may have moved it to another category.
            Err(error) if error.code == ErrorCode::EntryNotFound && races < MAX_RACES => {
                races += 1;
                continue;
            }
            buried => buried?,
        };
        let path = call.scope.shown(&stored.path);
        let message = format!("Forgot {key}; `purge` removes it for good");
        return Ok(ForgetEntryReply { key, path, version, already_forgotten, message: ForModel::escaped(&message) });
    }
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
        Ok(Change::Write(call.screen.file(&stored.path, Some(bytes), text.into_bytes())?, (version, false)))
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
    let is_meant = |stored: &&Stored| key.as_ref().is_none_or(|key| stored.entry.fields.key == *key);
    let copies: Vec<&Stored> = view.outdated.iter().filter(is_meant).collect();
    if let Some(key) = &key {
        let Some((_, stored)) = found(&view, scope, key) else { return Err(absent(&view, key)) };
        if stored.entry.forgotten.is_none() && copies.is_empty() {
            let message = format!("`{key}` is not forgotten");
            return Err(Error::invalid_argument(message, "forget it first; nothing was changed"));
        }
        call.screen.removed_of(&stored.path, stored.entry.fields.standing)?;
    }
    // What this memory may not remove stays, and is counted.
    let mut kept = 0;
    // First the older files of a key: one of them would count again without the one that says it is forgotten.
    let mut copied: Vec<&str> = Vec::new();
    for stored in copies {
        let Ok(removal) = call.screen.removed_of(&stored.path, stored.entry.fields.standing) else {
            kept += 1;
            continue;
        };
        if remove_version(&call.fs, &stored.path, stored.version.clone(), removal).await? {
            copied.push(&stored.entry.fields.key);
        }
    }
    let mut purged = Vec::new();
    for pool in scope.pools() {
        let forgotten = view.of_pool(pool).filter(is_meant).filter(|stored| stored.entry.forgotten.is_some());
        for stored in forgotten {
            let Ok(removal) = call.screen.removed_of(&stored.path, stored.entry.fields.standing) else {
                kept += 1;
                continue;
            };
            // What was stored again meanwhile stays.
            if discard(call, pool, stored, removal).await? {
                purged.push(stored.entry.fields.key.clone());
            }
        }
    }
    // A tombstone may be among what could not be read.
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
        let files =
            if copied.len() == 1 { "1 outdated file".to_string() } else { format!("{} outdated files", copied.len()) };
        copied.dedup();
        message.push_str(&format!("{begin} {files} of {}", copied.join(", ")));
    }
    if kept > 0 {
        message.push_str(&format!("; kept {kept} whose text is trusted, which this memory may not remove"));
    }
    Ok(PurgeReply { purged, message: ForModel::escaped(&message) })
}

/// Removes an entry for good, with its backup. `false`: it has changed, and stays.
async fn discard(call: &Call, pool: &Pool, stored: &Stored, removal: Removal) -> Result<bool, Error> {
    if !remove_version(&call.fs, &stored.path, stored.version.clone(), removal).await? {
        return Ok(false);
    }
    remove(&call.fs, &backup_of(pool, &stored.entry.fields)?, removal).await?;
    Ok(true)
}

/// The file that keeps what an entry said before, wherever a person has put the entry's own file.
pub(super) fn backup_of(pool: &Pool, fields: &Fields) -> Result<RelPath, Error> {
    let file = pool.folder.file(fields.category.as_str(), &fields.key).map_err(internal)?;
    Ok(Layout::backup_of(&file))
}

/// The agent's own entry of a key that is not forgotten, else that of the workspace; a forgotten one where
/// there is no other.
pub(super) fn found<'a>(view: &'a View, scope: &'a EntriesScope, key: &str) -> Option<(&'a Pool, &'a Stored)> {
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
        (None, None) => "`find` searches keys and texts; a list without a filter names every key".to_string(),
    };
    Error::new(ErrorCode::EntryNotFound, format!("UZ-MEM-004: no entry `{key}`"), help)
}

/// The reply to a change.
pub(super) fn reply(call: &Call, fields: &Fields, applied: Applied) -> StoreReply {
    let Applied { state, path, version, removed, warning } = applied;
    let key = &fields.key;
    let mut message = match &state {
        StoreState::Stored => format!("Stored {key} in {}", fields.category),
        StoreState::Updated => format!("Updated {key} in {}", fields.category),
        StoreState::Moved(from) => format!("Moved {key} from {from} to {}", fields.category),
        StoreState::Unchanged => format!("{key} says this already; nothing was written"),
        StoreState::Forgotten => format!("{key} was forgotten; nothing was written"),
        StoreState::Conflict => format!("{key} is no longer what `base` says; nothing was written"),
        StoreState::Held => held(fields).message.into_string(),
    };
    for (what, keys) in [("swept", &removed.swept), ("evicted", &removed.evicted)] {
        if !keys.is_empty() {
            message.push_str(&format!("; {what}: {}", keys.join(", ")));
        }
    }
    if let Some(warning) = warning {
        message.push_str(&format!(" (warning: {warning})"));
    }
    let Removed { swept, evicted } = removed;
    let (key, category, path) = (key.clone(), fields.category.as_str().into(), call.scope.shown(&path));
    StoreReply { key, category, state, version, path, swept, evicted, message: ForModel::escaped(&message) }
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
        message: ForModel::escaped(&format!("Held {} for the run", fields.key)),
    }
}

/// The reply for what a run alone had.
pub(super) fn let_go(key: &str) -> ForgetEntryReply {
    let message = format!("Forgot {key}, which the run alone had");
    ForgetEntryReply {
        key: key.into(),
        path: String::new(),
        version: String::new(),
        already_forgotten: false,
        message: ForModel::escaped(&message),
    }
}

/// A path that our own names cannot make.
pub(super) fn internal(error: crate::store::PathError) -> Error {
    Error::internal(format!("{error}"))
}
