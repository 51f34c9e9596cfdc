//! The place of a path below `/memories` in the store, and the listing of its folder.
//!
//! ```text
//! /memories/MEMORY.md                       long-term memory, as the target `long_term` means it
//! /memories/SHARED_MEMORY.md                that of all projects, where long-term memory is the project's
//! /memories/PROJECT_MEMORY.md               that of the project, where long-term memory is shared
//! /memories/SCRATCHPAD.md, daily/, notes/,  the Markdown of the scope, under its own paths
//!           facts/, decisions/, ...
//! /memories/entries/<category>/<key>.md     the entries
//! /memories/<anything else>                 memories/<anything else> of the scope
//! ```
//!
//! What a model makes without being asked is kept apart in `memories/`, and shown where the model put it. Hidden files,
//! backups, templates and the memory of other scopes are never shown.

use core::str::FromStr;

use super::path::{ENTRIES, MemoryPath, exactly};
use crate::changes::Call;
use crate::entries::{Entries, ShownFile, shown_files};
use crate::search::{Skipped, skipped_names};
use crate::store::{
    DAILY_FOLDER, DECISIONS_FOLDER, Date, FACTS_FOLDER, LONG_TERM_FILE, Layout, NOTE_SUFFIX, NOTES_FOLDER, NoteName,
    RelPath, SCOPE_FOLDERS, SCRATCHPAD_FILE, TEMPLATES_FOLDER, is_name, portable_path, text_of_name,
};
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{Entry, EntryKind, Error, ErrorCode, FsError, ListOutcome, ReadOutcome};

/// Folder of the store for files that belong to no family.
const OWN_FOLDER: &str = "memories";
/// Name of the long-term memory that all projects share, if the project has its own.
const SHARED_FILE: &str = "SHARED_MEMORY.md";
/// Name of the project's own long-term memory, if the projects share the main one.
const PROJECT_FILE: &str = "PROJECT_MEMORY.md";
/// Names that belong to a family even before they exist.
const FAMILIES: [&str; 5] = [SCRATCHPAD_FILE, DAILY_FOLDER, NOTES_FOLDER, FACTS_FOLDER, DECISIONS_FOLDER];
/// Maximum number of items in a folder.
const MAX_CHILDREN: usize = 65_536;

/// Location of a file or folder.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// `/memories` itself.
    Root,
    /// A file or a folder of the store, and the family that owns it.
    Stored { area: Area, path: RelPath },
    /// The folder of all entries (no names), of one category (`folder`), or an entry (both).
    Entries { folder: Option<String>, name: Option<String> },
}

/// Family whose rules hold for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    LongTerm,
    Scope,
    Own,
}

/// Result of looking at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Absent,
}

/// Planned change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Create,
    Remove,
    Rename,
}

/// Items of a folder.
#[derive(Default)]
pub(super) struct Children {
    pub(super) shown: Vec<Child>,
    /// Names that cannot be listed, each without its folder. `.` is the folder itself.
    pub(super) left_out: Vec<Skipped>,
}

/// An item of a folder.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) is_folder: bool,
    pub(super) size: u64,
}

/// The folder `/memories`, as one command sees it.
pub(super) struct Folder<'a> {
    pub(super) call: &'a Call,
    pub(super) entries: &'a Entries,
}

