//! A managed section of AGENTS.md: selected facts of an agent, between two markers.
//!
//! The file is outside of the store. The host passes its bytes with [`SyncAgentsMd`] and writes the bytes in
//! [`SyncAgentsMdReply`], if there are any and the file did not change meanwhile. Entries become items of the section, and
//! edits of the section become changes of entries.
//!
//! Anyone who can write the file can write the section: it may come with a repository from elsewhere. Therefore text
//! that is read back waits for approval, and only facts that the request names are written into the file. A person must
//! confirm every change of text that goes into prompts, and every section that this store did not write last. The store
//! remembers that section as the base of a three-way merge. If both sides changed, both versions stay, and the reply
//! names the conflict.
//!
//! `section` finds, reads and writes the section, `item` one fact of it, `written` is what the store remembers. `sync` is
//! the command: `sides` compares both sides, `merge` decides for each fact, `layout` fits them into the new section, and
//! `remember` records the result.
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
//!
//! **The section of AGENTS.md** is a three-way merge: the current section, the current entry, and the fact as the store last
//! wrote it. That base is in the store (`written.rs`), one file per AGENTS.md, because a file can claim anything about itself.
//! The last marker only says which of the written sections the file has. `sync` first refuses an invalid file, then computes
//! all changes without making any. If a person must look first, the reply has the changes with their digest, and a second
//! request with that digest makes exactly these changes. Then it changes entries, each if it still has the version that was
//! compared, records the new section, and returns the new bytes. `Host::sync_agents_md` writes them if the file still has the
//! version that it read, and begins again after a lost race; changes that were made before are then no changes any more.

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
    /// Reply of an [`AgentsMdCommand`].
    AgentsMdReply {
        SyncAgentsMd {
            name, identity: name "identity", content: parts "content", tags, keys, max_bytes, prefer, confirmed, dry_run,
        },
    }
}
