//! Values that a person rejected for good: each machine gets those of the others, by their digests.
//!
//! The store's own log stays on the machine. What concerns shared scopes is copied to a file that is shared, and read back from it.

use std::collections::BTreeSet;

use saddlebag::protocol::ErrorCode;
use saddlebag::store::{Layout, PathError, RelPath};
use saddlebag::trust::{own_rejections, received_rejections, unite_rejections};

use super::disk::{Change, Disk};
use crate::failure::Failure;
use crate::setup::sharing;

/// How often a log is read again because others change it.
const ATTEMPTS: usize = 5;

/// Makes the store's own log and the shared one know the same rejections, as far as they may leave the machine.
pub(super) fn exchange(disk: &mut Disk<'_>, shared: &BTreeSet<String>) -> Result<(), Failure> {
    let (own, common) = (valid(Layout::rejected_log())?, valid(RelPath::new(sharing::REJECTIONS))?);
    let theirs = text(disk, &common)?;
    learn(disk, &theirs, shared)?;
    // A rejection that was received says what a lifting line of this machine is about, and goes back to nobody.
    let ours = unite_rejections(&text(disk, &own)?, "", |path| sharing::is_shared(shared, path));
    unite(disk, &common, &own_rejections(&ours))
}

/// Takes the lines of the log of another machine about scopes that this one shares, before a text is compared with them. They count
/// in these scopes. Returns the number of new ones.
pub(super) fn learn(disk: &mut Disk<'_>, theirs: &str, shared: &BTreeSet<String>) -> Result<usize, Failure> {
    let log = valid(Layout::rejected_log())?;
    let known = text(disk, &log)?;
    let is_new = |line: &&str| !known.lines().any(|known| known == *line);
    let received = |log: &str| received_rejections(log, |path| sharing::is_shared(shared, path));
    let new: String = received(theirs).lines().filter(is_new).map(|line| format!("{line}\n")).collect();
    unite(disk, &log, &new)?;
    // Those of this machine come back, and say nothing new.
    let own = received(&own_rejections(&known));
    Ok(new.lines().filter(|line| !own.lines().any(|known| known == *line)).count())
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
fn unite(disk: &mut Disk<'_>, into: &RelPath, new: &str) -> Result<(), Failure> {
    for _ in 0..ATTEMPTS {
        let known = disk.read(into)?;
        let before = known.as_ref().map(|known| String::from_utf8_lossy(&known.bytes).into_owned()).unwrap_or_default();
        if new.lines().all(|line| before.lines().any(|known| known == line)) {
            return Ok(());
        }
        let united = unite_rejections(&before, new, |_| true);
        if disk.write_log(into, known.as_ref(), united)? == Change::Made {
            return Ok(());
        }
    }
    let message = format!("`{into}` was changed {ATTEMPTS} times meanwhile");
    Err(Failure::new(ErrorCode::Contention, message, "run this again"))
}
