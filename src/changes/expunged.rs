//! [`ExpungedText`]: a text that is removed from every file, and the changes that remove it.
//!
//! A change of a file that people keep is recorded like any other, except that the record has no content from before and only a
//! keyed digest of it. No backup is kept.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use memchr::memmem;
use saddlebag_history::{Change as RecordedChange, Content, Digest, State, Stored};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::call::Call;
use super::change::Change;
use super::make::contention;
use super::operation::Recorder;
use crate::protocol::{Error, ErrorCode};
use crate::store::{Layout, RelPath};

/// What stands in the place of expunged text.
const EXPUNGED: &str = "[expunged]";

/// Minimum number of characters of a text. A shorter one is in too many places.
const MIN_CHARS: usize = 4;

/// Maximum number of times that a text is replaced while the replacement makes it again.
const MAX_ROUNDS: usize = 8;

/// Maximum number of attempts at a file that others change.
const MAX_ATTEMPTS: u32 = 64;

/// Size of a block of SHA-256 in bytes.
const BLOCK_BYTES: usize = 64;

/// A text that is removed, and the key of the digests that stay.
pub(crate) struct ExpungedText {
    /// Empty if only the file of an item is removed.
    text: String,
    key: [u8; BLOCK_BYTES],
}

impl ExpungedText {
    /// Returns the text. The key is that of the host, or is made of the machine and the epoch.
    ///
    /// # Errors
    ///
    /// The text is too short, or is part of what every record has.
    pub(crate) fn new(call: &Call, text: String) -> Result<Self, Error> {
        if text.trim().chars().count() < MIN_CHARS {
            let message =
                format!("the text to expunge has fewer than {MIN_CHARS} characters, so it is in too many places");
            return Err(Error::new(ErrorCode::InvalidArgument, message, "give more of the text around it"));
        }
        if names_of_records(call).iter().any(|name| name.contains(&text)) {
            let message =
                "the text to expunge is part of a name that every record has, such as that of the agent or the machine";
            return Err(Error::new(ErrorCode::InvalidArgument, message, "give more of the text around it"));
        }
        let recorder = call.recorder.as_deref();
        if recorder.and_then(|recorder| recorder.reason.as_ref()).is_some_and(|reason| reason.contains(&text)) {
            let message = "the reason has the text to expunge";
            return Err(Error::new(ErrorCode::InvalidArgument, message, "give a reason without it"));
        }
        Ok(Self { text, key: key_of(recorder) })
    }

    /// Returns no text, for an item that is removed as a whole.
    pub(crate) fn none(call: &Call) -> Self {
        Self { text: String::new(), key: key_of(call.recorder.as_deref()) }
    }

    /// Returns true if there is no text to search for.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Counts the places at which bytes have the text.
    pub(crate) fn count(&self, bytes: &[u8]) -> u32 {
        if self.text.is_empty() {
            return 0;
        }
        u32::try_from(memmem::find_iter(bytes, self.text.as_bytes()).count()).unwrap_or(u32::MAX)
    }

    /// Counts the places in a record of ours, such as the state of a session: a text may be escaped in it.
    pub(crate) fn count_in_record(&self, bytes: &[u8]) -> u32 {
        self.rewritten_record(bytes).1
    }

    /// Returns the bytes with the text replaced everywhere; `None` if they do not have it.
    pub(crate) fn replaced(&self, bytes: &[u8], is_record: bool) -> Option<Vec<u8>> {
        match is_record {
            true => Some(self.rewritten_record(bytes)).filter(|(_, count)| *count > 0).map(|(bytes, _)| bytes),
            false => (self.count(bytes) > 0).then(|| self.without(bytes)),
        }
    }

    /// Replaces the text in a name or a reason. Returns how often it was there.
    pub(crate) fn replace_in(&self, name: &mut String) -> u32 {
        let count = self.count(name.as_bytes());
        if count > 0 {
            *name = String::from_utf8_lossy(&self.without(name.as_bytes())).into_owned();
        }
        count
    }

    /// Returns the digest that stays of the text.
    pub(crate) fn digest(&self) -> Digest {
        self.hmac(b"text", self.text.as_bytes())
    }

    /// Returns the digest that stays of a content, in place of one that whoever guesses the content can check.
    pub(crate) fn keyed(&self, content: &Digest) -> Digest {
        self.hmac(b"content", &content.0)
    }

