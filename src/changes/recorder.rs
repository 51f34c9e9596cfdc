//! Records: writes each change into the history of the store, before the change is made.
//!
//! A record has the digests of the file before and after the change, and the contents that the history does not have yet: the
//! content before, if an editor wrote it, and the content after, as a difference where that is smaller. So each version that a
//! command wrote or replaced can be shown again. A record is durable before its change, except for text that is added at
//! the end of a file: its bytes are in the file itself, so a power cut can only take away who added them.
//!
//! No record says that a change was made, and one with `lost` says that it was not. Without it, as after a power cut, the files
//! tell: see [`saddlebag_log::versions`].

use memchr::memmem;
use saddlebag_log::{
    Change as RecordedChange, Contents, Digest, Log, MAX_CONTENT, Missing, Record, State, Stored,
    Writer as RecordedWriter,
};
use saddlebag_sanitize::secrets_in;

use super::call::Call;
use super::change::{After, Change, File};
use super::logs::history_of;
use super::make::contention;
use super::operation::Recorder;
use super::written::RECENT_BYTES;
use crate::store::{BackupPlace, HistoryFolder, Layout, RelPath};
use crate::trust::{Provenance, SecretPolicy, Writer};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{AppendOutcome, Error, ErrorCode, Precondition, ReadOutcome, Version, WriteOutcome};

/// Size in bytes above which a content has a separate file.
const MAX_INLINE_BYTES: usize = 1 << 20;

/// Size in bytes up to which a content that the end of the log cannot make is recorded before text is added to it.
const MAX_REPEATED_BYTES: usize = 4 << 10;

/// Command in a record that only says which session made an operation.
const SESSION_OF: &str = "session-of";

/// Age in seconds up to which an operation may be that of a tool which has just run.
const MAX_TIED_AGE_SECONDS: i64 = 600;

/// Returns true for a record that says which session made an operation.
pub(crate) fn is_session_of(record: &Record) -> bool {
    record.command == SESSION_OF && record.changes.is_empty()
}

/// Maximum number of attempts at a line of the log while the store cannot tell if it was added.
const MAX_ATTEMPTS: u32 = 64;

/// End of a log.
pub(super) struct LogEnd {
    /// Size of the whole log.
    pub(super) size: u64,
    /// The last bytes; `None` if they were not read, because this memory was the last to write the log.
    bytes: Option<Vec<u8>>,
}

/// What a log is to have of a change.
pub(super) struct Recordable {
    pub(super) changes: Vec<RecordedChange>,
    /// True if the history now keeps the bytes that the change replaces in place of a backup.
    pub(super) keeps_before: bool,
    /// True if a power cut may take the record away: the bytes are kept elsewhere.
    may_vanish: bool,
    /// Content of a file that the log can make then, and the offset from which on.
    made: Option<(String, Digest, u64)>,
}

/// Result of recording a change that is about to be made.
#[derive(Default)]
pub(super) struct Recorded {
    /// The changes of files, without contents.
    pub(super) changes: Vec<RecordedChange>,
    /// True if the history now keeps the bytes that the change replaces in place of a backup.
    pub(super) keeps_before: bool,
}

/// Returns true if the records of a file can make a content of it. A digest alone may belong to a content that only another
/// file's records have.
fn can_make(log_end: &[u8], content: &Digest, path: &str) -> bool {
    if memmem::find(log_end, content.to_string().as_bytes()).is_none() {
        return false;
    }
    let mut contents = Contents::new(MAX_CONTENT);
    for line in Log::new(log_end).lines_with(path) {
        for change in 0..line.head.record().changes.len() {
            for content in line.head.contents(change).unwrap_or_default() {
                contents.add_content(content);
            }
        }
    }
    // A separate file is durable before the record that names it.
    matches!(contents.get(content), Ok(_) | Err(Missing::Blob(_)))
}

