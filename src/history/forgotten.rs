//! Notes that are gone and whose text is kept.

use super::places::{FileKind, Place, history_folders, places};
use crate::changes::File;
use crate::engine::ambiguous;
use crate::names::{Stores, is_listed};
use crate::notebook::{SESSION, fold, slug};
use crate::search::is_markdown;
use crate::store::{Layout, RelPath};
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_markdown::{Note, TagSyntax};
use saddlebag_protocol::{Error, ErrorCode};

/// A note that is gone, and whose text is kept.
pub(crate) struct ForgottenNote {
    pub(crate) path: RelPath,
    pub(crate) note: Note,
    /// Time when it was forgotten, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    pub(crate) time: u64,
}

/// Returns the notes that are gone and whose text is kept; with a name, those that it means: a path, the name of a file, a title,
/// an alias or a session.
pub(crate) async fn forgotten_notes(with: &Stores<'_>, name: Option<&str>) -> Result<Vec<ForgottenNote>, Error> {
    let all = forgotten(with).await?;
    Ok(match name {
        Some(name) => named(with, all, name),
        None => all,
    })
}

/// Returns the path of the note that is gone and that a name means; `None` if there is none.
///
/// # Errors
///
/// The name means several.
pub(super) async fn find_forgotten(with: &Stores<'_>, name: &str) -> Result<Option<RelPath>, Error> {
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
fn named(with: &Stores<'_>, notes: Vec<ForgottenNote>, name: &str) -> Vec<ForgottenNote> {
    let fit = |lost: &ForgottenNote| lost.fit(name, &with.call.scope.display_path(&lost.path));
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

impl ForgottenNote {
    /// Text that cannot be read has the title that the name of its file gives.
    fn new(path: RelPath, bytes: &[u8], time: u64) -> Self {
        let text = core::str::from_utf8(bytes).unwrap_or_default();
        let note = Note::parse_file(text, TagSyntax::default(), path.file_stem());
        Self { path, note, time }
    }

    fn fit(&self, name: &str, shown: &str) -> Fit {
        let mut titles = self.note.aliases.iter().chain([&self.note.title]);
        let without = |path: &str| fold(path.strip_suffix(".md").unwrap_or(path));
        let (wanted, path) = (without(name.trim().trim_start_matches("./")), without(shown));
        match () {
            () if wanted == path => Fit::Path,
            () if path.strip_suffix(wanted.as_str()).is_some_and(|rest| rest.ends_with('/')) => Fit::PathEnd,
            () if titles.any(|title| fold(title.trim()) == wanted) => Fit::Title,
            () if self.note.frontmatter.texts(SESSION).any(|session| session == wanted) => Fit::Title,
            () if self.path.file_stem() == slug(&wanted) => Fit::Slug,
            () => Fit::None,
        }
    }
}

/// Returns the notes that are gone and whose text is kept.
async fn forgotten(with: &Stores<'_>) -> Result<Vec<ForgottenNote>, Error> {
    let Stores { call, entries, .. } = *with;
    let places = places(with).await?;
    let of_kind = |kind: FileKind| places.iter().filter(move |place| place.kind == kind);
    let present: SortedSet<RelPath> = of_kind(FileKind::Kept).map(|place| place.path.clone()).collect();
    let is_note = |path: &RelPath| {
        is_markdown(path)
            && is_listed(call, entries, path)
            && call.scope.layout.reserved_for(path).is_none()
            && !entries.has(path)
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
        found.push(ForgottenNote::new(original.clone(), bytes, *modified));
        with_backup.insert(original);
    }
    // A backup is newer than the text in the history.
    let is_wanted = |path: &RelPath| is_note(path) && !with_backup.contains(path);
    for folder in history_folders(with)? {
        for removed in call.removed_and_kept(&folder, is_wanted).await? {
            if !removed.is_kept_by_removal {
                continue;
            }
            let time = u64::try_from(removed.time_ns).unwrap_or(0);
            found.push(ForgottenNote::new(removed.path, &removed.bytes, time));
        }
    }
    Ok(found)
}
