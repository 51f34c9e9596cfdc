//! One-step backups: `MEMORY.bak` beside `MEMORY.md`, and `restore`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{RestoreReply, Target};
use crate::engine::{Backup, Backups, Call, Change, Loaded, finish_backup, load, remove, replace, update};
use crate::protocol::{Error, ErrorCode};
use crate::store::{Layout, RelPath};
use crate::trust::{ForModel, Removal, Screened};

/// What became of the backup of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupReply {
    /// The file that holds what was replaced.
    pub path: Option<String>,
    /// Why it is not the usual backup file, which could not be written.
    pub failure: Option<String>,
}

impl BackupReply {
    /// The end of a message where the backup is not in its usual file; it begins as in zerostack v1.7.2.
    pub(super) fn warning(&self) -> String {
        let (Some(failure), Some(path)) = (&self.failure, &self.path) else { return String::new() };
        format!(" (warning: backup failed, no .bak written: {failure}; the replaced text is in {path})")
    }
}

pub(super) fn reply(call: &Call, backup: Backup) -> BackupReply {
    match backup {
        Backup::None => BackupReply::default(),
        Backup::Kept(path) => BackupReply { path: Some(call.scope.shown(&path)), failure: None },
        Backup::Elsewhere(path, error) => {
            BackupReply { path: Some(call.scope.shown(&path)), failure: Some(error.message) }
        }
    }
}

/// Puts the backup of a target back. What it replaces becomes the backup, so a second restore
/// undoes the first.
pub(super) async fn restore(call: &Call, target: &Target) -> Result<RestoreReply, Error> {
    restore_file(call, target.changed_path(call)?).await
}

/// Puts the backup of a file of memory back.
pub(crate) async fn restore_file(call: &Call, path: RelPath) -> Result<RestoreReply, Error> {
    let backup = Layout::backup_of(&path);
    let limit = call.scope.limits.max_file_bytes;
    finish_backup(&call.fs, &path, &backup, limit).await?;
    let kept = match load(&call.fs, &backup, limit).await? {
        Loaded::Whole { bytes, .. } => bytes,
        Loaded::TooLarge(size) => return Err(Error::file_too_large(&backup, size, u64::from(limit))),
        Loaded::Absent => {
            let message = format!("there is no backup of {}", call.scope.shown(&path));
            let help =
                "a backup is made by an overwrite, an edit of long-term memory or the scratchpad, and a deletion";
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
    // Both texts are in some file at every moment, should this stop halfway: what is replaced waits
    // beside the backup until the file has the backup's text.
    let (_, moved) = update(&call.fs, &path, limit, Backups::KeepIn(&waiting), change).await?;
    let replaced = match (replaced, moved) {
        (Some(text), Backup::Kept(_)) => make_backup(call, &backup, &text, &waiting).await?,
        (_, other) => other,
    };
    Ok(restored(call, &path, &backup, bytes, replaced))
}

/// What a restore that stopped halfway has put in place, and what it has replaced.
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
                "{} holds what an unfinished restore has replaced, and {} was changed since",
                call.scope.shown(waiting),
                call.scope.shown(path),
            );
            let help = "move one of them away, so that neither text is lost, and restore again";
            Err(Error::new(ErrorCode::Contention, message, help))
        }
    }
}

async fn make_backup(call: &Call, backup: &RelPath, text: &[u8], waiting: &RelPath) -> Result<Backup, Error> {
    if text.is_empty() {
        // An editor that truncates before it writes leaves such a file: the backup is worth more.
        remove(&call.fs, waiting, Removal::OF_COPY).await?;
        return Ok(Backup::None);
    }
    replace(&call.fs, backup, &Screened::unchanged(text), call.scope.limits.max_file_bytes).await?;
    remove(&call.fs, waiting, Removal::OF_COPY).await?;
    Ok(Backup::Kept(backup.clone()))
}

fn restored(call: &Call, path: &RelPath, backup: &RelPath, bytes: usize, replaced: Backup) -> RestoreReply {
    let bytes = bytes as u64;
    let (path, source) = (call.scope.shown(path), call.scope.shown(backup));
    let message = format!("Restored {path} from {source} ({bytes} bytes)");
    RestoreReply { path, bytes, backup: reply(call, replaced), message: ForModel::escaped(&message) }
}
