//! Names of items: the file that each means, and which files belong to the scope.
//!
//! The scope has the Markdown files directly in the root, the files of the project that are not hidden, and the files of the
//! entries that the memory was opened for. A name cannot mean any other file.

use crate::changes::Call;
use crate::engine::{NamedFile, ambiguous, prefer_approved};
use crate::entries::{self, Entries};
use crate::journal::{Target, file_size};
use crate::notebook::{self, ItemKind, Notebook};
use crate::origin::Origin;
use crate::search::FolderScope;
use crate::store::{Layout, PROJECTS_FOLDER, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Stores of a memory, as a command looks into them.
#[derive(Clone, Copy)]
pub(crate) struct Stores<'a> {
    pub(crate) call: &'a Call,
    pub(crate) notebook: &'a Arc<Notebook>,
    pub(crate) entries: &'a Entries,
}

/// The file that a name means, and its kind. The file may not exist yet.
pub(crate) struct Handle {
    pub(crate) kind: ItemKind,
    pub(crate) file: NamedFile,
}

/// Finds the file of a name. `None` if the name means an entry: its commands take the name, because the run may hold it.
pub(crate) async fn file_of(
    with: Stores<'_>,
    origin: &Origin,
    name: &str,
    kind: Option<ItemKind>,
) -> Result<Option<Handle>, Error> {
    if kind == Some(ItemKind::Entry) || (kind.is_none() && entries::is_held(with.entries, origin, name)) {
        return Ok(None);
    }
    Ok(Some(handle(with, name, kind).await?).filter(|found| found.kind != ItemKind::Entry))
}

/// Finds the file of a name like [`file_of`], for a command that changes it: an interrupted rename is finished first.
pub(crate) async fn file_to_change(
    with: Stores<'_>,
    origin: &Origin,
    name: &str,
    kind: Option<ItemKind>,
) -> Result<Option<Handle>, Error> {
    if kind != Some(ItemKind::Entry) && matches!(Target::from_name(name), Ok(Target::Page(_))) {
        notebook::settle_rename(with.call, with.notebook).await;
    }
    file_of(with, origin, name, kind).await
}

/// Finds the item of a kind that a name means; `None` for any kind.
pub(crate) async fn handle(stores: Stores<'_>, name: &str, kind: Option<ItemKind>) -> Result<Handle, Error> {
    let mut found = candidates(stores, name).await?;
    let Stores { call, notebook, .. } = stores;
    let paths: Vec<&RelPath> = found.iter().map(|file| &file.path).collect();
    let rule = kind_rule(stores, &paths).await?;
    let kind_of = |file: &NamedFile| rule(&file.path);
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

/// Returns the rule that says of which kind each of some files is.
pub(crate) async fn kind_rule<'a>(
    Stores { call, entries, .. }: Stores<'a>,
    files: &[&RelPath],
) -> Result<impl Fn(&RelPath) -> ItemKind + use<'a>, Error> {
    let layout = &call.scope.layout;
    // The configuration says nothing about long-term memory and the scratchpad.
    let is_note = match files.iter().all(|path| layout.is_kept(path)) {
        true => None,
        false => Some(notebook::note_rule(call).await?),
    };
    Ok(move |path: &RelPath| match () {
        () if entries.has(path) => ItemKind::Entry,
        () if is_note.as_ref().is_some_and(|is_note| is_note(path)) => ItemKind::of_note(layout, path),
        () => ItemKind::File,
    })
}

/// Returns true for a path below a folder of a project. The files of this project were found before.
fn is_of_another_project(path: &RelPath) -> bool {
    let mut above = core::iter::successors(path.parent(), RelPath::parent);
    above.any(|folder| Layout::is_other_memory(&folder)) && path.segments().next() == Some(PROJECTS_FOLDER)
}

/// Returns the files that a name may mean. The path of a file of the scope means this file alone, whether it exists or not.
pub(crate) async fn candidates(
    Stores { call, notebook, entries }: Stores<'_>,
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

pub(crate) fn is_listed(call: &Call, entries: &Entries, path: &RelPath) -> bool {
    entries.has(path) || FolderScope::all(&call.scope.layout).iter().any(|scope| scope.reaches(path))
}
