//! Changes of two objects: they are begun with a mark on the first, and finished by whoever finds it.

use saddlebag::protocol::FsError;
use saddlebag::store::RelPath;

use super::object::{Moved, Note, Object};
use super::put::{Condition, Put};
use super::types::{Objects, busy, new_operation, version_of};
use crate::deadline::Deadline;

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
                // The move is done.
                Some(old) if old.file.is_none() && old.note.operation == operation.operation => {
                    self.put(&key, object.file.as_deref(), &operation, Condition::Is(&object.etag)).await?;
                }
                // The old file was changed before: it was not moved.
                _ => {
                    self.put(&key, None, &operation, Condition::Is(&object.etag)).await?;
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
        let object = self.after_moves(path).await?;
        if let Some(object) = &object {
            self.keep(&object.note).await?;
        }
        Ok(object)
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
        if let (Some(keep_as), Some(old)) = (keep_as, current.and_then(|object| object.file.as_deref())) {
            note.keep_as = Some(keep_as.clone());
            // The bytes aside say which file they were in, and when it is opened next, its note says where they belong.
            let about = Note { operation: note.operation.clone(), keep_as: Some(path.clone()), ..Note::default() };
            self.put(&self.key(KEPT, &note.operation)?, Some(old), &about, Condition::Any).await?;
        }
        let condition = current.map_or(Condition::Absent, |object| Condition::Is(&object.etag));
        let put = self.put(&self.file(path)?, file, &note, condition).await;
        match &put {
            Ok(Put::Done(_)) => self.keep(&note).await?,
            // Whoever opens the store next decides.
            Ok(Put::Unknown) => {}
            Ok(Put::Lost) | Err(_) if note.keep_as.is_some() => {
                self.delete(&self.key(KEPT, &note.operation)?).await?;
            }
            Ok(Put::Lost) | Err(_) => {}
        }
        put
    }

    /// Keeps the bytes that an operation replaced under their path, unless that is done.
    pub(super) async fn keep(&self, note: &Note) -> Result<(), FsError> {
        let Some(keep_as) = &note.keep_as else { return Ok(()) };
        let aside = self.key(KEPT, &note.operation)?;
        let Some(old) = self.fetch(&aside).await? else { return Ok(()) };
        // What is under the path now may be half done too.
        if let Some(there) = self.after_moves(keep_as).await?
            && let Some(its_keep_as) = &there.note.keep_as
            && let Some(its_old) = self.fetch(&self.key(KEPT, &there.note.operation)?).await?
        {
            self.put_kept(its_keep_as, &its_old, &there.note).await?;
        }
        self.put_kept(keep_as, &old, note).await
    }

    /// Puts bytes that are aside under their path.
    async fn put_kept(&self, keep_as: &RelPath, old: &Object, note: &Note) -> Result<(), FsError> {
        let about = Note { operation: note.operation.clone(), ..Note::default() };
        if self.put(&self.file(keep_as)?, old.file.as_deref(), &about, Condition::Any).await? == Put::Unknown {
            return Err(FsError::Other("the bytes that the change replaced are not under their path yet".into()));
        }
        self.delete(&self.key(KEPT, &note.operation)?).await
    }

    /// Moves a file to a free path. Returns false if the race was lost, and nothing was moved.
    pub(super) async fn move_file(
        &self,
        from: &RelPath,
        old: &Object,
        to: &RelPath,
        target: Option<&Object>,
    ) -> Result<bool, FsError> {
        let note = Note { operation: new_operation()?, ..Note::default() };
        let moved = Some(Moved { from: from.clone(), etag: old.etag.clone() });
        let begun = Note { moved, ..note.clone() };
        let condition = target.map_or(Condition::Absent, |object| Condition::Is(&object.etag));
        let unknown = || FsError::Other("the store did not confirm the move: the file may be under either path".into());
        match self.put(&self.file(to)?, old.file.as_deref(), &begun, condition).await? {
            Put::Done(_) => {}
            Put::Lost => return Ok(false),
            Put::Unknown => return Err(unknown()),
        }
        // The mark is on the new file: whoever finds it does the same, with the same result.
        let is_own =
            |object: &Option<Object>| object.as_ref().is_some_and(|object| object.note.operation == note.operation);
        let new = self.settled(to).await.map_err(|_| unknown())?;
        // Of a file that was changed after the move, the tombstone of the old one still tells of it.
        Ok(is_own(&new) && version_of(new.as_ref()).is_some()
            || is_own(&self.fetch(&self.file(from)?).await.map_err(|_| unknown())?))
    }
}
