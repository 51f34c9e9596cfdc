//! AGENTS.md: a file outside of the store, in which the component keeps a section.

use saddlebag::agents_md::{MAX_AGENTS_MD_BYTES, SyncAgentsMd, SyncAgentsMdReply};
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
    /// Writes facts into the managed section of `path` in `folder`: reads the file, lets the component make the new
    /// text, and writes it if the file is unchanged. After a lost race it begins again, at most 16 times. The content of
    /// the request is ignored. A dry run writes nothing, and its reply has the new text.
    ///
    /// # Errors
    ///
    /// Those of [`Host::run`]; the file cannot be read or written; the file changes again and again.
    pub fn sync_agents_md(
        &mut self,
        now: Timestamp,
        folder: &mut impl Executor,
        path: &RelPath,
        request: &SyncAgentsMd,
        dry_run: bool,
    ) -> Result<SyncAgentsMdReply, HostError> {
        for _ in 0..ATTEMPTS {
            let (content, precondition) = read(folder, path, &request.name)?;
            let reply = self.call(now, SyncAgentsMd { content, ..request.clone() })?;
            let Some(content) = reply.content.clone().filter(|_| !dry_run) else { return Ok(reply) };
            let op = FsOp::write(path.clone(), content, precondition);
            let outcome = folder.perform(&op);
            self.has_changed |= is_change(&outcome);
            match outcome.map_err(|error| storage(&request.name, &error))? {
                FsOutcome::Write(WriteOutcome::Written(_)) => return Ok(reply),
                FsOutcome::Write(_) => {}
                _ => return Err(storage(&request.name, &FsError::Unsupported).into()),
            }
        }
        let message = format!("{} changed {ATTEMPTS} times while its section was written", request.name);
        Err(Error::new(ErrorCode::Contention, message, "try again when no other program writes it").into())
    }
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
