//! Undos that were recorded and never made.

use alloc::format;
use alloc::vec::Vec;

use saddlebag_log::Record;

use super::files::FileHistory;
use super::log::{History, Recorded, folders};
use super::types::{HistoryCall, is_recent};
use crate::changes::{Call, File, history_of};
use crate::protocol::{Error, ErrorCode};
use crate::store::RelPath;

/// Takes the last undo of each folder back if nothing happened of it: its process ended before it changed a file. Returns true if
/// there was one. [`complete_interrupted`] has finished those that were written down.
///
/// # Errors
///
/// The undo happens now.
pub(super) async fn take_back_unmade(with: &HistoryCall<'_>, history: &History) -> Result<bool, Error> {
    let call = with.call;
    let mut is_any = false;
    for folder in folders(call, with.entries)? {
        let is_here = |path: &RelPath| history_of(path).is_ok_and(|of| of == folder);
        let is_last = |recorded: &&Recorded| {
            let Record { undoes, redoes, changes, .. } = &recorded.record;
            let is_undo = !undoes.is_empty() || !redoes.is_empty();
            is_undo && (changes.is_empty() || recorded.paths.iter().chain(&recorded.lost).flatten().any(is_here))
        };
        let Some(last) = history.records.iter().rfind(is_last) else { continue };
        let Some(files) = unmade(call, history, &last.record.operation).await? else { continue };
        for file in files.iter().take(usize::from(is_recent(call, &last.record))) {
            if call.is_changed_soon(file).await? {
                let message = format!("operation {} is recorded and not made yet", last.record.operation);
                return Err(Error::new(ErrorCode::Contention, message, "try again when it is made"));
            }
        }
        call.claim_log(&folder, |log| history.size_of(log)).await?;
        call.record_unmade(&folder, last.record.undoes.clone(), last.record.redoes.clone()).await?;
        is_any = true;
    }
    Ok(is_any)
}

/// Returns the files that an operation was to change, if it has changed none of them.
async fn unmade(call: &Call, history: &History, operation: &str) -> Result<Option<Vec<File>>, Error> {
    let mut files: Vec<File> = Vec::new();
    for recorded in history.records_of(operation) {
        for (made, lost) in recorded.paths.iter().zip(&recorded.lost) {
            let Some(path) = made.as_ref().or(lost.as_ref()) else { return Ok(None) };
            let known = FileHistory::new(call, history, path).await?;
            if !known.steps_of(operation).into_iter().all(|step| known.looks_unmade(step)) {
                return Ok(None);
            }
            files.push(known.file);
        }
    }
    Ok(Some(files).filter(|files| !files.is_empty()))
}
