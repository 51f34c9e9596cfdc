//! A managed section of AGENTS.md, or of any other file: selected facts of an agent, between two markers.
//!
//! The file is outside of the store. The host passes its bytes with [`SyncAgentsMd`] and writes the bytes in
//! [`SyncAgentsMdReply`], if there are any and the file did not change meanwhile. Facts go from the store into the section, and
//! never back: anyone who can write the file can write the section, and it may come with a repository from elsewhere.
//! For the same reason only facts that the request selects are written, whatever the section lists.
//!
//! The last marker has a digest of the section as it was written. If somebody has edited the section since, it stays as it
//! is, and the error says where the text belongs. A forged digest gains nothing: the section is then replaced.
//!
//! `section` finds and writes the section, `item` writes one fact of it, and `sync` is the command.
//!
//! # How do the files of a project come in?
//!
//! AGENTS.md and ARCHITECTURE.md are outside of the root, where the component cannot read. The host reads them, by a
//! `LocalDir` on their folder, and passes their bytes. All decisions are made in the component.
//! docs/context.md has the rules.
//!
//! **The preamble** (`context/preamble.rs`) gathers memory once, builds its block to know the size, and divides the budget:
//! small parts are whole, the others get equal shares. The block is built a second time only if memory's share is smaller than
//! its block.

mod item;
mod section;
mod sync;
#[cfg(test)]
mod tests;

pub use sync::{DEFAULT_SECTION_BYTES, MAX_AGENTS_MD_BYTES, SyncAgentsMd, SyncAgentsMdReply};

pub(crate) use sync::AgentsMdCall;

use crate::family::family;

family! {
    "agents-md", run with AgentsMdCall<'_>;
    /// A command about the managed section of a file such as AGENTS.md.
    AgentsMdCommand =>
    /// Reply of an [`AgentsMdCommand`].
    AgentsMdReply {
        SyncAgentsMd { name, content: parts "content", tags, keys, max_bytes },
    }
}
