//! [`Intake`]: entries of the memory while an import adds to them.
//!
//! Both imports take their entries one by one: files byte for byte, and entries of other formats. Each entry is
//! compared with the entries from before the import, with those that the import already processed, and with the limit.

use super::category::Category;
use super::document::Fields;
use super::scope::{EntriesScope, Pool};
use super::view::{Stored, View};
use crate::changes::Call;
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_protocol::{Error, ErrorCode};

/// Entries before the import, and keys that the import already processed.
pub(super) struct Intake<'a> {
    pub(super) call: &'a Call,
    pub(super) scope: &'a EntriesScope,
    pub(super) view: &'a View,
    /// If set, nothing is written, and counts are kept as if it were.
    pub(super) dry_run: bool,
    /// Entries before the import, by [`name`].
    known: SortedMap<String, &'a Stored>,
    /// Use that the import made of each key, by [`name`].
    claimed: SortedMap<String, String>,
    /// Number of entries, for the agent and for the workspace.
    live: [u32; 2],
}

impl<'a> Intake<'a> {
    /// Creates an intake that counts no entry yet.
    pub(super) fn new(call: &'a Call, scope: &'a EntriesScope, view: &'a View, dry_run: bool) -> Self {
        let mut known = SortedMap::default();
        known.extend(view.entries.iter().map(|stored| (name(stored.shared, &stored.entry.fields.key), stored)));
        Self { call, scope, view, dry_run, known, claimed: SortedMap::default(), live: [0; 2] }
    }

    /// Returns the entry that a key had before the import, even a forgotten one.
    pub(super) fn known(&self, shared: bool, key: &str) -> Option<&'a Stored> {
        self.known.get(&name(shared, key)).copied()
    }

    /// Returns the entry that a key had before the import, unless it is forgotten or expired.
    pub(super) fn live(&self, shared: bool, key: &str) -> Option<&'a Stored> {
        let now = self.call.now.epoch_nanoseconds();
        self.known(shared, key).filter(|stored| stored.is_live(now))
    }

    /// Returns what the import used a key for.
    pub(super) fn claimed(&self, shared: bool, key: &str) -> Option<&str> {
        self.claimed.get(&name(shared, key)).map(String::as_str)
    }

    /// Records what a key is used for.
    pub(super) fn claim(&mut self, shared: bool, key: &str, by: &str) {
        self.claimed.insert(name(shared, key), by.into());
    }

    /// Counts an entry towards the limit.
    pub(super) fn count(&mut self, shared: bool) {
        let [own, of_workspace] = &mut self.live;
        let count = if shared { of_workspace } else { own };
        *count = count.saturating_add(1);
    }

    /// Counts every entry that is shown towards the limit.
    pub(super) fn count_all(&mut self) {
        let now = self.call.now.epoch_nanoseconds();
        let view = self.view;
        view.entries.iter().filter(|stored| stored.is_live(now)).for_each(|stored| self.count(stored.shared));
    }

    /// Refuses an entry over the limit. An import evicts nothing.
    pub(super) fn check_room(&self, pool: &Pool) -> Result<(), Error> {
        let [own, of_workspace] = self.live;
        let live = if pool.shared { of_workspace } else { own };
        if live < pool.cap {
            return Ok(());
        }
        let message = format!("there are {live} entries, the limit is {}: 1 too many", pool.cap);
        Err(Error::new(ErrorCode::Full, message, ""))
    }
}

/// Refuses the category `conversation`, which only runs hold.
pub(super) fn check_category(fields: &Fields) -> Result<(), Error> {
    match fields.category {
        Category::Conversation => Err(Error::invalid_argument("entries of a conversation can only be in a run", "")),
        _ => Ok(()),
    }
}

/// Returns the identity of a key: agent and workspace have separate keys.
pub(super) fn name(shared: bool, key: &str) -> String {
    format!("{}{key}", if shared { 'w' } else { 'a' })
}
