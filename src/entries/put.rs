//! Storing one entry, for all commands that do it.
//!
//! Each change is computed from the bytes that it replaces, and fails if they changed. A file that a person edits
//! meanwhile is read again. A file that cannot be parsed as an entry is never overwritten.

use super::document::{Fields, version_of};
use super::removal::{backup_removal, clear};
use super::retention::stamp;
use super::room::{Removed, check_room, look_to_store, trim};
use super::rules::{Base, changed, changed_state, is_gone, new_entry, read_entry, refusal};
use super::scope::{EntriesScope, Pool};
use super::settle::{MAX_RACES, Written, moved_to, settles};
use super::state::Entries;
use super::types::{StoreReply, StoreState};
use super::view::Stored;
use crate::changes::{Backups, Call, File};
use crate::search::naming_advice;
use crate::store::{Layout, RelPath};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Result of a change.
pub(super) struct Applied {
    pub(super) state: StoreState,
    /// What the message adds to the state.
    pub(super) more: String,
    pub(super) path: RelPath,
    pub(super) version: String,
    pub(super) removed: Removed,
}

/// Stores an entry: creates it, replaces its text, or moves it to another category.
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
    Err(Error::new(ErrorCode::Contention, message, "try again when fewer writers are at work"))
}

/// Tries to store an entry once. `None` if another writer was faster; the attempt leaves nothing.
async fn try_store(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    fields: &Fields,
    base: &Base,
) -> Result<Option<Applied>, Error> {
    let pool = scope.pool(&fields.category)?;
    let view = look_to_store(call, entries, scope, pool, fields).await?;
    check_room(call, &view, pool, fields)?;
    let now = stamp(call.now.epoch_nanoseconds(), view.newest(pool));
    let target = pool.file(fields.category.as_str(), &fields.key)?;
    let known = view.of_key(pool.shared, &fields.key);
    let own = if known.is_none() && pool.shared { view.of_key(false, &fields.key) } else { None };
    let put = match own {
        // An entry that the agent had for itself and now shares is moved to the workspace.
        Some(own) => share(call, scope, pool, own, &target, fields, base, now).await?,
        None => put(call, pool, known, &target, fields, base, now).await?,
    };
    let Some(Put { state, more, mut path, version, is_new }) = put else { return Ok(None) };
    let is_changed = matches!(state, StoreState::Stored | StoreState::Updated | StoreState::Moved(_));
    let mut is_settled = true;
    if let Some(known) = known.filter(|known| is_changed && known.entry.fields.category != fields.category) {
        // The backup was copied beside the new file, so the one here belongs to no entry any more.
        let _ = call.apply(&backup_removal(pool, &known.entry.fields, false)?).await;
        path = moved_to(call, pool, path, &target, &version, &fields.key).await?;
        is_settled = false;
    }
    if is_new || !is_settled {
        let written = Written { path: &path, version: &version, is_new, before: &view };
        if !settles(call, entries, scope, pool, written, fields, base).await? {
            return Ok(None);
        }
    }
    let mut removed = Removed::default();
    if is_changed {
        let copies = view.copies_of(pool.shared, &fields.key).filter(|copy| copy.path != path);
        for copy in copies {
            let replaced = known.map(|known| &known.entry.fields.content);
            let content = &copy.entry.fields.content;
            let is_kept = *content == fields.content || Some(content) == replaced;
            // A file that stays is listed as a problem; `purge` removes it.
            let _ = clear(call, copy, &target, is_kept).await;
        }
        removed = trim(call, &view, pool, fields).await;
    }
    Ok(Some(Applied { state, more, path, version, removed }))
}

/// Result of writing a file.
struct Put {
    state: StoreState,
    /// What the message adds to the state.
    more: String,
    path: RelPath,
    version: String,
    /// True if this command knew of no file of this key.
    is_new: bool,
}

