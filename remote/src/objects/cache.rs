//! [`Cache`]: copies of large objects in a folder of this machine, so that an object that is still there is not sent again.
//!
//! A copy is used only after the server has said that the object still has the ETag of the copy. The folder can be deleted at any
//! time. A copy that cannot be read or written is as none.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use object_store::{Attribute, Attributes};
use saddlebag_host::PrivateFolder;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::AttachError;
use crate::operation::new_operation;

/// Size in bytes from which on an object is copied. A smaller one comes with the answer that it is still there.
const MIN_BYTES: usize = 16 * 1024;

/// Size of all copies, in bytes, above which the oldest are removed.
const MAX_BYTES: u64 = 256 << 20;

/// Before the first line of a copy.
const FORMAT: &str = "saddlebag copy 1";

/// Copies of the objects of one store.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

/// Copy of an object.
pub(super) struct Copied {
    pub(super) etag: String,
    pub(super) attributes: Attributes,
    pub(super) bytes: Vec<u8>,
}

impl Cache {
    /// Opens the copies of the store at an address, in a folder that is created if it is missing. Fails if another user can write in it.
    pub(super) fn open(folder: &Path, address: &str) -> Result<Self, AttachError> {
        let folder = folder.join(digest(address));
        let refused = |cause| AttachError::Cache { folder: folder.clone(), cause };
        let failed = |error: std::io::Error| refused(saddlebag_host::io_cause(&error));
        // Whoever can write there could put another text into memory.
        PrivateFolder::make(&folder).map_err(|error| refused(error.to_string()))?;
        shrink(&folder, MAX_BYTES).map_err(failed)?;
        Ok(Self { folder })
    }

    /// Returns the copy of the object at a key.
    pub(super) fn find(&self, key: &str) -> Option<Copied> {
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        let copied = decode(key, bytes)?;
        // The oldest copies are those that were not used for the longest time.
        drop(File::open(&path).and_then(|file| file.set_modified(SystemTime::now())));
        Some(copied)
    }