impl Call {
    /// Returns the change of the file as it is now, which a record needs. `None` if the file is no longer as it was.
    pub(super) async fn recordable<'a>(&self, change: &'a Change) -> Result<Option<Cow<'a, Change>>, Error> {
        if change.before.bytes.is_some() || change.before.precondition == Precondition::Absent {
            return Ok(Some(Cow::Borrowed(change)));
        }
        let before = match self.load(change.path()).await {
            // Text can be added to a file that is too large to be read.
            Err(error) if error.code == ErrorCode::TooLarge && matches!(change.after, After::Added(_)) => {
                return Ok(Some(Cow::Borrowed(change)));
            }
            before => before?,
        };
        let holds =
            change.before.precondition == Precondition::Any || change.before.precondition == before.precondition;
        Ok(holds.then(|| Cow::Owned(Change { before, ..change.clone() })))
    }

    /// Returns true if the changes of a file are recorded: all but those of our own bookkeeping.
    pub(super) fn is_recorded(&self, path: &RelPath) -> bool {
        self.recorder.is_some() && !Layout::is_bookkeeping(path) && Layout::original_of(path).is_none()
    }

    /// Writes the record of a change that is about to be made. Returns what it has of the change.
    ///
    /// # Errors
    ///
    /// The log cannot be written. The change must not be made then.
    pub(super) async fn record(&self, change: &Change) -> Result<Recorded, Error> {
        let path = change.path();
        let Some(recorder) = &self.recorder else { return Ok(Recorded::default()) };
        let folder = history_of(path)?;
        let before = change.before.bytes();
        let after = change.after_bytes();
        let state_before = (path.clone(), State::of(before));
        if after.is_none() && recorder.state.borrow().moved.contains(&state_before) {
            let moved = RecordedChange::of(folder.relative(path), before, None, true, 0);
            return Ok(Recorded { changes: vec![moved], keeps_before: false });
        }
        let Some((log, end)) = self.opened(recorder, &folder).await? else { return Ok(Recorded::default()) };
        let is_unread = before.is_none() && change.before.precondition != Precondition::Absent;
        if let (true, After::Added(added)) = (is_unread, &change.after) {
            let size = self.size(path).await?;
            let append = RecordedChange::append(folder.relative(path), size, added);
            let changes = vec![append.without_contents()];
            let line = self.line(recorder, end.size, vec![append], recorder.is_first_in(&log));
            self.append_record(recorder, &log, line, true, None).await?;
            return Ok(Recorded { changes, keeps_before: false });
        }
        let Recordable { changes, keeps_before, may_vanish, made } =
            self.recordable_as(recorder, &log, &end, change).await?;
        let without_contents = changes.iter().map(RecordedChange::without_contents).collect();
        let line = self.line(recorder, end.size, changes, recorder.is_first_in(&log));
        self.append_record(recorder, &log, line, may_vanish, made).await?;
        Ok(Recorded { changes: without_contents, keeps_before })
    }

    /// Records that changes of the folder of a file were not made, because another writer was faster. Without this record the
    /// history has to guess it from the other changes of the file, so an error is not one of the command.
    pub(super) async fn record_lost(&self, path: &RelPath, lost: Vec<RecordedChange>) {
        let (Some(recorder), Ok(folder)) = (&self.recorder, history_of(path)) else { return };
        let Ok(log) = self.current_log(&folder, recorder) else { return };
        let is_lost = |(path, state): &(RelPath, State)| {
            lost.iter().any(|lost| lost.before == *state && folder.absolute(&lost.path).as_ref() == Some(path))
        };
        recorder.state.borrow_mut().moved.retain(|moved| !is_lost(moved));
        if !lost.is_empty() && recorder.has_recorded() {
            let line = Record { lost, ..self.record_without_changes(recorder, 0, false) }.to_line();
            // Once: a second line would mean another change.
            let _ = self.operations.append_to_log(&log, line.into_bytes(), Precondition::Any, true).await;
            recorder.written.borrow_mut().forget(&log);
        }
    }

    /// Returns what a log with this end needs to have of a change. Contents that need files of their own are written.
    pub(super) async fn recordable_as(
        &self,
        recorder: &Recorder,
        log: &RelPath,
        end: &LogEnd,
        change: &Change,
    ) -> Result<Recordable, Error> {
        let path = change.path();
        let folder = history_of(path)?;
        let before = change.before.bytes();
        let after = change.after_bytes();
        let keeps_before = self.is_kept_in_history(change).await;
        let known_since = match before.filter(|before| !before.is_empty()) {
            Some(before) => Self::known_since(recorder, log, end, &Digest::of(before), folder.relative(path)),
            None => Some(end.size),
        };
        let is_before_known = known_since.is_some();
        // A note with another name is written under it, and removed afterwards.
        let from = change.from.as_ref().filter(|from| from.path != *path);
        let from = from.filter(|from| history_of(&from.path).is_ok_and(|of| of == folder));
        let moved = from.filter(|_| change.moves).map(|old| (folder.relative(&old.path), old));
        let is_known = |(path, old): &(&str, &File)| {
            let known = |bytes| Self::known_since(recorder, log, end, &Digest::of(bytes), path);
            old.bytes().is_some_and(|bytes| known(bytes).is_some())
        };
        let is_old_known = moved.as_ref().is_some_and(is_known);
        let old_bytes = moved.and_then(|(_, old)| old.bytes());
        let has_secret = self.has_secret(before.filter(|_| !is_before_known))
            || self.has_secret(old_bytes.filter(|_| !is_old_known));
        let keeps_before = keeps_before && !has_secret;
        let appended = before.zip(after.as_deref()).filter(|(before, _)| {
            let is_append = matches!(change.after, After::Added(_)) && !is_before_known;
            is_append && before.len() > MAX_REPEATED_BYTES
        });
        let mut first = match has_secret {
            false if let Some((before, after)) = appended => {
                RecordedChange::append_to(folder.relative(path), before, after)
            }
            false => {
                RecordedChange::of(folder.relative(path), before, after.as_deref(), is_before_known, MAX_INLINE_BYTES)
            }
            true => self.without_contents(folder.relative(path), before, after.as_deref()),
        };
        first.keeps_before = keeps_before;
        first.moved_from = from.map(|from| folder.relative(&from.path).to_string());
        let mut changes = vec![first];
        if let Some((path, old)) = moved {
            changes.push(match has_secret {
                true => self.without_contents(path, old_bytes, None),
                false => RecordedChange::of(path, old_bytes, None, is_old_known, MAX_INLINE_BYTES),
            });
            recorder.state.borrow_mut().moved.push((old.path.clone(), State::of(old_bytes)));
        }
        if let After::Moved(to) = &change.after {
            let mut moved = RecordedChange::of(folder.relative(to), None, None, true, MAX_INLINE_BYTES);
            if let Some(first) = changes.first() {
                (moved.after, moved.after_size) = (first.before, first.before_size);
            }
            moved.moved_from = Some(folder.relative(path).to_string());
            changes.push(moved);
        }
        self.write_blobs(&folder, &changes, [before, after.as_deref(), old_bytes]).await?;
        let of_first = changes.first().filter(|_| !has_secret && changes.len() == 1);
        let made = match of_first.map(|first| (first.path.clone(), first.after)) {
            Some((path, State::Bytes(digest))) if appended.is_none() => {
                Some((path, digest, known_since.unwrap_or(end.size)))
            }
            _ => None,
        };
        // The bytes that a file gets at its end are there even if their record is lost, and those of a file that moves are in the records
        // of its old place.
        let may_vanish = matches!(change.after, After::Added(_)) || (is_old_known && before.is_none());
        Ok(Recordable { changes, keeps_before, may_vanish, made })
    }

    /// Returns true if the history is to keep the bytes that a change replaces in place of a backup: the file has none, and
    /// the backup would be its own, or its own after a move that follows.
    async fn is_kept_in_history(&self, change: &Change) -> bool {
        let own = Layout::backup_of(change.path());
        let Some(backup) = &change.keep_as else { return false };
        let replaces = match change.after {
            After::Whole(_) => true,
            After::Removed => *backup == own,
            _ => false,
        };
        if self.scope.backups != BackupPlace::History || !replaces || change.before.bytes().is_none() {
            return false;
        }
        // The backup that is there, or that cannot be read, is the newest kept text and must stay so.
        matches!(self.fs.read(backup, 0, 0).await, Ok(ReadOutcome::Absent))
            && (*backup == own || matches!(self.fs.read(&own, 0, 0).await, Ok(ReadOutcome::Absent)))
    }

    /// Writes a record without changes, which names a point in the history. Returns the operation; `None` if the policy turns
    /// the record off.
    pub(crate) async fn record_point(&self, folder: &HistoryFolder, name: String) -> Result<Option<String>, Error> {
        let Some(recorder) = &self.recorder else { return Ok(None) };
        recorder.state.borrow_mut().reason = Some(name);
        self.record_empty(recorder, folder).await
    }

    /// Writes a record without changes, which says that operations are undone or made again. Returns the operation; `None` if
    /// the policy turns the record off.
    pub(crate) async fn record_undo(
        &self,
        folder: &HistoryFolder,
        undoes: Vec<String>,
        redoes: Vec<String>,
    ) -> Result<Option<String>, Error> {
        let Some(recorder) = &self.recorder else { return Ok(None) };
        recorder.set_undone(undoes, redoes);
        self.record_empty(recorder, folder).await
    }

    /// Returns the newest operation of a tool in the log of a folder that is another session's or nobody's, that no session was recorded
    /// for and that was made a short time ago.
    pub(crate) async fn last_of_tool(&self, folder: &HistoryFolder, tool: &str) -> Result<Option<Record>, Error> {
        let Some(recorder) = &self.recorder else { return Ok(None) };
        let (bytes, _) = self.read_end(&self.current_log(folder, recorder)?, 0).await;
        let mut last = None;
        let mut known: Vec<String> = Vec::new();
        for line in Log::new(&bytes).lines() {
            let record = line.head.record();
            if is_session_of(record) {
                known.push(record.operation.clone());
            } else if record.writer.tool.as_deref() == Some(tool) && !record.changes.is_empty() {
                last = Some(record.clone());
            }
        }
        Ok(last.filter(|record| {
            let age = self.now.timestamp().seconds.saturating_sub(record.time_ns / 1_000_000_000);
            let is_own = record.writer.session == self.writer.session;
            !is_own && !known.contains(&record.operation) && age <= MAX_TIED_AGE_SECONDS
        }))
    }

    /// Records that the session of this command made an operation, which came from another program.
    pub(crate) async fn record_session_of(&self, folder: &HistoryFolder, made: &Record) -> Result<(), Error> {
        let Some(recorder) = &self.recorder else { return Ok(()) };
        let log = self.current_log(folder, recorder)?;
        let of = recorder.of_operation(made.operation.clone(), SESSION_OF, None);
        let record = Record { time_ns: made.time_ns, ..self.record_without_changes(&of, 0, false) };
        // Once: without the line, an undo of the session names the operation as one that is not tied.
        let _ = self.operations.append_to_log(&log, record.to_line().into_bytes(), Precondition::Any, true).await;
        recorder.written.borrow_mut().forget(&log);
        Ok(())
    }

    async fn record_empty(&self, recorder: &Recorder, folder: &HistoryFolder) -> Result<Option<String>, Error> {
        let Some((log, end)) = self.opened(recorder, folder).await? else { return Ok(None) };
        let line = self.line(recorder, end.size, Vec::new(), true);
        self.append_record(recorder, &log, line, false, None).await?;
        Ok(Some(recorder.operation(end.size)))
    }

    /// Returns the call that finishes an operation of another command. The changes are recorded under its name and its writer, so that
    /// whoever only finishes it cannot undo it as their own.
    pub(crate) fn finishing(&self, operation: String, command: &'static str, writer: Option<RecordedWriter>) -> Self {
        let of_other = |recorder: &Arc<Recorder>| Arc::new(recorder.of_operation(operation, command, writer));
        Self { recorder: self.recorder.as_ref().map(of_other), ..self.clone() }
    }

    /// Returns who gives the commands, as records name them.
    pub(crate) fn recorded_writer(&self) -> RecordedWriter {
        let Writer { client, session, tool, .. } = self.writer.clone();
        let provenance = self.scope.trust.provenance.as_str().into();
        RecordedWriter { provenance, agent: self.recorded_agent(), client, session, tool }
    }

    /// Returns the name of the operation that changes of a file are recorded under; `None` if they are not recorded.
    pub(crate) async fn operation_of(&self, path: &RelPath) -> Result<Option<String>, Error> {
        let Some(recorder) = &self.recorder else { return Ok(None) };
        let log = self.current_log(&history_of(path)?, recorder)?;
        Ok(Some(recorder.operation(self.log_size(&log).await)))
    }

    /// Returns the log that a record goes to, and its end; `None` if the policy turns the record off. A new log lets those that
    /// are too old go.
    pub(super) async fn opened(
        &self,
        recorder: &Recorder,
        folder: &HistoryFolder,
    ) -> Result<Option<(RelPath, LogEnd)>, Error> {
        let known = recorder.state.borrow().policy;
        let policy = match known {
            Some(policy) => policy,
            None => self.history_policy().await?,
        };
        recorder.state.borrow_mut().policy = Some(policy);
        if !policy.record {
            return Ok(None);
        }
        let log = self.current_log(folder, recorder)?;
        let end = self.log_end(recorder, &log).await;
        if end.size == 0 {
            self.prune_history(folder, &policy).await?;
        }
        Ok(Some((log, end)))
    }

    /// Writes the contents that have files of their own, from the bytes that files have before and after.
    pub(super) async fn write_blobs(
        &self,
        folder: &HistoryFolder,
        changes: &[RecordedChange],
        known: [Option<&[u8]>; 3],
    ) -> Result<(), Error> {
        for content in changes.iter().flat_map(|change| &change.contents) {
            if matches!(content.stored, Stored::Blob) {
                let mut bytes = known.into_iter().flatten();
                let bytes = bytes.find(|bytes| Digest::of(bytes) == content.digest).unwrap_or_default();
                let blob = folder.blob(&content.digest.to_string());
                let blob = blob.map_err(|_| Error::internal("a content has no path"))?;
                self.write_blob(&blob, bytes).await?;
            }
        }
        Ok(())
    }

    /// Returns the agent that records name: the one that the origin or the memory names, unless a person gives the commands.
    pub(crate) fn recorded_agent(&self) -> Option<String> {
        let is_person = self.scope.trust.provenance == Provenance::User;
        let of_memory = || self.recorder.as_ref().filter(|_| !is_person).and_then(|recorder| recorder.agent.clone());
        self.writer.agent.clone().or_else(of_memory)
    }

    /// Returns the line of a record. The first of an operation in a file says which operations it undoes or makes again.
    pub(super) fn line(
        &self,
        recorder: &Recorder,
        log_size: u64,
        changes: Vec<RecordedChange>,
        is_first: bool,
    ) -> Vec<u8> {
        Record { changes, ..self.record_without_changes(recorder, log_size, is_first) }.to_line().into_bytes()
    }

    fn record_without_changes(&self, recorder: &Recorder, log_size: u64, is_first: bool) -> Record {
        let time = self.now.timestamp();
        let operation = recorder.operation(log_size);
        let state = recorder.state.borrow();
        Record {
            operation,
            time_ns: time.seconds.saturating_mul(1_000_000_000).saturating_add(time.nanoseconds.into()),
            utc_offset_seconds: time.utc_offset_seconds,
            command: recorder.command.into(),
            writer: recorder.writer.clone().unwrap_or_else(|| self.recorded_writer()),
            reason: state.reason.clone().or_else(|| recorder.reason.clone()),
            undoes: if is_first { state.undoes.clone() } else { Vec::new() },
            redoes: if is_first { state.redoes.clone() } else { Vec::new() },
            ..Record::default()
        }
    }

    /// Returns the record of a change of text with a secret, which the history must not have: only the sizes.
    pub(super) fn without_contents(&self, path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> RecordedChange {
        let mut change = RecordedChange::of(path, None, None, true, MAX_INLINE_BYTES);
        let size = |bytes: Option<&[u8]>| bytes.map_or(0, |bytes| bytes.len() as u64);
        (change.before_size, change.after_size) = (size(before), size(after));
        change.before = before.map_or(State::Absent, |bytes| State::Size(bytes.len() as u64));
        change.after = match after {
            Some(after) if self.has_secret(Some(after)) => State::Size(after.len() as u64),
            _ => {
                let after = RecordedChange::of(path, None, after, true, MAX_INLINE_BYTES);
                change.contents = after.contents;
                after.after
            }
        };
        change
    }

    pub(super) fn has_secret(&self, bytes: Option<&[u8]>) -> bool {
        self.scope.trust.secrets != SecretPolicy::Allow
            && bytes.is_some_and(|bytes| !secrets_in(&String::from_utf8_lossy(bytes)).is_empty())
    }

    async fn size(&self, path: &RelPath) -> Result<u64, Error> {
        let read = self.fs.read(path, 0, 0).await;
        Ok(match read.map_err(|error| Error::storage(Some(path), &error))? {
            ReadOutcome::Absent => 0,
            ReadOutcome::Content(found) => found.size,
        })
    }

    /// Returns the size of a log in bytes. If it cannot be read, the number that no log has.
    pub(super) async fn log_size(&self, log: &RelPath) -> u64 {
        self.size(log).await.unwrap_or(u64::MAX)
    }

    /// Returns the end of a log. If this memory was the last to write it, the bytes are not read.
    async fn log_end(&self, recorder: &Recorder, log: &RelPath) -> LogEnd {
        let known = recorder.written.borrow().version(log).cloned();
        if let Some(known) = known {
            match self.fs.read(log, 0, 0).await {
                Ok(ReadOutcome::Content(found)) if found.version == known => {
                    return LogEnd { size: found.size, bytes: None };
                }
                _ => recorder.written.borrow_mut().forget(log),
            }
        }
        let (bytes, size) = self.read_end(log, 0).await;
        LogEnd { size, bytes: Some(bytes) }
    }

    /// Reads the last bytes of a log from an offset on, or from a later one. Returns them with the size of the log.
    async fn read_end(&self, log: &RelPath, mut offset: u64) -> (Vec<u8>, u64) {
        let max_bytes = RECENT_BYTES.min(self.scope.limits.max_file_bytes);
        loop {
            match self.fs.read(log, offset, max_bytes).await {
                Ok(ReadOutcome::Absent) => return (Vec::new(), 0),
                Ok(ReadOutcome::Content(found)) => {
                    let end = found.size.saturating_sub(max_bytes.into());
                    if end <= offset {
                        return (found.bytes, found.size);
                    }
                    offset = end;
                }
                // Others write so fast that it cannot be read. What is not known to be recorded is recorded again.
                Err(_) => return (Vec::new(), u64::MAX),
            }
        }
    }

    /// Returns the offset from which on a log can make the content of a file; `None` if its end cannot.
    fn known_since(recorder: &Recorder, log: &RelPath, end: &LogEnd, content: &Digest, path: &str) -> Option<u64> {
        match &end.bytes {
            Some(bytes) => can_make(bytes, content, path).then(|| end.size.saturating_sub(RECENT_BYTES.into())),
            None => recorder.written.borrow().since(log, end.size, path, content),
        }
    }

    /// Appends a record of this command, under the condition that was set for it, and notes the content of a file that the log can
    /// make with it.
    pub(super) async fn append_record(
        &self,
        recorder: &Recorder,
        log: &RelPath,
        line: Vec<u8>,
        may_vanish: bool,
        made: Option<(String, Digest, u64)>,
    ) -> Result<(), Error> {
        let version = self.append_if(log, line, recorder.claimed(log), may_vanish).await?;
        recorder.written.borrow_mut().note(log, version, made);
        Ok(())
    }

    pub(super) async fn append_line(&self, log: &RelPath, line: Vec<u8>, may_vanish: bool) -> Result<(), Error> {
        self.append_if(log, line, None, may_vanish).await.map(|_| ())
    }

    /// Appends a line to a log if the condition holds, or if the line is there already. Returns the version that the log has then,
    /// if the line is its last.
    async fn append_if(
        &self,
        log: &RelPath,
        line: Vec<u8>,
        condition: Option<Precondition>,
        may_vanish: bool,
    ) -> Result<Option<Version>, Error> {
        for _ in 0..MAX_ATTEMPTS {
            let precondition = condition.clone().unwrap_or(Precondition::Any);
            let outcome = self.operations.append_to_log(log, line.clone(), precondition, may_vanish).await;
            match outcome.map_err(|error| Error::storage(Some(log), &error))? {
                AppendOutcome::Written(version) => return Ok(Some(version)),
                AppendOutcome::Stale(_) if condition.is_some() => {
                    if self.has_line(log, &line).await {
                        return Ok(None);
                    }
                    self.recorder.iter().for_each(|recorder| recorder.begin_again());
                    break;
                }
                // A line that is there twice says the same as one.
                AppendOutcome::Stale(_) | AppendOutcome::Unknown(_) => {}
            }
        }
        Err(contention(log))
    }

    /// Returns true if the end of a log has a line: the host could not tell that it was written, or somebody else finishes the
    /// operation.
    async fn has_line(&self, log: &RelPath, line: &[u8]) -> bool {
        memmem::find(&self.read_end(log, 0).await.0, line.trim_ascii_end()).is_some()
    }

    /// Returns the identifier of the operation; `None` if nothing is recorded of it.
    pub(crate) fn recorded_operation(&self) -> Option<String> {
        let recorder = self.recorder.as_ref().filter(|recorder| recorder.has_recorded())?;
        recorder.state.borrow().operation.clone()
    }

    /// Returns true if this command has recorded nothing yet.
    pub(crate) fn has_recorded_nothing(&self) -> bool {
        self.recorder.as_ref().is_none_or(|recorder| !recorder.has_recorded())
    }

    /// Makes the next record depend on the log of a folder being as it was read, with this size; `None` if it was not read.
    ///
    /// # Errors
    ///
    /// Others have added to the log.
    pub(crate) async fn claim_log(
        &self,
        folder: &HistoryFolder,
        known: impl Fn(&RelPath) -> Option<u64>,
    ) -> Result<(), Error> {
        let claim = self.check_log(folder, known).await?;
        if let Some(recorder) = &self.recorder {
            recorder.state.borrow_mut().claim = claim;
        }
        Ok(())
    }

    /// Returns the log of a folder, and the condition that it is as it was read, with this size; `None` without a history.
    ///
    /// # Errors
    ///
    /// Others have added to the log.
    pub(crate) async fn check_log(
        &self,
        folder: &HistoryFolder,
        known: impl Fn(&RelPath) -> Option<u64>,
    ) -> Result<Option<(RelPath, Precondition)>, Error> {
        let Some(recorder) = &self.recorder else { return Ok(None) };
        let log = self.current_log(folder, recorder)?;
        let read = self.fs.read(&log, 0, 0).await;
        let (size, condition) = match read.map_err(|error| Error::storage(Some(&log), &error))? {
            ReadOutcome::Absent => (0, Precondition::Absent),
            ReadOutcome::Content(found) => (found.size, Precondition::Matches(found.version)),
        };
        if known(&log).is_some_and(|known| size != known) {
            return Err(contention(&log));
        }
        Ok(Some((log, condition)))
    }

    /// Writes a content that is named by its digest, so whoever was faster has written the same bytes.
    async fn write_blob(&self, path: &RelPath, bytes: &[u8]) -> Result<(), Error> {
        for _ in 0..MAX_ATTEMPTS {
            let outcome = self.operations.write(path, bytes.to_vec(), Precondition::Absent, None, None).await;
            match outcome.map_err(|error| Error::storage(Some(path), &error))? {
                WriteOutcome::Written(_) | WriteOutcome::Stale(_) => return Ok(()),
                WriteOutcome::Unknown => {}
            }
        }
        Err(contention(path))
    }
}
