//! Merges files that a person named, into a file of the store, or that git named, as its merge driver.

use saddlebag::history::{MergeSides, MergedFile, merge};
use saddlebag::protocol::{Error, ErrorCode};
use saddlebag::store::RelPath;

use super::disk::{Change, Disk, Refused, new_path, write_new};
use super::expunged::Expunges;
use super::incoming::{Admitted, Asked, Incoming};
use super::memories::MadeOperation;
use crate::prelude::*;

/// Maximum number of attempts to change a file that others change meanwhile.
const ATTEMPTS: usize = 5;

/// The versions that are merged into a file.
pub(crate) struct Versions {
    /// Common version; `None` without one.
    pub(crate) ancestor: Option<Vec<u8>>,
    pub(crate) theirs: Vec<u8>,
}

impl Versions {
    /// Merges the versions into one of a file of no store.
    pub(crate) fn merge_into(self, path: &str, ours: Vec<u8>) -> Result<MergedFile, Error> {
        merge(path, &MergeSides { ancestor: self.ancestor, ours: Some(ours), theirs: Some(self.theirs) })
    }
}

/// Result of a merge into a file of the store.
pub(crate) struct MergedInStore {
    pub(crate) merged: MergedFile,
    /// The file, if its text had values that were rejected for good: their lines are left out.
    pub(crate) rejected: Vec<Refused>,
    /// The file, if it was written without a record in the history.
    pub(crate) unrecorded: Vec<Refused>,
    pub(crate) operations: Vec<MadeOperation>,
}

/// Merges a version into a file of the store. `path` makes it a log, a note or an entry.
pub(crate) fn merge_into_store(
    file: &RelPath,
    path: &str,
    versions: &Versions,
    global: &Global,
    output: &mut Output,
) -> Result<MergedInStore, Failure> {
    let mut disk = Disk::open(global, "merge")?;
    let mut expunges = Expunges::open(&mut disk, global, output)?;
    for _ in 0..ATTEMPTS {
        let Some(known) = disk.read(file)? else {
            let message = format!("there is no file `{file}` in the store");
            return Err(Failure::new(ErrorCode::NotFound, message, "name a file that exists as OURS"));
        };
        expunges.texts.look_beside(&known.bytes, &versions.theirs);
        let mut incoming = Incoming(&mut expunges.texts);
        let theirs = match incoming.ask(file.as_str(), Some(versions.theirs.clone())) {
            Asked::Admitted(admitted) => admitted,
            Asked::Expunged(held) => {
                let message = format!("THEIRS cannot be merged into `{file}`: {}", held.reason());
                return Err(Failure::new(ErrorCode::Conflict, message, "remove that text from THEIRS"));
            }
        };
        let (merged, content) = incoming.merge_named(path, versions.ancestor.clone(), known.bytes.clone(), theirs)?;
        // The review first: the result alone would lose what was edited in a part that is deleted.
        if let Some((path, text)) = review_of(&merged, &mut incoming) {
            renew(&mut disk, &path, text)?;
        }
        let change = match content.bytes() == Some(known.bytes.as_slice()) {
            true => Change::Made,
            false => disk.change(file, Some(&known), content)?,
        };
        let refused = disk.take_refused();
        match change {
            Change::Stale => {}
            Change::Made => {
                let operations = disk.operations();
                let (rejected, unrecorded) = (refused.rejected, refused.unrecorded);
                return Ok(MergedInStore { merged, rejected, unrecorded, operations });
            }
            Change::Refused => {
                let reason = refused.rejected.into_iter().next().map(|refused| refused.reason).unwrap_or_default();
                let message = format!("`{file}` stays as it is: {reason}");
                return Err(Failure::new(ErrorCode::Rejected, message, "remove that value from THEIRS"));
            }
        }
    }
    let message = format!("`{file}` was changed {ATTEMPTS} times meanwhile");
    Err(Failure::new(ErrorCode::Contention, message, "run this again"))
}

/// Merges two versions for git, which writes the result itself. Expunged text in theirs is replaced: the commit that it comes from
/// exists already.
pub(crate) fn merge_for_git(
    path: &str,
    ours: Vec<u8>,
    versions: Versions,
    global: &Global,
) -> Result<(MergedFile, Vec<u8>), Failure> {
    let mut disk = Disk::without_history(global)?;
    let mut expunges = Expunges::known(&mut disk, global)?;
    expunges.texts.look_beside(&ours, &versions.theirs);
    let mut incoming = Incoming(&mut expunges.texts);
    let theirs = incoming.committed(path, Some(versions.theirs));
    let (merged, content) = incoming.merge_named(path, versions.ancestor, ours, theirs)?;
    if let Some((path, text)) = review_of(&merged, &mut incoming) {
        write_new(&mut disk, &path, text)?;
    }
    Ok((merged, content.into_bytes().unwrap_or_default()))
}

/// Returns the review with its path.
fn review_of(merged: &MergedFile, incoming: &mut Incoming<'_>) -> Option<(String, Admitted)> {
    let review = merged.review.as_ref()?;
    let text = incoming.committed(&review.path, Some(review.text.clone().into_bytes()));
    Some((review.path.clone(), text))
}

/// Writes a review of this name again. Of an entry whose review was rejected, a file is left; it must wait again.
fn renew(disk: &mut Disk<'_>, path: &str, text: Admitted) -> Result<(), Failure> {
    let path = new_path(path)?;
    let known = disk.read(&path)?;
    if known.as_ref().map(|known| known.bytes.as_slice()) != text.bytes() {
        disk.change(&path, known.as_ref(), text)?;
    }
    Ok(())
}
