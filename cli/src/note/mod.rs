//! `note`: the notes of the notebook.

mod dead_links;
mod edit;
pub(crate) mod filter;
mod forget;
mod graph;
mod journal;
mod link;
mod list;
mod mentions;
mod orphans;
mod pages;
mod related;
mod rename;
mod restore;
pub(crate) mod shared;
mod show;
mod tags;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of notes.
    Command {
        List(list::ListArgs),
        Show(show::ShowArgs),
        Edit(edit::EditArgs),
        Rename(rename::RenameArgs),
        Forget(forget::ForgetArgs),
        Restore(restore::RestoreArgs),
        Link(link::LinkArgs),
        Related(related::RelatedArgs),
        Tags(tags::TagsArgs),
        Graph(graph::GraphArgs),
        Orphans(orphans::OrphansArgs),
        DeadLinks(dead_links::DeadLinksArgs),
        Mentions(mentions::MentionsArgs),
        Journal(journal::JournalArgs),
    }
}
