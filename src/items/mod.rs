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
    DEFAULT_HITS, GraphLink, ItemKind, ItemList, Link, LinkReply, ListedItem, MAX_RECALL_BYTES, Mention, Recall,
    RecallHit, RecallReply, Related, RelatedNote, RelatedReply, Rename, RenameReply, ScorePart, TagReply,
    UnlinkedMentions, UnlinkedMentionsReply,
};
pub use edit::{Edit, EditReply};
pub use files::{FilePage, ListFiles, MAX_LISTED_FILES};
pub use forget::{Forget, Forgotten};
pub use list::ListItems;
pub use restore::{Restore, Restored};
pub use show::{Show, Shown};
pub use tag::Tag;
pub use write::{NewItem, Write, Written};

pub(crate) use recall::{answer as answer_recall, has_name};
pub(crate) use restore::why_lost;
pub(crate) use timeline::{
    Dated, TimeAsked, beginning, beginning_of, entries_of, latest_asked, notes_of, time_asked, time_of,
};
pub(crate) use types::{FileListing, ItemsCall};

use crate::entries::WriteEntry;
use crate::family::{family, kind_members};
use crate::journal::WriteFile;
use crate::notebook::{NotebookCall, WriteNote};
use crate::request::{Request, Run};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

family! {
    "items", run with ItemsCall<'_>;
    /// A command about items.
    ItemsCommand =>
    /// Reply of a [`ItemsCommand`].
    ItemsReply {
        Edit { name, kind, old_text, new_text: parts "new text" },
        Forget { name, kind, expected_version },
        Link { source, target, text: name "text" },
        ListFiles,
        ListItems,
        Recall,
        Related,
        Rename { note, title: name "title" },
        Restore { name, kind, version, at, dry_run, lift_rejection },
        Show,
        Tag { name, kind, add: name "tag", remove },
        UnlinkedMentions,
        Write { item: parts "item" },
    }
}

kind_members! {
    ItemsCommand::Write { item: NewItem } => ItemsReply, Written;
    Entry(WriteEntry), File(WriteFile), Note(WriteNote),
}

macro_rules! of_notes {
    ($($verb:ident),*) => {$(
        impl Run<ItemsCall<'_>> for $verb {
            async fn run(self, with: &ItemsCall<'_>) -> Result<<Self as Request>::Reply, Error> {
                self.run(&NotebookCall { call: with.call, notebook: with.notebook }).await
            }
        }
    )*};
}

of_notes!(Link, Related, Rename, UnlinkedMentions);

/// Runs a command. If nothing has the name that it takes and a forgotten item had it, the error says so.
pub(crate) async fn run(with: &ItemsCall<'_>, command: ItemsCommand) -> Result<ItemsReply, Error> {
    let (names, kind): (Vec<&String>, Option<ItemKind>) = match &command {
        ItemsCommand::Edit(Edit { name, kind, .. })
        | ItemsCommand::Forget(Forget { name, kind, .. })
        | ItemsCommand::Show(Show { name, kind, .. })
        | ItemsCommand::Tag(Tag { name, kind, .. }) => (vec![name], *kind),
        ItemsCommand::Link(Link { source, target, .. }) => (vec![source, target], Some(ItemKind::Note)),
        ItemsCommand::Related(Related { note, .. })
        | ItemsCommand::Rename(Rename { note, .. })
        | ItemsCommand::UnlinkedMentions(UnlinkedMentions { note }) => (vec![note], Some(ItemKind::Note)),
        ItemsCommand::Write(Write { item: NewItem::Note(note) }) => {
            (note.supersedes.iter().chain(&note.links).collect(), Some(ItemKind::Note))
        }
        _ => (Vec::new(), None),
    };
    let names: Vec<String> = names.into_iter().cloned().collect();
    match command.run(with).await {
        Err(error) => Err(why_lost(with.stores, &names, kind, error).await),
        reply => reply,
    }
}
