//! [`Object`]: what is kept under a key, and what its metadata say of it.
//!
//! An object is the file itself, byte for byte, with two exceptions. A removed file leaves an object of exactly
//! [`TOMBSTONE_BYTES`] bytes, so that a listing, which tells sizes but no metadata, leaves it out. A file of that size is kept
//! with one more byte, and its metadata tell its size.

use std::borrow::Cow;

use object_store::{Attribute, Attributes};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use saddlebag::protocol::{FsError, Version};
use saddlebag::store::RelPath;

/// Size of the object that a removed file leaves.
pub(super) const TOMBSTONE_BYTES: u64 = 251;
/// Size of objects whose metadata may tell another size.
pub(super) const PADDED_BYTES: u64 = TOMBSTONE_BYTES + 1;

const OPERATION: &str = "saddlebag-op";
const REMOVED: &str = "saddlebag-removed";
const PADDED: &str = "saddlebag-padded";
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
        let get = |name: &'static str| attributes.get(&Attribute::Metadata(Cow::Borrowed(name))).map(AsRef::as_ref);
        let path = |name: &'static str| get(name).map(|text: &str| decoded_path(name, text)).transpose();
        let moved = match (path(MOVED_FROM)?, get(MOVED_VERSION)) {
            (Some(from), Some(etag)) => Some(Moved { from, etag: decoded(etag) }),
            _ => None,
        };
        let operation = get(OPERATION).unwrap_or_default().to_string();
        let note = Note { operation, keep_as: path(KEEP_AS)?, moved, moved_to: path(MOVED_TO)? };
        if get(PADDED).is_some() {
            bytes.pop();
        }
        Ok(Self { etag, file: get(REMOVED).is_none().then_some(bytes), note })
    }
}

/// Returns the version of an ETag.
pub(super) fn version(etag: &str) -> Version {
    Version(unquoted(etag).to_string())
}

/// Returns an ETag without its quotes.
pub(super) fn unquoted(etag: &str) -> &str {
    etag.trim_matches('"')
}

/// Returns the bytes and the metadata of an object; `None` for the file: it is removed.
pub(super) fn encode(file: Option<&[u8]>, note: &Note) -> (Vec<u8>, Attributes) {
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
    let mut bytes = file.map_or_else(|| tombstone(&note.operation), <[u8]>::to_vec);
    if file.is_none() {
        set(REMOVED, "1".into());
    } else if bytes.len() as u64 == TOMBSTONE_BYTES {
        set(PADDED, "1".into());
        bytes.push(b'\n');
    }
    (bytes, attributes)
}

/// Returns the bytes that a removed file leaves. They name the operation, so that no two tombstones are equal.
fn tombstone(operation: &str) -> Vec<u8> {
    let mut bytes = format!("Saddlebag removed this file. Operation: {operation}\n").into_bytes();
    bytes.resize(TOMBSTONE_BYTES as usize, b' ');
    bytes
}

/// Metadata are ASCII.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
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

    #[test]
    fn an_object_is_read_as_it_was_written_whatever_its_size() {
        let moved = Moved { from: RelPath::new("a b/ü.md").unwrap(), etag: "\"12\"".into() };
        let keep_as = Some(RelPath::new("k%2e.md").unwrap());
        let note = Note { operation: "0123".into(), keep_as, moved: Some(moved), moved_to: None };
        for size in [0, 1, 250, 251, 252, 253] {
            let file = vec![b'x'; size];
            let (bytes, attributes) = encode(Some(&file), &note);
            assert_ne!(bytes.len() as u64, TOMBSTONE_BYTES);
            let object = Object::decode("e".into(), bytes, &attributes).unwrap();
            assert_eq!((object.file, object.note), (Some(file), note.clone()));
        }
        let (bytes, attributes) = encode(None, &note);
        assert_eq!(bytes.len() as u64, TOMBSTONE_BYTES);
        assert_eq!(Object::decode("e".into(), bytes, &attributes).unwrap().file, None);
    }

    #[test]
    fn a_file_with_the_text_of_a_tombstone_is_a_file() {
        let (bytes, _) = encode(None, &Note::default());
        let (stored, attributes) = encode(Some(&bytes), &Note::default());
        assert_eq!(Object::decode("e".into(), stored, &attributes).unwrap().file, Some(bytes));
    }
}
