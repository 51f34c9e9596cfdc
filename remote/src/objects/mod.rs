//! [`Objects`]: a store in a bucket.
//!
//! Every file is one object, and every change of it one conditional write, so that the server decides races. A server has no
//! condition on a removal, so a removed file leaves a tombstone. What needs two objects is begun with a mark on the first, and
//! finished by whoever finds the mark.

mod attach;
mod cache;
mod clock;
mod collect;
mod credentials;
mod object;
mod put;
mod requests;
mod steps;
mod types;

use std::collections::BTreeSet;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange};
use saddlebag::protocol::{
    AppendOutcome, Entry, EntryKind, FileContent, FsError, FsOp, FsOutcome, ListOutcome, Precondition, ReadOutcome,
    RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
use saddlebag::store::RelPath;
use saddlebag_host::executor::{bytes_wanted, left_out};

use crate::deadline::Deadline;
use crate::store::{Store, appended, folder_entry, folders_above, page, part, stale};
pub(crate) use attach::{attach, attach_to, maintain, probe};
use object::{LAST_LINE_BYTES, Note, Object, TOMBSTONE_BYTES, file_size, is_removed, version};
use put::Put;
use types::{FILES, MAX_FILE_BYTES, Objects, busy, version_of};

/// Size in bytes up to which a part of a file is read alone. A larger one is likely to be the whole file.
const MAX_PART_BYTES: u32 = 512 * 1024;

impl Objects {
    async fn read(&self, path: &RelPath, offset: u64, max_bytes: u32) -> Result<ReadOutcome, FsError> {
        // With a cache, the whole object is copied, and its parts are read from the copy.
        if self.cache.is_none()
            && (offset > 0 || max_bytes <= MAX_PART_BYTES)
            && let Some(outcome) = self.read_part(path, offset, max_bytes).await?
        {
            return Ok(outcome);
        }
        let object = self.settled(path).await?;
        let Some((version, file)) = object.as_ref().and_then(|object| Some((object.version()?, object.file.as_ref()?)))
        else {
            return Ok(ReadOutcome::Absent);
        };
        part(file, version, offset, max_bytes, MAX_FILE_BYTES)
    }

    /// Reads a part of a file without the rest; `None` if the whole object has to be read.
    async fn read_part(&self, path: &RelPath, offset: u64, max_bytes: u32) -> Result<Option<ReadOutcome>, FsError> {
        let key = self.file(path)?;
        let found = self.once(async || {
            let end = offset.saturating_add(max_bytes.into());
            let range = (max_bytes > 0).then_some(GetRange::Bounded(offset..end));
            let options = GetOptions { head: max_bytes == 0, range, ..GetOptions::default() };
            let found = self.store.get_opts(&key, options).await?;
            let (meta, attributes) = (found.meta.clone(), found.attributes.clone());
            let bytes = if max_bytes == 0 { Vec::new() } else { found.bytes().await?.into() };
            Ok((meta, attributes, bytes))
        });
        // It may begin after the end. Reading the whole object tells, and tries again what failed for another reason.
        let Some(found) = found.await else { return Ok(None) };
        let Some((meta, attributes, mut bytes)) = found else { return Ok(Some(ReadOutcome::Absent)) };
        let (note, Some(etag)) = (Note::decode(&attributes)?, meta.e_tag) else { return Ok(None) };
        if note.moved.is_some() {
            return Ok(None);
        }
        if is_removed(&attributes) {
            return Ok(Some(ReadOutcome::Absent));
        }
        let size = if note.operation.is_empty() { meta.size } else { meta.size.saturating_sub(LAST_LINE_BYTES) };
        let wanted = bytes_wanted(size, offset, max_bytes, MAX_FILE_BYTES)?;
        bytes.truncate(wanted as usize);
        let is_whole = bytes.len() as u64 == wanted;
        Ok(is_whole.then(|| ReadOutcome::Content(FileContent { bytes, version: version(&etag), size })))
    }

    async fn write(
        &self,
        path: &RelPath,
        content: &[u8],
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
    ) -> Result<WriteOutcome, FsError> {
        let mut deadline = Deadline::new();
        loop {
            let current = self.free(path).await?;
            if let Some(current) = stale(version_of(current.as_ref()).as_ref(), precondition) {
                return Ok(WriteOutcome::Stale(current));
            }
            self.check_place(path, current.as_ref()).await?;
            match self.replace(path, current.as_ref(), Some(content), keep_as).await? {
                Put::Done(etag) => return Ok(WriteOutcome::Written(version(&etag))),
                Put::Unknown => return Ok(WriteOutcome::Unknown),
                Put::Lost if deadline.pause().await => {}
                Put::Lost => return Err(busy()),
            }
        }
    }

    async fn append(
        &self,
        path: &RelPath,
        content: &[u8],
        newline_first: bool,
        precondition: &Precondition,
    ) -> Result<AppendOutcome, FsError> {
        let mut deadline = Deadline::new();
        loop {
            let current = self.free(path).await?;
            if let Some(current) = stale(version_of(current.as_ref()).as_ref(), precondition) {
                return Ok(AppendOutcome::Stale(current));
            }
            self.check_place(path, current.as_ref()).await?;
            let old = current.as_ref().and_then(|object| object.file.as_deref()).unwrap_or_default();
            let bytes = appended(old, content, newline_first);
            if bytes.len() as u64 > MAX_FILE_BYTES {
                return Err(FsError::TooLarge(MAX_FILE_BYTES));
            }
            match self.replace(path, current.as_ref(), Some(&bytes), None).await? {
                Put::Done(etag) => return Ok(AppendOutcome::Written(version(&etag))),
                Put::Unknown => return Ok(AppendOutcome::Unknown((bytes.len() - content.len()) as u64)),
                Put::Lost if deadline.pause().await => {}
                Put::Lost => return Err(busy()),
            }
        }
    }

    async fn remove(
        &self,
        path: &RelPath,
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
    ) -> Result<RemoveOutcome, FsError> {
        let mut deadline = Deadline::new();
        let mut may_be_removed = false;
        loop {
            let Some(current) = self.free(path).await? else { return Ok(RemoveOutcome::Done) };
            let Some(version) = current.version() else { return Ok(RemoveOutcome::Done) };
            if stale(Some(&version), precondition).is_some() {
                return Ok(RemoveOutcome::Stale(version));
            }
            match self.replace(path, Some(&current), None, keep_as).await? {
                Put::Done(_) => return Ok(RemoveOutcome::Done),
                // If it is still there, the next round removes it or finds it changed.
                put => {
                    may_be_removed |= put == Put::Unknown;
                    if !deadline.pause().await {
                        let unknown = "the store did not confirm the removal, which may have been made";
                        return Err(if may_be_removed { FsError::Other(unknown.into()) } else { busy() });
                    }
                }
            }
        }
    }

    async fn rename(
        &self,
        from: &RelPath,
        to: &RelPath,
        precondition: &Precondition,
    ) -> Result<RenameOutcome, FsError> {
        let mut deadline = Deadline::new();
        loop {
            let Some(old) = self.free(from).await? else { return Ok(RenameOutcome::Absent) };
            let Some(version) = old.version() else { return Ok(RenameOutcome::Absent) };
            if stale(Some(&version), precondition).is_some() {
                return Ok(RenameOutcome::Stale(version));
            }
            let target = self.free(to).await?;
            if target.as_ref().is_some_and(|object| object.file.is_some()) || self.is_folder(to).await? {
                return Ok(RenameOutcome::Exists);
            }
            self.check_place(to, target.as_ref()).await?;
            if self.move_file(from, &old, to, target.as_ref()).await? {
                return Ok(RenameOutcome::Done);
            }
            if !deadline.pause().await {
                return Err(busy());
            }
        }
    }

    /// Refuses a new file below another, or at the place of a folder. Another machine that creates files at the same time
    /// can still do it.
    async fn check_place(&self, path: &RelPath, current: Option<&Object>) -> Result<(), FsError> {
        if current.is_some_and(|object| object.file.is_some()) {
            return Ok(());
        }
        let above: Vec<&str> = folders_above(path.as_str()).collect();
        let is_file = async |folder: &str| -> Result<bool, FsError> {
            let key = self.key(FILES, folder)?;
            Ok(self.fetch(&key).await?.is_some_and(|object| object.file.is_some()))
        };
        let above = futures::future::try_join_all(above.into_iter().map(is_file));
        let (above, is_folder) = futures::future::try_join(above, self.is_folder(path)).await?;
        if above.into_iter().any(|is_file| is_file) {
            return Err(FsError::NotDirectory);
        }
        if is_folder { Err(FsError::IsDirectory) } else { Ok(()) }
    }

    /// Returns true if there is a file below `path`.
    async fn is_folder(&self, path: &RelPath) -> Result<bool, FsError> {
        let key = self.file(path)?;
        let found = self.reading(async || {
            let mut listing = self.store.list(Some(&key));
            while let Some(object) = listing.try_next().await? {
                if object.size != TOMBSTONE_BYTES {
                    return Ok(true);
                }
            }
            Ok(false)
        });
        Ok(found.await?.unwrap_or(false))
    }

    async fn list(
        &self,
        folder: Option<&RelPath>,
        after: Option<&RelPath>,
        limit: u32,
        unless: Option<&Version>,
    ) -> Result<ListOutcome, FsError> {
        let key = match folder {
            Some(folder) => self.file(folder)?,
            None => Path::parse(self.root()).map_err(|_| FsError::InvalidPath("the prefix cannot be a path".into()))?,
        };
        let listed = self.reading(async || self.store.list_with_delimiter(Some(&key)).await).await?;
        let (objects, folders) = listed.map(|listed| (listed.objects, listed.common_prefixes)).unwrap_or_default();
        let (mut unusable, mut tombstones) = (Vec::new(), Vec::new());
        let mut entries = Vec::with_capacity(objects.len() + folders.len());
        for found in folders {
            match self.path_of(&found) {
                Ok(path) => entries.push(folder_entry(path)),
                Err(spelled) => unusable.push((spelled, EntryKind::Directory)),
            }
        }
        let is_folder: BTreeSet<RelPath> = entries.iter().map(|entry: &Entry| entry.path.clone()).collect();
        for object in objects {
            // The console of a server makes such an object for a folder.
            if object.location == key {
                continue;
            }
            let Some(size) = file_size(object.size) else {
                tombstones.push(object);
                continue;
            };
            match self.path_of(&object.location) {
                // Only another program makes a file and a folder of one name.
                Ok(path) if is_folder.contains(&path) => {
                    unusable.push((Some(path), EntryKind::File));
                }
                Ok(path) => {
                    let etag = object.e_tag.ok_or_else(|| FsError::Other("the server tells no ETag".into()))?;
                    let modified = object.last_modified.timestamp_nanos_opt().unwrap_or_default();
                    let modified = u64::try_from(modified).unwrap_or_default();
                    entries.push(Entry { path, kind: EntryKind::File, size, version: version(&etag), modified });
                }
                Err(spelled) => unusable.push((spelled, EntryKind::File)),
            }
        }
        self.remember_tombstones(tombstones);
        Ok(page(entries, left_out(unusable), after, limit, unless))
    }

    /// Returns the path of a key, or else how it can be spelled.
    fn path_of(&self, key: &Path) -> Result<RelPath, Option<RelPath>> {
        let root = self.root();
        let path = key.as_ref().strip_prefix(&root).and_then(|path| path.strip_prefix('/')).ok_or(None)?;
        RelPath::new(path).map_err(|_| {
            let (folder, name) = path.rsplit_once('/').map_or((None, path), |(folder, name)| (Some(folder), name));
            saddlebag_host::executor::spelled(folder, name)
        })
    }
}

impl Store for Objects {
    const MAX_FILE_BYTES: u64 = MAX_FILE_BYTES;

    async fn perform(&self, op: &FsOp) -> Result<FsOutcome, FsError> {
        Ok(match op {
            FsOp::Read { path, offset, max_bytes } => FsOutcome::Read(self.read(path, *offset, *max_bytes).await?),
            FsOp::Write { path, content, precondition, keep_as, .. } => {
                let outcome = self.write(path, content, precondition, keep_as.as_ref()).await?;
                self.remove_some_tombstones().await;
                FsOutcome::Write(outcome)
            }
            FsOp::Append { path, content, newline_first, precondition, .. } => {
                FsOutcome::Append(self.append(path, content, *newline_first, precondition).await?)
            }
            FsOp::ListDirectory { folder, after, limit, unless } => {
                FsOutcome::ListDirectory(self.list(folder.as_ref(), after.as_ref(), *limit, unless.as_ref()).await?)
            }
            FsOp::Remove { path, precondition, keep_as, .. } => {
                FsOutcome::Remove(self.remove(path, precondition, keep_as.as_ref()).await?)
            }
            FsOp::Rename { path, to, precondition } => FsOutcome::Rename(self.rename(path, to, precondition).await?),
            FsOp::MakeDirectory { .. } => FsOutcome::MakeDirectory,
            FsOp::RemoveDirectory { .. } => FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::Absent),
            FsOp::Generation => return Err(FsError::Unsupported),
        })
    }
}
