//! The subcommands of the notebook.

mod by_tag;
mod dead_links;
mod filter;
mod forget;
mod graph;
mod init;
mod journal;
mod link;
mod notes;
mod orphans;
mod recall;
mod recent;
mod related;
mod remember;
mod rename;
mod shared;
mod tags;
mod today;
mod unlinked_mentions;

use crate::subcommand::subcommands;

subcommands! {
    /// The subcommands of the notebook.
    Command {
        Init(init::InitArgs),
        Remember(remember::RememberArgs),
        Recall(recall::RecallArgs),
        Journal(journal::JournalArgs),
        Today(today::TodayArgs),
        #[command(alias = "by_tag")]
        ByTag(by_tag::ByTagArgs),
        Recent(recent::RecentArgs),
        Notes(notes::NotesArgs),
        #[command(aliases = ["get-related", "get_related"])]
        Related(related::RelatedArgs),
        Link(link::LinkArgs),
        Rename(rename::RenameArgs),
        Forget(forget::ForgetArgs),
        Tags(tags::TagsArgs),
        Graph(graph::GraphArgs),
        Orphans(orphans::OrphansArgs),
        #[command(alias = "dead_links")]
        DeadLinks(dead_links::DeadLinksArgs),
        #[command(aliases = ["mentions", "unlinked_mentions"])]
        UnlinkedMentions(unlinked_mentions::UnlinkedMentionsArgs),
    }
}