impl Folder<'_> {
    pub(super) async fn locate(&self, path: &MemoryPath) -> Result<Place, Error> {
        let top = path.top();
        if path.is_root() {
            return Ok(Place::Root);
        }
        if top == ENTRIES {
            return entries_place(path);
        }
        let is_named = |(name, _): &(&str, &RelPath)| path.segments.len() == 1 && top == *name;
        if let Some((_, path)) = self.long_term_files().find(is_named) {
            return Ok(Place::Stored { area: Area::LongTerm, path: path.clone() });
        }
        let area = if FAMILIES.contains(&top) {
            Area::Scope
        } else if !may_be_shown(top) || self.is_long_term_name(top) {
            Area::Own
        } else {
            let has = |children: &Children| children.shown.iter().any(|child| child.name == top);
            // A folder of notes may contain one that is the memory of someone else.
            let is_of_others =
                self.layout().in_notebook(&path.below()).is_ok_and(|path| self.layout().is_in_other_memory(&path));
            let is_own = has(&self.stored_children(Area::Own, Some(&self.own()?)).await?);
            let is_of_scope = !is_of_others
                && !is_own
                && has(&self.stored_children(Area::Scope, self.layout().project_folder()).await?);
            if is_of_scope { Area::Scope } else { Area::Own }
        };
        let below = path.below();
        let inside = if area == Area::Own { format!("{OWN_FOLDER}/{below}") } else { below };
        let path = self.layout().in_notebook(&inside).map_err(|error| exactly(format!("{error}")))?;
        Ok(Place::Stored { area, path })
    }

    /// Returns what exists at a place. A folder that shows nothing counts as missing.
    pub(super) async fn kind(&self, place: &Place) -> Result<Kind, Error> {
        let found = match place {
            Place::Root => return Ok(Kind::Folder),
            Place::Entries { name: Some(_), .. } => {
                let found = self.entry(place).await?;
                return Ok(if found.is_some() { Kind::File } else { Kind::Absent });
            }
            Place::Entries { .. } => None,
            Place::Stored { area, path } => match self.call.fs.read(path, 0, 0).await {
                Ok(ReadOutcome::Content(_)) if is_shown(*area, path) => Some(Kind::File),
                Ok(ReadOutcome::Content(_)) | Err(FsError::NotDirectory) => Some(Kind::Absent),
                Ok(ReadOutcome::Absent) | Err(FsError::IsDirectory) => None,
                Err(FsError::SymbolicLink) => return Err(through_link()),
                Err(error) => return Err(Error::storage(Some(path), &error)),
            },
        };
        match found {
            Some(kind) => Ok(kind),
            None if self.children(place).await?.shown.is_empty() => Ok(Kind::Absent),
            None => Ok(Kind::Folder),
        }
    }

    /// Lists what a folder shows, sorted by name.
    pub(super) async fn children(&self, place: &Place) -> Result<Children, Error> {
        let mut children = match place {
            Place::Root => self.top().await?,
            Place::Stored { area, path } => self.stored_children(*area, Some(path)).await?,
            Place::Entries { name: Some(_), .. } => Children::default(),
            Place::Entries { folder, .. } => {
                let files = shown_files(self.call, self.entries).await?.unwrap_or_default();
                Children { shown: entry_children(&files, folder.as_deref())?, left_out: Vec::new() }
            }
        };
        order::sort_slice(&mut children.shown, |a, b| a.name.cmp(&b.name));
        Ok(children)
    }

    /// Finds the file of an entry.
    pub(super) async fn entry(&self, place: &Place) -> Result<Option<ShownFile>, Error> {
        let Place::Entries { folder: Some(folder), name: Some(name) } = place else { return Ok(None) };
        let files = shown_files(self.call, self.entries).await?.unwrap_or_default();
        let path =
            portable_path(&text_of_name(folder), &text_of_name(name)).map_err(|error| exactly(format!("{error}")))?;
        Ok(files.into_iter().find(|file| file.path == path))
    }

    async fn top(&self) -> Result<Children, Error> {
        let Children { shown: mut children, mut left_out } =
            self.stored_children(Area::Own, Some(&self.own()?)).await?;
        children.retain(|child| {
            !self.is_long_term_name(&child.name) && child.name != ENTRIES && !FAMILIES.contains(&child.name.as_str())
        });
        let Children { shown: mut of_scope, left_out: others } =
            self.stored_children(Area::Scope, self.layout().project_folder()).await?;
        left_out.extend(others);
        of_scope.retain(|child| {
            let is_shown = may_be_shown(&child.name) && !self.is_long_term_name(&child.name) && child.name != ENTRIES;
            is_shown && !children.iter().any(|own| own.name == child.name)
        });
        children.extend(of_scope);
        for (name, path) in self.long_term_files() {
            if let Ok(ReadOutcome::Content(content)) = self.call.fs.read(path, 0, 0).await {
                let place = Place::Stored { area: Area::LongTerm, path: path.clone() };
                children.push(Child { name: name.into(), place, is_folder: false, size: content.size });
            }
        }
        let entries = shown_files(self.call, self.entries).await?.unwrap_or_default();
        if !entries.is_empty() {
            let place = Place::Entries { folder: None, name: None };
            children.push(Child { name: ENTRIES.into(), place, is_folder: true, size: 0 });
        }
        Ok(Children { shown: children, left_out })
    }

    async fn stored_children(&self, area: Area, folder: Option<&RelPath>) -> Result<Children, Error> {
        let mut children = Vec::new();
        let mut left_out = Vec::new();
        let mut after = None;
        loop {
            let listed = self.call.fs.list(folder, after, self.call.scope.limits.max_list_entries, None).await;
            let page = match listed {
                Ok(ListOutcome::Page(page)) => page,
                Ok(ListOutcome::Unchanged) | Err(FsError::NotDirectory) => break,
                Err(FsError::SymbolicLink) => return Err(through_link()),
                Err(error) => return Err(Error::storage(folder, &error)),
            };
            children.extend(page.entries.iter().filter_map(|entry| child(area, entry)));
            left_out.extend(skipped_names(folder, &page.left_out, &|path| is_shown(area, path), &|path| {
                let is_folder = folder == Some(path);
                if is_folder { ".".to_string() } else { path.file_name().to_string() }
            }));
            if children.len() > MAX_CHILDREN {
                let place = folder.map_or("the root of the store", RelPath::as_str);
                let message = format!("{place} has more than {MAX_CHILDREN} files and folders");
                return Err(Error::new(ErrorCode::TooLarge, message, "view a folder below it"));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        Ok(Children { shown: children, left_out })
    }

    /// Returns the files of long-term memory with the names that they have here.
    fn long_term_files(&self) -> impl Iterator<Item = (&'static str, &RelPath)> {
        let layout = self.layout();
        let own = layout.long_term();
        let others = [(SHARED_FILE, Some(layout.shared_long_term())), (PROJECT_FILE, layout.project_long_term())];
        let others = others.into_iter().filter_map(move |(name, path)| Some((name, path.filter(|path| *path != own)?)));
        core::iter::once((LONG_TERM_FILE, own)).chain(others)
    }

    fn is_long_term_name(&self, name: &str) -> bool {
        self.long_term_files().any(|(known, _)| known == name)
    }

    fn own(&self) -> Result<RelPath, Error> {
        self.layout().in_notebook(OWN_FOLDER).map_err(|error| exactly(format!("{error}")))
    }

    fn layout(&self) -> &Layout {
        &self.call.scope.layout
    }

    /// Refuses a change that the family of the file does not allow.
    pub(super) fn check(&self, typed: &str, place: &Place, what: Use) -> Result<(), Error> {
        let verb = match what {
            Use::Create => "create",
            Use::Remove => "delete",
            Use::Rename => "rename",
        };
        let refused =
            |reason: &str, help: &str| Err(Error::invalid_argument(format!("Cannot {verb} {typed}: {reason}"), help));
        let (area, path) = match place {
            Place::Stored { area, path } => (*area, path),
            Place::Entries { folder: Some(_), name: Some(_) } => return Ok(()),
            Place::Entries { .. } if what == Use::Create => {
                return refused(
                    "an entry must be a file in the folder of a category",
                    "use /memories/entries/<category>/<key>.md",
                );
            }
            Place::Entries { .. } if what == Use::Rename => {
                return refused("it is the folder of a category", "rename its entries one by one");
            }
            Place::Entries { .. } | Place::Root => return Ok(()),
        };
        let kept = "the journal needs it";
        let below = self.layout().below_notebook(path).unwrap_or_default();
        // On a file system that ignores case, a protected file has other spellings.
        let kept_names = [SCRATCHPAD_FILE, DAILY_FOLDER, NOTES_FOLDER];
        let as_kept = |segment: &'_ str| kept_names.into_iter().find(|kept| is_name(segment, kept));
        let mut segments: Vec<&str> = below.split('/').collect();
        if let Some(first) = segments.first_mut() {
            *first = as_kept(first).unwrap_or(first);
        }
        match (area, what, segments.as_slice()) {
            (Area::Own, ..) | (Area::LongTerm, Use::Create, _) => Ok(()),
            (Area::LongTerm, ..) => refused(kept, "replace what is no longer true in it with str_replace"),
            (Area::Scope, Use::Remove | Use::Rename, [SCRATCHPAD_FILE] | [DAILY_FOLDER, ..]) => {
                refused(kept, "replace what is no longer true in it with str_replace")
            }
            (Area::Scope, Use::Rename, _) => {
                let help = "create the new note, correct the links, then delete the old note";
                refused("other notes may link to it by its name", help)
            }
            (Area::Scope, Use::Remove, _) | (Area::Scope, Use::Create, [SCRATCHPAD_FILE]) => Ok(()),
            (Area::Scope, Use::Create, [DAILY_FOLDER, day])
                if day.strip_suffix(NOTE_SUFFIX).and_then(Date::parse).is_some() =>
            {
                Ok(())
            }
            (Area::Scope, Use::Create, [DAILY_FOLDER, ..]) => {
                refused("its name is not a date", "use /memories/daily/YYYY-MM-DD.md")
            }
            (Area::Scope, Use::Create, [NOTES_FOLDER, name]) if name.ends_with(NOTE_SUFFIX) => {
                NoteName::from_str(name).map(|_| ()).map_err(Error::from)
            }
            (Area::Scope, Use::Create, [first, .., name]) if name.ends_with(NOTE_SUFFIX) && !first.is_empty() => Ok(()),
            (Area::Scope, Use::Create, _) => {
                refused("notes are Markdown", "end the name with .md, or use another folder")
            }
        }
    }
}

/// Parses a path below `entries/`. The extension is not part of the entry's name.
fn entries_place(path: &MemoryPath) -> Result<Place, Error> {
    let name = |file: &str| file.strip_suffix(NOTE_SUFFIX).filter(|name| !name.is_empty()).map(ToString::to_string);
    match path.segments.get(1..).unwrap_or_default() {
        [] => Ok(Place::Entries { folder: None, name: None }),
        [folder] => Ok(Place::Entries { folder: Some(folder.clone()), name: None }),
        [folder, file] if name(file).is_some() => Ok(Place::Entries { folder: Some(folder.clone()), name: name(file) }),
        _ => {
            let message = format!("{} is not the path of an entry", path.typed);
            Err(Error::invalid_argument(message, "entries have paths such as /memories/entries/<category>/<key>.md"))
        }
    }
}

fn entry_children(files: &[ShownFile], folder: Option<&str>) -> Result<Vec<Child>, Error> {
    let folder = folder.map(|folder| crate::store::file_stem(&text_of_name(folder)));
    let mut children: Vec<Child> = Vec::new();
    for file in files {
        let parts = file.path.as_str().split_once('/');
        let (category, name) = parts.ok_or_else(|| Error::internal(format!("{} has no category", file.path)))?;
        match &folder {
            None => {
                if children.last().is_none_or(|last| last.name != category) {
                    let place = Place::Entries { folder: Some(category.into()), name: None };
                    children.push(Child { name: category.into(), place, is_folder: true, size: 0 });
                }
            }
            Some(folder) if folder == category => {
                let stem = name.strip_suffix(NOTE_SUFFIX).unwrap_or(name).to_string();
                let place = Place::Entries { folder: Some(category.into()), name: Some(stem) };
                children.push(Child { name: name.into(), place, is_folder: false, size: file.text.len() as u64 });
            }
            Some(_) => {}
        }
    }
    Ok(children)
}

fn child(area: Area, entry: &Entry) -> Option<Child> {
    let name = entry.path.file_name();
    // Only names that a path can spell are shown.
    MemoryPath::parse(&format!("/memories/{name}")).ok()?;
    let is_folder = match entry.kind {
        EntryKind::File => false,
        EntryKind::Directory => true,
        EntryKind::Other => return None,
    };
    let is_shown = match is_folder {
        true => area != Area::Scope || !Layout::is_other_memory(&entry.path),
        false => is_shown(area, &entry.path),
    };
    let place = Place::Stored { area, path: entry.path.clone() };
    is_shown.then(|| Child { name: name.into(), place, is_folder, size: if is_folder { 0 } else { entry.size } })
}

/// Returns true if a file of a family is shown. Only Markdown is; other files are backups and attachments.
fn is_shown(area: Area, path: &RelPath) -> bool {
    area == Area::Own || path.as_str().ends_with(NOTE_SUFFIX)
}

/// Returns true if an item directly in the scope belongs to it: not templates, not another scope, not `memories/`.
fn may_be_shown(name: &str) -> bool {
    let is_kept = |kept: &&str| is_name(name, kept);
    ![OWN_FOLDER, TEMPLATES_FOLDER].iter().any(is_kept) && !SCOPE_FOLDERS.contains(&name)
}

fn through_link() -> Error {
    exactly("Path would escape /memories directory via symlink")
}
