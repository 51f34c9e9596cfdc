//! [`ExpungedText`]: text that is removed from every file, and the digests that stay of it.

use memchr::memmem;
use saddlebag_log::Digest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// What stands in the place of expunged text.
pub const EXPUNGED: &str = "(expunged)";

/// Minimum number of characters of text that is removed. Shorter text is in too many places.
const MIN_CHARS: usize = 4;

/// Maximum number of times that a text is replaced while the replacement makes it again.
const MAX_ROUNDS: usize = 8;

/// Size of a block of SHA-256 in bytes.
pub(super) const BLOCK_BYTES: usize = 64;

/// Text that is removed, and the key of the digests that stay.
pub(crate) struct ExpungedText {
    /// Empty if only the file of an item is removed.
    text: String,
    key: [u8; BLOCK_BYTES],
}

impl ExpungedText {
    /// Returns the text, with a key for digests that [`key_of`] makes. `names` are those that every record has.
    ///
    /// # Errors
    ///
    /// The text is too short, or is part of what every record has.
    pub(super) fn new(text: String, key: [u8; BLOCK_BYTES], names: &[String]) -> Result<Self, Error> {
        if text.trim().chars().count() < MIN_CHARS {
            let message =
                format!("the text to expunge has fewer than {MIN_CHARS} characters, so it is in too many places");
            return Err(Error::invalid_argument(message, "give more of the text around it"));
        }
        if EXPUNGED.contains(&text) || names.iter().any(|name| name.contains(&text)) {
            let message =
                "the text to expunge is part of a name that every record has, such as that of the agent or the machine";
            return Err(Error::invalid_argument(message, "give more of the text around it"));
        }
        Ok(Self { text, key })
    }

    /// Returns no text, for an item that is removed as a whole.
    pub(super) fn none(key: [u8; BLOCK_BYTES]) -> Self {
        Self { text: String::new(), key }
    }

    /// Returns true if a text has it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.count(text.as_bytes()) > 0
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
