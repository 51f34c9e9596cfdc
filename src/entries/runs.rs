//! Runs: entries that an agent stores in a run are written to the disk at a checkpoint, one by one.
//!
//! The number of the newest run, its fence, is in a file beside the agent's entries. A run with a lower number is
//! outdated and writes nothing any more. Each entry is stored only if the stored entry is still the one that the run
//! knew.

use super::category::Category;
use super::document::{Entry, Fields};
use super::retention::stamp;
use super::rules::{Base, approves, check_trust_state, keep_trust, repeats_unapproved};
use super::scope::EntriesScope;
use super::screen::keep_trust_of_key;
use super::state::{Entries, Held, MAX_HELD};
use super::view::look_at;
use crate::changes::Call;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

pub(super) fn named(run: Option<&str>) -> Result<&str, Error> {
    run.ok_or_else(|| Error::invalid_argument("the request names no run", "give the name of the run"))
}

/// Holds an entry for a run, unless it has a value that was rejected for good. Entries of its conversation do not need an
/// operation: they are never stored, and end with the run.
pub(super) async fn hold(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    run: &str,
    mut fields: Fields,
    base: Base,
) -> Result<(), Error> {
    entries.with_run(run, |_| ())?;
    let (base, before) = if fields.category == Category::Conversation {
        (Base::Any, None)
    } else {
        call.check_text(&fields.key, &fields.content).await?;
        let view = look_at(call, entries, scope, &fields.key).await?;
        let shared = scope.pool(&fields.category)?.shared;
        let known = view.of_key(shared, &fields.key).map(|stored| &stored.entry);
        let is_stale = matches!(&base, Base::Version(base) if known.is_none_or(|entry| entry.version != *base));
        let is_forgotten = known.is_some_and(|entry| entry.forgotten.is_some());
        if is_stale || (is_forgotten && base == Base::Any && known.is_some_and(|entry| fields.is_same(&entry.fields))) {
            let message = format!("`{}` was changed or forgotten meanwhile", fields.key);
            let help = "look at it again; with its current version as the expected version it can be stored";
            return Err(Error::new(ErrorCode::StaleVersion, message, help));
        }
        keep_trust_of_key(&view, shared, &mut fields);
        let base = known.map_or(Base::Absent, |entry| Base::Version(entry.version.clone()));
        (base, known.map(|entry| (entry.created, entry.updated)))
    };
    let now = call.now.epoch_nanoseconds();
    entries.with_run(run, |run| {
        let newest = run.held.iter().map(|held| held.entry.updated).max();
        let updated = stamp(now, newest.max(before.map(|(_, updated)| updated)));
        let of_key = run.held.iter().filter(|held| held.entry.fields.key == fields.key);
        let repeated = of_key.map(|held| &held.entry.fields).find(|before| repeats_unapproved(before, &fields));
        if let Some(before) = repeated {
            keep_trust(&mut fields, before);
        }
        let known = run.held.iter().position(|held| held.is_of(&fields));
        if known.is_none() && run.held.len() >= MAX_HELD {
            let message = format!("run {} holds {MAX_HELD} entries, the limit is {MAX_HELD}: 1 too many", run.name);
            return Err(Error::new(ErrorCode::Full, message, "make a checkpoint first"));
        }
        match known.and_then(|place| run.held.get_mut(place)) {
            Some(held) => {
                check_trust_state(&held.entry.fields, &fields)?;
                let is_same = fields.is_same(&held.entry.fields);
                if !is_same {
                    held.entry.updated = updated;
                }
                if is_same && !approves(&held.entry.fields, &fields) {
                    keep_trust(&mut fields, &held.entry.fields);
                }
                held.entry.fields = fields;
            }
            None => {
                let created = before.map_or(updated, |(created, _)| created);
                let version = String::new();
                let entry = Entry { fields, owner: None, created, updated, forgotten: None, version };
                run.held.push(Held { entry, base });
            }
        }
        Ok(())
    })?
}

/// Result of dropping an entry from a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dropped {
    pub(super) any: bool,
    /// True if the entry was of the conversation only.
    pub(super) only_conversation: bool,
}

/// Drops the entry of a key from a run, unless a newer run was opened.
pub(super) async fn drop_held(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    run: &str,
    key: &str,
) -> Result<Dropped, Error> {
    let is_it = |held: &&Held| held.entry.fields.key == key;
    let dropped = entries.with_run(run, |run| {
        let any = run.held.iter().any(|held| is_it(&held));
        Dropped { any, only_conversation: any && run.held.iter().filter(is_it).all(Held::is_of_conversation) }
    })?;
    if !dropped.only_conversation {
        check_newest(call, entries, scope, run).await?;
    }
    entries.with_run(run, |run| run.held.retain(|held| held.entry.fields.key != key))?;
    Ok(dropped)
}

/// Refuses a run that is not the newest.
pub(super) async fn check_newest(call: &Call, entries: &Entries, scope: &EntriesScope, run: &str) -> Result<(), Error> {
    let fence = entries.with_run(run, |run| run.fence)?;
    let newest = read_fence(call, scope, call.load(&scope.fence).await?.bytes())?;
    check_fence(run, fence, newest)
}

pub(super) fn read_fence(call: &Call, scope: &EntriesScope, bytes: Option<&[u8]>) -> Result<Option<u64>, Error> {
    let Some(bytes) = bytes else { return Ok(None) };
    let newest = core::str::from_utf8(bytes).ok().and_then(|text| text.trim().parse().ok());
    let refused = || {
        let message = format!("{} does not hold the number of a run", call.scope.display_path(&scope.fence));
        Error::damaged_file(message, "write the number of the newest run into it, or remove it")
    };
    newest.map(Some).ok_or_else(refused)
}

pub(super) fn check_fence(run: &str, fence: u64, newest: Option<u64>) -> Result<(), Error> {
    match newest {
        Some(newest) if fence < newest => {
            let message = format!("run `{run}` has the fence {fence}, a newer one has {newest}");
            Err(Error::new(ErrorCode::StaleFence, message, "an outdated run cannot write; open a new one"))
        }
        _ => Ok(()),
    }
}
