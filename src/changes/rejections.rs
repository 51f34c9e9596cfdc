//! Values that a person rejected for good: the gate refuses them in every new text.
//!
//! The whole store has one log of them, which no other command touches: no purge, no retention, no undo. It is read once per
//! command, before the first change that gives a file text.

use super::call::Call;
use super::change::{After, Change, File};
use crate::engine::load;
use crate::store::{Layout, RelPath, is_below_entries, utc_text};
use crate::trust::{RejectedValues, Rejection, Value};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::Frontmatter;
use saddlebag_protocol::{Error, ErrorCode, ReadOutcome};

/// Field of an entry that is forgotten.
const FORGOTTEN: &str = "forgotten";

impl Call {
    /// Returns the values that are rejected in this store.
    pub(crate) async fn rejected_values(&self) -> Result<Arc<RejectedValues>, Error> {
        if let Some(known) = &*self.rejected.borrow() {
            return Ok(known.clone());
        }
        let path = log()?;
        let mut log = Vec::new();
        loop {
            let read = self.fs.read(&path, log.len() as u64, self.scope.limits.max_file_bytes).await;
            match read.map_err(|error| Error::storage(Some(&path), &error))? {
                ReadOutcome::Content(found) if !found.bytes.is_empty() => {
                    log.extend(found.bytes);
                    if log.len() as u64 >= found.size {
                        break;
                    }
                }
                ReadOutcome::Content(_) | ReadOutcome::Absent => break,
            }
        }
        let values = Arc::new(RejectedValues::from_log(&log));
        *self.rejected.borrow_mut() = Some(values.clone());
        Ok(values)
    }

    /// Rejects the value of a file for good.
    pub(crate) async fn reject_value(&self, value: Value, path: &RelPath) -> Result<(), Error> {
        let rejection =
            Rejection { value, path: path.to_string(), time: self.now.timestamp().seconds, is_received: false };
        self.append_rejection(rejection.line()).await
    }

    /// Lifts the rejections of a value, and of the file with this path. Returns their number.
    pub(crate) async fn lift_rejections(&self, value: Option<&Value>, path: &RelPath) -> Result<usize, Error> {
        let values = self.rejected_values().await?;
        let time = self.now.timestamp().seconds;
        let lines: Vec<String> = values.of(value, path.as_str()).map(|found| found.lifting_line(time)).collect();
        if !lines.is_empty() {
            self.append_rejection(lines.concat()).await?;
        }
        Ok(lines.len())
    }

    async fn append_rejection(&self, lines: String) -> Result<(), Error> {
        self.append_line(&log()?, lines.into_bytes(), false).await?;
        *self.rejected.borrow_mut() = None;
        Ok(())
    }

    /// Refuses changes of which one brings back a value that was rejected for good.
    pub(crate) async fn check_all_rejected(&self, changes: &[Change]) -> Result<(), Error> {
        for change in changes {
            self.check_rejected(change).await?;
        }
        Ok(())
    }

    /// Refuses a change that gives a file a rejected value. A value that the file had before may stay.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::Rejected`] names the file and the time of the rejection, and not the value.
    pub(crate) async fn check_rejected(&self, change: &Change) -> Result<(), Error> {
        let path = change.path();
        let (After::Whole(added) | After::Added(added)) = &change.after else { return Ok(()) };
        if added.is_empty() || Layout::is_bookkeeping(path) || Layout::original_of(path).is_some() {
            return Ok(());
        }
        let values = self.rejected_values().await?;
        if values.is_empty() {
            return Ok(());
        }
        let is_whole = matches!(change.after, After::Whole(_));
        let is_known = is_whole || change.before.bytes().is_some();
        let before = match &change.from {
            Some(from) => from.clone(),
            None if is_known => change.before.clone(),
            // A value may begin in the text that is there. A file that is too large is not read for this.
            None => {
                let limit = self.scope.limits.max_file_bytes;
                let loaded =
                    load(&self.fs, path, limit).await.and_then(|loaded| File::from_loaded(path, loaded, limit));
                loaded.unwrap_or_else(|_| File::absent(path))
            }
        };
        let after = match is_whole {
            true => Cow::Borrowed(added.as_slice()),
            false => Cow::Owned(
                Change { before: before.clone(), ..change.clone() }.after_bytes().unwrap_or_default().into_owned(),
            ),
        };
        let after = shown_text(path, &after);
        let before = shown_text(&before.path, before.shown_bytes().unwrap_or_default());
        match values.new_in(path.as_str(), &after, &before) {
            None => Ok(()),
            Some(rejection) => Err(refused(&self.scope.display_path(path), rejection)),
        }
    }

    /// Refuses text that is kept elsewhere than in a file, or whose change is not made.
    ///
    /// # Errors
    ///
    /// Those of [`check_rejected`](Self::check_rejected).
    pub(crate) async fn check_text(&self, what: &str, text: &str) -> Result<(), Error> {
        self.check_added(what, text, "").await
    }

    /// Refuses text with a rejected value that the text it replaces does not have. It is called with the text that a command was
    /// given: in the file, a time or a list mark may be before it, and a short value is found only as a whole line.
    ///
    /// # Errors
    ///
    /// Those of [`check_rejected`](Self::check_rejected).
    pub(crate) async fn check_added(&self, what: &str, text: &str, replaced: &str) -> Result<(), Error> {
        let values = self.rejected_values().await?;
        values
            .new_in(self.scope.layout.scratchpad().as_str(), text, replaced)
            .map_or(Ok(()), |rejection| Err(refused(what, rejection)))
    }
}

/// Returns the error for text with a rejected value, which the memory keeps elsewhere than in a file.
pub(crate) fn refusal(call: &Call, values: &RejectedValues, what: &str, text: &str) -> Option<Error> {
    values.new_in(call.scope.layout.scratchpad().as_str(), text, "").map(|rejection| refused(what, rejection))
}

fn log() -> Result<RelPath, Error> {
    Layout::rejected_log().map_err(|_| Error::internal("the log of rejected values has no path"))
}

/// Returns true for the file of an entry that is forgotten.
pub(crate) fn is_tombstone(path: &RelPath, bytes: &[u8]) -> bool {
    is_below_entries(path) && Frontmatter::parse(&String::from_utf8_lossy(bytes)).value(FORGOTTEN).is_some()
}

/// Returns the text of a file that is shown. The entry in a tombstone is not.
fn shown_text<'a>(path: &RelPath, bytes: &'a [u8]) -> Cow<'a, str> {
    let text = String::from_utf8_lossy(bytes);
    match is_tombstone(path, bytes) {
        true => Cow::Borrowed(""),
        false => text,
    }
}

fn refused(what: &str, rejection: &Rejection) -> Error {
    let seconds = u64::try_from(rejection.time).unwrap_or_default();
    let time = utc_text(seconds.saturating_mul(1_000_000_000));
    let message = format!("{what}: its text has a value that was rejected for good at {time}");
    let help = "leave the value out; a person can lift the rejection with `unforget`";
    Error::new(ErrorCode::Rejected, message, help)
}
