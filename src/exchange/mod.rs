//! Memory that moves between agents: the formats of other agents, read into entries and written from them.
//!
//! Each format is a file of pure functions, over files that the host has read. What they read becomes
//! [`ForeignEntry`](crate::entries::ForeignEntry)s, which the entries take in one by one; what they could not read is a [`RejectedPart`].
//! What a format cannot carry is found by reading back what was written: each difference is a [`Loss`].
//!
//! [`ImportFrom`] and [`ExportTo`] are the commands; [`detect`] tells
//! which format a folder looks like.
//!
//! # How does memory come from other agents?
//!
//! The host reads files and hands their bytes in; a converter makes `ForeignEntry`s of them and names what it could not
//! read. `entries/adopt.rs` decides what becomes of each, in two passes over one view of the entries: first what is here
//! already is found, then the others take a key. The only memory of earlier imports is the source of an entry, which has
//! the place and a digest of what it said there; `imported_entry` is the one place where the fields of an imported entry
//! are made. docs/exchange.md has the outcomes.
//!
//! An export is a pure function of the entries, computed anew for each page; the cursor has a digest of the whole, so that
//! pages never mix two states of the store. `find_losses` reads what was written and compares: what a format cannot carry
//! is not claimed, it is looked for.

mod basic_memory;
mod claude_code;
mod detect;
mod export_to;
mod flat;
mod format;
mod import_from;
mod json;
mod losses;
mod mcp_memory;
mod only_in;
mod openclaw;
mod prepare;
mod read_files;
mod snapshots;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod write_files;

pub use basic_memory::{Observation, Relation, parse as parse_basic_memory};
pub use detect::{Detected, detect};
pub use export_to::{ExportTo, ExportToReply, FilePart};
pub use format::Format;
pub use import_from::{ImportFrom, ImportFromReply, MAX_PLACE_BYTES};
pub use read_files::read_files;
pub use types::{ForeignFile, Loss, RejectedPart, WrittenFile};
pub use write_files::write_files;

use crate::family::family;
pub(crate) use types::ExchangeCall;

family! {
    "exchange", run with ExchangeCall<'_>;
    /// A command of the exchange. The configuration decides whose entries they are.
    ExchangeCommand =>
    /// The reply of an [`ExchangeCommand`].
    ExchangeReply {
        ImportFrom,
        ExportTo,
    }
}
