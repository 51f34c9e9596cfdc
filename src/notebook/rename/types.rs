//! Types that the files of this folder share.

use alloc::string::String;
use alloc::vec::Vec;

use crate::document::Link;
use crate::notebook::types::Warning;
use crate::store::RelPath;
use crate::trust::ForModel;

/// Reply of [`Rename`](super::Rename).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RenameReply {
    /// Old path of the note.
    pub old_path: String,
    /// New path of the note.
    pub path: String,
    /// New title.
    pub title: String,
    /// Number of links that were rewritten.
    pub links: u32,
    /// Number of notes with rewritten links.
    pub files: u32,
    /// Notes that may still link to the old name, each with the reason.
    pub not_rewritten: Vec<Warning>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// Facts of the index about the note to rename.
pub(super) struct RenameSources<'a> {
    /// Notes that link to it, or say that they supersede it.
    pub(super) linking: &'a [RelPath],
    /// Notes that could not be read, so that their links are unknown.
    pub(super) unread: &'a [Warning],
    /// Files of other types that name its file, which a rename does not change.
    pub(super) naming: &'a [Warning],
    /// Returns true if a link of the note at this path (relative to the notebook) leads to it.
    pub(super) leads_to_old: &'a (dyn Fn(&str, &Link) -> bool + Send + Sync),
    /// Returns true if no other note has this name, title or alias. The one at the second path (relative to the
    /// notebook) is the same note.
    pub(super) is_unambiguous: &'a (dyn Fn(&str, &str) -> bool + Send + Sync),
    /// True if notes of its folder are named by their titles, as in Obsidian.
    pub(super) verbatim_names: bool,
}
