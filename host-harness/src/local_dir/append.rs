//! Appending: one write at the end, all of it or nothing.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::time::Duration;

use cap_std::fs::Dir;
use saddlebag::protocol::{AppendOutcome, FsError, Precondition, Version};
use saddlebag::store::RelPath;

use super::dir::LocalDir;
use super::error::{Failed, failed, not_durable, refusal};
use super::lock::Guard;
use super::permit::Permit;
use super::sys::{self, Access, Stat};
use super::version::{self, Check};
use super::walk;
use super::write::{Place, Staged, version_of_written};
use crate::Durability;
use crate::executor::Addition;

/// Size of a page of memory in bytes: Linux adds a page at a time, and ends between two if the process is killed.
const PAGE: usize = 4096;

/// Maximum number of attempts if an editor replaces the file meanwhile.
const ATTEMPTS: u32 = 8;

impl LocalDir {
    pub(super) fn append(
        &self,
        path: &RelPath,
        addition: &Addition<'_>,
        precondition: &Precondition,
    ) -> Result<AppendOutcome, FsError> {
        let mut added = false;
        self.change(&[path], |guard| self.append_locked(guard, path, addition, precondition, &mut added))
    }

    /// Writes a file again, to new blocks, if its last change could not be synced. If that fails, the file stays
    /// recorded as not synced.
    pub(super) fn settle(&self, path: &RelPath) {
        // A writer that holds the lock writes the file again itself.
        let settled = self.lock_within(&[path], Duration::ZERO).and_then(|guard| {
            let found = walk::find(&self.root, path)?;
            match found.map(|(folder, name)| walk::probe(&folder, name)).transpose()?.flatten() {
                Some(_) => {
                    let nothing = Addition { content: b"", newline_first: false, may_tear: false, may_vanish: false };
                    let appended = self.append_locked(&guard, path, &nothing, &Precondition::Any, &mut false);
                    appended.map(drop).map_err(Failed::into_answer)
                }
                None => {
                    self.unsynced().remove(&self.root, path);
                    Ok(())
                }
            }
        });
        if let Err(error) = settled {
            tracing::warn!(%error, %path, "the file is still not synced");
        }
    }

