//! Waiting for a lock: how long, and what says that its holder died.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::content;
use crate::files::LockFiles;

/// Time after which the holder of a lease that has not changed is dead.
pub(crate) const DEAD_AFTER: Duration = Duration::from_secs(8);

/// Time for which a holder may rely on its lock without looking again.
pub(crate) const RENEW_AFTER: Duration = Duration::from_secs(4);

/// Time that a host waits for one holder, if it has no reason for another.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum wait, as a multiple of the patience, while the lock passes from one holder to the next.
const MOST_PATIENCES: u32 = 12;

/// Maximum pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// A lock was not given back in time. Its text is for the error `locked`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    holder: Option<String>,
    waited: Duration,
    is_one_holder: bool,
}

impl fmt::Display for Locked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holder = self.holder.as_deref().unwrap_or("another program");
        if self.is_one_holder {
            write!(out, "{holder} has held the lock of this file for ")?;
        } else {
            out.write_str("other writers have held the lock of this file for ")?;
        }
        if self.waited < Duration::from_secs(1) {
            write!(out, "{} ms", self.waited.as_millis())?;
        } else {
            write!(out, "{} s", self.waited.as_secs())?;
        }
        if self.is_one_holder { Ok(()) } else { write!(out, ", now {holder}") }
    }
}

/// A wait for a lock. It goes on as long as the lock passes from one holder to the next, because they make progress.
#[derive(Debug)]
pub(crate) struct Wait {
    patience: Duration,
    began: Duration,
    /// Content that was seen last, and the time since when it is the same.
    seen: Option<Vec<u8>>,
    since: Duration,
    pause: Duration,
}

impl Wait {
    pub(crate) fn new(files: &impl LockFiles, patience: Duration) -> Self {
        let now = files.now();
        Self { patience, began: now, seen: None, since: now, pause: Duration::from_micros(20) }
    }

    /// Takes what was seen of the lock, after the time `at`, and returns for how long it has been the same.
    ///
    /// The first of two equal looks counts from its end, the second to its beginning: a host that is stopped during one of them must
    /// not take the time in which it did not look for time without a change.
    pub(crate) fn unchanged_for(&mut self, files: &impl LockFiles, at: Duration, seen: &[u8]) -> Duration {
        if self.seen.as_deref() == Some(seen) {
            return at.saturating_sub(self.since);
        }
        self.seen = Some(seen.into());
        self.since = files.now();
        Duration::ZERO
    }

    /// Waits for a moment, or gives up. `unchanged` is what [`unchanged_for`](Self::unchanged_for) returned.
    pub(crate) fn pause(&mut self, files: &impl LockFiles, unchanged: Duration, holder: &[u8]) -> Result<(), Locked> {
        let all = files.now().saturating_sub(self.began);
        let is_one_holder = unchanged >= self.patience;
        if is_one_holder || all >= self.patience * MOST_PATIENCES {
            let waited = if is_one_holder { unchanged } else { all };
            return Err(Locked { holder: content::holder_of(holder), waited, is_one_holder });
        }
        files.pause(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
