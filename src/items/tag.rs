//! `tag`: adds tags to a note or an entry, and removes others.

use super::types::ItemsCall;
use crate::entries::{self, EntryChange, StoreState};
use crate::names::{Stores, file_to_change};
use crate::notebook::{self, ItemKind, TagReply};
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Adds tags to a note or an entry, and removes others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Name of the item, as [`Show`](super::Show) takes it.
    pub name: String,
    /// Kind of the item; `None` for any kind.
    pub kind: Option<ItemKind>,
    /// Tags that the item gets, unless it has them.
    pub add: Vec<String>,
    /// Tags that the item loses. A tag in the text of a note is not removed, and refused.
    pub remove: Vec<String>,
}

request!(Tag "tag" => TagReply, Removes, |name| {
    let of_kind = |kind| {
        let none = Self { name: name.into(), kind: Some(kind), add: Vec::new(), remove: Vec::new() };
        [Self { add: vec!["ops".into()], ..none.clone() }, Self { remove: vec!["ops".into()], ..none }]
    };
    [ItemKind::Note, ItemKind::Entry].map(of_kind).concat()
});

impl Run<ItemsCall<'_>> for Tag {
    async fn run(self, with: &ItemsCall<'_>) -> Result<TagReply, Error> {
        let ItemsCall { stores, origin, .. } = *with;
        let Stores { call, entries, .. } = stores;
        let Self { name, kind, add, remove } = self;
        let (add, remove) = notebook::checked_change_of_tags(&add, &remove)?;
        match file_to_change(stores, origin, &name, kind).await? {
            Some(found) if found.kind.is_note() => notebook::tag_note(call, &found.file.path, &add, &remove).await,
            Some(found) => {
                let error = Error::invalid_argument(format!("{name:?} is neither a note nor an entry"), "name one");
                Err(call.scope.kept_for_all_projects(found.file.path.as_str()).unwrap_or(error))
            }
            None => {
                let change = EntryChange::Tags { add: &add, remove: &remove };
                let stored = entries::edit(call, entries, origin, &name, &change).await?;
                let tags = entries::get(call, entries, origin, &stored.key).await?.tags;
                Ok(TagReply::new(&stored.key, stored.path, tags, stored.state != StoreState::Unchanged))
            }
        }
    }
}
