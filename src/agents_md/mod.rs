//! A managed section of AGENTS.md: chosen facts of an agent, between two markers.
//!
//! The file is outside of the store: the host gives its bytes with [`SyncAgentsMd`] and writes those that
//! [`SyncAgentsMdReply`] has, if there are any, provided that the file is still the one that was read. Entries become items of
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
//!
//! # How do the files of a project come in?
//!
//! AGENTS.md and ARCHITECTURE.md lie outside of the root, where the component cannot ask for anything. The host reads them,
//! by a `LocalDir` on their folder, and hands bytes over; what becomes of them is decided in the component.
//! docs/context.md has the rules.
//!
//! **The preamble** (`context/preamble.rs`) gathers memory once, makes its block to know how large it is, and shares the
//! budget out: small parts whole, the others the same. Only if memory's share is less than its block, the block is made
//! again, within the share.
//!
//! **The section of AGENTS.md** is a merge of three: the section as it is, the entry as it is, and the fact as the store wrote
//! it last. That memory is in the store (`written.rs`), one file for each AGENTS.md, as a file can claim anything of itself;
//! the last marker only says which of the sections that were given out the file has. `sync` first refuses what is wrong with
//! the file, then computes all changes without making any. If a person must look first, the reply has them with their digest,
//! and a second request with that digest makes exactly these. Then it changes entries, each under the version that was
//! compared, has the new section remembered, and gives the new bytes. `Host::sync_agents_md` writes them under the version
//! that it read, and begins again after a lost race: what is done already is no change the second time.

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
    DEFAULT_SECTION_BYTES, FactChange, FactChangeKind, MAX_AGENTS_MD_BYTES, MAX_IDENTITY_BYTES, Side, SyncAgentsMd,
    SyncAgentsMdReply, Unconfirmed,
};

pub(crate) use types::AgentsMdCall;

use crate::family::family;

family! {
    "agents-md", run with AgentsMdCall<'_>;
    /// A command about the managed section of a file such as AGENTS.md.
    AgentsMdCommand =>
    /// The reply of an [`AgentsMdCommand`].
    AgentsMdReply {
        SyncAgentsMd,
    }
}
