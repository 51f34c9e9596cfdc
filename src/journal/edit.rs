//! Changes of a file: replaces text that occurs exactly once, or deletes a note.

use super::target::Target;
use super::types::{ChangedFile, EditChange, JOURNAL, MAX_WRITE_BYTES};
use crate::changes::{Backups, Call, Kept, texts::text};
use crate::store::RelPath;
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::replace_once;
use saddlebag_protocol::{Cause, Error, ErrorCode};

/// Screens a change, and applies it to a file, whose target may be a note of the journal.
pub(crate) async fn edit_file(
    call: &Call,
    path: &RelPath,
    target: Option<&Target>,
    mut change: EditChange,
) -> Result<ChangedFile, Error> {
    text(&call.screen, &mut change, "new text")?;
    let mut reply = edit(call, path, target, &change, Backups::Off).await?;
    call.screen.tell(&mut reply.message);
    Ok(reply)
}

/// Applies a change to a file.
///
/// `backups` applies to a replacement in a log or a note that a target names, which have no backups by default. Other files and a
/// deleted note are always backed up.
pub(super) async fn edit(
    call: &Call,
    path: &RelPath,
    target: Option<&Target>,
    change: &EditChange,
    backups: Backups<'_>,
) -> Result<ChangedFile, Error> {
    if change.adds_text() {
        call.screen.needs_trust(JOURNAL)?;
    }
    call.scope.check_of_this_project(path.as_str())?;
    call.screen.check_place(path)?;
    let is_kept = call.scope.layout.is_kept(path) || matches!(target, None | Some(Target::Page(_)));
    let (verb, (bytes, kept)) = match change {
        EditChange::Replace { old_text: old, new_text: new } => {
            let backups = if is_kept && backups == Backups::Off { Backups::Keep } else { backups };
            ("Edited", replace_in(call, path, old, new, backups).await?)
        }
        EditChange::DeleteNote if is_kept || !matches!(target, Some(Target::Note(_))) => {
            return Err(Cause::NotANote.into());
        }
        EditChange::DeleteNote => ("Deleted", (0, delete(call, path).await?)),
    };
    let path = call.scope.display_path(path);
    let backup = kept.file().map(|backup| call.scope.display_path(&backup));
    let message = ForModel::escaped(&format!("{verb} {path}"));
    Ok(ChangedFile { path, bytes, backup, message })
}

async fn replace_in(
    call: &Call,
    path: &RelPath,
    old: &str,
    new: &str,
    backups: Backups<'_>,
) -> Result<(u64, Kept), Error> {
    if new.len() > MAX_WRITE_BYTES {
        let message = format!("new text has {} bytes, the limit is {MAX_WRITE_BYTES}", new.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "make several edits, or write a note"));
    }
    call.check_added(&call.scope.display_path(path), new, old).await?;
    let edited = call.update(path, backups, |file| {
        let text = file.text()?.ok_or_else(|| Cause::NoFile(path.to_string()))?;
        match replace_once(text, old, new) {
            Ok(edited) => {
                let edited = call.edit(file, edited)?;
                let bytes = edited.size();
                Ok((Some(edited), bytes))
            }
            Err(count) => {
                let file = call.scope.display_path(path);
                Err(Cause::NotExactlyOnce { file, count }.into())
            }
        }
    });
    edited.await
}

async fn delete(call: &Call, path: &RelPath) -> Result<Kept, Error> {
    let deleted = call.update(path, Backups::Keep, |file| {
        file.bytes().ok_or_else(|| Cause::NoFile(path.to_string()))?;
        Ok((Some(call.screen.remove(file)?), ()))
    });
    deleted.await.map(|((), kept)| kept)
}
