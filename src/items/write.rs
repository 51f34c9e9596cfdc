//! `write`: stores a new text, as the kind of the item allows.

use super::types::ItemsCall;
use super::{ItemsCommand, ItemsReply};
use crate::entries::{self, StoreReply, WriteEntry, unavailable};
use crate::journal::{self, WriteFile, WriteReply};
use crate::names::Stores;
use crate::notebook::{self, RememberReply, WriteNote};
use crate::request::{Effect, Member, Request, Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Stores a new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// What to store.
    pub item: NewItem,
}

request!(Write "write" => Written, Removes, |name| {
    let entries = WriteEntry::samples_of(name).into_iter().map(NewItem::from);
    let files = WriteFile::samples_of(name).into_iter().map(NewItem::from);
    let notes = WriteNote::samples_of(name).into_iter().map(NewItem::from);
    entries.chain(files).chain(notes).map(|item| Self { item }).collect()
});

impl Run<ItemsCall<'_>> for Write {
    async fn run(self, with: &ItemsCall<'_>) -> Result<Written, Error> {
        let Stores { call, notebook, entries } = with.stores;
        Ok(match self.item {
            NewItem::Entry(entry) => {
                entries::write(call, entries, with.origin, entry).await.map_err(unavailable)?.into()
            }
            NewItem::File(file) => journal::write(call, file).await?.into(),
            NewItem::Note(note) => notebook::write(call, notebook, note).await?.into(),
        })
    }
}

/// Defines [`NewItem`] and [`Written`] with a case for each kind. The record of a kind is also a [`Request`] of its own, which
/// stands for a [`Write`] and has the reply of its kind.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($record:ident) => $(#[$reply_doc:meta])* $reply:ident),* $(,)?) => {
        /// An item to store. Each kind has its own fields.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum NewItem {
            $($(#[$doc])* $kind($record),)*
        }

        /// What was stored, with a case for each kind.
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(untagged)]
        pub enum Written {
            $($(#[$reply_doc])* $kind($reply),)*
        }

        $(
            impl From<$record> for NewItem {
                fn from(record: $record) -> Self {
                    Self::$kind(record)
                }
            }

            impl From<$reply> for Written {
                fn from(reply: $reply) -> Self {
                    Self::$kind(reply)
                }
            }

            impl Request for $record {
                type Reply = $reply;
                const NAME: &'static str = Write::NAME;
                const EFFECT: Effect = Write::EFFECT;

                fn samples(name: &str) -> Vec<Self> {
                    Self::samples_of(name)
                }
            }

            impl From<$record> for ItemsCommand {
                fn from(record: $record) -> Self {
                    Self::Write(Write { item: record.into() })
                }
            }

            impl Member for $record {
                type Family = ItemsCommand;

                fn from_family(reply: ItemsReply) -> Option<$reply> {
                    match reply {
                        ItemsReply::Write(Written::$kind(reply)) => Some(reply),
                        _ => None,
                    }
                }
            }
        )*
    };
}

kinds! {
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

impl Written {
    /// Returns the summary for a person or a model.
    pub const fn message(&self) -> &crate::trust::ForModel {
        match self {
            Self::Entry(reply) => &reply.message,
            Self::File(reply) => &reply.message,
            Self::Note(reply) => &reply.message,
        }
    }
}
