//! The changes that remove a text from files.
//!
//! A change of a file that people keep is recorded like any other, except that the record has no content from before and only a
//! keyed digest of it. No backup is kept.

use saddlebag_log::{Change as RecordedChange, Content, Digest, State, Stored};
use sha2::{Digest as _, Sha256};

use super::call::Call;
use super::change::Change;
use super::expunged_text::{BLOCK_BYTES, ExpungedText};
use super::logs::history_of;
use super::make::{Made, contention};
use super::operation::Recorder;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Maximum number of attempts at a file that others change.
const MAX_ATTEMPTS: u32 = 64;

impl Call {
    /// Returns a text to expunge.
    ///
    /// # Errors
    ///
    /// The text is too short, or is part of what every record has.
    pub(crate) fn text_to_expunge(&self, text: String) -> Result<ExpungedText, Error> {
        let recorder = self.recorder.as_deref();
        let text = ExpungedText::new(text, key_of(recorder), &names_of_records(self))?;
        if recorder.and_then(|recorder| recorder.reason.as_ref()).is_some_and(|reason| text.is_in(reason)) {
            return Err(Error::invalid_argument("the reason has the text to expunge", "give a reason without it"));
        }
        Ok(text)
    }

    /// Returns no text, for an item that is removed as a whole.
    pub(crate) fn no_text_to_expunge(&self) -> ExpungedText {
        ExpungedText::none(key_of(self.recorder.as_deref()))
    }

    /// Removes a text from a file, or the file. Returns false if there was nothing to remove.
    pub(crate) async fn expunge(&self, path: &RelPath, text: &ExpungedText, is_whole: bool) -> Result<bool, Error> {
        for _ in 0..MAX_ATTEMPTS {
            let file = self.load(path).await?;
            let change = match is_whole {
                true => self.screen.expunge_file(&file)?,
                false => self.screen.expunge(&file, text)?,
            };
            let Some(change) = change else { return Ok(false) };
            self.record_expunged(&change, text).await?;
            if self.make(&change).await? == Made::Yes {
                return Ok(true);
            }
        }
        Err(contention(path))
    }

    /// Writes the record that a text is expunged, which has its keyed digest. It belongs to the history of this file.
    pub(crate) async fn begin_expunge(&self, file: &RelPath, text: &ExpungedText, what: String) -> Result<(), Error> {
        let Some(recorder) = &self.recorder else { return Err(Error::internal("an expunge without a history")) };
        let given = recorder.reason.as_ref().map(|reason| format!("{reason}; ")).unwrap_or_default();
        recorder.state.borrow_mut().reason = Some(format!("{given}{what}"));
        let content = Content { digest: text.digest(), stored: Stored::Removed };
        let contents = if text.is_empty() { Vec::new() } else { Vec::from([content]) };
        let folder = history_of(file)?;
        let path = folder.relative(file).to_string();
        let change = RecordedChange { path, contents, ..RecordedChange::default() };
        self.append_expunged(file, recorder, change, None).await
    }

    /// Writes the record of a change that removes text, without the content before.
    async fn record_expunged(&self, change: &Change, text: &ExpungedText) -> Result<(), Error> {
        let path = change.path();
        let Some(recorder) = self.recorder.as_ref().filter(|_| self.is_recorded(path)) else { return Ok(()) };
        let (before, after) = (change.before.bytes(), change.after_bytes());
        let folder = history_of(path)?;
        let mut recorded = self.without_contents(folder.relative(path), before, after.as_deref());
        text.replace_in(&mut recorded.path);
        if let Some(before) = before.filter(|before| !before.is_empty()) {
            let digest = text.keyed(&Digest::of(before));
            recorded.before = State::Bytes(digest);
            recorded.contents.insert(0, Content { digest, stored: Stored::Removed });
        }
        self.append_expunged(path, recorder, recorded, after.as_deref()).await
    }

    async fn append_expunged(
        &self,
        path: &RelPath,
        recorder: &Recorder,
        change: RecordedChange,
        after: Option<&[u8]>,
    ) -> Result<(), Error> {
        if !self.history_policy().await?.record {
            return Ok(());
        }
        let folder = history_of(path)?;
        let log = self.current_log(&folder, recorder)?;
        let size = self.log_size(&log).await;
        let changes = Vec::from([change]);
        self.write_blobs(&folder, &changes, [None, after, None]).await?;
        self.append_line(&log, self.line(recorder, size, changes, true), false).await
    }
}

/// Returns the key of digests: that of the host, or one made of the machine and the epoch.
fn key_of(recorder: Option<&Recorder>) -> [u8; BLOCK_BYTES] {
    let mut key = [0; BLOCK_BYTES];
    let Some(recorder) = recorder else { return key };
    match &recorder.secret {
        Some(secret) => key.iter_mut().zip(secret.bytes()).for_each(|(to, from)| *to = *from),
        None => {
            let [epoch, _] = recorder.seed;
            let made = Sha256::digest(format!("saddlebag expunge {} {epoch}", recorder.machine).as_bytes());
            key.iter_mut().zip(made).for_each(|(to, from)| *to = from);
        }
    }
    key
}

/// Returns the names that the records of an expunge have themselves.
fn names_of_records(call: &Call) -> Vec<String> {
    let mut names: Vec<String> = call.writer.fields().iter().filter_map(|(_, name)| name.map(String::from)).collect();
    names.extend([call.scope.trust.provenance.as_str(), "saddlebag"].map(String::from));
    if let Some(recorder) = &call.recorder {
        names.extend([recorder.machine.clone(), recorder.command.into()]);
        names.extend(call.recorded_agent());
        names.extend(recorder.state.borrow().operation.clone());
    }
    names
}
