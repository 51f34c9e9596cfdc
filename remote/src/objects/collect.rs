//! Removes tombstones that nobody needs any more.
//!
//! A tombstone is needed while a change that began before the removal may still be under way. It is removed only under the condition
//! that it is still there: its ETag is that of no other object. A server without such a condition keeps its tombstones.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use object_store::ObjectMeta;
use object_store::path::Path;
use saddlebag::protocol::FsError;

use super::object::{Note, TOMBSTONE_BYTES};
use super::put::Condition;
use super::requests::Deleted;
use super::types::{Objects, PROBES};
use crate::operation::new_operation;
use crate::types::Maintained;

/// Number of tombstones that a change removes.
const SOME: usize = 32;

/// Number of tombstones that are looked at at the same time.
const AT_ONCE: usize = 32;

impl Objects {
    /// Removes the tombstones that are older than `grace`. A dry run only lists.
    pub(super) async fn collect(&self, grace: Duration, dry_run: bool) -> Result<Maintained, FsError> {
        let can_remove = dry_run || self.deletes_under_a_condition().await?;
        let mut done = Maintained { can_remove, ..Maintained::default() };
        let root = Path::parse(self.root()).map_err(|error| FsError::Other(error.to_string()))?;
        let listed = self.reading(async || self.store.list(Some(&root)).try_collect::<Vec<_>>().await).await?;
        let (old, young): (Vec<ObjectMeta>, Vec<ObjectMeta>) = listed
            .unwrap_or_default()
            .into_iter()
            .filter(|object| object.size == TOMBSTONE_BYTES)
            .partition(|object| self.clock.is_older(object, grace));
        done.left = young.len() as u64;
        if dry_run || !done.can_remove {
            done.old = old.len() as u64;
            return Ok(done);
        }
        let mut removals = futures::stream::iter(&old).map(|object| self.remove_tombstone(object)).buffered(AT_ONCE);
        let mut failed = None;
        while let Some(removed) = removals.next().await {
            match removed {
                Ok(true) => done.removed += 1,
                Ok(false) => done.old += 1,
                // The others are removed all the same, and this one by the next run.
                Err(error) => {
                    done.old += 1;
                    failed = Some(error);
                }
            }
        }
        match failed {
            Some(error) if done.removed == 0 => Err(error),
            _ => Ok(done),
        }
    }

    /// Remembers old tombstones of a listing, if they are many.
    pub(super) fn remember_tombstones(&self, mut found: Vec<ObjectMeta>) {
        found.retain(|object| self.clock.is_older(object, self.by_the_way.grace));
        if found.len() >= self.by_the_way.many {
            found.truncate(SOME);
            self.tombstones.replace(found);
        }
    }

    /// Removes some of the tombstones that a listing found. It is done by the way, so an error is not reported.
    pub(super) async fn remove_some_tombstones(&self) {
        let found = self.tombstones.take();
        if !found.is_empty() && matches!(self.deletes_under_a_condition().await, Ok(true)) {
            let removals = futures::stream::iter(&found).map(|object| self.remove_tombstone(object)).buffered(AT_ONCE);
            drop(removals.collect::<Vec<_>>().await);
        }
    }

    /// Removes a tombstone. Returns false if something else is there.
    async fn remove_tombstone(&self, listed: &ObjectMeta) -> Result<bool, FsError> {
        let Some(deleter) = &self.deleter else { return Ok(false) };
        let Some(object) = self.fetch(&listed.location).await? else { return Ok(false) };
        if object.file.is_some() || object.note.operation.is_empty() {
            return Ok(false);
        }
        // The move is finished first: its mark names this tombstone.
        if let Some(to) = &object.note.moved_to {
            self.settled(to).await?;
        }
        // Without the tombstone, nobody could tell that the replaced bytes are to be kept.
        if let Some(keep_as) = &object.note.keep_as {
            self.free_of_keeps(keep_as).await?;
        }
        Ok(deleter.delete(&listed.location, self.spelled(&object.etag)).await? == Deleted::Done)
    }

    /// Tries whether the server deletes an object only under its condition.
    async fn deletes_under_a_condition(&self) -> Result<bool, FsError> {
        let Some(deleter) = &self.deleter else { return Ok(false) };
        let operation = new_operation()?;
        let key = self.key(PROBES, &operation)?;
        let note = Note { operation, ..Note::default() };
        self.put(&key, Some(b"1"), &note, Condition::Absent).await?;
        let Some(first) = self.fetch(&key).await? else { return Ok(false) };
        self.put(&key, Some(b"2"), &note, Condition::Is(&first.etag)).await?;
        let stale = deleter.delete(&key, self.spelled(&first.etag)).await?;
        let heeded = match self.fetch(&key).await? {
            Some(second) if stale == Deleted::Changed => {
                deleter.delete(&key, self.spelled(&second.etag)).await? == Deleted::Done
                    && self.fetch(&key).await?.is_none()
            }
            _ => false,
        };
        if !heeded {
            self.delete(&key).await?;
        }
        Ok(heeded)
    }
}

#[cfg(test)]
mod tests {
    use saddlebag::protocol::{FsOp, Precondition};
    use saddlebag::store::RelPath;

    use super::super::attach::connect;
    use super::super::types::ByTheWay;
    use super::*;
    use crate::address::Address;
    use crate::blocking::run;
    use crate::error::AttachError;
    use crate::store::Store;

    #[test]
    #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
    fn a_change_removes_old_tombstones_by_the_way_if_a_listing_found_many() {
        let Ok(server) = std::env::var("SADDLEBAG_TEST_S3") else {
            eprintln!("left out: SADDLEBAG_TEST_S3 names no server; `cargo xtask test --remote` starts one");
            return;
        };
        let Ok(Address::Bucket { bucket, prefix }) = server.parse() else { panic!("the address of a bucket") };
        let prefix = format!("{prefix}/by-the-way-{}", new_operation().unwrap());
        let by_the_way = ByTheWay { grace: Duration::ZERO, many: 3 };
        let objects = Objects { by_the_way, ..connect(&bucket).unwrap().objects(&prefix) };
        let counts = run(async move || {
            let path = |name: &str| RelPath::new(name).unwrap();
            let write = |name: &str| FsOp::write(path(name), b"text".to_vec(), Precondition::Any);
            let list = FsOp::ListDirectory { folder: None, after: None, limit: 10, unless: None };
            let mut counts = Vec::new();
            for name in ["a.md", "b.md", "c.md"] {
                objects.perform(&write(name)).await.unwrap();
                objects.perform(&FsOp::remove(path(name), Precondition::Any)).await.unwrap();
                objects.perform(&list).await.unwrap();
                objects.perform(&write("other.md")).await.unwrap();
                let root = Path::parse(objects.root()).unwrap();
                counts.push(objects.listed(&root).await.unwrap().len());
            }
            Ok::<_, AttachError>(counts)
        });
        assert_eq!(counts, Ok(vec![2, 3, 1]), "objects after each removal");
    }
}