    /// Appends like [`append`](Self::append), while holding the lock of `path`. `added` says if an earlier attempt has added the
    /// text to a file that was replaced since.
    fn append_locked(
        &self,
        guard: &Guard<'_>,
        path: &RelPath,
        addition: &Addition<'_>,
        precondition: &Precondition,
        added: &mut bool,
    ) -> Result<AppendOutcome, Failed> {
        let &Addition { content, newline_first, may_tear, may_vanish } = addition;
        if matches!(precondition, Precondition::Matches(_)) && walk::find(&self.root, path)?.is_none() {
            return Ok(AppendOutcome::Stale(None));
        }
        let (folder, name) = walk::make(&self.root, path, self.options.durability)?;
        let place = Place { store: self, guard, folder: &folder, path, keep: None };
        let durable = self.options.durability == Durability::Full;
        let unsynced = durable && self.unsynced().contains(&self.root, path);
        for _ in 0..ATTEMPTS {
            let found = walk::probe(&folder, name)?;
            if let Check::Stale(current) = version::check(&folder, name, found.as_ref(), precondition)? {
                return Ok(AppendOutcome::Stale(current));
            }
            // Bytes that were not synced must be written again. A file with a second name is replaced, so that the
            // other name, which may be outside of the store, keeps its text. A process that is killed can leave a part of
            // a long addition.
            let is_long = content.len() > PAGE && !may_tear;
            if let Some(found) = found.as_ref().filter(|found| unsynced || is_long || found.links > 1) {
                match self.append_by_replacing(place, name, found, addition, *added)? {
                    Some((start, version)) => {
                        self.confirm(&folder, path)?;
                        return Ok(version.map_or(AppendOutcome::Unknown(start), AppendOutcome::Written));
                    }
                    None => continue,
                }
            }
            if found.is_none() && is_long {
                let mut staged = Staged::new(place, content, None)?;
                match staged.move_to(guard.check()?, name) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(failed(error)),
                }
                drop(staged);
                self.confirm(&folder, path)?;
                let version = version_of_written(&folder, name, content);
                return Ok(version.map_or(AppendOutcome::Unknown(0), AppendOutcome::Written));
            }
            let access = if found.is_some() { Access::Append } else { Access::AppendNew };
            #[cfg(test)]
            self.before_creating.call();
            guard.check()?;
            let mut file = match sys::open_file(&folder, name, access) {
                Ok(file) => file,
                // The folder is gone.
                Err(error) if error.kind() == io::ErrorKind::NotFound && found.is_none() => return Err(Failed::Again),
                // Created or removed by hand since it was looked at.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
                    continue;
                }
                Err(error) => return Err(refusal(error).into()),
            };
            let before = walk::regular(sys::stat_of(&file).map_err(refusal)?)?;
            // Whoever replaced the file may have included the text of the first attempt.
            let repeated = *added && ends_with(&mut file, &before, content).map_err(refusal)?;
            let start = if repeated {
                before.size.saturating_sub(content.len() as u64)
            } else {
                let permit = guard.check();
                match permit.and_then(|permit| {
                    Ok(add(permit, &mut file, before.size, content, newline_first).map_err(refusal)?)
                }) {
                    Ok(start) => start,
                    Err(failed) => {
                        // If the lock was lost, others may have added to the file.
                        if found.is_none() && matches!(failed, Failed::Refused(_)) {
                            let _ = folder.remove_file(name);
                        }
                        return Err(failed);
                    }
                }
            };
            *added = true;
            #[cfg(test)]
            self.before_placing.call();
            // An editor takes no lock. If it has replaced the file, the text must be added to the new file.
            if !sys::stat_at(&folder, name).is_ok_and(|stat| stat.same_file(&before)) {
                continue;
            }
            let must_sync = durable && !(may_vanish && found.is_some());
            if must_sync && let Err(error) = sync(&folder, &file, found.is_none()) {
                self.unsynced().add(&self.root, path);
                return Err(not_durable(error).into());
            }
            // The bytes are in place and synced. A failure from here on is not an error but an unknown outcome.
            return Ok(version_of(&mut file, may_tear).map_or(AppendOutcome::Unknown(start), AppendOutcome::Written));
        }
        Err(FsError::Other("the file kept being replaced while it was appended to; try again".into()).into())
    }
}

impl LocalDir {
    /// Replaces `found` by a new file with its bytes and the addition. `may_be_there`: an earlier attempt added it to a file that
    /// was replaced since, and an editor may have read it there. Returns the offset of the addition, and the new version if
    /// it is known; `None` if someone changed the file meanwhile, which then stays.
    fn append_by_replacing(
        &self,
        place: Place<'_>,
        name: &str,
        found: &Stat,
        addition: &Addition<'_>,
        may_be_there: bool,
    ) -> Result<Option<(u64, Option<Version>)>, Failed> {
        let folder = place.folder;
        let now = sys::now();
        let mut file = match sys::open_file(folder, name, Access::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refusal(error).into()),
        };
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes).map_err(refusal)?;
        let stat = sys::stat_of(&file).map_err(refusal)?;
        if !stat.same_bytes(found) || stat.size != bytes.len() as u64 {
            return Ok(None);
        }
        let settled = version::is_settled(&stat, now) || stat.size > version::HASH_LIMIT;
        let version = if settled { version::of_stat(&stat) } else { version::of_content(&bytes) };
        let start = if may_be_there && bytes.ends_with(addition.content) {
            bytes.len() - addition.content.len()
        } else {
            if addition.newline_first && bytes.last().is_some_and(|&last| last != b'\n') {
                bytes.push(b'\n');
            }
            let start = bytes.len();
            bytes.extend_from_slice(addition.content);
            start
        };
        let mut staged = Staged::new(place, &bytes, Some(found))?;
        #[cfg(test)]
        self.before_placing.call();
        let stale = staged.exchange(name, found, &version)?;
        drop(staged);
        Ok(stale.is_none().then(|| (start as u64, version_of_written(folder, name, &bytes))))
    }
}

