//! [`receive`]: writes what other machines changed, without a change of a file that somebody writes meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use saddlebag::protocol::ErrorCode;
use saddlebag::store::RelPath;

use super::disk::{Change, Disk, write_new};
use super::expunged::Expunges;
use super::incoming::{Admitted, Incoming};
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
    (changes, sources): (&[Difference], &BTreeMap<String, String>),
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
        disk.set_source(sources.get(&change.path));
        let mut incoming = Incoming(&mut expunges.texts);
        let after = incoming.received(&path, after);
        let now = disk.read(&path)?.map(|known| known.bytes);
        if let Some(now) = now.filter(|now| incoming.0.is_note(path.as_str(), now) && Some(now) != before.as_ref()) {
            // A merge would write its text into a review. The history keeps it if a later note has the path now.
            let is_later = after.bytes().is_some_and(|after| !incoming.0.is_note(path.as_str(), after));
            if !is_later {
                kept.insert(shown);
                continue;
            }
            receive_one(disk, &mut incoming, &path, [Some(now.clone()), Some(now)], &after, synced)?;
            continue;
        }
        receive_one(disk, &mut incoming, &path, [before.clone(), before], &after, synced)?;
    }
    disk.set_source(None);
    Ok(kept)
}

/// Writes a file. The first of the versions is the one that both sides had, the second is the one that the file has here unless somebody has
/// changed it.
fn receive_one(
    disk: &mut Disk<'_>,
    incoming: &mut Incoming<'_>,
    path: &RelPath,
    [ancestor, before]: [Option<Vec<u8>>; 2],
    after: &Admitted,
    synced: &mut Synced,
) -> Result<(), Failure> {
    for _ in 0..ATTEMPTS {
        let known = disk.read(path)?;
        let now = known.as_ref().map(|known| known.bytes.clone());
        if now.as_deref() == after.bytes() {
            return Ok(());
        }
        let content = if now == before {
            after.clone()
        } else {
            let merged = incoming.merge(path.as_str(), ancestor.clone(), now.clone(), after.clone());
            synced.add_merged(&merged);
            for (path, content) in merged.beside {
                write_new(disk, &path, content)?;
            }
            merged.content
        };
        if content.bytes() == now.as_deref() || disk.change(path, known.as_ref(), content)? != Change::Stale {
            return Ok(());
        }
    }
    let message = format!("`{}` was changed {ATTEMPTS} times meanwhile", single_line(path.as_str()));
    Err(Failure::new(ErrorCode::Contention, message, "run this again"))
}
