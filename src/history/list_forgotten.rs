//! `list-forgotten`: notes that are gone and whose text is kept.

use super::places::{FileKind, Place, history_folders, places};
use super::types::{DEFAULT_HISTORY_ITEMS, MAX_HISTORY_ITEMS};
use crate::changes::File;
use crate::engine::ambiguous;
use crate::names::{Stores, is_listed};
use crate::notebook::{SESSION, slug};
use crate::request::{Run, request};
use crate::search::is_markdown;
use crate::store::{Layout, RelPath};
use saddlebag_collections::{order, prelude::*, sorted::SortedSet};
use saddlebag_markdown::{Note, TagSyntax};
use saddlebag_protocol::{Error, ErrorCode};

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

request!(ListForgotten "list-forgotten" => ForgottenList, Reads, |name| {
    vec![Self::default(), Self { name: Some(name.into()), since: Some(0), limit: 1 }]
});

impl Run<Stores<'_>> for ListForgotten {
    async fn run(self, with: &Stores<'_>) -> Result<ForgottenList, Error> {
        let since = self.since.map_or(0, |seconds| u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000));
        let mut all = forgotten(with).await?;
        all.retain(|lost| lost.time_ns >= since);
        let named = match &self.name {
            Some(name) => named(with, all, name),
            None => all,
        };
        let mut notes: Vec<ForgottenNote> = named.iter().map(|lost| lost.info(with)).collect();
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
pub(crate) async fn find_forgotten(with: &Stores<'_>, name: &str) -> Result<Option<RelPath>, Error> {
    match named(with, forgotten(with).await?, name).as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.path.clone())),
        several => {
            let shown = several.iter().map(|lost| with.call.scope.display_path(&lost.path)).collect();
            Err(ambiguous(name, shown))
        }
    }
}

/// Returns the notes that a name means: those that it fits best.
fn named(with: &Stores<'_>, notes: Vec<Forgotten>, name: &str) -> Vec<Forgotten> {
    let fit = |lost: &Forgotten| lost.fit(name, &with.call.scope.display_path(&lost.path));
    let best = notes.iter().map(&fit).max().unwrap_or(Fit::None);
    notes.into_iter().filter(|lost| best > Fit::None && fit(lost) == best).collect()
}

/// How well a name fits a note, from the worst to the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    None,
    /// The name of the file is made from it.
    Slug,
    /// Title, alias, or name of the session.
    Title,
    /// End of the path, from a folder on.
    PathEnd,
    Path,
}

/// A note that is gone, and what is kept of it.
struct Forgotten {
    path: RelPath,
    note: Note,
    time_ns: u64,
    size: u64,
}

impl Forgotten {
    /// Text that cannot be read has the title that the name of its file gives.
    fn new(path: RelPath, bytes: &[u8], time_ns: u64) -> Self {
        let text = core::str::from_utf8(bytes).unwrap_or_default();
        let note = Note::parse_file(text, TagSyntax::default(), path.file_stem());
        Self { path, note, time_ns, size: bytes.len() as u64 }
    }

    fn fit(&self, name: &str, shown: &str) -> Fit {
        let mut titles = self.note.aliases.iter().chain([&self.note.title]);
        let without = |path: &str| String::from(path.strip_suffix(".md").unwrap_or(path));
        let (wanted, path) = (without(name.trim()), without(shown));
        match () {
            () if wanted == path => Fit::Path,
            () if path.strip_suffix(wanted.as_str()).is_some_and(|rest| rest.ends_with('/')) => Fit::PathEnd,
            () if titles.any(|title| title.trim().eq_ignore_ascii_case(&wanted)) => Fit::Title,
            () if self.note.frontmatter.texts(SESSION).any(|session| session == wanted) => Fit::Title,
            () if self.path.file_stem() == slug(&wanted) => Fit::Slug,
            () => Fit::None,
        }
    }

    fn info(&self, with: &Stores<'_>) -> ForgottenNote {
        let path = with.call.scope.display_path(&self.path);
        ForgottenNote { path, title: self.note.title.clone(), forgotten: self.time_ns, size: self.size }
    }
}

/// Returns the notes that are gone and whose text is kept.
async fn forgotten(with: &Stores<'_>) -> Result<Vec<Forgotten>, Error> {
    let Stores { call, entries, .. } = *with;
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
        let backup = match call.load(path).await {
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            backup => backup.ok(),
        };
        let bytes = backup.as_ref().and_then(File::bytes).unwrap_or_default();
        found.push(Forgotten::new(original.clone(), bytes, *modified));
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
            found.push(Forgotten::new(removed.path, &removed.bytes, time_ns));
        }
    }
    Ok(found)
}
