//! `list-forgotten`: notes that are gone and whose text is kept.

use alloc::string::String;
use alloc::vec::Vec;

use super::places::{FileKind, Place, history_folders, places};
use super::types::{DEFAULT_HISTORY_ITEMS, HistoryCall, MAX_HISTORY_ITEMS};
use crate::document::{Note, TagSyntax};
use crate::engine::ambiguous;
use crate::files::is_listed;
use crate::notebook::slug;
use crate::order;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::search::is_markdown;
use crate::sorted::SortedSet;
use crate::store::{Layout, RelPath};

/// Lists notes that are gone and whose text is kept, the last forgotten first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListForgotten {
    /// Only the notes that this name means: a path, the name of a file, a title or an alias.
    pub name: Option<String>,
    /// Only notes that were forgotten at or after this time, in seconds since 1970-01-01T00:00:00Z.
    pub since: Option<i64>,
    /// Maximum number of notes, from 1 to [`MAX_HISTORY_ITEMS`].
    pub limit: u32,
}

impl Default for ListForgotten {
    fn default() -> Self {
        Self { name: None, since: None, limit: DEFAULT_HISTORY_ITEMS }
    }
}

/// A note that is gone. [`Restore`](crate::journal::Restore) with its path brings it back.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgottenNote {
    /// Path that the note had.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Time when it was forgotten, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub forgotten: u64,
    /// Size of its text, in bytes.
    pub size: u64,
}

/// Notes that are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgottenList {
    /// The notes, the last forgotten first.
    pub notes: Vec<ForgottenNote>,
    /// Number of notes, with those over the limit.
    pub total: u32,
}

impl Request for ListForgotten {
    type Reply = ForgottenList;
    const NAME: &'static str = "list-forgotten";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self::default(), Self { name: Some(name.into()), since: Some(0), limit: 1 }]
    }
}

impl Run<HistoryCall<'_>> for ListForgotten {
    async fn run(self, with: &HistoryCall<'_>) -> Result<ForgottenList, Error> {
        let since = self.since.map_or(0, |seconds| u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000));
        let mut notes = Vec::new();
        for lost in forgotten(with).await? {
            let info = lost.info(with);
            if info.forgotten >= since && self.name.as_deref().is_none_or(|name| lost.is_named(name, &info.path)) {
                notes.push(info);
            }
        }
        order::sort_slice(&mut notes, |a, b| b.forgotten.cmp(&a.forgotten).then_with(|| a.path.cmp(&b.path)));
        let total = u32::try_from(notes.len()).unwrap_or(u32::MAX);
        notes.truncate(self.limit.clamp(1, MAX_HISTORY_ITEMS) as usize);
        Ok(ForgottenList { notes, total })
    }
}

/// Returns the path of the note that is gone and that a name means; `None` if there is none.
///
/// # Errors
///
/// The name means several.
pub(crate) async fn find_forgotten(with: &HistoryCall<'_>, name: &str) -> Result<Option<RelPath>, Error> {
    let shown = |path: &RelPath| with.call.scope.display_path(path);
    let mut found = forgotten(with).await?;
    found.retain(|lost| lost.is_named(name, &shown(&lost.path)));
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.path.clone())),
        several => Err(ambiguous(name, several.iter().map(|lost| shown(&lost.path)).collect())),
    }
}

/// A note that is gone, and what is kept of it.
struct Forgotten {
    path: RelPath,
    note: Note,
    time_ns: u64,
    size: u64,
}

impl Forgotten {
    fn new(path: RelPath, bytes: &[u8], time_ns: u64) -> Option<Self> {
        let text = core::str::from_utf8(bytes).ok()?;
        let note = Note::parse_file(text, TagSyntax::default(), path.file_stem());
        Some(Self { path, note, time_ns, size: bytes.len() as u64 })
    }

    fn is_named(&self, name: &str, shown: &str) -> bool {
        let names = || self.note.aliases.iter().chain([&self.note.title]);
        let without = |path: &str| String::from(path.strip_suffix(".md").unwrap_or(path));
        let (wanted, path, stem) = (without(name.trim()), without(shown), self.path.file_stem());
        wanted == path
            || path.strip_suffix(wanted.as_str()).is_some_and(|rest| rest.ends_with('/'))
            || stem == slug(&wanted)
            || names().any(|title| title.trim().eq_ignore_ascii_case(&wanted))
    }

    fn info(&self, with: &HistoryCall<'_>) -> ForgottenNote {
        let path = with.call.scope.display_path(&self.path);
        ForgottenNote { path, title: self.note.title.clone(), forgotten: self.time_ns, size: self.size }
    }
}

/// Returns the notes that are gone and whose text is kept.
async fn forgotten(with: &HistoryCall<'_>) -> Result<Vec<Forgotten>, Error> {
    let HistoryCall { call, entries, .. } = *with;
    let places = places(with).await?;
    let of_kind = |kind: FileKind| places.iter().filter(move |place| place.kind == kind);
    let present: SortedSet<RelPath> = of_kind(FileKind::Kept).map(|place| place.path.clone()).collect();
    let is_note = |path: &RelPath| {
        is_markdown(path)
            && is_listed(call, entries, path)
            && call.scope.layout.reserved_for(path).is_none()
            && !entries.folders().any(|folder| folder.has(path))
            && !present.contains(path)
    };
    let mut found = Vec::new();
    let mut with_backup: SortedSet<RelPath> = SortedSet::default();
    for Place { path, modified, .. } in of_kind(FileKind::Backup) {
        let original = Layout::original_of(path).filter(|original| Layout::backup_of(original) == *path);
        let Some(original) = original.filter(|original| is_note(original)) else { continue };
        let backup = call.load(path).await?;
        found.extend(Forgotten::new(original.clone(), backup.bytes().unwrap_or_default(), *modified));
        with_backup.insert(original);
    }
    // A backup is newer than the text in the history.
    let is_wanted = |path: &RelPath| is_note(path) && !with_backup.contains(path);
    for folder in history_folders(with)? {
        for removed in call.removed_and_kept(&folder, is_wanted).await? {
            if !removed.is_kept_by_removal {
                continue;
            }
            let time_ns = u64::try_from(removed.time_ns).unwrap_or(0);
            found.extend(Forgotten::new(removed.path, &removed.bytes, time_ns));
        }
    }
    Ok(found)
}
