//! [`Object`]: what is kept under a key, and what its metadata say of it.
//!
//! An object is the bytes of the file and a last line with random digits. Many servers make ETags from the bytes alone: with these
//! digits, no two objects have the same ETag, so a condition on an ETag cannot be met by a later object with the same text. A
//! removed file leaves an object of exactly [`TOMBSTONE_BYTES`], which is less than the last line, so that a listing, which tells
//! sizes but no metadata, leaves it out.

use std::borrow::Cow;

use object_store::{Attribute, Attributes};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use saddlebag::protocol::{FsError, Version};
use saddlebag::store::RelPath;

/// Before the random digits of the last line.
const BEFORE: &str = "\n<!-- saddlebag ";
/// After them.
const AFTER: &str = " -->\n";
/// Number of random digits.
const DIGITS: usize = 32;
/// Size of the last line.
pub(super) const LAST_LINE_BYTES: u64 = (BEFORE.len() + DIGITS + AFTER.len()) as u64;
/// Before the random digits of a tombstone.
const GONE: &str = "removed ";
/// Size of the object that a removed file leaves.
pub(super) const TOMBSTONE_BYTES: u64 = (GONE.len() + DIGITS) as u64;

/// Characters that metadata cannot have, and `%`.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'%').add(b',').add(b';').add(b'\\');

const OPERATION: &str = "saddlebag-op";
const REMOVED: &str = "saddlebag-removed";
const KEEP_AS: &str = "saddlebag-keep-as";
const MOVED_FROM: &str = "saddlebag-moved-from";
const MOVED_TO: &str = "saddlebag-moved-to";
const MOVED_VERSION: &str = "saddlebag-moved-version";

/// What is kept under a key.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// Identifies the object, as the server spells it.
    pub(super) etag: String,
    /// Bytes of the file; `None` if it was removed.
    pub(super) file: Option<Vec<u8>>,
    /// Random digits of the write; empty if another program wrote it.
    pub(super) digits: String,
    pub(super) note: Note,
}

/// What the metadata of an object say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Note {
    /// Operation that wrote the object; empty if another program did.
    pub(super) operation: String,
    /// Path under which the bytes before this operation are kept.
    pub(super) keep_as: Option<RelPath>,
    /// File that this one was moved from, if the move may not be finished.
    pub(super) moved: Option<Moved>,
    /// Path that a removed file was moved to.
    pub(super) moved_to: Option<RelPath>,
}

/// Beginning of a move: it is done once the old file, which had this version, is a tombstone of the same operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) from: RelPath,
    pub(super) etag: String,
}

impl Object {
    /// Returns the version of the file; `None` if it was removed.
    pub(super) fn version(&self) -> Option<Version> {
        self.file.is_some().then(|| version(&self.etag))
    }

    /// Reads an object.
    ///
    /// # Errors
    ///
    /// The metadata are not those of a store.
    pub(super) fn decode(etag: String, mut bytes: Vec<u8>, attributes: &Attributes) -> Result<Self, FsError> {
        let note = Note::decode(attributes)?;
        if is_removed(attributes) {
            let digits = String::from_utf8_lossy(&bytes).trim_start_matches(GONE).to_string();
            return Ok(Self { etag, file: None, digits, note });
        }
        let mut digits = String::new();
        if metadata(attributes, OPERATION).is_some() {
            let length = bytes.len().saturating_sub(LAST_LINE_BYTES as usize);
            let line = String::from_utf8_lossy(&bytes[length..]);
            let found = line.strip_prefix(BEFORE).and_then(|line| line.strip_suffix(AFTER));
            digits = found.ok_or_else(|| FsError::Other("an object lacks its last line".into()))?.to_string();
            bytes.truncate(length);
        }
        Ok(Self { etag, file: Some(bytes), digits, note })
    }
}

impl Note {
    /// Reads the metadata of an object.
    ///
    /// # Errors
    ///
    /// They are not those of a store.
    pub(super) fn decode(attributes: &Attributes) -> Result<Self, FsError> {
        let get = |name| metadata(attributes, name);
        let path = |name: &'static str| get(name).map(|text| decoded_path(name, text)).transpose();
        let moved = match (path(MOVED_FROM)?, get(MOVED_VERSION)) {
            (Some(from), Some(etag)) => Some(Moved { from, etag: decoded(etag) }),
            _ => None,
        };
        let operation = get(OPERATION).unwrap_or_default().to_string();
        Ok(Self { operation, keep_as: path(KEEP_AS)?, moved, moved_to: path(MOVED_TO)? })
    }
}

