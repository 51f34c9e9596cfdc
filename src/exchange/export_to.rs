//! The part of `export-items` that writes the entries in another format, in pages.

use super::format::Format;
use super::types::{ExchangeCall, Loss, WrittenFile};
use super::write_files::write_files;
use crate::entries::{self, EntryProblem, ForeignEntry, MAX_IMPORT_BYTES, MAX_IMPORT_FILES, hash, is_confined};
use crate::request::{Run, request};
use saddlebag_collections::{part::SlicePart, prelude::*};
use saddlebag_protocol::{Error, ErrorCode};

/// Writes the entries in a format, in pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportTo {
    /// Format to write, which has a writer: [`Format::is_written`].
    pub format: Format,
    /// If set, includes forgotten entries, if the format can mark them.
    pub forgotten: bool,
    /// If set, includes entries that nobody has approved. Only [`Format::JsonLines`] marks them; in other formats they
    /// would look like trusted text. If not set, they are left out and named among the losses.
    pub unapproved: bool,
    /// The `next` of the previous page.
    pub cursor: Option<String>,
}

/// A page of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportToReply {
    /// At most 1,024 parts with 4 MiB in total. A large file is split over several pages.
    #[serde(skip)]
    pub parts: Vec<FilePart>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
    /// Number of files on all pages.
    pub files: u32,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Number of entries in the files.
    pub entries: u32,
    /// Number of these entries that nobody has approved.
    pub unapproved: u32,
    /// Fields and entries that the format cannot carry, and entries that were left out; on the first page.
    pub losses: Vec<Loss>,
    /// Files that could not be parsed as entries and are not exported; on the first page.
    pub problems: Vec<EntryProblem>,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePart {
    /// Path of the file.
    pub path: String,
    /// Position of the part in the file, in bytes.
    pub offset: u64,
    /// Bytes of the part.
    #[serde(skip)]
    pub content: Vec<u8>,
}

request!(ExportTo "export-items" => ExportToReply, Reads, |_| {
    let export = |format| Self { format, forgotten: false, unapproved: false, cursor: None };
    [Format::JsonLines, Format::ClaudeCode].map(export).to_vec()
});

impl Run<ExchangeCall<'_>> for ExportTo {
    async fn run(self, with: &ExchangeCall<'_>) -> Result<ExportToReply, Error> {
        let Self { format, forgotten, unapproved, cursor } = self;
        let dumped = entries::dump(with.call, with.entries, forgotten).await?;
        let (mut dumped, problems) = dumped;
        let mut left_out = Vec::new();
        if !unapproved && format != Format::JsonLines {
            left_out = leave_out_withheld(&mut dumped, with.call.scope.layout.project_name());
        }
        let (files, mut losses) = write_files(format, &dumped)?;
        losses.splice(0..0, left_out);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let unapproved = dumped.iter().filter(|entry| entry.trust_state.unapproved().is_some()).count();
        let first = cursor.is_none();
        let page = page(&files, cursor.as_deref())?;
        let (losses, problems) = if first { (losses, problems) } else { (Vec::new(), Vec::new()) };
        let (entries, unapproved) = (count(dumped.len()), count(unapproved));
        Ok(ExportToReply { entries, unapproved, losses, problems, ..page })
    }
}

/// Removes unapproved entries and entries of other projects, and reports each, because a reader of the files would
/// trust them.
fn leave_out_withheld(entries: &mut Vec<ForeignEntry>, project: Option<&str>) -> Vec<Loss> {
    let mut left_out = Vec::new();
    entries.retain(|entry| {
        let is_of = |projects: &[String]| projects.iter().any(|other| Some(other.as_str()) == project);
        let reason = match entry.trust_state {
            state if let Some(provenance) = state.unapproved() => {
                format!("not approved: its text comes from `{provenance}`")
            }
            state if is_confined(&entry.projects, state) && !is_of(&entry.projects) => {
                let how = if state.provenance.is_trusted() { "an agent wrote it" } else { "it was imported" };
                format!("not approved for all projects: {how} in {}", entry.projects.join(", "))
            }
            _ => return true,
        };
        left_out.push(Loss { key: entry.key.clone(), field: "entry".into(), reason });
        false
    });
    left_out
}

/// Returns the parts from a cursor on. The cursor contains a digest of all files, so that pages of two states of the
/// store are never mixed.
pub(super) fn page(files: &[WrittenFile], cursor: Option<&str>) -> Result<ExportToReply, Error> {
    let parts: Vec<&str> = files.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]).collect();
    let digest = hash(&parts, 8);
    let (mut place, mut offset) = match cursor {
        None => (0, 0),
        Some(cursor) => place_of(cursor, &digest, files)?,
    };
    let mut page = ExportToReply {
        files: u32::try_from(files.len()).unwrap_or(u32::MAX),
        bytes: files.iter().map(|(_, text)| text.len() as u64).sum(),
        ..ExportToReply::default()
    };
    let mut room = MAX_IMPORT_BYTES;
    while let Some((path, text)) = files.get(place).filter(|_| room > 0 && page.parts.len() < MAX_IMPORT_FILES) {
        let rest = text.as_bytes().part(offset..);
        let part = rest.get(..room).unwrap_or(rest);
        page.parts.push(FilePart { path: path.clone(), offset: offset as u64, content: part.to_vec() });
        room -= part.len();
        (place, offset) = if part.len() == rest.len() { (place + 1, 0) } else { (place, offset + part.len()) };
    }
    page.next = (place < files.len()).then(|| format!("{digest}:{place}:{offset}"));
    Ok(page)
}

fn place_of(cursor: &str, digest: &str, files: &[WrittenFile]) -> Result<(usize, usize), Error> {
    let mut parts = cursor.split(':');
    let (of, place, offset) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
    let not_a_cursor = || {
        let message = format!("`{}` is not a cursor", cursor.escape_debug());
        Error::invalid_argument(message, "give the `next` of the previous page, or leave it out")
    };
    let (Some(of), Some(place), Some(offset), None) = (of, number(place), number(offset), parts.next()) else {
        return Err(not_a_cursor());
    };
    if of != digest {
        let message = "the entries have changed since the first page of this export";
        return Err(Error::new(ErrorCode::ExpiredCursor, message, "begin the export again"));
    }
    if files.get(place).is_none_or(|(_, text)| text.len() < offset) {
        return Err(not_a_cursor());
    }
    Ok((place, offset))
}
