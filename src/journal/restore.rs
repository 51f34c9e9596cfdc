//! `restore`: puts back the backup of a file, `MEMORY.bak` beside `MEMORY.md`.

use alloc::format;
use alloc::vec::Vec;

use super::target::Target;
use super::types::{ChangedFile, JournalCall};
use crate::changes::{Backups, Call, File};
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::store::{Layout, RelPath};
use crate::trust::ForModel;

/// Restores the backup of a file. The replaced text becomes the backup, so a second restore undoes the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restore {
    /// File to restore.
    pub target: Target,
}

impl Request for Restore {
    type Reply = ChangedFile;
    const NAME: &'static str = "restore";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        Target::samples(name).into_iter().map(|target| Self { target }).collect()
    }
}

impl Run<JournalCall<'_>> for Restore {
    async fn run(self, with: &JournalCall<'_>) -> Result<ChangedFile, Error> {
        let call = with.call;
        restore_file(call, self.target.changed_path(call)?).await
    }
}

/// Restores the backup of a file of memory.
pub(crate) async fn restore_file(call: &Call, path: RelPath) -> Result<ChangedFile, Error> {
    let backup = Layout::backup_of(&path);
    let kept = call.load_backup(&path, &backup).await?;
    let Some(bytes) = kept.bytes() else {
        let message = format!("there is no backup of {}", call.scope.display_path(&path));
        let help = "an edit, an overwrite and a removal keep one, at the path that the file had; to undo a rename, \
                    rename the note again";
        return Err(Error::new(ErrorCode::NotFound, message, help));
    };
    let mut first: Option<File> = None;
    let change = |file: &File| {
        // Whoever changed the file meanwhile may have replaced the backup too.
        if first.get_or_insert_with(|| file.clone()).bytes() != file.bytes() {
            let message = format!("{} was changed meanwhile", call.scope.display_path(&path));
            return Err(Error::new(ErrorCode::Contention, message, "look at it again"));
        }
        Ok((Some(call.screen.restore(file, &kept, bytes)?), ()))
    };
    let (_, replaced) = call.update(&path, Backups::Exchange(&backup), change).await?;
    Ok(restored(call, &path, &backup, bytes.len(), replaced))
}

fn restored(call: &Call, path: &RelPath, backup: &RelPath, bytes: usize, replaced: Option<RelPath>) -> ChangedFile {
    let bytes = bytes as u64;
    let (path, source) = (call.scope.display_path(path), call.scope.display_path(backup));
    let message = format!("Restored {path} from {source} ({bytes} bytes)");
    ChangedFile {
        path,
        bytes,
        backup: replaced.map(|kept| call.scope.display_path(&kept)),
        message: ForModel::escaped(&message),
    }
}
