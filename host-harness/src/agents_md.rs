//! Synchronisation of AGENTS.md: a file outside of the store, in which the component keeps a section.

use saddlebag::agents_md::{FactChange, FactChangeKind, MAX_AGENTS_MD_BYTES, SyncAgentsMd, SyncAgentsMdReply};
use saddlebag::protocol::{
    Error, ErrorCode, FileContent, FsError, FsOp, FsOutcome, Precondition, ReadOutcome, WriteOutcome, is_change,
};
use saddlebag::store::{RelPath, Timestamp};

use crate::engine::Engine;
use crate::executor::Executor;
use crate::host::{Host, HostError};

/// Maximum number of attempts if the file changes between reading and writing.
const ATTEMPTS: usize = 16;

impl<E: Engine, X: Executor> Host<E, X> {
    /// Synchronises the managed section of `path` in `folder` with the entries: reads the file, lets the component
    /// decide, and writes the file if it is unchanged. After a lost race it begins again, at most 16 times. The content
    /// of the request is ignored; its identity must be the identity of the file. If a person must confirm the changes
    /// first, nothing is written, and the reply has them.
    ///
    /// # Errors
    ///
    /// Those of [`Host::run`]; the file cannot be read or written; the file changes again and again. Edits that were read into
    /// entries before the error stay, and the next call finds them there.
    pub fn sync_agents_md(
        &mut self,
        now: Timestamp,
        folder: &mut impl Executor,
        path: &RelPath,
        request: &SyncAgentsMd,
    ) -> Result<SyncAgentsMdReply, HostError> {
        let mut earlier: Vec<FactChange> = Vec::new();
        for _ in 0..ATTEMPTS {
            let (content, precondition) = read(folder, path, &request.name)?;
            let request = SyncAgentsMd { content, ..request.clone() };
            let is_dry_run = request.dry_run;
            let mut reply = self.call(now, request.clone())?;
            if reply.unconfirmed.is_some() && !is_dry_run && !earlier.is_empty() {
                return Err(changed_meanwhile(&request.name, earlier.len()).into());
            }
            // Changes from before a lost race are made already, so the next attempt does not report them.
            earlier.retain(|change| reply.changes.iter().all(|new| new.key != change.key));
            reply.changes.extend(earlier.iter().cloned());
            reply.changes.sort_by(|a, b| a.key.cmp(&b.key));
            let Some(content) = reply.content.clone().filter(|_| !is_dry_run) else { return Ok(reply) };
            let op = FsOp::write(path.clone(), content, precondition);
            let outcome = folder.perform(&op);
            self.has_changed |= is_change(&outcome);
            match outcome.map_err(|error| storage(&request.name, &error))? {
                FsOutcome::Write(WriteOutcome::Written(_)) => return Ok(reply),
                FsOutcome::Write(_) => earlier = reply.changes.into_iter().filter(is_of_store).collect(),
                _ => return Err(storage(&request.name, &FsError::Unsupported).into()),
            }
        }
        let message = format!("{} changed {ATTEMPTS} times while it was synchronised", request.name);
        Err(Error::new(ErrorCode::Contention, message, "try again when no other program writes it").into())
    }
}

/// Returns the error for a file that changed after a lost race, so that a person must look at it again.
fn changed_meanwhile(name: &str, done: usize) -> Error {
    let entries = if done == 1 { "1 entry was".to_string() } else { format!("{done} entries were") };
    let message = format!("{name} was changed by others after {entries} updated from its earlier text");
    let help = "run it again to see the changes of the new text; the file was not written";
    Error::new(ErrorCode::NeedsConfirmation, message, help)
}

/// Reads the whole file, and returns the precondition for writing it.
fn read(folder: &mut impl Executor, path: &RelPath, name: &str) -> Result<(Option<Vec<u8>>, Precondition), HostError> {
    let op = FsOp::Read { path: path.clone(), offset: 0, max_bytes: MAX_AGENTS_MD_BYTES };
    match folder.perform(&op).map_err(|error| storage(name, &error))? {
        FsOutcome::Read(ReadOutcome::Content(FileContent { bytes, version, size })) => {
            if bytes.len() as u64 == size {
                return Ok((Some(bytes), Precondition::Matches(version)));
            }
            let message = format!("{name}: {size} bytes, the limit is {MAX_AGENTS_MD_BYTES}");
            let help = "move a part of it to another file";
            Err(Error::new(ErrorCode::TooLarge, message, help).into())
        }
        FsOutcome::Read(_) => Ok((None, Precondition::Absent)),
        _ => Err(storage(name, &FsError::Unsupported).into()),
    }
}

fn is_of_store(change: &FactChange) -> bool {
    matches!(change.kind, FactChangeKind::Stored | FactChangeKind::Updated | FactChangeKind::Forgotten)
}

fn storage(name: &str, error: &FsError) -> Error {
    let help = match error {
        FsError::SymbolicLink => "name the file itself: links are not followed",
        FsError::IsDirectory | FsError::NotRegular => "move it out of the way: a file is expected there",
        FsError::Denied | FsError::ReadOnly => "check the permissions of the file and of its folder",
        FsError::TimedOut => "try again",
        FsError::Locked(_) => "wait until that program is done, or end it, and try again",
        FsError::NoSpace => "free some space and try again",
        FsError::NotDurable(_) => "check the disk, then look at the file before you try again",
        _ => "",
    };
    Error::new(ErrorCode::Storage, format!("{name}: {error}"), help)
}
