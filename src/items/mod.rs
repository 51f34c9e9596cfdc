//! Items: notes, entries and other files by their names. Each verb is one file, from its arguments to its reply.

mod edit;
mod everywhere;
mod files;
mod forget;
mod list;
mod recall;
mod restore;
mod show;
mod tag;
mod timeline;
mod types;
mod write;

pub use crate::journal::FileState;
pub use crate::notebook::{
    DEFAULT_HITS, GraphLink, ItemKind, ItemList, ListedItem, MAX_RECALL_BYTES, Recall, RecallHit, RecallReply,
    ScorePart, TagReply,
};
pub use edit::{Edit, EditReply};
pub use files::{FilePage, ListFiles, MAX_LISTED_FILES};
pub use forget::{Forget, Forgotten};
pub use list::ListItems;
pub use restore::{Restore, Restored};
pub use show::{Show, Shown};
pub use tag::Tag;
pub use write::{NewItem, Write, Written};

pub(crate) use edit::edit;
pub(crate) use forget::forget;
pub(crate) use list::list;
pub(crate) use recall::{answer as answer_recall, has_name};
pub(crate) use restore::why_lost;
pub(crate) use show::show;
pub(crate) use timeline::{
    Dated, TimeAsked, beginning, beginning_of, entries_of, latest_asked, notes_of, time_asked, time_of,
};
pub(crate) use types::{FileListing, ItemsCall};

use crate::family::family;
use saddlebag_protocol::Error;

family! {
    "items", run with ItemsCall<'_>;
    /// A command about items.
    ItemsCommand =>
    /// Reply of a [`ItemsCommand`].
    ItemsReply {
        Edit { name, kind, old_text, new_text: parts "new text" },
        Forget { name, kind, expected_version },
        ListFiles,
        ListItems,
        Recall,
        Restore { name, kind, version, at, dry_run, lift_rejection },
        Show,
        Tag { name, kind, add: name "tag", remove },
        Write { item: parts "item" },
    }
}

/// Runs a command. If nothing has the name that it takes and a forgotten item had it, the error says so.
pub(crate) async fn run(with: &ItemsCall<'_>, command: ItemsCommand) -> Result<ItemsReply, Error> {
    let named = match &command {
        ItemsCommand::Edit(Edit { name, kind, .. })
        | ItemsCommand::Forget(Forget { name, kind, .. })
        | ItemsCommand::Show(Show { name, kind, .. })
        | ItemsCommand::Tag(Tag { name, kind, .. }) => Some((name.clone(), *kind)),
        _ => None,
    };
    match (command.run(with).await, named) {
        (Err(error), Some((name, kind))) => Err(why_lost(with.stores, (&name, kind), error).await),
        (reply, _) => reply,
    }
}
