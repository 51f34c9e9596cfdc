//! Export: the files of the entries, byte for byte, in pages.

use super::state::EntriesCall;
use super::types::EntryProblem;
use super::view::{Stored, by_path, look};
use crate::request::{Run, request};
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Maximum number of files on a page of an export.
pub const MAX_EXPORT_FILES: usize = 1_024;

/// Maximum size of a page in bytes. A single file may be larger.
pub const MAX_EXPORT_BYTES: usize = 4 << 20;

/// Exports the files of the entries, byte for byte, in pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportEntries {
    /// If set, includes the files of forgotten entries.
    pub forgotten: bool,
    /// The `next` of the previous page.
    pub cursor: Option<String>,
}

/// A page of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportReply {
    /// Files, sorted by path: at most [`MAX_EXPORT_FILES`] with [`MAX_EXPORT_BYTES`] in total, or a single larger
    /// file.
    pub files: Vec<EntryFile>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
    /// Number of files on all pages.
    pub total: u32,
    /// Files that could not be parsed as entries and are not exported.
    pub problems: Vec<EntryProblem>,
}

/// File of an entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryFile {
    /// Path in the export: `<category>/<key>.md`, also for entries of the workspace.
    pub path: String,
    /// Content, byte for byte as it is stored.
    #[serde(skip)]
    pub content: Vec<u8>,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub updated: u64,
}

request!(ExportEntries "export-items" => ExportReply, Reads, |_| {
    vec![Self { forgotten: true, cursor: None }]
});

impl Run<EntriesCall<'_>> for ExportEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ExportReply, Error> {
        let EntriesCall { call, entries, scope, .. } = *with;
        let Self { forgotten, cursor } = self;
        let cursor = cursor.as_deref();
        if let Some(cursor) = cursor
            && RelPath::new(cursor).is_err()
        {
            let message = format!("`{}` is not a cursor", cursor.escape_debug());
            return Err(Error::invalid_argument(message, "give the `next` of the previous page, or leave it out"));
        }
        let view = look(call, entries, scope).await?;
        let now = call.now.epoch_nanoseconds();
        let is_meant = |stored: &Stored| !stored.is_expired(now) && (forgotten || stored.entry.forgotten.is_none());
        let mut files = by_path(&view, is_meant)?;
        let total = u32::try_from(files.len()).unwrap_or(u32::MAX);
        files.retain(|(path, _)| cursor.is_none_or(|cursor| path.as_str() > cursor));

        let corpus = entries.corpus.borrow();
        let mut bytes = 0;
        let mut taken: Vec<EntryFile> = Vec::new();
        for (path, stored) in files.iter().take(MAX_EXPORT_FILES) {
            let text = stored.text(&corpus)?;
            bytes += text.len();
            if bytes > MAX_EXPORT_BYTES && !taken.is_empty() {
                break;
            }
            let (path, content) = (path.as_str().to_string(), text.as_bytes().to_vec());
            taken.push(EntryFile { path, content, updated: stored.entry.updated });
        }
        let next = taken.last().filter(|_| taken.len() < files.len()).map(|last| last.path.clone());
        Ok(ExportReply { files: taken, next, total, problems: view.problems })
    }
}
