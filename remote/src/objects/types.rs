//! [`Objects`], and the keys of what is in a bucket.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore};
use saddlebag::protocol::{FsError, Version};
use saddlebag::store::RelPath;

use super::cache::Cache;
use super::clock::Clock;
use super::object::{Object, encoded};
use super::requests::Deleter;
use crate::types::GRACE;

/// Maximum size of a file. Above it, some servers have no conditional writes.
pub(super) const MAX_FILE_BYTES: u64 = 5_000_000;

/// Maximum length of a key, in bytes.
const MAX_KEY_BYTES: usize = 1024;

/// Maximum length of a path in the metadata of an object, in bytes. Servers allow 2 KB in total, and two paths are in them.
const MAX_METADATA_BYTES: usize = 900;

/// Folder of the files.
pub(super) const FILES: &str = "files";

/// Folder of the objects of a probe.
pub(super) const PROBES: &str = "host/probe";

/// A store in a bucket.
pub(super) struct Objects {
    pub(super) store: Arc<dyn ObjectStore>,
    /// Folder of the store; empty for the whole bucket.
    pub(super) prefix: String,
    /// True if the server knows ETags only without quotes.
    pub(super) bare_etags: bool,
    /// Copies of large objects on this machine.
    pub(super) cache: Option<Cache>,
    pub(super) clock: Clock,
    /// Deletes tombstones; `None` if the server cannot.
    pub(super) deleter: Option<Deleter>,
    /// Tombstones that a change may remove by the way.
    pub(super) tombstones: RefCell<Vec<ObjectMeta>>,
    pub(super) by_the_way: ByTheWay,
}

pub(super) fn busy() -> FsError {
    FsError::Locked("other writers changed the file again and again".into())
}

/// When a change removes tombstones by the way.
pub(super) struct ByTheWay {
    /// Age of tombstones that count.
    pub(super) grace: Duration,
    /// Number of such tombstones in one listing.
    pub(super) many: usize,
}

impl Default for ByTheWay {
    fn default() -> Self {
        Self { grace: GRACE, many: 1_000 }
    }
}

impl Objects {
    pub(super) fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> Self {
        let prefix = prefix.to_string();
        Self {
            store,
            prefix,
            bare_etags: false,
            cache: None,
            clock: Clock::default(),
            deleter: None,
            tombstones: RefCell::default(),
            by_the_way: ByTheWay::default(),
        }
    }

    /// Returns the key of something in a folder of the store.
    pub(super) fn key(&self, folder: &str, name: &str) -> Result<Path, FsError> {
        let key = format!("{}/{name}", self.below_prefix(folder));
        if key.len() > MAX_KEY_BYTES {
            return Err(FsError::InvalidPath(format!("the key of a bucket has at most {MAX_KEY_BYTES} bytes")));
        }
        if encoded(name).len() > MAX_METADATA_BYTES {
            let reason = format!("spelled in ASCII, it has at most {MAX_METADATA_BYTES} bytes in a bucket");
            return Err(FsError::InvalidPath(reason));
        }
        Path::parse(key).map_err(|_| FsError::InvalidPath("it cannot be a key of a bucket".into()))
    }

    pub(super) fn file(&self, path: &RelPath) -> Result<Path, FsError> {
        self.key(FILES, path.as_str())
    }

    /// Returns the key of something directly in the folder of the store.
    pub(super) fn below_prefix(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_string() } else { format!("{}/{name}", self.prefix) }
    }

    /// Returns the key of the folder of the files.
    pub(super) fn root(&self) -> String {
        self.below_prefix(FILES)
    }
}

pub(super) fn version_of(object: Option<&Object>) -> Option<Version> {
    object.and_then(Object::version)
}
