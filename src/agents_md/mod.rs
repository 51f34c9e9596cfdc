//! A managed section of AGENTS.md: chosen facts of an agent, between two markers.
//!
//! The file is outside of the store: the host gives its bytes with [`SyncAgentsMd`] and writes those that
//! [`AgentsMdReply`] has, if there are any, provided that the file is still the one that was read. Entries become items of
//! the section, and what people change in the section becomes changes of entries.
//!
//! Whoever can write the file can write the section: it may come with a repository from elsewhere. So text that is read
//! back waits to be approved, no fact goes into the file that the request does not name, and a person confirms what
//! would change text that prompts see, and everything about a section that this store did not write last. The store
//! remembers that section: it is the base by which a change on one side is told from a change on the other. Where both
//! have changed, neither is lost, and the reply names the conflict.
//!
//! `section` finds, reads and writes the section, `item` one fact of it, `written` is what the store remembers. `sync` is
//! the command: `sides` compares the two, `merge` decides on each fact, `layout` fits them into the new section, and
//! `remember` records that.

mod item;
mod layout;
mod merge;
mod remember;
mod section;
mod sides;
mod sync;
#[cfg(test)]
mod tests;
mod types;
mod written;

pub use types::{
    AgentsMdReply, DEFAULT_SECTION_BYTES, FactChange, FactChangeKind, MAX_AGENTS_MD_BYTES, MAX_IDENTITY_BYTES, Side,
    SyncAgentsMd, Unconfirmed,
};

pub(crate) use sync::sync;
