//! `write`: stores an entry, a note, or text of a file of the journal.

use super::types::ItemsCall;
use crate::entries::{self, StoreReply, WriteEntry};
use crate::family::kinds;
use crate::journal::{self, WriteFile, WriteReply};
use crate::names::Stores;
use crate::notebook::{self, RememberReply, WriteNote};
use crate::request::{Run, request};
use saddlebag_protocol::Error;

/// Stores a new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// What to store.
    pub item: NewItem,
}

request!(Write "write" => Written, Removes, |name| NewItem::samples(name).map(|item| Self { item }).collect());

impl Run<ItemsCall<'_>> for Write {
    async fn run(self, with: &ItemsCall<'_>) -> Result<Written, Error> {
        let Stores { call, notebook, entries } = with.stores;
        Ok(match self.item {
            NewItem::Entry(entry) => entries::run(call, entries, with.origin, entry).await.map(Written::Entry)?,
            NewItem::File(file) => journal::write(call, file).await.map(Written::File)?,
            NewItem::Note(note) => notebook::write(call, notebook, note).await.map(Written::Note)?,
        })
    }
}

kinds! {
    /// An item to store. Each kind has its own fields.
    NewItem =>
    /// What was stored, with a case for each kind.
    Written {
        /// An entry: it is created, or its text is replaced.
        Entry(WriteEntry) =>
        /// An entry.
        StoreReply,
        /// Text of a file of the journal: it is appended, or replaces the file.
        File(WriteFile) =>
        /// Text of a file.
        WriteReply,
        /// A note. It never replaces one.
        Note(WriteNote) =>
        /// A note.
        RememberReply,
    }
}
