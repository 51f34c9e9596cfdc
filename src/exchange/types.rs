//! Types that the converters and the commands of the exchange share.

use core::ops::Deref;

use crate::entries::ForeignEntry;
use crate::names::Stores;
use crate::origin::Origin;
use saddlebag_collections::prelude::*;

/// A file of another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFile {
    /// Path relative to the place that the files come from.
    pub path: String,
    /// Number of its first line; greater than 1 if previous lines were in another command.
    pub first_line: u32,
    /// Bytes, or the reason why it could not be read.
    pub content: Result<Vec<u8>, String>,
}

/// A part of a file that could not be read, or only in part.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RejectedPart {
    /// Path of the file, as the caller gave it.
    pub path: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Reason in words.
    pub reason: String,
}

/// A written file: path and text.
pub type WrittenFile = (String, String);

/// A loss: something that the format cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    /// Key of the entry; `*` for all entries.
    pub key: String,
    /// Name of the field; `entry` if the whole entry is left out.
    pub field: String,
    /// Reason in words.
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
    /// Creates an entry that records its position in the file; all other fields are empty.
    pub(super) fn at(&self, line: u32) -> ForeignEntry {
        let line = self.first_line.saturating_add(line).saturating_sub(1);
        ForeignEntry { path: self.path.into(), line, ..ForeignEntry::default() }
    }

    /// Creates an entry that begins at a line of the file.
    pub(super) fn entry(&self, line: u32, key: String, category: &str, content: &str) -> ForeignEntry {
        ForeignEntry { key, category: category.into(), content: content.into(), ..self.at(line) }
    }
}

/// Output of a reading converter.
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

/// Output of a writing converter.
#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) files: Vec<WrittenFile>,
    pub(super) left_out: Vec<Loss>,
}

impl Output {
    pub(super) fn file(&mut self, path: String, text: String) {
        self.files.push((path, text));
    }

    pub(super) fn leave_out(&mut self, entry: &ForeignEntry, reason: &str) {
        self.left_out.push(Loss { key: entry.key.clone(), field: "entry".into(), reason: reason.into() });
    }
}

/// Parts of a memory that the commands of the exchange need, and the scope that the command names.
pub(crate) struct ExchangeCall<'a> {
    pub(crate) stores: Stores<'a>,
    pub(crate) origin: &'a Origin,
}

impl<'a> Deref for ExchangeCall<'a> {
    type Target = Stores<'a>;

    fn deref(&self) -> &Stores<'a> {
        &self.stores
    }
}
