//! Writing: a whole new file replaces the old one, and never someone else's text.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::Dir;
use saddlebag::protocol::{FsError, Precondition, Version, WriteOutcome};
use saddlebag::store::RelPath;
use saddlebag_locks::{Record, second_name};

use super::dir::LocalDir;
use super::error::{Failed, failed, not_durable, refusal};
use super::keep::{Keep, name_twice};
use super::leftovers;
use super::lock::Guard;
use super::permit::Permit;
use super::sys::{self, Access, Stat};
use super::version::{self, Check};
use super::walk;
use crate::Durability;
use crate::executor::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

impl LocalDir {
    pub(super) fn write(
        &self,
        path: &RelPath,
        content: &[u8],
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
        like: Option<&RelPath>,
    ) -> Result<WriteOutcome, FsError> {
        let paths: Vec<&RelPath> = [path].into_iter().chain(keep_as).collect();
        self.change(&paths, |guard| {
            // A stale write creates no folders.
            if matches!(precondition, Precondition::Matches(_)) && walk::find(&self.root, path)?.is_none() {
                return Ok(WriteOutcome::Stale(None));
            }
            let (folder, name) = walk::make(&self.root, path, self.options.durability)?;
            let found = walk::probe(&folder, name)?;
            if let Check::Stale(current) = version::check(&folder, name, found.as_ref(), precondition)? {
                return Ok(WriteOutcome::Stale(current));
            }

            let keep = match (keep_as, &found) {
                (Some(keep_as), Some(found)) => Some(Keep::open(self, keep_as, path, (&folder, name), found)?),
                _ => None,
            };
            let model = found.or_else(|| like.and_then(|like| self.stat_of(like)));
            let place = Place { store: self, guard, folder: &folder, path, keep: keep.as_ref() };
            #[cfg(test)]
            self.before_creating.call();
            let mut staged = Staged::new(place, content, model.as_ref())?;
            #[cfg(test)]
            self.before_placing.call();
            match (precondition, &found) {
                (Precondition::Matches(version), Some(found)) => {
                    if let Some(other) = staged.exchange(name, found, version)? {
                        return Ok(other);
                    }
                }
                (Precondition::Absent, _) => match staged.move_to(guard.check()?, name) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        return Ok(current(&folder, name)?);
                    }
                    Err(error) => return Err(failed(error)),
                },
                _ => staged.replace(name, found.as_ref())?,
            }
            drop(staged);
            if let Some(keep) = &keep
                && let Err(error) = keep.confirm(self, path)
            {
                self.unsynced().add(&self.root, path);
                return Err(error.into());
            }
            self.confirm(&folder, path)?;
            // The new bytes are in place and synced. A failure from here on is not an error but an unknown outcome.
            Ok(version_of_written(&folder, name, content).map_or(WriteOutcome::Unknown, WriteOutcome::Written))
        })
    }
}

impl LocalDir {
    /// Returns the metadata of a file whose permissions a new one gets; `None` if it cannot be looked at.
    fn stat_of(&self, path: &RelPath) -> Option<Stat> {
        let (folder, name) = walk::find(&self.root, path).ok()??;
        walk::probe(&folder, name).ok()?
    }

    /// Syncs the name of a file that was just placed, and removes the record of an earlier failed sync. The old
    /// content of the file is no longer in the folder by now.
    pub(super) fn confirm(&self, folder: &Dir, path: &RelPath) -> Result<(), FsError> {
        if self.options.durability == Durability::Fast {
            return Ok(());
        }
        if let Err(error) = sys::sync_folder(folder) {
            self.unsynced().add(&self.root, path);
            return Err(not_durable(error));
        }
        self.unsynced().remove(&self.root, path);
        Ok(())
    }
}

/// Returns the version of a file that was just written, whose stat is in doubt for a moment.
pub(super) fn version_of_written(folder: &Dir, name: &str, content: &[u8]) -> Option<Version> {
    if content.len() as u64 <= version::HASH_LIMIT {
        return Some(version::of_content(content));
    }
    let now = sys::now();
    let stat = sys::stat_at(folder, name).ok()?;
    Some(if version::is_settled(&stat, now) { version::of_stat(&stat) } else { version::in_doubt(&stat) })
}

/// Returns the answer to a write that lost its race: the current version.
fn current(folder: &Dir, name: &str) -> Result<WriteOutcome, FsError> {
    let now = sys::now();
    let found = walk::probe(folder, name)?;
    let version = found.map(|stat| version::of_file(folder, name, &stat, now)).transpose()?;
    Ok(WriteOutcome::Stale(version.flatten()))
}

/// Place of a new file, with everything that [`Staged`] needs.
#[derive(Clone, Copy)]
pub(super) struct Place<'d> {
    pub(super) store: &'d LocalDir,
    /// Lock of the path.
    pub(super) guard: &'d Guard<'d>,
    pub(super) folder: &'d Dir,
    pub(super) path: &'d RelPath,
    /// Where the replaced bytes are kept.
    pub(super) keep: Option<&'d Keep<'d>>,
}

