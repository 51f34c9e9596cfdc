//! [`Objects`], and the keys of what is in a bucket.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use saddlebag::protocol::{FsError, Version};
use saddlebag::store::RelPath;

use super::object::{Object, encoded};

/// Maximum size of a file. Above it, some servers have no conditional writes.
pub(super) const MAX_FILE_BYTES: u64 = 5_000_000;

/// Maximum length of a key, in bytes.
const MAX_KEY_BYTES: usize = 1024;

/// Maximum length of a path in the metadata of an object, in bytes. Servers allow 2 KB in total, and two paths are in them.
const MAX_METADATA_BYTES: usize = 900;

/// Folder of the files.
pub(super) const FILES: &str = "files";

/// A store in a bucket.
pub(super) struct Objects {
    pub(super) store: Arc<dyn ObjectStore>,
    /// Folder of the store; empty for the whole bucket.
    pub(super) prefix: String,
    /// True if the server knows ETags only without quotes.
    pub(super) bare_etags: bool,
}

pub(super) fn busy() -> FsError {
    FsError::Locked("other writers changed the file again and again".into())
}

impl Objects {
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
