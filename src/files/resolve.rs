//! `resolve`: finds the item that a name means.

use super::types::{FilesCall, Names, is_listed};
use crate::engine::{NamedFile, ambiguous, prefer_approved};
use crate::entries;
use crate::journal::{Target, file_size};
use crate::notebook::{self, ItemKind};
use crate::origin::Origin;
use crate::request::{Run, request};
use crate::store::{Layout, PROJECTS_FOLDER, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Finds the item that a name means.
///
/// A name is a path (absolute, relative to the root, or relative to the notebook), a title, an alias or a
/// file name of a note, the key of an entry, or `long_term`, `scratchpad`, `daily`, `daily:DATE`, `note:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// Name of the item.
    pub name: String,
    /// Kind of the item; `None` for any kind.
    pub kind: Option<ItemKind>,
}

/// A note, an entry or another file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    /// Kind of the item.
    pub kind: ItemKind,
    /// Path relative to the root, without the path prefix. A path or a word may mean a file that does not exist yet.
    pub path: String,
    /// Title of a note, key of an entry, name of another file.
    pub name: String,
}

request!(Resolve "resolve" => Item, Reads, |name| {
    let note = Self { name: format!("notes/{name}.md"), kind: Some(ItemKind::Note) };
    let entry = Self { name: name.into(), kind: Some(ItemKind::Entry) };
    vec![note, entry]
});

impl Run<FilesCall<'_>> for Resolve {
    async fn run(self, with: &FilesCall<'_>) -> Result<Item, Error> {
        let Handle { kind, file } = handle(with.names(), &self.name, self.kind).await?;
        Ok(Item { kind, path: file.path.into_string(), name: file.name })
    }
}

/// The file that a name means, and its kind. The file may not exist yet.
pub(crate) struct Handle {
    pub(crate) kind: ItemKind,
    pub(crate) file: NamedFile,
}

/// Finds the file of a name. `None` if the name means an entry: its commands take the name, because the run may hold it.
pub(super) async fn file_of(
    with: Names<'_>,
    origin: &Origin,
    name: &str,
    kind: Option<ItemKind>,
) -> Result<Option<Handle>, Error> {
    if kind == Some(ItemKind::Entry) || (kind.is_none() && entries::is_held(with.entries, origin, name)) {
        return Ok(None);
    }
    Ok(Some(handle(with, name, kind).await?).filter(|found| found.kind != ItemKind::Entry))
}

/// Finds the item of a kind that a name means; `None` for any kind.
pub(crate) async fn handle(
    Names { call, notebook, entries }: Names<'_>,
    name: &str,
    kind: Option<ItemKind>,
) -> Result<Handle, Error> {
    let mut found = candidates(Names { call, notebook, entries }, name).await?;
    let layout = &call.scope.layout;
    // The configuration says nothing about long-term memory and the scratchpad.
    let is_note = match found.iter().all(|file| layout.is_kept(&file.path)) {
        true => None,
        false => Some(notebook::note_rule(call).await?),
    };
    let kind_of = |file: &NamedFile| match () {
        () if entries.folders().any(|folder| folder.has(&file.path)) => ItemKind::Entry,
        () if is_note.as_ref().is_some_and(|is_note| is_note(&file.path)) => ItemKind::of_note(layout, &file.path),
        () => ItemKind::File,
    };
    found.retain(|file| kind.is_none_or(|asked| kind_of(file).is(asked)));
    prefer_approved(&mut found, |file| file.unapproved.is_none());
    match (found.len(), found.pop()) {
        (1, Some(file)) => Ok(Handle { kind: kind_of(&file), file }),
        (_, None) => {
            let kind = kind.map_or("note, entry or file", ItemKind::as_str);
            let message = format!("there is no {kind} `{}`", name.escape_debug());
            let is_of_another = call.scope.whole(name).is_some_and(|path| is_of_another_project(&path));
            let help = match is_of_another {
                true => "it is the path of another project, whose memory is opened in its folder".to_string(),
                false => notebook::similar_notes(call, notebook, name)?,
            };
            Err(Error::new(ErrorCode::NotFound, message, help))
        }
        (_, Some(last)) => {
            found.push(last);
            let shown = |file: &NamedFile| format!("{} ({})", call.scope.display_path(&file.path), kind_of(file));
            Err(ambiguous(name, found.iter().map(shown).collect()))
        }
    }
}

/// Returns true for a path below a folder of a project. The files of this project were found before.
fn is_of_another_project(path: &RelPath) -> bool {
    let mut above = core::iter::successors(path.parent(), RelPath::parent);
    above.any(|folder| Layout::is_other_memory(&folder)) && path.segments().next() == Some(PROJECTS_FOLDER)
}

/// Returns the files that a name may mean. The path of a file of the scope means this file alone, whether it exists or not.
pub(crate) async fn candidates(
    Names { call, notebook, entries }: Names<'_>,
    name: &str,
) -> Result<Vec<NamedFile>, Error> {
    let file = |path: RelPath| NamedFile { name: path.file_stem().to_string(), path, unapproved: None };
    let name = match Target::from_name(name)? {
        Target::Page(name) => name,
        word @ Target::Note(_) => return Ok(vec![notebook::note_at(call, word.existing_path(call)?).await?]),
        word => return Ok(vec![file(word.path(call)?)]),
    };
    if let Some(path) = call.scope.kept_file(&name) {
        return Ok(vec![file(path.clone())]);
    }
    // Other files of the root are outside of the notebook of a project, and replies show them by their names alone.
    let is_of_root = |path: &RelPath| path.parent().is_none() && call.scope.layout.below_notebook(path).is_none();
    if let Some(path) = call.scope.whole(&name).filter(|path| is_of_root(path) && is_listed(call, entries, path))
        && file_size(call, &path).await?.is_some()
    {
        return Ok(vec![file(path)]);
    }
    if let Some(path) = notebook::existing_page(call, &name).await? {
        return Ok(vec![notebook::note_at(call, path).await?]);
    }
    let mut found: Vec<NamedFile> = entries::named(call, entries, &name).await?.into_iter().collect();
    found.extend(notebook::named_notes(call, notebook, &name).await?);
    if found.is_empty() {
        found.extend(notebook::named_user_notes(call, notebook, &name).await?);
    }
    if found.is_empty() {
        if let Some(original) = call.scope.original(&name).filter(|path| is_listed(call, entries, path)) {
            return Err(call.scope.is_backup(&name, &original));
        }
        let whole = call.scope.whole(&name);
        // The path of another memory is not that of a folder of the same name in the notebook.
        let below = call.scope.file(&name).filter(|_| !whole.as_ref().is_some_and(Layout::is_of_scopes));
        found.extend(
            [whole, below].into_iter().flatten().filter(|path| is_listed(call, entries, path)).take(1).map(file),
        );
    }
    Ok(found)
}
