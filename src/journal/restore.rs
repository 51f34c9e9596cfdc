//! Puts back the text that a file had before it was last changed or removed, from the history or from its backup.

use crate::changes::{Backups, Call, File, KeptText};
use crate::store::{Layout, RelPath};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Restores the kept text of a file of memory. The replaced text is kept in its place, so a second restore undoes the first. Returns
/// the path of its backup, if it has one, and a summary.
pub(crate) async fn restore_file(call: &Call, path: &RelPath) -> Result<(Option<String>, ForModel), Error> {
    let backup = Layout::backup_of(path);
    let Some(KeptText { file: kept, is_in_history }) = call.load_kept(path, &backup).await? else {
        let message = format!("no earlier text of {} is kept", call.scope.display_path(path));
        let help = "`history NAME` lists its versions, and `restore NAME --at N` brings one back; `list --forgotten` lists the \
                    forgotten; to undo a rename, rename the note again";
        return Err(Error::new(ErrorCode::NotFound, message, help));
    };
    let bytes = kept.bytes().unwrap_or_default();
    let mut first: Option<File> = None;
    let change = |file: &File| {
        // Whoever changed the file meanwhile may have replaced the backup too.
        if first.get_or_insert_with(|| file.clone()).bytes() != file.bytes() {
            let message = format!("{} was changed meanwhile", call.scope.display_path(path));
            return Err(Error::new(ErrorCode::Contention, message, "look at it again"));
        }
        Ok((Some(call.screen.restore(file, &kept, bytes)?), ()))
    };
    let backups = if is_in_history { Backups::Keep } else { Backups::Exchange(&backup) };
    let (_, replaced) = call.update(path, backups, change).await?;
    let source = if is_in_history { "the history".into() } else { call.scope.display_path(&backup) };
    let (path, bytes) = (call.scope.display_path(path), bytes.len());
    let message = ForModel::escaped(&format!("Restored {path} from {source} ({bytes} bytes)"));
    Ok((replaced.file().map(|kept| call.scope.display_path(&kept)), message))
}