fn metadata<'a>(attributes: &'a Attributes, name: &'static str) -> Option<&'a str> {
    attributes.get(&Attribute::Metadata(Cow::Borrowed(name))).map(AsRef::as_ref)
}

/// Returns true if the metadata are those of a tombstone.
pub(super) fn is_removed(attributes: &Attributes) -> bool {
    metadata(attributes, REMOVED).is_some()
}

/// Returns the version of an ETag.
pub(super) fn version(etag: &str) -> Version {
    Version(unquoted(etag).to_string())
}

/// Returns an ETag without its quotes.
pub(super) fn unquoted(etag: &str) -> &str {
    etag.trim_matches('"')
}

/// Returns the bytes and the metadata of an object with these random digits. Without a `file`, it is removed.
pub(super) fn encode(file: Option<&[u8]>, note: &Note, digits: &str) -> (Vec<u8>, Attributes) {
    let mut attributes = Attributes::new();
    let mut set = |name: &'static str, value: String| {
        attributes.insert(Attribute::Metadata(Cow::Borrowed(name)), value.into());
    };
    set(OPERATION, note.operation.clone());
    if let Some(path) = &note.keep_as {
        set(KEEP_AS, encoded(path.as_str()));
    }
    if let Some(path) = &note.moved_to {
        set(MOVED_TO, encoded(path.as_str()));
    }
    if let Some(moved) = &note.moved {
        set(MOVED_FROM, encoded(moved.from.as_str()));
        set(MOVED_VERSION, encoded(&moved.etag));
    }
    let Some(file) = file else {
        set(REMOVED, "1".into());
        return (format!("{GONE}{digits}").into_bytes(), attributes);
    };
    let mut bytes = Vec::with_capacity(file.len() + LAST_LINE_BYTES as usize);
    bytes.extend_from_slice(file);
    bytes.extend_from_slice(format!("{BEFORE}{digits}{AFTER}").as_bytes());
    (bytes, attributes)
}

/// Returns the size of the file in an object of this size; `None` if it was removed.
pub(super) fn file_size(object: u64) -> Option<u64> {
    // An object that another program put there may be smaller.
    (object != TOMBSTONE_BYTES).then(|| if object < LAST_LINE_BYTES { object } else { object - LAST_LINE_BYTES })
}

/// Metadata are ASCII.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn decoded_path(name: &str, text: &str) -> Result<RelPath, FsError> {
    RelPath::new(decoded(text)).map_err(|_| FsError::Other(format!("the metadata `{name}` of an object have no path")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "00000000000000000000000000000001";
    const TWO: &str = "00000000000000000000000000000002";

    #[test]
    fn an_object_is_read_as_it_was_written_whatever_its_size() {
        let moved = Moved { from: RelPath::new("a b/\u{fc}.md").unwrap(), etag: "\"12\"".into() };
        let keep_as = Some(RelPath::new("k%2e.md").unwrap());
        let note = Note { operation: "0123".into(), keep_as, moved: Some(moved), moved_to: None };
        for size in [0, 1, 40, 41, 42, 52, 53, 54] {
            let file = vec![b'x'; size];
            let (bytes, attributes) = encode(Some(&file), &note, ONE);
            assert_eq!(file_size(bytes.len() as u64), Some(size as u64));
            let object = Object::decode("e".into(), bytes, &attributes).unwrap();
            assert_eq!((object.file, object.note, object.digits), (Some(file), note.clone(), ONE.to_string()));
        }
        let (bytes, attributes) = encode(None, &note, TWO);
        assert_eq!(file_size(bytes.len() as u64), None);
        let object = Object::decode("e".into(), bytes, &attributes).unwrap();
        assert_eq!((object.file, object.digits), (None, TWO.to_string()));
    }

    #[test]
    fn no_two_writes_of_the_same_text_have_the_same_bytes() {
        let note = Note::default();
        for file in [Some(b"text".as_slice()), None] {
            assert_ne!(encode(file, &note, ONE).0, encode(file, &note, TWO).0);
        }
    }
}
