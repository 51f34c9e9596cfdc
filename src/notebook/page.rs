//! Notes by name, for commands of other families: their names are known to the index of the notebook alone.

use super::config_file::load_config;
use super::index::{Notebook, look};
use crate::changes::Call;
use crate::engine::NamedFile;
use crate::journal::{file_size, page_path};
use crate::search::FolderScope;
use crate::store::{Layout, RelPath};
use crate::trust::TrustState;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, TagSyntax};
use saddlebag_protocol::Error;

/// Returns the page with this path, if there is one. That needs no index.
pub(crate) async fn existing_page(call: &Call, name: &str) -> Result<Option<RelPath>, Error> {
    if let Some(path) = call.scope.kept_file(name) {
        return Ok(Some(path.clone()));
    }
    let layout = &call.scope.layout;
    let notebook = FolderScope { folder: layout.project_folder().cloned(), tree: true };
    // Without a project, files of others may lie beside it, so only a listing says what it is.
    let is_page = |path: &RelPath| notebook.reaches(path) && (notebook.folder.is_some() || !Layout::is_of_scopes(path));
    let Some(path) = page_path(call, name).ok().filter(is_page) else { return Ok(None) };
    Ok(file_size(call, &path).await?.map(|_| path))
}

/// Returns the note at a path, with the title of its file.
pub(crate) async fn note_at(call: &Call, path: RelPath) -> Result<NamedFile, Error> {
    // The path stays valid, whatever the bytes are.
    let text = call.load_text(&path).await.ok().flatten().unwrap_or_default();
    let name = Note::parse_file(&text, TagSyntax::default(), path.file_stem()).title;
    Ok(NamedFile { name, unapproved: TrustState::from_text(&text).unapproved(), path })
}

/// Returns the rule of the configuration by which a file is a note.
pub(crate) async fn note_rule(call: &Call) -> Result<impl Fn(&RelPath) -> bool, Error> {
    let config = load_config(call).await?.config;
    Ok(move |path: &RelPath| call.scope.layout.below_notebook(path).is_some_and(|below| config.is_indexed(below)))
}

/// Suggests notes with a similar name.
pub(crate) fn similar_notes(call: &Call, notebook: &Notebook, name: &str) -> Result<String, Error> {
    look(notebook, call, |snapshot| Ok(snapshot.similar(name)))
}
