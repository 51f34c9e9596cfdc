//! Leases: locks of hosts that have no kernel locks. A lease is a numbered file that is created exclusively.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::content::{self, Identity, Record};
use crate::files::LockFiles;
use crate::guard::{Error, Lock, Standing};
use crate::names::Number;
use crate::protocol::{LEASES_FOLDER, lock_file};
use crate::wait::{DEAD_AFTER, RENEW_AFTER, Wait};

/// End of the numbers of leases that are looked at: programs in any language count to it without loss.
const LARGEST: u64 = 1 << 53;

/// A lease that is held.
#[derive(Debug)]
pub struct Lease {
    number: Number,
    /// Number of its file; 0 if the lease is lost.
    count: u64,
    line: String,
    record: String,
    /// Time before it was created.
    time: Duration,
}

impl<F: LockFiles> Lock<F> for Lease {
    fn acquire(files: &F, me: &Identity, number: Number, patience: Duration) -> Result<Self, Error<F::Error>> {
        let mut wait = Wait::new(files, patience);
        loop {
            let at = files.now();
            let newest = Newest::of(files, number).map_err(Error::Files)?;
            if !newest.is_free() {
                let unchanged = wait.unchanged_for(files, at, &newest.key());
                if unchanged < DEAD_AFTER {
                    wait.pause(files, unchanged, &newest.content).map_err(Error::Locked)?;
                    continue;
                }
            }
            let Some(mut lease) = Self::after(files, me, number, &newest).map_err(Error::Files)? else {
                wait.pause(files, Duration::ZERO, &newest.content).map_err(Error::Locked)?;
                continue;
            };
            match lease.wait_for_kernel_locks(files, me, &mut wait) {
                Ok(true) => return Ok(lease),
                Ok(false) => {}
                Err(error) => {
                    lease.release(files);
                    return Err(error);
                }
            }
        }
    }

    fn look(&mut self, files: &F, me: &Identity) -> Result<Standing, F::Error> {
        let now = files.now();
        if now.saturating_sub(self.time) <= RENEW_AFTER {
            return Ok(Standing::Current);
        }
        self.time = now;
        if self.create(files, me, self.count)? {
            return Ok(Standing::Renewed);
        }
        self.count = 0;
        Ok(Standing::Lost)
    }

    fn note(&mut self, files: &F, record: &Record<'_>) {
        self.record = format!("{record}");
        // If the file is gone, the lease is lost, which the next look finds.
        let _ = files.write(&self.path(), format!("{}{record}", self.line).as_bytes());
    }

    fn release(&mut self, files: &F) {
        // If that fails, others take the holder for dead. The file of a lost lease may be somebody else's.
        if self.count > 0 {
            let _ = files.write(&self.path(), content::FREE);
        }
    }
}

impl Lease {
    /// Creates the lease after `newest`, which is free or whose holder died, and clears up after dead holders. Returns `None` if
    /// another host was faster.
    pub(crate) fn after<F: LockFiles>(
        files: &F,
        me: &Identity,
        number: Number,
        newest: &Newest,
    ) -> Result<Option<Self>, F::Error> {
        let time = files.now();
        if !newest.has_folder {
            files.make_folder(&folder(number))?;
        }
        let mut lease = Self { number, count: newest.count, line: String::new(), record: String::new(), time };
        let cleared = if newest.is_free() { newest.count } else { 0 };
        Ok(lease.create(files, me, cleared)?.then_some(lease))
    }

    /// Creates the file after the present one, and removes all earlier ones. Their holders died, except the one of the file
    /// `cleared`. Returns false if another host was faster.
    fn create<F: LockFiles>(&mut self, files: &F, me: &Identity, cleared: u64) -> Result<bool, F::Error> {
        self.count += 1;
        self.line = me.line();
        if !files.create(&self.path(), format!("{}{}", self.line, self.record).as_bytes())? {
            return Ok(false);
        }
        // A host that was stopped since it looked may have created a number that was used, and removed, meanwhile.
        let counts = counts(files, self.number)?.unwrap_or_default();
        if counts.last() != Some(&self.count) {
            files.remove(&self.path())?;
            return Ok(false);
        }
        for earlier in counts.into_iter().filter(|count| *count < self.count) {
            let path = file(self.number, earlier);
            if earlier != cleared
                && let Some(content) = files.read(&path)?
                && !content::is_free(&content)
            {
                clean_up(files, &content);
            }
            files.remove(&path)?;
        }
        Ok(true)
    }