    /// Keeps a copy of an object.
    pub(super) fn keep(&self, key: &str, etag: &str, attributes: &Attributes, bytes: &[u8]) {
        let path = self.path(key);
        if bytes.len() < MIN_BYTES {
            drop(fs::remove_file(path));
            return;
        }
        let Ok(name) = new_operation() else { return };
        let written = self.folder.join(format!("{name}.new"));
        let write = || {
            let mut file = File::create_new(&written)?;
            file.write_all(&header(key, etag, attributes, bytes))?;
            file.write_all(bytes)?;
            fs::rename(&written, &path)
        };
        if write().is_err() {
            drop(fs::remove_file(&written));
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(digest(key))
    }
}

fn digest(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Removes the copies that were not used for the longest time, until the others have at most half of the size that is allowed.
fn shrink(folder: &Path, max_bytes: u64) -> std::io::Result<()> {
    let mut copies = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Another process may have removed it.
        let Ok(known) = entry.metadata() else { continue };
        copies.push((known.modified().unwrap_or(SystemTime::UNIX_EPOCH), known.len(), entry.path()));
    }
    let mut total: u64 = copies.iter().map(|(_, bytes, _)| bytes).sum();
    if total <= max_bytes {
        return Ok(());
    }
    copies.sort();
    for (_, bytes, path) in copies {
        if total <= max_bytes / 2 {
            break;
        }
        drop(fs::remove_file(path));
        total -= bytes;
    }
    Ok(())
}

fn header(key: &str, etag: &str, attributes: &Attributes, bytes: &[u8]) -> Vec<u8> {
    let names: Map<String, Value> = attributes
        .iter()
        .filter_map(|(attribute, value)| match attribute {
            Attribute::Metadata(name) => Some((name.to_string(), Value::from(value.as_ref()))),
            _ => None,
        })
        .collect();
    let fields = serde_json::json!({ "key": key, "etag": etag, "metadata": names, "bytes": digest(bytes) });
    format!("{FORMAT} {fields}\n").into_bytes()
}

fn decode(key: &str, mut bytes: Vec<u8>) -> Option<Copied> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let line = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let fields: Value = serde_json::from_str(line.strip_prefix(FORMAT)?).ok()?;
    bytes.drain(..=end);
    if fields["key"] != key || fields["bytes"] != digest(&bytes) {
        return None;
    }
    let mut attributes = Attributes::new();
    for (name, value) in fields["metadata"].as_object()? {
        attributes.insert(Attribute::Metadata(name.clone().into()), value.as_str()?.to_string().into());
    }
    Some(Copied { etag: fields["etag"].as_str()?.to_string(), attributes, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_copy_is_found_as_it_was_kept_and_only_under_its_key() {
        let folder = folder();
        let cache = Cache::open(folder.path(), "s3://notes").unwrap();
        let mut attributes = Attributes::new();
        attributes.insert(Attribute::Metadata("saddlebag-op".into()), "01".into());
        let bytes = vec![b'\n'; MIN_BYTES];
        cache.keep("files/a", "\"1\"", &attributes, &bytes);
        let found = cache.find("files/a").unwrap();
        assert_eq!((found.etag.as_str(), found.attributes, found.bytes), ("\"1\"", attributes.clone(), bytes));
        assert!(cache.find("files/b").is_none());
        assert!(Cache::open(folder.path(), "s3://other").unwrap().find("files/a").is_none());
        // A small object takes the copy of the larger one with it.
        cache.keep("files/a", "\"2\"", &attributes, b"small");
        assert!(cache.find("files/a").is_none());
    }

    #[test]
    fn a_damaged_copy_is_none() {
        let folder = folder();
        let cache = Cache::open(folder.path(), "s3://notes").unwrap();
        cache.keep("a", "1", &Attributes::new(), &vec![b'x'; MIN_BYTES]);
        let whole = fs::read(cache.path("a")).unwrap();
        for damaged in [&whole[..whole.len() - 1], &whole[1..], b"", b"\n", &[whole.as_slice(), b"y"].concat()] {
            fs::write(cache.path("a"), damaged).unwrap();
            assert!(cache.find("a").is_none());
        }
        fs::write(cache.path("b"), &whole).unwrap();
        assert!(cache.find("b").is_none(), "it is the copy of another object");
    }

    #[test]
    fn the_copies_that_were_not_used_for_long_are_removed() {
        let folder = folder();
        let cache = Cache::open(folder.path(), "s3://notes").unwrap();
        for (age, key) in ["old", "older", "used"].into_iter().enumerate() {
            cache.keep(key, "1", &Attributes::new(), &vec![b'x'; MIN_BYTES]);
            let time = SystemTime::now() - std::time::Duration::from_secs(60 * (age as u64 + 1));
            File::options().write(true).open(cache.path(key)).unwrap().set_modified(time).unwrap();
        }
        assert!(cache.find("used").is_some());
        shrink(&cache.folder, 3 * MIN_BYTES as u64).unwrap();
        assert_eq!(["old", "older", "used"].map(|key| cache.find(key).is_some()), [false, false, true]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_copies() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = folder();
        let cache = Cache::open(&folder.path().join("new"), "s3://notes").unwrap();
        assert_eq!(fs::metadata(&cache.folder).unwrap().permissions().mode() & 0o77, 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_another_user_can_change_is_refused() {
        use std::os::unix::fs::{PermissionsExt as _, chown};
        let folder = folder();
        let cache = Cache::open(folder.path(), "s3://notes").unwrap().folder;
        let refused = || Cache::open(folder.path(), "s3://notes").map(|_| ()).unwrap_err().to_string();
        for exposed in [folder.path(), &cache] {
            fs::set_permissions(exposed, fs::Permissions::from_mode(0o777)).unwrap();
            assert!(refused().contains("can be written by other users"), "{}", refused());
            fs::set_permissions(exposed, fs::Permissions::from_mode(0o700)).unwrap();
        }
        // Only root can give a folder away.
        if chown(&cache, Some(65_534), None).is_ok() {
            assert!(refused().contains("belongs to another user"), "{}", refused());
        }
    }
}
