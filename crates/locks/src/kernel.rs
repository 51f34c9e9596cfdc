//! Kernel locks, which also keep out hosts with leases.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::content::{self, Identity, Record};
use crate::files::KernelLocks;
use crate::guard::{Error, Lock, Standing};
use crate::lease::{Lease, Newest, clean_up};
use crate::names::Number;
use crate::protocol::lock_file;
use crate::wait::{DEAD_AFTER, RENEW_AFTER, Wait};

/// Pause between two looks at the holder of a lock.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A kernel lock that is held, of an open file `K`.
#[derive(Debug)]
pub struct Kernel<K> {
    number: Number,
    file: K,
    /// Number of the newest lease when the lock was taken.
    lease: u64,
    /// Time before the line was written.
    time: Duration,
    /// Length of the line in bytes.
    header: u64,
    record: String,
}

impl<F: KernelLocks> Lock<F> for Kernel<F::File> {
    fn acquire(files: &F, me: &Identity, number: Number, patience: Duration) -> Result<Self, Error<F::Error>> {
        let mut wait = Wait::new(files, patience);
        let file = lock(files, number, &mut wait)?;
        let left = files.read_open(&file).unwrap_or_default();
        if !content::is_free(&left) {
            clean_up(files, &left);
        }
        let mut kernel = Self { number, file, lease: 0, time: Duration::ZERO, header: 0, record: String::new() };
        let mut signed = kernel.sign(files, me);
        let mut is_signed = true;
        loop {
            let at = files.now();
            let newest = Newest::of(files, number).map_err(Error::Files)?;
            if newest.is_free() {
                if !is_signed {
                    // A host with a lease may have looked meanwhile.
                    signed = kernel.sign(files, me);
                    is_signed = true;
                    continue;
                }
                kernel.lease = newest.count;
                // Others cannot see a holder without a line, so it holds the lock only where nobody has leases.
                return if newest.has_folder { signed.map(|()| kernel).map_err(Error::Files) } else { Ok(kernel) };
            }
            if is_signed {
                kernel.release(files);
                is_signed = false;
            }
            let unchanged = wait.unchanged_for(files, at, &newest.key());
            if unchanged >= DEAD_AFTER {
                if let Some(mut lease) = Lease::after(files, me, number, &newest).map_err(Error::Files)? {
                    lease.release(files);
                }
                continue;
            }
            wait.pause(files, unchanged, &newest.content).map_err(Error::Locked)?;
        }
    }

    fn look(&mut self, files: &F, me: &Identity) -> Result<Standing, F::Error> {
        if files.now().saturating_sub(self.time) <= RENEW_AFTER {
            return Ok(Standing::Current);
        }
        let signed = self.sign(files, me);
        let newest = Newest::of(files, self.number)?;
        let is_held = newest.count == self.lease && (signed.is_ok() || !newest.has_folder);
        Ok(if is_held { Standing::Renewed } else { Standing::Lost })
    }

    fn note(&mut self, files: &F, record: &Record<'_>) {
        self.record = format!("{record}");
        if self.header > 0 {
            // Without it, a temporary file stays if this process dies.
            let _ = files.write_open(&self.file, self.header, self.record.as_bytes());
        }
    }

    fn release(&mut self, files: &F) {
        if self.header > 0 {
            // A line that stays tells the next holder that a program died, so it looks for leftovers.
            let _ = files.write_open(&self.file, 0, content::FREE);
        }
    }
}

impl<K> Kernel<K> {
    /// Writes a new line, and the record, over what is there. The file is not cut before, because for a moment it would look as
    /// if it had never been used. An empty second line makes what follows it the rest of an earlier record.
    fn sign<F: KernelLocks<File = K>>(&mut self, files: &F, me: &Identity) -> Result<(), F::Error> {
        self.time = files.now();
        let line = me.line();
        let record = if self.record.is_empty() { "\n" } else { &self.record };
        let written = files.write_open(&self.file, 0, format!("{line}{record}").as_bytes());
        self.header = if written.is_ok() { line.len() as u64 } else { 0 };
        written
    }
}

/// Waits for the kernel lock of a number. A host that holds it may itself wait for a lease of this number.
fn lock<F: KernelLocks>(files: &F, number: Number, wait: &mut Wait) -> Result<F::File, Error<F::Error>> {
    let path = lock_file(number);
    loop {
        // Opened again each time, because an old handle may be of a deleted file.
        let file = files.open(&path).map_err(Error::Files)?;
        let mut looked: Option<Duration> = None;
        // Asks repeatedly, because a blocking wait cannot end in time if the holder was suspended.
        while !files.try_lock(&file).map_err(Error::Files)? {
            let at = files.now();
            if looked.is_some_and(|looked| at.saturating_sub(looked) < LOOK_EVERY) {
                wait.pause(files, Duration::ZERO, &[]).map_err(Error::Locked)?;
                continue;
            }
            looked = Some(at);
            let mut holder = files.read_open(&file).unwrap_or_default();
            let mut seen: Vec<u8> = holder.clone();
            if let Ok(newest) = Newest::of(files, number) {
                seen.extend(newest.key());
                if !newest.is_free() {
                    holder = newest.content;
                }
            }
            let unchanged = wait.unchanged_for(files, at, &seen);
            wait.pause(files, unchanged, &holder).map_err(Error::Locked)?;
        }
        if files.is_at(&file, &path).map_err(Error::Files)? {
            return Ok(file);
        }
    }
}
