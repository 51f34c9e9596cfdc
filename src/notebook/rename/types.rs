//! The words that the files of this folder share.

use alloc::string::String;
use alloc::vec::Vec;

use crate::document::Link;
use crate::notebook::types::Warning;
use crate::store::RelPath;
use crate::trust::ForModel;

/// The reply of [`Rename`](super::Rename).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RenameReply {
    /// Where the note was.
    pub old_path: String,
    /// Where it is.
    pub path: String,
    /// Its new title.
    pub title: String,
    /// The number of links that were rewritten.
    pub links: u32,
    /// The number of notes that have them.
    pub files: u32,
    /// The notes that may still link to the old name, and why each was not rewritten.
    pub not_rewritten: Vec<Warning>,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// The facts of the index about the note that is renamed.
pub(super) struct RenameSources<'a> {
    /// The notes that link to it, or say that they supersede it.
    pub(super) linking: &'a [RelPath],
    /// The notes that could not be read, so that nobody knows whether they link to it.
    pub(super) unread: &'a [Warning],
    /// Returns true if a link of the note at this path, below the root of the notebook, leads to it.
    pub(super) leads_to_old: &'a (dyn Fn(&str, &Link) -> bool + Send + Sync),
    /// Returns true if no other note answers to this name, title or alias. The one at the second path, below the root
    /// of the notebook, is the same note.
    pub(super) is_unambiguous: &'a (dyn Fn(&str, &str) -> bool + Send + Sync),
    /// True if notes of its folder are called by their titles, as Obsidian calls them.
    pub(super) verbatim_names: bool,
}
