//! [`receive`]: writes what other machines changed, without a change of a file that somebody writes meanwhile.

use std::collections::BTreeSet;

use saddlebag::files::MergeSides;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::RelPath;

use super::disk::{Change, Disk, write_new};
use super::expunged::Expunges;
use super::merge_sides::merge_sides;
use super::report::Synced;
use crate::failure::Failure;
use crate::git::repository::{Difference, Repository};
use crate::output::single_line;

/// Maximum number of attempts to merge a file that others write meanwhile.
const ATTEMPTS: usize = 5;

/// Writes the merged files. A file that somebody has changed meanwhile is merged with that change, and is committed by the next run.
/// Returns the files that stay as they are, because another machine expunged the note.
pub(super) fn receive(
    repository: &Repository,
    disk: &mut Disk<'_>,
    expunges: &mut Expunges<'_>,
    changes: &[Difference],
    synced: &mut Synced,
) -> Result<BTreeSet<String>, Failure> {
    let mut kept = BTreeSet::new();
    let blobs: Vec<String> =
        changes.iter().flat_map(|change| [&change.before, &change.after]).flatten().cloned().collect();
    let mut contents = repository.contents(&blobs)?.into_iter();
    for change in changes {
        let before = change.before.as_ref().and_then(|_| contents.next());
        let after = change.after.as_ref().and_then(|_| contents.next());
        let shown = repository.shown(&change.path).unwrap_or_default();
        let path = RelPath::new(shown.clone()).map_err(|error| {
            let message = format!("the path `{}` is not possible here: {error}", single_line(&shown));
            Failure::new(ErrorCode::InvalidName, message, "rename the file on the other machine")
        })?;
        expunges.receive(after.as_deref().unwrap_or_default());
        let now = disk.read(&path)?.map(|known| known.bytes);
        if let Some(now) = now.filter(|now| expunges.is_note(path.as_str(), now) && Some(now) != before.as_ref()) {
            // A merge would write its text into a review. The history keeps it if a later note has the path now.
            match after.as_ref().filter(|after| !expunges.is_note(path.as_str(), after)) {
                Some(_) => receive_one(disk, &path, Some(now.clone()), [Some(now), after], synced)?,
                None => {
                    kept.insert(shown);
                }
            }
            continue;
        }
        receive_one(disk, &path, expunges.without(before.clone()), [before, after], synced)?;
    }
    Ok(kept)
}

fn receive_one(
    disk: &mut Disk<'_>,
    path: &RelPath,
    ancestor: Option<Vec<u8>>,
    [before, after]: [Option<Vec<u8>>; 2],
    synced: &mut Synced,
) -> Result<(), Failure> {
    for _ in 0..ATTEMPTS {
        let known = disk.read(path)?;
        let now = known.as_ref().map(|known| known.bytes.clone());
        if now == after {
            return Ok(());
        }
        let content = if now == before {
            after.clone()
        } else {
            let sides = MergeSides { ancestor: ancestor.clone(), ours: now.clone(), theirs: after.clone() };
            let merged = merge_sides(path.as_str(), sides);
            synced.add_merged(&merged);
            let review = merged.review.map(|review| (review.path, review.text.into_bytes()));
            for (path, content) in review.into_iter().chain(merged.beside) {
                write_new(disk, &path, content)?;
            }
            merged.content
        };
        if content == now || disk.change(path, known.as_ref(), content)? != Change::Stale {
            return Ok(());
        }
    }
    let message = format!("`{}` was changed {ATTEMPTS} times meanwhile", single_line(path.as_str()));
    Err(Failure::new(ErrorCode::Contention, message, "run this again"))
}