/// Adds `content` at the end of a file of `size` bytes, and returns its offset.
fn add(_: Permit<'_>, file: &mut File, size: u64, content: &[u8], newline_first: bool) -> io::Result<u64> {
    let newline = newline_first && size > 0 && last_byte(file)? != Some(b'\n');
    if newline {
        let mut joined = Vec::with_capacity(1 + content.len());
        joined.push(b'\n');
        joined.extend_from_slice(content);
        write_whole(file, size, &joined)?;
    } else {
        write_whole(file, size, content)?;
    }
    Ok(size + u64::from(newline))
}

/// Operations of a file that [`write_whole`] needs.
trait Appendable: Write {
    /// Cuts the file to `size` bytes.
    fn cut(&mut self, size: u64) -> io::Result<()>;
}

impl Appendable for File {
    fn cut(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }
}

/// Writes all of `bytes` after the first `size` with one call, or none of them.
fn write_whole(file: &mut impl Appendable, size: u64, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let written = loop {
        match file.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result?,
        }
    };
    if written == bytes.len() {
        return Ok(());
    }
    // Only a second write returns the cause of the first short one. Its bytes are removed as well.
    let cause = match file.write(&bytes[written..]) {
        Ok(_) => io::ErrorKind::WriteZero.into(),
        Err(error) => error,
    };
    file.cut(size)?;
    Err(cause)
}

fn last_byte(file: &mut File) -> io::Result<Option<u8>> {
    file.seek(SeekFrom::End(-1))?;
    let mut byte = [0];
    let read = io::Read::read(file, &mut byte)?;
    Ok((read == 1).then_some(byte[0]))
}

fn ends_with(file: &mut File, stat: &Stat, content: &[u8]) -> io::Result<bool> {
    let Some(start) = stat.size.checked_sub(content.len() as u64) else {
        return Ok(false);
    };
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::with_capacity(content.len());
    io::Read::read_to_end(file, &mut end)?;
    Ok(end == content)
}

fn sync(folder: &Dir, file: &File, created: bool) -> io::Result<()> {
    sys::sync_file(file)?;
    if created { sys::sync_folder(folder) } else { Ok(()) }
}

/// Returns the version of a file that was added to. That of a log stays in doubt, because hashing it would take longer with each
/// line, and nobody replaces a log by its version.
fn version_of(file: &mut File, is_log: bool) -> io::Result<Version> {
    let now = sys::now();
    let stat = sys::stat_of(file)?;
    if version::is_settled(&stat, now) {
        return Ok(version::of_stat(&stat));
    }
    if stat.size <= version::HASH_LIMIT && !is_log {
        file.seek(SeekFrom::Start(0))?;
        if let Some(bytes) = version::read_small(file)? {
            return Ok(version::of_content(&bytes));
        }
    }
    Ok(version::in_doubt(&stat))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Accepts this many bytes and then returns an error.
    struct Full {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.room);
            self.bytes.extend_from_slice(&bytes[..taken]);
            self.room -= taken;
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Appendable for Full {
        fn cut(&mut self, size: u64) -> io::Result<()> {
            self.bytes.truncate(usize::try_from(size).unwrap());
            Ok(())
        }
    }

    #[test]
    fn a_short_write_is_undone_and_its_cause_named() {
        let mut file = Full { bytes: b"old\n".to_vec(), room: 3 };
        let error = write_whole(&mut file, 4, b"line\n").unwrap_err();
        assert_eq!(refusal(error), FsError::NoSpace);
        assert_eq!(file.bytes, b"old\n");
    }
}
