//! Versions: evidence that the bytes of a file have changed.
//!
//! A version is one of three kinds, given by its first letter:
//!
//! - `s`, device, inode, size, times of modification and change: enough as long as no later change
//!   can have the same tick of the file system's clock. That is git's racy rule.
//! - `h`, the SHA-256 of the bytes: for files that changed just now.
//! - `r`, like `s`, for files that changed just now and are too large to hash each time. It differs
//!   from every other version and matches nothing, so its holder reads again.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};

use cap_std::fs::Dir;
use saddlebag::protocol::{FsError, Precondition, Version};
use sha2::{Digest, Sha256};

use super::error::refusal;
use super::filling;
use super::sys::{self, Access, Stat};
use super::walk;

/// Maximum size of a file in bytes whose version may be a hash.
pub(super) const HASH_LIMIT: u64 = 4 * 1024 * 1024;

/// Time for which a time stamp is in doubt, in nanoseconds: two ticks of the slowest common kernel clock.
const DOUBT: i64 = 20_000_000;

/// Same time for file systems that count whole seconds, or every second one, as FAT does.
const COARSE_DOUBT: i64 = 2_000_000_000;

const SECOND: i64 = 1_000_000_000;

/// Returns true if any change after `now` will show in the stat.
pub(super) fn is_settled(stat: &Stat, now: i64) -> bool {
    let coarse = stat.modified % SECOND == 0 && stat.changed % SECOND == 0;
    let doubt = if coarse { COARSE_DOUBT } else { DOUBT };
    // A time in the future fails this check too.
    stat.modified.max(stat.changed) < now.saturating_sub(doubt)
}

/// Returns the version of a file whose stat is settled.
pub(super) fn of_stat(stat: &Stat) -> Version {
    spell('s', stat)
}

/// Returns the version of a file that is in doubt and too large to hash.
pub(super) fn in_doubt(stat: &Stat) -> Version {
    spell('r', stat)
}

/// Returns true if the version is of a file in doubt, so that it may outlive its bytes.
pub(super) fn is_in_doubt(version: &Version) -> bool {
    version.0.starts_with('r')
}

/// Returns the version of a file by its bytes.
pub(super) fn of_content(bytes: &[u8]) -> Version {
    let digest = Sha256::digest(bytes);
    let mut text = String::with_capacity(1 + 2 * digest.len());
    text.push('h');
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    Version(text)
}

/// Returns the version of the file `name`, which had `stat` at or after `now`.
///
/// `None` if the file is gone.
pub(super) fn of_file(folder: &Dir, name: &str, stat: &Stat, now: i64) -> Result<Option<Version>, FsError> {
    if is_settled(stat, now) {
        return Ok(Some(of_stat(stat)));
    }
    match hash_at(folder, name, stat) {
        Ok(Some(version)) => Ok(Some(version)),
        Ok(None) => Ok(Some(in_doubt(stat))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refusal(error)),
    }
}

/// Result of checking a precondition.
#[derive(Debug)]
pub(super) enum Check {
    Holds,
    Stale(Option<Version>),
}

/// Checks `precondition` against the file `name`, whose stat is `found`. An empty file that was just changed is waited for: an
/// editor may be about to fill it.
pub(super) fn check(
    folder: &Dir,
    name: &str,
    found: Option<&Stat>,
    precondition: &Precondition,
) -> Result<Check, FsError> {
    let now = sys::now();
    match (precondition, found) {
        (Precondition::Any, _) | (Precondition::Absent, None) => Ok(Check::Holds),
        (Precondition::Matches(_), None) => Ok(Check::Stale(None)),
        (Precondition::Matches(version), Some(stat)) if matches(folder, name, stat, version)? => {
            if stat.size > 0 || filling::stays_empty(folder, name, stat).map_err(refusal)? {
                return Ok(Check::Holds);
            }
            let now = sys::now();
            let found = walk::probe(folder, name)?;
            let version = found.map(|stat| of_file(folder, name, &stat, now)).transpose()?;
            Ok(Check::Stale(version.flatten()))
        }
        (_, Some(stat)) => of_file(folder, name, stat, now).map(Check::Stale),
    }
}

