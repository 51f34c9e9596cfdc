//! Exchange of memory with other agents: their formats, read into entries and written from entries.
//!
//! Each format is a row of a table in `format.rs`: a reader, a pure function over files that the host has read, and for some a
//! writer. A reader produces [`ForeignEntry`](crate::entries::ForeignEntry)s, which the entries import one by one, and a
//! [`RejectedPart`] for each part that could not be read. Losses of a format are found by reading back the written files: each
//! difference is a [`Loss`].
//!
//! [`ImportFrom`] and [`ExportTo`] are the commands; [`detect`] detects the format of a folder.
//!
//! # How does memory come from other agents?
//!
//! The host reads files and passes their bytes. A converter turns them into `ForeignEntry`s and names the parts that it could
//! not read. `entries/adopt.rs` decides about each in two passes over one view of the entries: it first finds the entries
//! that are here already, then assigns keys to the others. The only record of earlier imports is the source of an entry, which
//! has the place and a digest of the text there. `imported_entry` is the one function that builds the fields of an imported
//! entry. docs/exchange.md has the outcomes.
//!
//! An export is a pure function of the entries and is computed again for each page. The cursor has a digest of the whole, so
//! pages never mix two states of the store. `find_losses` reads back the written files and compares, so losses are measured
//! instead of listed by hand.

mod basic_memory;
mod claude_code;
mod detect;
mod export_to;
mod format;
mod import_from;
mod json;
mod losses;
mod mcp_memory;
mod read_files;
mod readers;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod write_files;

pub use basic_memory::{Observation, Relation, parse as parse_basic_memory};
pub use detect::{Detected, detect, is_basic_memory};
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
    /// A command of the exchange. The configuration decides whose entries it uses.
    ExchangeCommand =>
    /// Reply of an [`ExchangeCommand`].
    ExchangeReply {
        ImportFrom { format, place, files: parts "files", others, dry_run, earlier, of_project },
        ExportTo,
    }
}
