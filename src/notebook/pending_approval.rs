//! Pages that wait for approval.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::files::notebook_file;
use super::index::{Notebook, catch_up, look, read_texts};
use super::remember_error::has_expired;
use super::snapshot::Snapshot;
use super::types::{NoteView, part_of};
use crate::document::{Frontmatter, Note, TagSyntax, Value};
use crate::engine::{Call, Loaded, load};
use crate::protocol::Error;
use crate::store::RelPath;
use crate::trust::{PendingApproval, Provenance, TrustState, Writer, version_of};

/// Returns the pages that wait for approval: notes, and the shared long-term memory.
pub(crate) async fn pending_approvals(call: &Call, notebook: &Arc<Notebook>) -> Result<Vec<PendingApproval>, Error> {
    catch_up(call, notebook).await?;
    let trust_state = |view: &NoteView<'_>| TrustState::from_frontmatter(&view.note.frontmatter).unapproved();
    let ids = |snapshot: &Snapshot<'_>| {
        let views = snapshot.views.iter().zip(&snapshot.ids);
        Ok(views.filter(|(view, _)| trust_state(view).is_some()).map(|(_, id)| *id).collect())
    };
    read_texts(call, notebook, ids).await?;
    let mut found = look(notebook, call, |snapshot| {
        let mut found = Vec::new();
        for (place, view) in snapshot.views.iter().enumerate() {
            // Others may have written the index, so the file decides.
            let Some(provenance) = TrustState::from_text(view.text).unapproved() else { continue };
            let path = notebook_file(call, view.path)?;
            if has_expired(path.file_name(), &Frontmatter::parse(view.text), call.now.epoch_nanoseconds()) {
                continue;
            }
            let (stem, file_stem) = (view.path.rsplit_once('.').map_or(view.path, |(stem, _)| stem), path.file_stem());
            let shown = snapshot.display_path(place)?;
            // So does its title decide by which name a person approves it.
            let note = Note::parse_file(view.text, TagSyntax::default(), file_stem);
            let names = [&shown, path.as_str(), view.path, stem, file_stem, &note.title];
            found.push(page(&names, &path, view.text, provenance)?);
        }
        Ok(found)
    })?;
    found.extend(pending_in_shared(call).await?);
    Ok(found)
}

/// Returns the shared long-term memory, if it waits for approval. It is outside of the notebook of a project, but in
/// its block.
async fn pending_in_shared(call: &Call) -> Result<Option<PendingApproval>, Error> {
    let path = call.scope.layout.shared_long_term();
    if call.scope.layout.below_notebook(path).is_some() {
        return Ok(None);
    }
    let limit = call.scope.limits.max_file_bytes;
    let Loaded::Whole { bytes, .. } = load(&call.fs, path, limit).await? else { return Ok(None) };
    let Ok(text) = core::str::from_utf8(&bytes) else { return Ok(None) };
    let Some(provenance) = TrustState::from_text(text).unapproved() else { return Ok(None) };
    let shown = call.scope.display_path(path);
    page(&[&shown, path.as_str()], path, text, provenance).map(Some)
}

/// Returns the titles of the notes with these names whose text may go into prompts. A name of any other note, or of none, has
/// no title.
pub(crate) async fn trusted_titles(
    call: &Call,
    notebook: &Arc<Notebook>,
    names: &[&str],
) -> Result<Vec<String>, Error> {
    catch_up(call, notebook).await?;
    let paths = look(notebook, call, |snapshot| {
        let found = names.iter().filter_map(|name| snapshot.find(name).ok());
        found.map(|note| notebook_file(call, snapshot.path(note)?)).collect::<Result<Vec<RelPath>, Error>>()
    })?;
    let mut titles = Vec::new();
    for path in paths {
        // Others may have written the index, so the file decides, and says what the title is.
        let loaded = load(&call.fs, &path, call.scope.limits.max_file_bytes).await?;
        let Loaded::Whole { bytes, .. } = loaded else { continue };
        let Ok(text) = core::str::from_utf8(&bytes) else { continue };
        if TrustState::from_text(text).unapproved().is_none() {
            let title = Note::parse(text, TagSyntax::default()).title;
            titles.push(if title.is_empty() { path.file_stem().to_string() } else { title });
        }
    }
    Ok(titles)
}

/// Builds a page with all names that a person may use for it. An approval applies to the text of the file, so that
/// text is shown.
fn page(names: &[&str], path: &RelPath, text: &str, provenance: Provenance) -> Result<PendingApproval, Error> {
    let note = Note::parse(text, TagSyntax::default());
    Ok(PendingApproval {
        names: names.iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect(),
        is_entry: false,
        provenance,
        projects: Vec::new(),
        writer: Writer::from_frontmatter(&note.frontmatter),
        source: note.frontmatter.value("source").and_then(Value::text),
        version: version_of(text),
        size: text.len() as u64,
        text: part_of(text, note.body)?.to_string(),
        path: path.clone(),
    })
}
