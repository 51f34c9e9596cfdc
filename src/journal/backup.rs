//! One-step backups: `MEMORY.bak` beside `MEMORY.md`, and `restore`.

use alloc::format;
use alloc::string::{String, ToString};

use super::{RestoreReply, Target};
use crate::engine::{Backup, Backups, Call, Change, Loaded, load, remove, replace, update};
use crate::protocol::{Error, ErrorCode};
use crate::store::Layout;

/// What became of the backup of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupReply {
    /// The file that holds what was replaced.
    pub path: Option<String>,
    /// Why there is none although there should be; the change was made all the same.
    pub failure: Option<String>,
}

impl BackupReply {
    /// What a message says of a backup that failed, in the words of zerostack v1.7.2.
    pub(super) fn warning(&self) -> String {
        let warning = |failure| format!(" (warning: backup failed, no .bak written: {failure})");
        self.failure.as_ref().map(warning).unwrap_or_default()
    }
}

pub(super) fn reply(call: &Call, backup: Backup) -> BackupReply {
    match backup {
        Backup::None => BackupReply::default(),
        Backup::Kept(path) => BackupReply { path: Some(call.scope.shown(&path)), failure: None },
        Backup::Failed(error) => BackupReply { path: None, failure: Some(error.to_string()) },
    }
}

/// Puts the backup of a target back. What it replaces becomes the backup, so a second restore
/// undoes the first.
pub(super) async fn restore(call: &Call, target: &Target) -> Result<RestoreReply, Error> {
    let path = target.path(call)?;
    let backup = Layout::backup_of(&path);
    let limit = call.scope.limits.max_file_bytes;
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
    let bytes = kept.len() as u64;
    let mut replaced = None;
    let change = |current: Option<&[u8]>| {
        replaced = current.map(<[u8]>::to_vec);
        Ok(Change::Write(kept.clone(), ()))
    };
    // Both texts are in some file at every moment, should this stop halfway: what is replaced waits
    // beside the backup until the file has the backup's text.
    let waiting = Layout::replaced_of(&path);
    let (_, moved) = update(&call.fs, &path, limit, Backups::RequireIn(&waiting), change).await?;
    let replaced = match (replaced, moved) {
        (Some(text), Backup::Kept(_)) => {
            let kept =
                replace(&call.fs, &backup, &text, limit, Backups::Off).await.map(|_| Backup::Kept(backup.clone()))?;
            remove(&call.fs, &waiting).await?;
            kept
        }
        (_, other) => other,
    };
    let message = format!("Restored {} from {} ({bytes} bytes)", call.scope.shown(&path), call.scope.shown(&backup));
    Ok(RestoreReply { path: call.scope.shown(&path), bytes, backup: reply(call, replaced), message })
}