    fn without(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for round in 0.. {
            // Pieces of the text beside a replacement may make it again. Leaving it out ends at some time.
            let replacement = if round < MAX_ROUNDS { EXPUNGED.as_bytes() } else { b"" };
            let places: Vec<usize> = memmem::find_iter(&bytes, self.text.as_bytes()).collect();
            if places.is_empty() {
                break;
            }
            let mut replaced = Vec::with_capacity(bytes.len());
            let mut position = 0;
            for place in places {
                replaced.extend_from_slice(bytes.get(position..place).unwrap_or_default());
                replaced.extend_from_slice(replacement);
                position = place + self.text.len();
            }
            replaced.extend_from_slice(bytes.get(position..).unwrap_or_default());
            bytes = replaced;
        }
        bytes
    }

    /// Returns a record of ours with the text replaced, and how often it was there. Of JSON, only strings change, so that the
    /// record can still be read.
    fn rewritten_record(&self, bytes: &[u8]) -> (Vec<u8>, u32) {
        if self.is_empty() {
            return (bytes.to_vec(), 0);
        }
        let (mut out, mut count) = (Vec::with_capacity(bytes.len()), 0);
        if let Some((json, found)) = self.rewritten_json(bytes) {
            return if found > 0 { (json, found) } else { (bytes.to_vec(), 0) };
        }
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match self.rewritten_json(line) {
                Some((json, found)) if found > 0 => {
                    out.extend_from_slice(&json);
                    count += found;
                }
                Some(_) => out.extend_from_slice(line),
                None => {
                    count += self.count(line);
                    out.extend_from_slice(&self.without(line));
                }
            }
        }
        // A text of several lines.
        let rest = self.count(&out);
        if rest > 0 { (self.without(&out), count + rest) } else { (out, count) }
    }

    fn rewritten_json(&self, line: &[u8]) -> Option<(Vec<u8>, u32)> {
        let mut value: Value = serde_json::from_slice(line).ok()?;
        let count = self.replace_in_json(&mut value);
        let mut json = serde_json::to_vec(&value).ok()?;
        if line.ends_with(b"\n") {
            json.push(b'\n');
        }
        Some((json, count))
    }

    fn replace_in_json(&self, value: &mut Value) -> u32 {
        match value {
            Value::String(text) => self.replace_in(text),
            Value::Array(items) => items.iter_mut().map(|item| self.replace_in_json(item)).sum(),
            Value::Object(fields) => {
                let mut count = 0;
                let mut replaced = serde_json::Map::new();
                for (mut name, mut value) in core::mem::take(fields) {
                    count += self.replace_in(&mut name) + self.replace_in_json(&mut value);
                    replaced.insert(name, value);
                }
                *fields = replaced;
                count
            }
            _ => 0,
        }
    }

    /// Returns the first 16 bytes of the HMAC-SHA-256 of a message.
    fn hmac(&self, kind: &[u8], message: &[u8]) -> Digest {
        let inner =
            Sha256::new().chain_update(self.key.map(|byte| byte ^ 0x36)).chain_update(kind).chain_update(message);
        let outer = Sha256::new().chain_update(self.key.map(|byte| byte ^ 0x5c)).chain_update(inner.finalize());
        let mut digest = [0; 16];
        for (to, from) in digest.iter_mut().zip(outer.finalize()) {
            *to = from;
        }
        Digest(digest)
    }
}

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
    names.extend([EXPUNGED, call.scope.trust.provenance.as_str(), "saddlebag"].map(String::from));
    if let Some(recorder) = &call.recorder {
        names.extend([recorder.machine.clone(), recorder.command.into()]);
        names.extend(call.recorded_agent());
        names.extend(recorder.state.borrow().operation.clone());
    }
    names
}

impl Call {
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
            if self.make(&change).await? {
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
        let folder = Layout::history_of(file).map_err(|_| Error::internal("the history has no path"))?;
        let path = folder.relative(file).to_string();
        let change = RecordedChange { path, contents, ..RecordedChange::default() };
        self.append_expunged(file, recorder, change, None).await
    }

    /// Writes the record of a change that removes text, without the content before.
    async fn record_expunged(&self, change: &Change, text: &ExpungedText) -> Result<(), Error> {
        let path = change.path();
        let Some(recorder) = self.recorder.as_ref().filter(|_| self.is_recorded(path)) else { return Ok(()) };
        let (before, after) = (change.before.bytes(), change.after_bytes());
        let folder = Layout::history_of(path).map_err(|_| Error::internal("the history has no path"))?;
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
        let folder = Layout::history_of(path).map_err(|_| Error::internal("the history has no path"))?;
        let log = folder.log(self.now.timestamp().seconds, &recorder.machine);
        let log = log.map_err(|_| Error::internal("the log has no path"))?;
        let size = self.recent(&log).await.size;
        let changes = Vec::from([change]);
        self.write_blobs(&folder, &changes, [None, after]).await?;
        self.append_line(&log, self.line(recorder, size, changes), false).await
    }
}
