//! Undos that were recorded and never made.

use saddlebag_log::Record;

use super::files::FileHistory;
use super::log::{History, Recorded, complete_interrupted, folders};
use super::types::is_recent;
use crate::changes::{Call, File};
use crate::names::Stores;
use crate::store::HistoryFolder;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Commands that undo and make again.
const COMMANDS: [&str; 2] = ["undo", "redo"];

/// Finishes what was interrupted, takes undos back that were never made, and reads the history. A dry run leaves those undos.
pub(super) async fn read_settled(with: &Stores<'_>, dry_run: bool) -> Result<History, Error> {
    complete_interrupted(with).await?;
    let history = History::read(with.call, with.entries, None).await?;
    match !dry_run && take_back_unmade(with, &history).await? {
        true => History::read(with.call, with.entries, None).await,
        false => Ok(history),
    }
}

/// Takes the last undo of each folder back if nothing happened of it: its process ended before it changed a file. Returns true if
/// there was one. [`complete_interrupted`] has finished those that were written down.
///
/// # Errors
///
/// The undo happens now.
async fn take_back_unmade(with: &Stores<'_>, history: &History) -> Result<bool, Error> {
    let call = with.call;
    let mut is_any = false;
    for folder in folders(call, with.entries)? {
        let is_last = |recorded: &&Recorded| {
            let Record { undoes, redoes, .. } = &recorded.record;
            (!undoes.is_empty() || !redoes.is_empty()) && history.is_in(recorded, &folder)
        };
        let Some(last) = history.records.iter().rfind(is_last) else { continue };
        let operation = &last.record.operation;
        // Its end is recorded already.
        if last.record.changes.is_empty() {
            continue;
        }
        let Some(files) = unmade(call, history, operation, &folder).await? else { continue };
        for file in files.iter().take(usize::from(is_recent(call, &last.record))) {
            if call.is_changed_soon(file).await? {
                let message = format!("operation {operation} is recorded and not made yet");
                return Err(Error::new(ErrorCode::Contention, message, "try again when it is made"));
            }
        }
        // Under its own name: this command may take the same operations back, and that must count.
        let Record { command, writer, undoes, redoes, .. } = &last.record;
        let command = COMMANDS.into_iter().find(|known| known == command).unwrap_or(COMMANDS[0]);
        let of_unmade = call.finishing(operation.clone(), command, Some(writer.clone()));
        of_unmade.claim_log(&folder, |log| history.size_of(log)).await?;
        // What has no change in this folder was taken back elsewhere.
        let is_here = |operation: &&String| history.records_of(operation).any(|other| history.is_in(other, &folder));
        let of_folder = |operations: &[String]| operations.iter().filter(is_here).cloned().collect();
        of_unmade.record_unmade(&folder, of_folder(undoes), of_folder(redoes)).await?;
        is_any = true;
    }
    Ok(is_any)
}

/// Returns the files of a folder that an operation was to change, if it has changed none of them. It may have changed those of another
/// folder before it was interrupted.
async fn unmade(
    call: &Call,
    history: &History,
    operation: &str,
    folder: &HistoryFolder,
) -> Result<Option<Vec<File>>, Error> {
    let mut files: Vec<File> = Vec::new();
    for recorded in history.records_of(operation).filter(|recorded| history.is_in(recorded, folder)) {
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