/// Returns true if the file `name`, whose stat is `stat`, has `version`.
pub(super) fn matches(folder: &Dir, name: &str, stat: &Stat, version: &Version) -> Result<bool, FsError> {
    match version.0.as_bytes().first() {
        // It was made when the stat was settled, so no later change can have the same one.
        Some(b's') => Ok(of_stat(stat) == *version),
        Some(b'h') => match hash_at(folder, name, stat) {
            Ok(hash) => Ok(hash.as_ref() == Some(version)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(refusal(error)),
        },
        _ => Ok(false),
    }
}

/// Returns true if a version is a hash, so that the bytes must be compared.
pub(super) fn is_hash(version: &Version) -> bool {
    version.0.starts_with('h')
}

/// Reads at most [`HASH_LIMIT`] bytes from the position of `file`; `None` if there are more.
pub(super) fn read_small(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(HASH_LIMIT + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= HASH_LIMIT).then_some(bytes))
}

fn hash_at(folder: &Dir, name: &str, stat: &Stat) -> io::Result<Option<Version>> {
    if stat.size > HASH_LIMIT {
        return Ok(None);
    }
    let mut file = sys::open_file(folder, name, Access::Read)?;
    Ok(read_small(&mut file)?.map(|bytes| of_content(&bytes)))
}

fn spell(kind: char, stat: &Stat) -> Version {
    let Stat { device, inode, size, modified, changed, .. } = stat;
    let mut text = String::with_capacity(64);
    text.push(kind);
    push_hex(&mut text, *device);
    for field in [*inode, *size, modified.cast_unsigned(), changed.cast_unsigned()] {
        text.push('.');
        push_hex(&mut text, field);
    }
    Version(text)
}

/// Does the same as `{:x}`, which takes a tenth of the time of listing a large folder.
fn push_hex(text: &mut String, number: u64) {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        text.push(DIGITS[((number >> (4 * place)) & 0xf) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_dir::sys::Kind;

    fn changed_at(modified: i64, changed: i64) -> Stat {
        Stat { kind: Kind::File, device: 1, inode: 2, size: 3, modified, changed, mode: 0o600, owner: (0, 0), links: 1 }
    }

    #[test]
    fn a_stat_is_in_doubt_until_the_clock_has_moved_on() {
        let now = 1_000 * SECOND + 1;
        assert!(is_settled(&changed_at(now - DOUBT - 1, now - DOUBT - 1), now));
        assert!(!is_settled(&changed_at(now - DOUBT, 5), now));
        assert!(!is_settled(&changed_at(5, now), now));
        assert!(!is_settled(&changed_at(now + SECOND, 5), now), "in the future");
    }

    #[test]
    fn whole_seconds_are_in_doubt_for_longer() {
        let now = 1_000 * SECOND;
        assert!(!is_settled(&changed_at(999 * SECOND, 999 * SECOND), now));
        assert!(is_settled(&changed_at(999 * SECOND, 999 * SECOND - 1), now), "a person set the time");
        assert!(is_settled(&changed_at(900 * SECOND, 900 * SECOND), now));
    }

    #[test]
    fn the_kinds_of_versions_never_meet() {
        let stat = changed_at(1, 2);
        assert_eq!(of_stat(&stat).0, "s1.2.3.1.2");
        for number in [0, 15, 16, 0xdead_beef, u64::MAX] {
            let mut text = String::new();
            push_hex(&mut text, number);
            assert_eq!(text, format!("{number:x}"));
        }
        assert_ne!(of_stat(&stat), in_doubt(&stat));
        assert_eq!(of_content(b"").0, "he3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
