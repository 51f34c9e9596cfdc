//! `restore`: puts back the backup of a file, `MEMORY.bak` beside `MEMORY.md`.

use alloc::format;
use alloc::vec::Vec;

use super::target::Target;
use super::types::{BackupReply, ChangedFile, JournalCall};
use crate::engine::{Backup, Backups, Call, Change, Loaded, finish_backup, load, remove, replace, update};
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::store::{Layout, RelPath};
use crate::trust::{ForModel, Removal, Screened};

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
    let limit = call.scope.limits.max_file_bytes;
    finish_backup(&call.fs, &path, &backup, limit).await?;
    let kept = match load(&call.fs, &backup, limit).await? {
        Loaded::Whole { bytes, .. } => bytes,
        Loaded::TooLarge(size) => return Err(Error::file_too_large(&backup, size, u64::from(limit))),
        Loaded::Absent => {
            let message = format!("there is no backup of {}", call.scope.display_path(&path));
            let help = "an edit, an overwrite and a removal keep one, at the path that the file had; to undo a rename, \
                        rename the note again";
            return Err(Error::new(ErrorCode::NotFound, message, help));
        }
    };
    let waiting = Layout::replaced_of(&path);
    if let Some((text, replaced)) = stopped_halfway(call, &path, &kept, &waiting).await? {
        let kept = make_backup(call, &backup, &replaced, &waiting).await?;
        return Ok(restored(call, &path, &backup, text.len(), kept));
    }
    let bytes = kept.len();
    let mut replaced = None;
    let change = |current: Option<&[u8]>| {
        replaced = current.map(<[u8]>::to_vec);
        Ok(Change::Write(call.screen.restored(&path, current, kept.clone())?, ()))
    };
    // At every moment both versions are in some file: the replaced text waits beside the backup until the file has the
    // backup's text.
    let (_, moved) = update(&call.fs, &path, limit, Backups::KeepIn(&waiting), change).await?;
    let replaced = match (replaced, moved) {
        (Some(text), Backup::Kept(_)) => make_backup(call, &backup, &text, &waiting).await?,
        (_, other) => other,
    };
    Ok(restored(call, &path, &backup, bytes, replaced))
}

/// Finds an interrupted restore: the text that it put in place, and the text that it replaced.
async fn stopped_halfway(
    call: &Call,
    path: &RelPath,
    kept: &[u8],
    waiting: &RelPath,
) -> Result<Option<(Vec<u8>, Vec<u8>)>, Error> {
    let limit = call.scope.limits.max_file_bytes;
    let Loaded::Whole { bytes: replaced, .. } = load(&call.fs, waiting, limit).await? else { return Ok(None) };
    match load(&call.fs, path, limit).await? {
        Loaded::Whole { bytes, .. } if bytes == replaced => Ok(None),
        Loaded::Whole { bytes, .. } if bytes == kept || replaced == kept => Ok(Some((bytes, replaced))),
        _ => {
            let message = format!(
                "{} holds the text that an interrupted restore replaced, and {} was changed since",
                call.scope.display_path(waiting),
                call.scope.display_path(path),
            );
            let help = "move one of the two files away, so that neither text is lost, then restore again";
            Err(Error::new(ErrorCode::Contention, message, help))
        }
    }
}

async fn make_backup(call: &Call, backup: &RelPath, text: &[u8], waiting: &RelPath) -> Result<Backup, Error> {
    if text.is_empty() {
        // An editor that truncates before it writes leaves such a file. The backup is worth more.
        remove(&call.fs, waiting, Removal::OF_COPY).await?;
        return Ok(Backup::None);
    }
    replace(&call.fs, backup, &Screened::unchanged(text), call.scope.limits.max_file_bytes).await?;
    remove(&call.fs, waiting, Removal::OF_COPY).await?;
    Ok(Backup::Kept(backup.clone()))
}

fn restored(call: &Call, path: &RelPath, backup: &RelPath, bytes: usize, replaced: Backup) -> ChangedFile {
    let bytes = bytes as u64;
    let (path, source) = (call.scope.display_path(path), call.scope.display_path(backup));
    let message = format!("Restored {path} from {source} ({bytes} bytes)");
    ChangedFile { path, bytes, backup: BackupReply::from_backup(call, replaced), message: ForModel::escaped(&message) }
}
