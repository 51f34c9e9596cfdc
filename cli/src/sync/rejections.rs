//! Values that a person rejected for good: each machine gets those of the others, by their digests.
//!
//! The store's own log stays on the machine. What concerns shared scopes is copied to a file that is shared, and read back from it.

use std::collections::BTreeSet;

use saddlebag::protocol::ErrorCode;
use saddlebag::store::{Layout, PathError, RelPath};
use saddlebag::trust::unite_rejections;

use super::disk::{Change, Disk};
use crate::failure::Failure;
use crate::setup::sharing;

/// How often a log is read again because others change it.
const ATTEMPTS: usize = 5;

/// Makes the store's own log and the shared one know the same rejections, as far as they may leave the machine.
pub(super) fn exchange(disk: &mut Disk<'_>, shared: &BTreeSet<String>) -> Result<(), Failure> {
    let (own, common) = (valid(Layout::rejected_log())?, valid(RelPath::new(sharing::REJECTIONS))?);
    let theirs = text(disk, &common)?;
    unite(disk, &own, &theirs, |_| true)?;
    let ours = text(disk, &own)?;
    unite(disk, &common, &ours, |path| sharing::is_shared(shared, path))
}

/// Takes the lines of the log of another machine, before a text is compared with them.
pub(super) fn learn(disk: &mut Disk<'_>, theirs: &str) -> Result<(), Failure> {
    unite(disk, &valid(Layout::rejected_log())?, theirs, |_| true)
}

/// Returns the store's own log.
pub(super) fn own(disk: &mut Disk<'_>) -> Result<String, Failure> {
    text(disk, &valid(Layout::rejected_log())?)
}

fn text(disk: &mut Disk<'_>, path: &RelPath) -> Result<String, Failure> {
    Ok(disk.read(path)?.map(|known| String::from_utf8_lossy(&known.bytes).into_owned()).unwrap_or_default())
}

fn valid(path: Result<RelPath, PathError>) -> Result<RelPath, Failure> {
    path.map_err(|error| Failure::new(ErrorCode::Internal, format!("the path of a log: {error}"), ""))
}

/// Adds the lines of a log to another one.
fn unite(disk: &mut Disk<'_>, into: &RelPath, from: &str, is_wanted: impl Fn(&str) -> bool) -> Result<(), Failure> {
    for _ in 0..ATTEMPTS {
        let known = disk.read(into)?;
        let before = known.as_ref().map(|known| String::from_utf8_lossy(&known.bytes).into_owned()).unwrap_or_default();
        let new = unite_rejections(from, "", &is_wanted);
        if new.lines().all(|line| before.lines().any(|known| known == line)) {
            return Ok(());
        }
        let united = unite_rejections(&before, &new, |_| true);
        if disk.write_log(into, known.as_ref(), united)? == Change::Made {
            return Ok(());
        }
    }
    let message = format!("`{into}` was changed {ATTEMPTS} times meanwhile");
    Err(Failure::new(ErrorCode::Contention, message, "run this again"))
}
