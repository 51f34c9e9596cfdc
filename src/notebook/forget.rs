//! Removes a note, and keeps its text.

use super::files::{check_not_kept, no_note};
use super::index::{Notebook, catch_up, look_checked};
use super::select::{Graph, LinkTable};
use super::snapshot::Snapshot;
use super::superseded::counting_again;
use super::types::SUPERSEDES;
use crate::changes::{Backups, Call, Kept};
use crate::store::RelPath;
use crate::trust::{ForModel, version_of};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Removes a file. Its text is kept. Returns its path, that of its backup, and a summary.
///
/// `version` is the one that the file must have.
pub(crate) async fn forget(
    call: &Call,
    notebook: &Arc<Notebook>,
    path: RelPath,
    version: Option<&str>,
) -> Result<(String, Option<String>, ForModel), Error> {
    catch_up(call, notebook).await?;
    // The configuration may leave the file out of the notebook.
    let found = look_checked(call, notebook, |snapshot| {
        let Ok(note) = snapshot.find_to_change(&call.scope.display_path(&path)) else { return Ok((0, Vec::new())) };
        let view = snapshot.view(note)?;
        let superseded = view.note.frontmatter.texts(SUPERSEDES).filter(|_| view.unapproved.is_none());
        Ok((backlinks(snapshot, note), superseded.map(String::from).collect()))
    });
    let (backlinks, superseded): (usize, Vec<String>) = found.await?;
    let kept = remove(call, &path, version).await?;
    let path = call.scope.display_path(&path);
    let (backup, mut message) = match kept {
        Kept::Nothing => (None, format!("Forgot {path}; it was empty, so there is no backup")),
        Kept::History => (None, format!("Forgot {path}; `restore` brings it back")),
        Kept::File(file) => {
            let backup = call.scope.display_path(&file);
            let message = format!("Forgot {path}; its text is in {backup}");
            (Some(backup), message)
        }
    };
    match backlinks {
        0 => {}
        1 => message.push_str("; 1 note still links to it"),
        many => message.push_str(&format!("; {many} notes still link to it")),
    }
    let mut message = ForModel::escaped(&message);
    message.push_within_line(&counting_again(call, notebook, &superseded).await);
    Ok((path, backup, message))
}

/// Removes a note, if it has a version. Its text is kept.
pub(crate) async fn forget_version(call: &Call, path: &RelPath, version: &str) -> Result<(), Error> {
    check_not_kept(call, path)?;
    remove(call, path, Some(version)).await.map(|_| ())
}

async fn remove(call: &Call, path: &RelPath, version: Option<&str>) -> Result<Kept, Error> {
    let forgotten = call.update(path, Backups::Keep, |file| {
        let bytes = file.bytes().ok_or_else(|| no_note(path))?;
        if version.is_some() && core::str::from_utf8(bytes).map(version_of).ok().as_deref() != version {
            let message = format!("{} no longer has the version that was listed", call.scope.display_path(path));
            return Err(Error::new(ErrorCode::StaleVersion, message, "look at it again"));
        }
        Ok((Some(call.screen.remove(file)?), ()))
    });
    Ok(forgotten.await?.1)
}

/// Counts the notes that link to a note.
fn backlinks(snapshot: &Snapshot<'_>, note: usize) -> usize {
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    graph.backlinks(note).len()
}
