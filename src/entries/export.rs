//! Export: the files of the entries, byte for byte, in pages.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::state::EntriesCall;
use super::types::EntryProblem;
use super::view::{Stored, look, path_of};
use crate::order;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::store::RelPath;

/// How many files a page of an export has at most.
pub const MAX_EXPORT_FILES: usize = 1_024;

/// How many bytes the files of a page have together, unless one alone has more.
pub const MAX_EXPORT_BYTES: usize = 4 << 20;

/// Gives the files of the entries, byte for byte, in pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportEntries {
    /// Those of forgotten entries, too.
    pub forgotten: bool,
    /// The `next` of the page before.
    pub cursor: Option<String>,
}

/// A page of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportReply {
    /// By path; at most [`MAX_EXPORT_FILES`], with [`MAX_EXPORT_BYTES`] together unless one alone has more.
    pub files: Vec<EntryFile>,
    /// Where the next page begins; `None` on the last.
    pub next: Option<String>,
    /// How many files there are on all pages.
    pub total: u32,
    /// Files that are no entries, and are not exported.
    pub problems: Vec<EntryProblem>,
}

/// The file of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFile {
    /// `<category>/<key>.md`, also of the workspace.
    pub path: String,
    /// Byte for byte as it is stored.
    pub content: Vec<u8>,
    /// When the entry was last changed, in nanoseconds since 1970-01-01T00:00:00Z.
    pub updated: u64,
}

impl Request for ExportEntries {
    type Reply = ExportReply;
    const NAME: &'static str = "export-entries";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self { forgotten: true, cursor: None }]
    }
}

impl Run<EntriesCall<'_>> for ExportEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ExportReply, Error> {
        let EntriesCall { call, entries, scope, .. } = *with;
        let Self { forgotten, cursor } = self;
        let cursor = cursor.as_deref();
        if let Some(cursor) = cursor
            && RelPath::parse(cursor).is_err()
        {
            let message = format!("`{}` is no cursor", cursor.escape_debug());
            return Err(Error::invalid_argument(message, "give the `next` of the page before, or none"));
        }
        let view = look(call, entries, scope).await?;
        let now = call.now.epoch_nanoseconds();
        let is_meant = |stored: &&Stored| !stored.is_expired(now) && (forgotten || stored.entry.forgotten.is_none());
        let files = view.entries.iter().filter(is_meant).map(|stored| Ok((path_of(stored)?, stored)));
        let mut files: Vec<(RelPath, &Stored)> = files.collect::<Result<_, Error>>()?;
        order::sort_slice(&mut files, |a, b| a.0.as_str().cmp(b.0.as_str()));
        let total = u32::try_from(files.len()).unwrap_or(u32::MAX);
        files.retain(|(path, _)| cursor.is_none_or(|cursor| path.as_str() > cursor));

        let corpus = entries.corpus.borrow();
        let text_of = |stored: &Stored| corpus.files.doc(stored.doc).map(|doc| doc.text()).unwrap_or_default();
        let mut bytes = 0;
        let fits = |(_, stored): &&(RelPath, &Stored)| {
            let is_first = bytes == 0;
            bytes += text_of(stored).len();
            is_first || bytes <= MAX_EXPORT_BYTES
        };
        let taken = files.iter().take(MAX_EXPORT_FILES).take_while(fits).map(|(path, stored)| EntryFile {
            path: path.as_str().to_string(),
            content: text_of(stored).as_bytes().to_vec(),
            updated: stored.entry.updated,
        });
        let taken: Vec<EntryFile> = taken.collect();
        let next = taken.last().filter(|_| taken.len() < files.len()).map(|last| last.path.clone());
        Ok(ExportReply { files: taken, next, total, problems: view.problems })
    }
}
