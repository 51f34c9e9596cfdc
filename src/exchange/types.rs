//! The words that the converters and the commands of the exchange share.

use alloc::string::String;
use alloc::vec::Vec;

use crate::engine::Call;
use crate::entries::{Entries, ForeignEntry};
use crate::trust::Provenance;

/// A file of another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFile {
    /// Its path below the place that the files come from.
    pub path: String,
    /// The number of its first line: greater than 1 where lines before it came with another command.
    pub first_line: u32,
    /// Its bytes, or why it could not be read.
    pub content: Result<Vec<u8>, String>,
}

/// A part of a file that could not be read, or not whole.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RejectedPart {
    /// The file, as it was given.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// Why.
    pub reason: String,
}

/// A file as it is written: its path, and its text.
pub type WrittenFile = (String, String);

/// What a format could not carry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    /// The entry; `*` for all of them.
    pub key: String,
    /// The field, or `entry` where all of it is left out.
    pub field: String,
    /// Why.
    pub reason: String,
}

/// A file that is text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextFile<'a> {
    pub(super) path: &'a str,
    pub(super) first_line: u32,
    pub(super) text: &'a str,
}

impl TextFile<'_> {
    /// Where something is in the file; all else of it is to be said.
    pub(super) fn at(&self, line: u32) -> ForeignEntry {
        let line = self.first_line.saturating_add(line).saturating_sub(1);
        ForeignEntry { path: self.path.into(), line, ..ForeignEntry::default() }
    }
}

/// What a converter has read.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) entries: Vec<ForeignEntry>,
    pub(super) rejected: Vec<RejectedPart>,
}

impl Converted {
    pub(super) fn reject(&mut self, file: &TextFile<'_>, line: u32, reason: String) {
        let ForeignEntry { path, line, .. } = file.at(line);
        self.rejected.push(RejectedPart { path, line, reason });
    }
}

/// What a converter has written.
#[derive(Debug, Default)]
pub(super) struct Exported {
    pub(super) files: Vec<WrittenFile>,
    pub(super) left_out: Vec<Loss>,
}

impl Exported {
    pub(super) fn file(&mut self, path: String, text: String) {
        self.files.push((path, text));
    }

    pub(super) fn leave_out(&mut self, entry: &ForeignEntry, reason: &str) {
        self.left_out.push(Loss { key: entry.key.clone(), field: "entry".into(), reason: reason.into() });
    }

    /// The core entries; the others are left out.
    pub(super) fn core_of<'e>(&mut self, entries: &'e [ForeignEntry], reason: &str) -> Vec<&'e ForeignEntry> {
        let (core, others): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.category == "core");
        others.into_iter().for_each(|entry| self.leave_out(entry, reason));
        core
    }
}

/// The parts of a memory that the commands of the exchange share, and the scope that one names.
pub(crate) struct ExchangeCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) entries: &'a Entries,
    /// See [`Origin::provenance`](crate::Origin::provenance).
    pub(crate) provenance: Option<Provenance>,
}