/// Writes an entry into its file in one step. An entry that is moved first gets its new category in its old file.
/// `None` if the file is gone, so that the entry may be elsewhere.
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
    let change = |file: &File| {
        let Some(bytes) = file.bytes() else {
            if known.is_some() {
                return Ok((None, None));
            }
            if !base.holds(None) {
                let state = (StoreState::Conflict, String::new());
                return Ok((None, Some((state, String::new(), false))));
            }
            let text = new_entry(pool, fields, now).render();
            let version = version_of(&text);
            let state = (StoreState::Stored, String::new());
            return Ok((Some(call.screen.write(file, text)?), Some((state, version, true))));
        };
        let (text, before) = read_entry(call, pool, path, bytes, &fields.key)?;
        if let Some(state) = refusal(call, &before, fields, base)? {
            return Ok((None, Some(((state, String::new()), before.version, false))));
        }
        let text = changed(call, &before, fields, now).rewrite(text, &before)?;
        let state = changed_state(call, &before, fields);
        let version = version_of(&text);
        let written = call.screen.write(&file.hidden_if(is_gone(call, &before)), text)?;
        Ok((Some(written), Some((state, version, false))))
    };
    let backup = Layout::backup_of(target);
    let (done, _) = call.update(path, Backups::KeepAs(&backup), change).await?;
    Ok(done.map(|((state, more), version, is_new)| Put { state, more, path: path.clone(), version, is_new }))
}

/// Writes an entry of the agent into the folder of the workspace, and then removes its old file.
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
    let file = call.load(&stored.path).await?;
    let Some(bytes) = file.bytes() else { return Ok(None) };
    let (_, before) = read_entry(call, &scope.own, &stored.path, bytes, &fields.key)?;
    let kept = |state, version| Put { state, more: String::new(), path: stored.path.clone(), version, is_new: false };
    if let Some(state) = refusal(call, &before, fields, base)? {
        return Ok(Some(kept(state, before.version)));
    }
    let mut now_says = changed(call, &before, fields, now);
    now_says.owner = Some(pool.owner.clone());
    let text = now_says.render();
    let version = version_of(&text);
    let [new, removal] = call.screen.move_to(&file.hidden_if(is_gone(call, &before)), target, text)?;
    if !call.apply(&new).await? {
        // Another agent shares this key meanwhile.
        return Ok(None);
    }
    // A file that changed meanwhile stays and is the agent's own entry again.
    if call.apply(&removal).await? {
        let _ = call.apply(&backup_removal(&scope.own, &before.fields, false)?).await;
    }
    let (state, more) = changed_state(call, &before, fields);
    Ok(Some(Put { state, more, path: target.clone(), version, is_new: false }))
}

/// Builds the reply to a change.
pub(super) fn reply(call: &Call, fields: &Fields, applied: Applied) -> StoreReply {
    let Applied { state, more, path, version, removed } = applied;
    let key = &fields.key;
    let mut message = match &state {
        StoreState::Stored => format!("Stored {key} in {}", fields.category),
        StoreState::Updated => format!("Updated {key} in {}", fields.category),
        StoreState::Moved(from) => format!("Moved {key} from {from} to {}", fields.category),
        StoreState::Unchanged => format!("{key} already has this text"),
        StoreState::Forgotten => format!("{key} is forgotten and was not stored; `restore {key}` brings it back"),
        StoreState::Conflict => format!("{key} no longer has the expected version and was not stored"),
        StoreState::Held => held(fields).message.into_string(),
    };
    message.push_str(&more);
    if state == StoreState::Stored {
        message.push_str(&naming_advice(key, &fields.content, call.scope.layout.project_name()));
    }
    for (what, keys) in [("swept", &removed.swept), ("evicted", &removed.evicted)] {
        if !keys.is_empty() {
            message.push_str(&format!("; {what}: {}", keys.join(", ")));
        }
    }
    let Removed { swept, evicted } = removed;
    let (key, category, path) = (key.clone(), fields.category.as_str().into(), call.scope.display_path(&path));
    StoreReply { key, category, state, version, path, swept, evicted, message: ForModel::escaped(&message) }
}

/// Builds the reply for an entry that a run holds.
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