    /// Waits until no host with a kernel lock is at work. Returns false if the lease was lost meanwhile.
    fn wait_for_kernel_locks<F: LockFiles>(
        &mut self,
        files: &F,
        me: &Identity,
        wait: &mut Wait,
    ) -> Result<bool, Error<F::Error>> {
        let path = lock_file(self.number);
        loop {
            let at = files.now();
            // On Windows, nobody can read a file that another process has locked.
            let content = files.read(&path).map_or(None, |content| Some(content.unwrap_or_default()));
            if content.as_ref().is_some_and(|content| content.is_empty() || content::is_free(content)) {
                return Ok(true);
            }
            let seen = content.as_deref().unwrap_or_default();
            let unchanged = wait.unchanged_for(files, at, seen);
            if content.is_some() && unchanged >= DEAD_AFTER {
                if !self.is_held(files, me)? {
                    return Ok(false);
                }
                clean_up(files, seen);
                if !self.is_held(files, me)? {
                    return Ok(false);
                }
                files.write(&path, content::FREE).map_err(Error::Files)?;
                continue;
            }
            if !self.is_held(files, me)? {
                return Ok(false);
            }
            wait.pause(files, unchanged, seen).map_err(Error::Locked)?;
        }
    }

    fn is_held<F: LockFiles>(&mut self, files: &F, me: &Identity) -> Result<bool, Error<F::Error>> {
        loop {
            match self.look(files, me).map_err(Error::Files)? {
                Standing::Current => return Ok(true),
                Standing::Renewed => {}
                Standing::Lost => return Ok(false),
            }
        }
    }

    fn path(&self) -> String {
        file(self.number, self.count)
    }
}

/// The newest lease of a lock, the only one that counts.
#[derive(Debug)]
pub(crate) struct Newest {
    /// Number of its file; 0 if there is none.
    pub(crate) count: u64,
    pub(crate) content: Vec<u8>,
    /// True if the folder of the leases exists.
    pub(crate) has_folder: bool,
}

impl Newest {
    pub(crate) fn of<F: LockFiles>(files: &F, number: Number) -> Result<Self, F::Error> {
        loop {
            let counts = counts(files, number)?;
            let has_folder = counts.is_some();
            let Some(count) = counts.and_then(|mut counts| counts.pop()) else {
                return Ok(Self { count: 0, content: content::FREE.into(), has_folder });
            };
            if let Some(content) = files.read(&file(number, count))? {
                return Ok(Self { count, content, has_folder });
            }
            // A later one was created, and this one removed, since the folder was listed.
        }
    }

    pub(crate) fn is_free(&self) -> bool {
        content::is_free(&self.content)
    }

    /// Returns what tells this lease, with this content, from all others.
    pub(crate) fn key(&self) -> Vec<u8> {
        let mut key = format!("{}\n", self.count).into_bytes();
        key.extend_from_slice(&self.content);
        key
    }
}

/// Carries out the record in the content of a dead holder's lock.
pub(crate) fn clean_up(files: &impl LockFiles, content: &[u8]) {
    if let Some(record) = core::str::from_utf8(content).ok().and_then(Record::of) {
        files.clean_up(&record);
    }
}

/// Returns the numbers of the leases in ascending order; `None` if the folder does not exist.
fn counts<F: LockFiles>(files: &F, number: Number) -> Result<Option<Vec<u64>>, F::Error> {
    let Some(names) = files.list(&folder(number))? else { return Ok(None) };
    let count =
        |name: &String| name.parse().ok().filter(|count| (1..LARGEST).contains(count) && !name.starts_with(['0', '+']));
    let mut counts: Vec<u64> = names.iter().filter_map(count).collect();
    counts.sort_unstable();
    Ok(Some(counts))
}

fn folder(number: Number) -> String {
    format!("{LEASES_FOLDER}/{number}")
}

fn file(number: Number, count: u64) -> String {
    format!("{LEASES_FOLDER}/{number}/{count}")
}
