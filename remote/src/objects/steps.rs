//! Changes of two objects: they are begun with a mark on the first, and finished by whoever finds it.

use futures::TryStreamExt;
use object_store::path::Path;
use saddlebag::protocol::FsError;
use saddlebag::store::RelPath;
use sha2::{Digest, Sha256};

use super::object::{Moved, Note, Object};
use super::put::{Condition, Put};
use super::types::{Objects, busy};
use crate::deadline::Deadline;
use crate::operation::new_operation;

/// Folder of the bytes that a change replaces, until they are kept under their path.
pub(super) const KEPT: &str = "host/kept";

impl Objects {
    /// Returns the object of a file, after a move to this path is finished or taken back.
    pub(super) async fn settled(&self, path: &RelPath) -> Result<Option<Object>, FsError> {
        let key = self.file(path)?;
        let mut deadline = Deadline::new();
        loop {
            let Some(object) = self.fetch(&key).await? else { return Ok(None) };
            let Some(moved) = &object.note.moved else { return Ok(Some(object)) };
            let old_key = self.file(&moved.from)?;
            let old = self.fetch(&old_key).await?;
            let operation = Note { operation: object.note.operation.clone(), ..Note::default() };
            match old {
                // The move goes on: the old file is as it was.
                Some(old) if old.etag == moved.etag => {
                    let gone = Note { moved_to: Some(path.clone()), ..operation };
                    self.put(&old_key, None, &gone, Condition::Is(&old.etag)).await?;
                }
                // The old file was changed before: it was not moved.
                Some(old) if old.file.is_some() || old.note.operation != operation.operation => {
                    self.put(&key, None, &operation, Condition::Is(&object.etag)).await?;
                }
                // The move is done. Without a tombstone, which a person has deleted, only the new file is left.
                _ => {
                    self.put(&key, object.file.as_deref(), &operation, Condition::Is(&object.etag)).await?;
                }
            }
            if !deadline.pause().await {
                return Err(busy());
            }
        }
    }

    /// Returns the object of a file, after moves to this path and from it are finished.
    async fn after_moves(&self, path: &RelPath) -> Result<Option<Object>, FsError> {
        let object = self.settled(path).await?;
        // Without the tombstone, nobody could tell that the move is done.
        if let Some(to) = object.as_ref().and_then(|object| object.note.moved_to.as_ref()) {
            self.settled(to).await?;
        }
        Ok(object)
    }

    /// Returns the object of a file for a change: nothing that concerns it is half done.
    pub(super) async fn free(&self, path: &RelPath) -> Result<Option<Object>, FsError> {
        let kept_here = self.kept_at(path)?;
        let (object, kept_here) = futures::future::try_join(self.after_moves(path), self.listed(&kept_here)).await?;
        for aside in &kept_here {
            self.finish_keep(aside).await?;
        }
        let object = if kept_here.is_empty() { object } else { self.after_moves(path).await? };
        if let Some(keep_as) = object.as_ref().and_then(|object| object.note.keep_as.as_ref()) {
            self.free_of_keeps(keep_as).await?;
        }
        Ok(object)
    }