/// Treatment of the temporary name when a [`Staged`] is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The name has our own file, or one that was replaced as intended: it is removed.
    Remove,
    /// The name is free.
    Nothing,
    /// The name may have someone else's text.
    Recover,
}

/// A new file under a temporary name, which is removed on drop.
pub(super) struct Staged<'d> {
    place: Place<'d>,
    folder: &'d Dir,
    name: String,
    stat: Stat,
    content: &'d [u8],
    end: End,
}

impl<'d> Staged<'d> {
    /// Writes `content` to a new file at `place`, with the permissions of `old`.
    pub(super) fn new(place: Place<'d>, content: &'d [u8], old: Option<&Stat>) -> Result<Self, Failed> {
        let Place { store, guard, folder, path, .. } = place;
        let (name, mut file) = create_temporary(guard, folder, path)?;
        let filled = fill(&mut file, content, old, store.options.durability);
        match filled.and_then(|()| sys::stat_of(&file)) {
            Ok(stat) => Ok(Self { place, folder, name, stat, content, end: End::Remove }),
            Err(error) => {
                let _ = folder.remove_file(&name);
                Err(refusal(error).into())
            }
        }
    }

    /// Replaces whatever is at `name`, which was `found`.
    fn replace(&mut self, name: &str, found: Option<&Stat>) -> Result<(), Failed> {
        let second = match (self.place.keep, found) {
            (Some(keep), Some(found)) => {
                let (temporary, path) = (self.path(), self.place.path.as_str());
                let record = Record::Keeping { temporary: &temporary, path, keep_as: keep.path.as_str() };
                self.place.guard.note(&record);
                let second = second_name(&self.name);
                let durability = self.place.store.options.durability;
                match name_twice(self.folder, name, &second, found.links > 1, durability) {
                    Ok(()) => Some((keep, second)),
                    // Removed by hand meanwhile, so there is nothing to keep.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                    Err(error) => return Err(refusal(error).into()),
                }
            }
            _ => None,
        };
        let permit = self.place.guard.check().inspect_err(|_| {
            if let Some((_, second)) = &second {
                let _ = self.folder.remove_file(second);
            }
        })?;
        let mut replaced = sys::replace(permit, self.folder, &self.name, name);
        if replaced.is_ok() {
            self.end = End::Nothing;
        }
        if let Some((keep, second)) = second {
            #[cfg(test)]
            self.place.store.after_placing.call();
            if replaced.is_ok() {
                replaced = keep.take(Permit::of_record(), self.folder, &second).inspect_err(|_| {
                    // The old bytes are worth more than the new ones, which the caller still has.
                    if let Ok(permit) = self.place.guard.check() {
                        let _ = sys::replace(permit, self.folder, &second, name);
                    }
                });
            }
            // After an error it is superfluous. So it is if it is the same file as the one that it should replace.
            let _ = self.folder.remove_file(&second);
        }
        replaced.map_err(failed)
    }

    /// Keeps the old file, which has the temporary name after an exchange.
    fn keep(&self, keep: &Keep<'_>, found: &Stat) -> io::Result<()> {
        if found.links == 1 {
            return keep.take(Permit::of_record(), self.folder, &self.name);
        }
        // Another name of the file may be outside of the store, where somebody may write into it.
        let second = second_name(&self.name);
        name_twice(self.folder, &self.name, &second, true, self.place.store.options.durability)?;
        keep.take(Permit::of_record(), self.folder, &second).inspect_err(|_| {
            let _ = self.folder.remove_file(&second);
        })
    }

    /// Moves to the free name `name`.
    pub(super) fn move_to(&mut self, permit: Permit<'_>, name: &str) -> io::Result<()> {
        sys::move_new(permit, self.folder, &self.name, self.folder, name)?;
        self.end = End::Nothing;
        Ok(())
    }

