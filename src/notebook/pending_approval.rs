//! Pages that wait for approval.

use super::files::notebook_file;
use super::index::{MAX_ATTEMPTS, Notebook, catch_up, changed_meanwhile, look, skipped, with_texts};
use super::remember_error::has_expired;
use super::snapshot::Snapshot;
use super::types::part_of;
use crate::changes::Call;
use crate::engine::{Loaded, load, load_all};
use crate::search::{DocId, IndexedFile, SkipReason, Skipped};
use crate::store::RelPath;
use crate::trust::{PendingApproval, Provenance, TrustState, Writer, version_of};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, TagSyntax, Value};
use saddlebag_protocol::Error;

/// Returns the pages that wait for approval: notes, and the shared long-term memory. Also returns the files that could not
/// be read.
pub(crate) async fn pending_approvals(
    call: &Call,
    notebook: &Arc<Notebook>,
) -> Result<(Vec<PendingApproval>, Vec<Skipped>), Error> {
    for _ in 0..MAX_ATTEMPTS {
        catch_up(call, notebook).await?;
        let ids = look(notebook, call, unapproved)?;
        let mut found: Result<Vec<PendingApproval>, Error> = Ok(Vec::new());
        let read = with_texts(call, notebook, &ids, |_, document| {
            if let Ok(pending) = &mut found {
                match pending_page(call, document) {
                    Ok(page) => pending.extend(page),
                    Err(error) => found = Err(error),
                }
            }
        });
        if !read.await {
            continue;
        }
        let (mut found, mut skipped) = (found?, skipped(call, notebook));
        match pending_in_shared(call).await {
            Ok(page) => found.extend(page),
            Err(reason) => {
                skipped.push(Skipped::new(call.scope.display_path(call.scope.layout.shared_long_term()), &reason))
            }
        }
        return Ok((found, skipped));
    }
    Err(changed_meanwhile())
}

/// Returns the notes that wait for approval by the index.
fn unapproved(snapshot: &Snapshot<'_>) -> Result<Vec<DocId>, Error> {
    let mut found = Vec::new();
    for place in 0..snapshot.views.len() {
        if snapshot.unapproved(place)?.is_some() {
            found.push(snapshot.id(place)?);
        }
    }
    Ok(found)
}

/// Returns a note, if its file says that it waits for approval. Others may have written the index, so the file decides.
fn pending_page(call: &Call, document: &IndexedFile) -> Result<Option<PendingApproval>, Error> {
    let (path, text) = (&document.path, document.text());
    let Some(provenance) = TrustState::from_text(text).unapproved() else { return Ok(None) };
    if has_expired(path.file_name(), text, call.now.epoch_nanoseconds()) {
        return Ok(None);
    }
    page(call, path, text, provenance).map(Some)
}

/// Returns the shared long-term memory, if it waits for approval. It is outside of the notebook of a project, but in
/// its block.
async fn pending_in_shared(call: &Call) -> Result<Option<PendingApproval>, SkipReason> {
    let path = call.scope.layout.shared_long_term();
    if call.scope.layout.below_notebook(path).is_some() {
        return Ok(None);
    }
    let mut read = load_all(&call.fs, &[path], call.scope.limits.max_file_bytes).await;
    let bytes = match read.pop() {
        None | Some(Ok(Loaded::Absent)) => return Ok(None),
        Some(Ok(Loaded::Whole { bytes, .. })) => bytes,
        Some(Ok(Loaded::TooLarge(size))) => return Err(SkipReason::TooLarge(size)),
        Some(Err(error)) => return Err(SkipReason::Unreadable(error)),
    };
    let text = core::str::from_utf8(&bytes).map_err(|_| SkipReason::NotText)?;
    let Some(provenance) = TrustState::from_text(text).unapproved() else { return Ok(None) };
    Ok(page(call, path, text, provenance).ok())
}

/// Returns the titles of the notes with these names whose text may go into prompts. A name of another note, or of no
/// note, has no title.
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

/// Builds a page. An approval applies to the text of the file, so that text is shown.
fn page(call: &Call, path: &RelPath, text: &str, provenance: Provenance) -> Result<PendingApproval, Error> {
    let note = Note::parse(text, TagSyntax::default());
    let body = part_of(text, note.body)?;
    // A prompt shows the title of the frontmatter too.
    let shown = match body.contains(note.title.as_str()) {
        true => body.to_string(),
        false => format!("# {}\n\n{body}", note.title),
    };
    Ok(PendingApproval {
        name: call.scope.display_path(path),
        is_entry: false,
        provenance,
        projects: Vec::new(),
        writer: Writer::from_frontmatter(&note.frontmatter),
        source: note.frontmatter.value("source").and_then(Value::text),
        version: version_of(text),
        size: text.len() as u64,
        text: shown,
        path: path.clone(),
    })
}
