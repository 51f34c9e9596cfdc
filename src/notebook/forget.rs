//! `forget`: removes a note, and keeps its text.

use super::files::{check_not_kept, no_note};
use super::index::{Notebook, NotebookCall, catch_up, look_checked};
use super::page::existing_page;
use super::rename::settle;
use super::select::{Graph, LinkTable};
use super::snapshot::Snapshot;
use super::superseded::counting_again;
use super::types::SUPERSEDES;
use crate::changes::{Backups, Call, Kept};
use crate::request::{Run, request};
use crate::store::RelPath;
use crate::trust::{ForModel, version_of};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Removes a note. Its text is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forget {
    /// Path, name, title or alias of the note.
    pub note: String,
}

/// Reply of [`Forget`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgetReply {
    /// Path of the removed note.
    pub path: String,
    /// Path of the backup; empty if the history keeps the text, and if the note was empty.
    pub backup: String,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(Forget "forget" => ForgetReply, Removes, |name| vec![Self { note: name.into() }]);

impl Run<NotebookCall<'_>> for Forget {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ForgetReply, Error> {
        settle(with.call, with.notebook).await;
        forget(with.call, with.notebook, &self.note).await
    }
}

/// Removes a note.
async fn forget(call: &Call, notebook: &Arc<Notebook>, note: &str) -> Result<ForgetReply, Error> {
    catch_up(call, notebook).await?;
    let found = look_checked(call, notebook, |snapshot| {
        let note = snapshot.find_to_change(note)?;
        let view = snapshot.view(note)?;
        let superseded = view.note.frontmatter.texts(SUPERSEDES).filter(|_| view.unapproved.is_none());
        let superseded: Vec<String> = superseded.map(String::from).collect();
        Ok((snapshot.whole_path(note)?.clone(), backlinks(snapshot, note), superseded))
    });
    let (path, backlinks, superseded) = match found.await {
        // The configuration may leave a file out of the notebook.
        Err(error) if error.code == ErrorCode::NotFound => {
            (existing_page(call, note).await?.ok_or(error)?, 0, Vec::new())
        }
        found => found?,
    };
    check_not_kept(call, &path)?;
    let mut reply = remove(call, &path, u32::try_from(backlinks).unwrap_or(u32::MAX)).await?;
    reply.message.push_within_line(&counting_again(call, notebook, &superseded).await);
    Ok(reply)
}

/// Removes a note. Its text is kept.
///
/// `backlinks` is the number of notes that link to it, for the message.
async fn remove(call: &Call, path: &RelPath, backlinks: u32) -> Result<ForgetReply, Error> {
    let forgotten = call.update(path, Backups::Keep, |file| {
        file.bytes().ok_or_else(|| no_note(path))?;
        Ok((Some(call.screen.remove(file)?), ()))
    });
    let kept = forgotten.await?.1;
    let path = call.scope.display_path(path);
    let (backup, mut message) = match kept {
        Kept::Nothing => (String::new(), format!("Forgot {path}; it was empty, so there is no backup")),
        Kept::History => (String::new(), format!("Forgot {path}; `restore` brings it back")),
        Kept::File(file) => {
            let backup = call.scope.display_path(&file);
            let message = format!("Forgot {path}; its text is in {backup}");
            (backup, message)
        }
    };
    match backlinks {
        0 => {}
        1 => message.push_str("; 1 note still links to it"),
        many => message.push_str(&format!("; {many} notes still link to it")),
    }
    Ok(ForgetReply { path, backup, message: ForModel::escaped(&message) })
}

/// Removes a note, if it has a version. Its text is kept.
pub(crate) async fn forget_version(call: &Call, path: &RelPath, version: &str) -> Result<(), Error> {
    check_not_kept(call, path)?;
    let forgotten = call.update(path, Backups::Keep, |file| {
        let bytes = file.bytes().ok_or_else(|| no_note(path))?;
        if core::str::from_utf8(bytes).map(version_of).as_deref() != Ok(version) {
            let message = format!("{} no longer has the version that was listed", call.scope.display_path(path));
            return Err(Error::new(ErrorCode::StaleVersion, message, "look at it again"));
        }
        Ok((Some(call.screen.remove(file)?), ()))
    });
    forgotten.await.map(|_| ())
}

/// Counts the notes that link to a note.
fn backlinks(snapshot: &Snapshot<'_>, note: usize) -> usize {
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    graph.backlinks(note).len()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, restore_page, run_alone};
    use super::*;

    #[test]
    fn a_note_whose_name_has_no_room_for_a_backup_is_kept_and_can_be_restored() {
        let name = format!("{}.md", "x".repeat(252));
        let mut store = Store::with(&[(&name, "# Long\n\ntext\n")]);
        let command = Forget { note: name.clone() };
        let reply = store.run(|fs| run_alone(fs, command)).expect("forgotten");
        assert!(!store.has(&name));
        assert_eq!(store.text(&reply.backup), "# Long\n\ntext\n");
        store.run(|fs| restore_page(fs, name.clone())).expect("restored");
        assert_eq!(store.text(&name), "# Long\n\ntext\n");
    }
}
