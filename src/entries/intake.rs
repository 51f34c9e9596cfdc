//! [`Intake`]: the entries that an import adds to, while it runs.
//!
//! Files that are imported byte for byte and entries of other formats are taken in one by one. Each is held against the
//! entries that were there before, against those that the same import has dealt with, and against the cap.

use alloc::format;
use alloc::string::String;

use super::category::Category;
use super::document::Fields;
use super::scope::{EntriesScope, Pool};
use super::view::{Stored, View};
use crate::engine::Call;
use crate::protocol::{Error, ErrorCode};
use crate::sorted::SortedMap;

/// The entries that were there, and what the import has dealt with.
pub(super) struct Intake<'a> {
    pub(super) call: &'a Call,
    pub(super) scope: &'a EntriesScope,
    pub(super) view: &'a View,
    /// Nothing is written, and all is counted as if it were.
    pub(super) dry_run: bool,
    /// By [`name`].
    known: SortedMap<String, &'a Stored>,
    /// What the import has taken each key for, by [`name`].
    claimed: SortedMap<String, String>,
    /// How many entries there are or will be: of the agent, and of the workspace.
    live: [u32; 2],
}

impl<'a> Intake<'a> {
    /// Entries of which none counts for the cap yet.
    pub(super) fn new(call: &'a Call, scope: &'a EntriesScope, view: &'a View, dry_run: bool) -> Self {
        let mut known = SortedMap::default();
        known.extend(view.entries.iter().map(|stored| (name(stored.shared, &stored.entry.fields.key), stored)));
        Self { call, scope, view, dry_run, known, claimed: SortedMap::default(), live: [0; 2] }
    }

    /// The entry of a key before the import, forgotten or not.
    pub(super) fn known(&self, shared: bool, key: &str) -> Option<&'a Stored> {
        self.known.get(&name(shared, key)).copied()
    }

    /// The entry of a key before the import, if it is neither forgotten nor too old.
    pub(super) fn live(&self, shared: bool, key: &str) -> Option<&'a Stored> {
        let now = self.call.now.epoch_nanoseconds();
        self.known(shared, key).filter(|stored| stored.is_live(now))
    }

    /// What the import has taken a key for.
    pub(super) fn claimed(&self, shared: bool, key: &str) -> Option<&str> {
        self.claimed.get(&name(shared, key)).map(String::as_str)
    }

    /// Takes a key for something.
    pub(super) fn claim(&mut self, shared: bool, key: &str, by: &str) {
        self.claimed.insert(name(shared, key), by.into());
    }

    /// Counts an entry for the cap.
    pub(super) fn count(&mut self, shared: bool) {
        let [own, of_workspace] = &mut self.live;
        let count = if shared { of_workspace } else { own };
        *count = count.saturating_add(1);
    }

    /// Counts every entry that is shown for the cap.
    pub(super) fn count_all(&mut self) {
        let now = self.call.now.epoch_nanoseconds();
        let view = self.view;
        view.entries.iter().filter(|stored| stored.is_live(now)).for_each(|stored| self.count(stored.shared));
    }

    /// Refuses one more entry than a pool may have: an import evicts nothing.
    pub(super) fn check_room(&self, pool: &Pool) -> Result<(), Error> {
        let [own, of_workspace] = self.live;
        let live = if pool.shared { of_workspace } else { own };
        if live < pool.cap {
            return Ok(());
        }
        let message = format!("there are {live} entries, the limit is {}: 1 too many", pool.cap);
        Err(Error::new(ErrorCode::TooLarge, message, ""))
    }
}

/// Refuses what is held by runs alone.
pub(super) fn check_category(fields: &Fields) -> Result<(), Error> {
    match fields.category {
        Category::Conversation => Err(Error::invalid_argument("entries of a conversation live in a run alone", "")),
        _ => Ok(()),
    }
}

/// Refuses an import of more than a limit.
pub(super) fn at_most(what: &str, given: usize, limit: usize) -> Result<(), Error> {
    if given <= limit {
        return Ok(());
    }
    let message = format!("{given} {what}, the limit is {limit}: {} too many", given - limit);
    Err(Error::new(ErrorCode::TooLarge, message, "import in parts; nothing was changed"))
}

/// What tells one key from another: the agent and the workspace have keys of their own.
pub(super) fn name(shared: bool, key: &str) -> String {
    format!("{}{key}", if shared { 'w' } else { 'a' })
}
