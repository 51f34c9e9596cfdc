//! Room for a new entry: which entries are removed for it, and which must not be.

use super::category::Tier;
use super::document::Fields;
use super::removal::{discard, expired_removal, removal_of};
use super::retention::{Kept, over_cap};
use super::scope::{EntriesScope, Pool};
use super::state::Entries;
use super::view::{Stored, View, survey};
use crate::changes::Call;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Keys that a change removed.
#[derive(Default)]
pub(super) struct Removed {
    pub(super) swept: Vec<String>,
    pub(super) evicted: Vec<String>,
}

/// Refuses an entry that would itself be evicted at once.
pub(super) fn check_room(call: &Call, view: &View, pool: &Pool, fields: &Fields) -> Result<(), Error> {
    let now = call.now.epoch_nanoseconds();
    let is_pinned = |stored: &&Stored| stored.entry.fields.category.tier() == Tier::Pinned;
    let pinned = others(view, pool, fields).filter(|stored| stored.is_live(now)).filter(is_pinned).count();
    let live = || others(view, pool, fields).filter(|stored| stored.is_live(now));
    let is_full = live().count() >= pool.cap as usize;
    if is_full && fields.trust_state.unapproved().is_some() && !live().any(|stored| may_evict(fields, stored)) {
        let (key, cap, provenance) = (&fields.key, pool.cap, fields.trust_state.provenance);
        let message = format!(
            "`{key}` is not stored: memory is full ({cap} entries), and unapproved text of `{provenance}` may not evict \
             approved entries"
        );
        return Err(Error::new(ErrorCode::Full, message, "forget entries that are no longer true"));
    }
    let has_room = match fields.category.tier() {
        Tier::Pinned => pool.cap > 0,
        Tier::Windowed => pinned < pool.cap as usize,
    };
    if has_room {
        return Ok(());
    }
    let (key, cap) = (&fields.key, pool.cap);
    let message = format!(
        "`{key}` would be evicted at once: memory is full ({cap} entries), and its {pinned} core entries are evicted last"
    );
    let help = "forget core entries that are no longer true";
    Err(Error::new(ErrorCode::Full, message, help))
}

/// Removes expired entries, then those that a stored entry has pushed over the limit. An entry that cannot be removed
/// stays until the next time; the stored entry is safe.
pub(super) async fn trim(call: &Call, view: &View, pool: &Pool, fields: &Fields) -> Removed {
    let now = call.now.epoch_nanoseconds();
    let mut removed = Removed::default();
    for stored in others(view, pool, fields).filter(|stored| stored.is_expired(now)) {
        let Ok(removal) = expired_removal(call, pool, stored).await else { continue };
        let is_removed = discard(call, pool, removal, &stored.entry.fields).await == Ok(true);
        if is_removed && stored.entry.forgotten.is_none() {
            removed.swept.push(stored.entry.fields.key.clone());
        }
    }
    for stored in evicted(call, view, pool, fields) {
        let Ok(removal) = removal_of(call, stored).await else { continue };
        if discard(call, pool, removal, &stored.entry.fields).await == Ok(true) {
            removed.evicted.push(stored.entry.fields.key.clone());
        }
    }
    removed
}

/// Returns the entries that a stored entry pushes over the limit.
fn evicted<'a>(call: &Call, view: &'a View, pool: &Pool, fields: &'a Fields) -> Vec<&'a Stored> {
    let now = call.now.epoch_nanoseconds();
    let live = || others(view, pool, fields).filter(|stored| stored.is_live(now));
    // Unapproved text never evicts text that goes into prompts.
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
    over_cap(&ranks, cap).into_iter().filter_map(|place| kept.get(place).copied()).collect()
}

/// Brings the index up to date and returns the entries, with the text of those that storing these fields replaces or evicts.
pub(super) async fn look_to_store(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    pool: &Pool,
    fields: &Fields,
) -> Result<View, Error> {
    let wanted = |view: &View| {
        let mut wanted = view.docs_of(|stored| stored.entry.fields.key == fields.key);
        wanted.extend(evicted(call, view, pool, fields).into_iter().map(|stored| stored.doc));
        wanted
    };
    survey(call, entries, scope, Some(&wanted)).await
}

/// Returns true if `stored` may be evicted for these fields: unapproved text may evict only unapproved text.
fn may_evict(fields: &Fields, stored: &Stored) -> bool {
    fields.trust_state.unapproved().is_none() || stored.entry.fields.trust_state.unapproved().is_some()
}

/// Returns the entries of a pool except the one of this key.
fn others<'a>(view: &'a View, pool: &Pool, fields: &'a Fields) -> impl Iterator<Item = &'a Stored> {
    view.of_pool(pool).filter(|stored| stored.entry.fields.key != fields.key)
}
