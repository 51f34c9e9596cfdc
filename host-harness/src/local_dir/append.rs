//! Appending: one write at the end, all of it or none.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use cap_std::fs::Dir;
use saddlebag::protocol::{AppendOutcome, FsError, Precondition, Version};
use saddlebag::store::RelPath;

use super::error::refusal;
use super::sys::{self, Access, Stat};
use super::version::{self, Check};
use super::{LocalDir, lock, walk};
use crate::Durability;

/// How often to begin again when an editor puts another file in the place of this one.
const ATTEMPTS: u32 = 8;

impl LocalDir {
    pub(super) fn append(
        &self,
        path: &RelPath,
        content: &[u8],
        newline_first: bool,
        precondition: &Precondition,
    ) -> Result<AppendOutcome, FsError> {
        self.check_size(content)?;
        let _guard = lock::acquire(&self.root, &[path], self.options.lock_timeout)?;
        if matches!(precondition, Precondition::Matches(_))
            && walk::find(&self.root, path)?.is_none()
        {
            return Ok(AppendOutcome::Stale(None));
        }
        let (folder, name) = walk::make(&self.root, path, self.options.durability)?;
        for attempt in 0..ATTEMPTS {
            let found = walk::probe(&folder, name)?;
            if let Check::Stale(current) =
                version::check(&folder, name, found.as_ref(), precondition)?
            {
                return Ok(AppendOutcome::Stale(current));
            }
            let access = if found.is_some() {
                Access::Append
            } else {
                Access::AppendNew
            };
            let mut file = match sys::open_file(&folder, name, access) {
                Ok(file) => file,
                // Made or removed by hand since the look at it.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists
                    ) =>
                {
                    continue;
                }
                Err(error) => return Err(refusal(error)),
            };
            let before = walk::regular(sys::stat_of(&file).map_err(refusal)?)?;
            // Whoever replaced the file may have read the first attempt's text into it.
            let repeated =
                attempt > 0 && ends_with(&mut file, &before, content).map_err(refusal)?;
            let start = if repeated {
                before.size.saturating_sub(content.len() as u64)
            } else {
                match add(&mut file, before.size, content, newline_first) {
                    Ok(start) => start,
                    Err(error) => {
                        if found.is_none() {
                            let _ = folder.remove_file(name);
                        }
                        return Err(refusal(error));
                    }
                }
            };
            #[cfg(test)]
            self.before_placing.call();
            // An editor takes no lock: if it has put its own file here, the text must go there.
            if !sys::stat_at(&folder, name).is_ok_and(|stat| stat.same_file(&before)) {
                continue;
            }
            // The bytes are in place, so a failure from here on is no error but a doubt.
            let kept = self.options.durability == Durability::Fast
                || sync(&folder, &file, found.is_none()).is_ok();
            return Ok(match version_of(&mut file) {
                Ok(version) if kept => AppendOutcome::Written(version),
                _ => AppendOutcome::Unknown(start),
            });
        }
        Err(FsError::Other(
            "the file kept being replaced while it was appended to; try again".into(),
        ))
    }
}

/// Adds `content` at the end of a file of `size` bytes, and gives the offset where it begins.
fn add(file: &mut File, size: u64, content: &[u8], newline_first: bool) -> io::Result<u64> {
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

/// What [`write_whole`] needs of a file.
trait Appendable: Write {
    /// Cuts the file to `size` bytes.
    fn cut(&mut self, size: u64) -> io::Result<()>;
}

impl Appendable for File {
    fn cut(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }
}

/// One write of all of `bytes` behind the first `size`, or none of them.
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
    // Only a second write tells what stopped the first; whatever it adds goes as well.
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
    file.sync_all()?;
    if created {
        sys::sync_folder(folder)
    } else {
        Ok(())
    }
}

fn version_of(file: &mut File) -> io::Result<Version> {
    let now = version::now();
    let stat = sys::stat_of(file)?;
    if version::is_settled(&stat, now) {
        return Ok(version::of_stat(&stat));
    }
    if stat.size <= version::HASH_LIMIT {
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

    /// Takes so many bytes and then gives an error.
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
        let mut file = Full {
            bytes: b"old\n".to_vec(),
            room: 3,
        };
        let error = write_whole(&mut file, 4, b"line\n").unwrap_err();
        assert_eq!(refusal(error), FsError::NoSpace);
        assert_eq!(file.bytes, b"old\n");
    }
}
