//! Notes that a name may mean, of this memory and of the memory for all projects.

use super::index::{Notebook, catch_up, look_checked};
use super::successor::newer_note;
use crate::changes::Call;
use crate::engine::{NamedFile, Scope};
use crate::store::{Layout, RelPath};
use crate::trust::Marks;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Returns the notes that a name may mean, with their titles.
pub(crate) async fn named_notes(call: &Call, notebook: &Arc<Notebook>, name: &str) -> Result<Vec<NamedFile>, Error> {
    catch_up(call, notebook).await?;
    named_files(call, notebook, name).await
}

async fn named_files(call: &Call, notebook: &Arc<Notebook>, name: &str) -> Result<Vec<NamedFile>, Error> {
    look_checked(call, notebook, |snapshot| {
        let notes = snapshot.named(name).into_iter().map(|note| {
            let (path, name) = (snapshot.whole_path(note)?.clone(), snapshot.title(note)?.to_string());
            Ok(NamedFile { path, name, unapproved: snapshot.unapproved(note)? })
        });
        notes.collect()
    })
    .await
}

/// Returns the notes for all projects that a name may mean, with their titles, after [`named_notes`] has looked.
pub(crate) async fn named_user_notes(
    call: &Call,
    notebook: &Arc<Notebook>,
    name: &str,
) -> Result<Vec<NamedFile>, Error> {
    match of_user(call)? {
        Some(user) => named_files(&user, notebook, name).await,
        None => Ok(Vec::new()),
    }
}

/// Returns the marks of the note at a path that other notes give, by the index as it is now. A file is read even if the index cannot be.
pub(crate) async fn marks_of(call: &Call, notebook: &Arc<Notebook>, path: &RelPath) -> Marks {
    let is_note = call.scope.layout.below_any_notebook(path.as_str()).is_some();
    if !is_note || catch_up(call, notebook).await.is_err() {
        return Marks::default();
    }
    newer_note(call, &notebook.corpus.borrow(), path.as_str()).unwrap_or_default()
}

/// Returns the call of the memory for all projects; `None` if this is that memory, or a store without projects.
pub(crate) fn of_user(call: &Call) -> Result<Option<Call>, Error> {
    if call.scope.layout.user_folder().is_none() {
        return Ok(None);
    }
    let layout = Layout::of_user().map_err(|_| Error::internal("the user's notes have no path"))?;
    call.of_scope(Scope { layout, ..Scope::clone(&call.scope) }).map(Some)
}

/// Returns the reply of a command that takes names of notes. If it found no note of a name, and a note for all projects has it,
/// the error says so.
pub(super) async fn of_this_memory<T>(
    call: &Call,
    notebook: &Arc<Notebook>,
    names: &[&str],
    reply: Result<T, Error>,
) -> Result<T, Error> {
    let Err(error) = reply else { return reply };
    if error.code != ErrorCode::NotFound {
        return Err(error);
    }
    for name in names {
        if !named_files(call, notebook, name).await?.is_empty() {
            continue;
        }
        let of_user = named_user_notes(call, notebook, name).await?;
        if let Some(error) = of_user.iter().find_map(|note| call.scope.kept_for_all_projects(note.path.as_str())) {
            return Err(error);
        }
    }
    Err(error)
}
