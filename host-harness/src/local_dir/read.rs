//! Reading: bytes and version of one moment.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use saddlebag::protocol::{FileContent, FsError, ReadOutcome};
use saddlebag::store::RelPath;

use super::dir::LocalDir;
use super::error::refusal;
use super::sys::{self, Access, Stat};
use super::{version, walk};
use crate::executor::bytes_wanted;

/// Maximum number of attempts if someone writes into the file while it is read. Our own writers replace it, or append
/// after the part that is read.
const ATTEMPTS: u32 = 8;

/// Maximum size of a file in doubt, in bytes, that is hashed although only a part of it is read.
const PART_HASH_LIMIT: u64 = 64 * 1024;

impl LocalDir {
    pub(super) fn read(&self, path: &RelPath, offset: u64, max_bytes: u32) -> Result<ReadOutcome, FsError> {
        // The usual case in the fewest calls: a search may read thousands of files.
        let now = sys::now();
        if let Ok(mut file) = sys::open_file_at(&self.root, path.as_str())
            && let Some(content) = self.read_open(&mut file, now, offset, max_bytes)?
        {
            return Ok(ReadOutcome::Content(content));
        }
        let Some((folder, name)) = walk::find(&self.root, path)? else {
            return Ok(ReadOutcome::Absent);
        };
        for _ in 0..ATTEMPTS {
            let now = sys::now();
            let mut file = match sys::open_file(&folder, name, Access::Read) {
                Ok(file) => file,
                // A path that cannot be opened may be a folder, a link or a device.
                Err(error) => match walk::probe(&folder, name)? {
                    Some(_) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(refusal(error));
                    }
                    Some(_) => continue,
                    None => return Ok(ReadOutcome::Absent),
                },
            };
            if let Some(content) = self.read_open(&mut file, now, offset, max_bytes)? {
                return Ok(ReadOutcome::Content(content));
            }
        }
        Err(FsError::Other("the file kept changing while it was read; try again".into()))
    }

    /// Reads an open file; `None` if it changed meanwhile.
    fn read_open(
        &self,
        file: &mut File,
        now: i64,
        offset: u64,
        max_bytes: u32,
    ) -> Result<Option<FileContent>, FsError> {
        let before = walk::regular(sys::stat_of(file).map_err(refusal)?)?;
        let wanted = bytes_wanted(before.size, offset, max_bytes, self.options.max_read_bytes)?;
        let content = take(file, &before, now, offset, wanted).map_err(refusal)?;
        let is_whole = before.same_bytes(&sys::stat_of(file).map_err(refusal)?);
        Ok(content.filter(|_| is_whole))
    }
}

/// Reads `wanted` bytes from `offset` on, and the version of the whole; `None` if the file is growing.
fn take(file: &mut File, stat: &Stat, now: i64, offset: u64, wanted: u64) -> io::Result<Option<FileContent>> {
    let settled = version::is_settled(stat, now);
    // Whoever reads the end of a growing log does not wait for a hash of the whole.
    let is_small = stat.size <= version::HASH_LIMIT && (wanted >= stat.size || stat.size <= PART_HASH_LIMIT);
    if !settled && is_small {
        let Some(all) = version::read_small(file)? else {
            return Ok(None);
        };
        let size = all.len() as u64;
        let version = version::of_content(&all);
        // Both fit, because they are limited by the length of a vector in memory.
        let start = offset.min(size) as usize;
        let end = offset.saturating_add(wanted).min(size) as usize;
        let bytes = if start == 0 && end == all.len() { all } else { all[start..end].to_vec() };
        return Ok(Some(FileContent { bytes, version, size }));
    }
    let version = if settled { version::of_stat(stat) } else { version::in_doubt(stat) };
    let mut bytes = Vec::with_capacity(usize::try_from(wanted).unwrap_or(0));
    if wanted > 0 {
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        file.take(wanted).read_to_end(&mut bytes)?;
    }
    Ok(Some(FileContent { bytes, version, size: stat.size }))
}
