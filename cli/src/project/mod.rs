//! `project`: which folder opens which project's memory.

mod link;
mod list;
mod shared;

use crate::subcommand::subcommands;

pub(crate) use shared::{Other, opened, others, told};

subcommands! {
    /// The subcommands of the projects of a store.
    Command {
        List(list::ListArgs),
        Link(link::LinkArgs),
    }
}