    /// Replaces `found`, which had `expected`. If another file is there, it stays, and the answer to the write is
    /// returned.
    pub(super) fn exchange(
        &mut self,
        name: &str,
        found: &Stat,
        expected: &Version,
    ) -> Result<Option<WriteOutcome>, Failed> {
        // A file system that writes late syncs a new file first if a rename puts it over another, but not if the two
        // are exchanged: after a power cut the old text would be gone and the new file empty.
        if self.place.store.options.durability == Durability::Fast {
            return self.replace_if_same(name, found, expected);
        }
        let (temporary, path, new) = (self.path(), self.place.path.as_str(), leftovers::new_file(&self.stat));
        let keep_as = self.place.keep.map(|keep| keep.path.as_str());
        let record = Record::Placing { temporary: &temporary, path, new: &new, old: &expected.0, keep_as };
        self.place.guard.note(&record);
        match sys::exchange(self.place.guard.check()?, self.folder, &self.name, name) {
            Ok(true) => {}
            Ok(false) => return self.replace_if_same(name, found, expected),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Failed::Again);
            }
            Err(error) => return Err(refusal(error).into()),
        }
        // The file that was at `name` has the temporary name now, and must not be lost.
        self.end = End::Recover;
        #[cfg(test)]
        self.place.store.after_placing.call();
        if is_unchanged(self.folder, &self.name, found, expected).unwrap_or(false) {
            if let Some(keep) = self.place.keep
                && let Err(error) = self.keep(keep, found)
            {
                return if self.put_back(name)? { Err(failed(error)) } else { Ok(Some(WriteOutcome::Unknown)) };
            }
            self.end = End::Remove;
            return Ok(None);
        }
        Ok(Some(if self.put_back(name)? { current(self.folder, name)? } else { WriteOutcome::Unknown }))
    }

    /// Undoes an exchange. A file that may not be our own is recovered. Returns false if another host has taken the lock over, so
    /// that our file stays in place.
    fn put_back(&mut self, name: &str) -> Result<bool, FsError> {
        let permit = match self.place.guard.check() {
            Ok(permit) => permit,
            Err(Failed::Again) => return Ok(false),
            Err(Failed::Refused(error)) => return Err(error),
        };
        match sys::exchange(permit, self.folder, &self.name, name) {
            Ok(_) => {}
            // The file was removed by hand meanwhile, so there is nothing to put back.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(refusal(error)),
        }
        if self.holds_our_file() {
            self.end = End::Remove;
        } else {
            // The file was saved once more meanwhile. The later text belongs at the name.
            sys::exchange(Permit::of_record(), self.folder, &self.name, name).map_err(refusal)?;
        }
        Ok(true)
    }

    /// Returns the path of the temporary file.
    fn path(&self) -> String {
        beside(self.place.path, &self.name)
    }

    /// Returns true if the temporary name has our file, and nobody has saved into it while it was in place.
    fn holds_our_file(&self) -> bool {
        let is_ours = sys::stat_at(self.folder, &self.name).is_ok_and(|stat| stat.same_file(&self.stat));
        let mut bytes = Vec::new();
        is_ours
            && sys::open_file(self.folder, &self.name, Access::Read)
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .is_ok_and(|_| bytes == self.content)
    }

    /// Replaces the file after one more check, on systems that cannot exchange and for files that are not synced.
    fn replace_if_same(
        &mut self,
        name: &str,
        found: &Stat,
        expected: &Version,
    ) -> Result<Option<WriteOutcome>, Failed> {
        if !is_unchanged(self.folder, name, found, expected)? {
            return Ok(Some(current(self.folder, name)?));
        }
        self.replace(name, Some(found))?;
        #[cfg(test)]
        self.place.store.after_placing.call();
        Ok(None)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        match self.end {
            End::Remove => {
                // A name that stays is in the lock file until the next holder of the lock.
                let _ = self.folder.remove_file(&self.name);
            }
            End::Nothing => {}
            End::Recover => self.place.store.recover(self.folder, &self.name, self.place.path.as_str()),
        }
    }
}

/// Returns true if `name` is still the file that was found, with the same bytes.
fn is_unchanged(folder: &Dir, name: &str, found: &Stat, expected: &Version) -> Result<bool, FsError> {
    let stat = match sys::stat_at(folder, name) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(refusal(error)),
    };
    if !stat.same_bytes(found) {
        return Ok(false);
    }
    // A stat in doubt cannot show a change within the same tick.
    Ok(!version::is_hash(expected) || version::matches(folder, name, &stat, expected)?)
}

fn create_temporary(guard: &Guard<'_>, folder: &Dir, path: &RelPath) -> Result<(String, File), Failed> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let process = std::process::id();
    let mut attempts = 0;
    loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        // The hasher has a random key, so the name cannot be guessed.
        let random = RandomState::new().hash_one(count);
        let name = format!("{TEMPORARY_PREFIX}{process}-{count}-{random:016x}{TEMPORARY_SUFFIX}");
        guard.note(&Record::Staged { temporary: &beside(path, &name), path: path.as_str() });
        match create(guard.check()?, folder, &name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < 8 => attempts += 1,
            result => return result.map(|file| (name, file)).map_err(failed),
        }
    }
}

fn create(_: Permit<'_>, folder: &Dir, name: &str) -> io::Result<File> {
    sys::open_file(folder, name, Access::WriteNew)
}

/// Returns the path of `name` in the folder of `path`.
fn beside(path: &RelPath, name: &str) -> String {
    let path = path.as_str();
    format!("{}{name}", path.rfind('/').map_or("", |slash| &path[..=slash]))
}

fn fill(file: &mut File, content: &[u8], old: Option<&Stat>, durability: Durability) -> io::Result<()> {
    if let Some(old) = old {
        sys::take_over(file, old)?;
    }
    file.write_all(content)?;
    match durability {
        Durability::Full => sys::sync_file(file),
        Durability::Fast => Ok(()),
    }
}
