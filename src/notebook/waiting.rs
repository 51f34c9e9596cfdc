//! The pages that wait to be approved.

use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::files::notebook_file;
use super::index::{Notebook, catch_up, look, read_texts};
use super::snapshot::Snapshot;
use super::types::NoteView;
use crate::document::{Note, TagSyntax, Value};
use crate::engine::{Call, Loaded, load};
use crate::protocol::Error;
use crate::trust::{Standing, Waiting, version_of};

/// The notes that wait to be approved.
pub(crate) async fn waiting(call: &Call, notebook: &Arc<Notebook>) -> Result<Vec<Waiting>, Error> {
    catch_up(call, notebook).await?;
    let standing = |view: &NoteView<'_>| Standing::of(&view.note.frontmatter).unapproved();
    let ids = |snapshot: &Snapshot<'_>| {
        let views = snapshot.views.iter().zip(&snapshot.ids);
        Ok(views.filter(|(view, _)| standing(view).is_some()).map(|(_, id)| *id).collect())
    };
    read_texts(call, notebook, ids).await?;
    let mut found: Vec<Waiting> = look(notebook, call, |snapshot| {
        let views = snapshot.views.iter().enumerate();
        let of_file = |view: &NoteView<'_>| Standing::of_text(view.text).unapproved();
        let waiting = views.filter_map(|(place, view)| Some((place, view, of_file(view)?)));
        let waiting = waiting.map(|(place, view, provenance)| {
            let path = notebook_file(call, view.path)?;
            let (stem, file_stem) = (view.path.rsplit_once('.').map_or(view.path, |(stem, _)| stem), path.file_stem());
            let shown = snapshot.shown(place, &call.scope);
            let names = [&shown, path.as_str(), view.path, stem, file_stem, &view.note.title];
            Ok(Waiting {
                names: names.into_iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect(),
                is_entry: false,
                provenance,
                source: view.note.frontmatter.value("source").and_then(Value::text),
                version: version_of(view.text),
                size: view.text.len() as u64,
                text: view.text.get(view.note.body.clone()).unwrap_or_default().to_string(),
                path,
            })
        });
        waiting.collect::<Result<Vec<Waiting>, Error>>()
    })?;
    found.extend(waiting_in_shared(call).await?);
    Ok(found)
}

/// The shared long-term memory, if it waits. It is outside of the notebook of a project, and in its block.
async fn waiting_in_shared(call: &Call) -> Result<Option<Waiting>, Error> {
    let path = call.scope.layout.shared_long_term();
    if call.scope.layout.below_notebook(path).is_some() {
        return Ok(None);
    }
    let limit = call.scope.limits.max_file_bytes;
    let Loaded::Whole { bytes, .. } = load(&call.fs, path, limit).await? else { return Ok(None) };
    let Ok(text) = core::str::from_utf8(&bytes) else { return Ok(None) };
    let Some(provenance) = Standing::of_text(text).unapproved() else { return Ok(None) };
    let note = Note::parse(text, TagSyntax::default());
    Ok(Some(Waiting {
        names: alloc::vec![call.scope.shown(path), path.to_string()],
        is_entry: false,
        provenance,
        source: note.frontmatter.value("source").and_then(Value::text),
        version: version_of(text),
        size: text.len() as u64,
        text: text.get(note.body).unwrap_or_default().to_string(),
        path: path.clone(),
    }))
}