    /// Returns the folder of the bytes that are to be kept under a path.
    fn kept_at(&self, path: &RelPath) -> Result<Path, FsError> {
        let hash = Sha256::digest(path.as_str());
        self.key(KEPT, &hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    /// Returns the keys in a folder of the store's own objects.
    pub(super) async fn listed(&self, folder: &Path) -> Result<Vec<Path>, FsError> {
        let found = self.reading(async || self.store.list(Some(folder)).try_collect::<Vec<_>>().await).await?;
        Ok(found.unwrap_or_default().into_iter().map(|object| object.location).collect())
    }

    /// Replaces a file, or removes it, and keeps its old bytes under another path.
    pub(super) async fn replace(
        &self,
        path: &RelPath,
        current: Option<&Object>,
        file: Option<&[u8]>,
        keep_as: Option<&RelPath>,
    ) -> Result<Put, FsError> {
        let mut note = Note { operation: new_operation()?, ..Note::default() };
        let mut aside = None;
        if let (Some(keep_as), Some(old)) = (keep_as, current.and_then(|object| object.file.as_deref())) {
            // Another change may have to keep bytes there first.
            self.free_of_keeps(keep_as).await?;
            note.keep_as = Some(keep_as.clone());
            let about = Note { moved_to: Some(path.clone()), ..note.clone() };
            let key = self.kept_at(keep_as)?.join(note.operation.as_str());
            let Put::Done(_) = self.put(&key, Some(old), &about, Condition::Absent).await? else {
                return Err(FsError::Other(
                    "the store did not confirm the bytes to keep; the file is as it was".into(),
                ));
            };
            aside = Some(key);
        }
        let condition = current.map_or(Condition::Absent, |object| Condition::Is(&object.etag));
        let put = self.put(&self.file(path)?, file, &note, condition).await;
        if let Some(aside) = aside {
            match &put {
                // The file is changed. If this fails, whoever finds the bytes aside does it.
                Ok(Put::Done(_)) => drop(self.finish_keep(&aside).await),
                Ok(Put::Unknown) => {}
                Ok(Put::Lost) | Err(_) => drop(self.delete(&aside).await),
            }
        }
        put
    }

    /// Finishes the changes that keep bytes under a path.
    pub(super) async fn free_of_keeps(&self, path: &RelPath) -> Result<(), FsError> {
        for aside in self.listed(&self.kept_at(path)?).await? {
            self.finish_keep(&aside).await?;
        }
        Ok(())
    }

    /// Keeps bytes that are aside under their path, if the change that put them aside was made. If another one has followed
    /// that change, it was made and finished, or not made.
    pub(super) async fn finish_keep(&self, aside: &Path) -> Result<(), FsError> {
        let mut deadline = Deadline::new();
        loop {
            let Some(kept) = self.fetch(aside).await? else { return Ok(()) };
            let (Some(path), Some(keep_as)) = (&kept.note.moved_to, &kept.note.keep_as) else { return Ok(()) };
            let current = self.fetch(&self.file(path)?).await?;
            if current.is_none_or(|current| current.note.operation != kept.note.operation) {
                return Ok(());
            }
            let there = self.after_moves(keep_as).await?;
            // Whoever has finished it meanwhile has deleted what is aside, after it was under its path.
            if self.fetch(aside).await?.is_none() {
                return Ok(());
            }
            let about = Note { operation: kept.note.operation.clone(), ..Note::default() };
            let condition = there.as_ref().map_or(Condition::Absent, |object| Condition::Is(&object.etag));
            match self.put(&self.file(keep_as)?, kept.file.as_deref(), &about, condition).await? {
                Put::Done(_) => return self.delete(aside).await,
                Put::Lost | Put::Unknown if deadline.pause().await => {}
                Put::Lost | Put::Unknown => return Err(busy()),
            }
        }
    }

    /// Moves a file to a free path. Returns false if the race was lost, and nothing was moved.
    pub(super) async fn move_file(
        &self,
        from: &RelPath,
        old: &Object,
        to: &RelPath,
        target: Option<&Object>,
    ) -> Result<bool, FsError> {
        let operation = new_operation()?;
        let moved = Some(Moved { from: from.clone(), etag: old.etag.clone() });
        let begun = Note { operation: operation.clone(), moved, ..Note::default() };
        let condition = target.map_or(Condition::Absent, |object| Condition::Is(&object.etag));
        let unknown = || FsError::Other("the store did not confirm the move: the file may be under either path".into());
        match self.put(&self.file(to)?, old.file.as_deref(), &begun, condition).await? {
            Put::Done(_) => {}
            Put::Lost => return Ok(false),
            Put::Unknown => return Err(unknown()),
        }
        // The mark is on the new file: whoever finds it does the same, with the same result.
        let gone = Note { operation: operation.clone(), moved_to: Some(to.clone()), ..Note::default() };
        if let Ok(Put::Done(_)) = self.put(&self.file(from)?, None, &gone, Condition::Is(&old.etag)).await {
            drop(self.settled(to).await);
            return Ok(true);
        }
        let is_own = |object: &Object| object.note.operation == operation;
        let new = self.settled(to).await.map_err(|_| unknown())?;
        match new.as_ref().filter(|object| is_own(object)) {
            Some(new) => Ok(new.file.is_some()),
            // It was changed since, so the other path has to tell.
            None => match self.fetch(&self.file(from)?).await.map_err(|_| unknown())? {
                Some(old) if is_own(&old) => Ok(true),
                _ => Err(unknown()),
            },
        }
    }
}
