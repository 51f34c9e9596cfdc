//! Exchange of memory with other agents: their formats, read into entries and written from entries.
//!
//! Each format is a row of a table in `format.rs`: a reader, a pure function over files that the host has read, and for some a
//! writer. A reader produces [`ForeignEntry`](crate::entries::ForeignEntry)s, which the entries import one by one, and a
//! [`RejectedPart`] for each part that could not be read. Losses of a format are found by reading back the written files: each
//! difference is a [`Loss`].
//!
//! [`ImportItems`] and [`ExportItems`] are the commands; [`detect`] detects the format of a folder.
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

pub(crate) use types::ExchangeCall;

use crate::entries::{self, ExportEntries, ExportReply, ImportEntries, ImportReply, RetainEntries, RetainReply};
use crate::family::{family, kind_members, kinds};
use crate::names::Stores;
use crate::notebook::{ImportNotes, ImportNotesReply, NotebookCall};
use crate::request::{Run, request};
use saddlebag_protocol::Error;

family! {
    "exchange", run with ExchangeCall<'_>;
    /// A command of the exchange. The configuration decides whose items it uses.
    ExchangeCommand =>
    /// Reply of an [`ExchangeCommand`].
    ExchangeReply {
        ExportItems,
        ImportItems { source: parts "source" },
    }
}

/// Imports entries or notes from one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportItems {
    /// What to import.
    pub source: ImportSource,
}

request!(ImportItems "import-items" => Imported, Removes, |name| {
    ImportSource::samples(name).map(|source| Self { source }).collect()
});

kinds! {
    /// Source of an import.
    ImportSource =>
    /// What was imported, with a case for each source.
    Imported {
        /// Files of entries, byte for byte.
        Entries(ImportEntries) =>
        /// Files of entries.
        ImportReply,
        /// Files of another format, whose texts become entries.
        Files(ImportFrom) =>
        /// Files of another format.
        ImportFromReply,
        /// Texts from elsewhere, each of which becomes a note.
        Notes(ImportNotes) =>
        /// Texts that became notes.
        ImportNotesReply,
        /// The end of an import that replaces all entries: forgets those that are in none of its files.
        Rest(RetainEntries) =>
        /// Entries that were in no file.
        RetainReply,
    }
}

kind_members! {
    ExchangeCommand::ImportItems { source: ImportSource } => ExchangeReply, Imported;
    Entries(ImportEntries), Files(ImportFrom), Notes(ImportNotes), Rest(RetainEntries),
}

impl Run<ExchangeCall<'_>> for ImportItems {
    async fn run(self, with: &ExchangeCall<'_>) -> Result<Imported, Error> {
        let (Stores { call, notebook, entries }, origin) = (with.stores, with.origin);
        Ok(match self.source {
            ImportSource::Entries(files) => Imported::Entries(entries::run(call, entries, origin, files).await?),
            ImportSource::Files(files) => Imported::Files(files.run(with).await.map_err(entries::unavailable)?),
            ImportSource::Notes(notes) => Imported::Notes(notes.run(&NotebookCall { call, notebook }).await?),
            ImportSource::Rest(rest) => Imported::Rest(entries::run(call, entries, origin, rest).await?),
        })
    }
}

/// Exports the entries, in pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportItems {
    /// What to export.
    pub target: ExportTarget,
}

request!(ExportItems "export-items" => Exported, Reads, |name| {
    ExportTarget::samples(name).map(|target| Self { target }).collect()
});

kinds! {
    /// What an export gives.
    ExportTarget =>
    /// A page of an export, with a case for each target.
    Exported {
        /// The files of the entries, byte for byte.
        Entries(ExportEntries) =>
        /// Files of the entries.
        ExportReply,
        /// Files of another format.
        Files(ExportTo) =>
        /// Files of another format.
        ExportToReply,
    }
}

kind_members! {
    ExchangeCommand::ExportItems { target: ExportTarget } => ExchangeReply, Exported;
    Entries(ExportEntries), Files(ExportTo),
}

impl Run<ExchangeCall<'_>> for ExportItems {
    async fn run(self, with: &ExchangeCall<'_>) -> Result<Exported, Error> {
        let (Stores { call, entries, .. }, origin) = (with.stores, with.origin);
        Ok(match self.target {
            ExportTarget::Entries(page) => Exported::Entries(entries::run(call, entries, origin, page).await?),
            ExportTarget::Files(page) => Exported::Files(page.run(with).await.map_err(entries::unavailable)?),
        })
    }
}
