//! The commands of most tests, each from what the tests vary. Only this file knows their shapes.
//!
//! A command of a test goes to `call` for its reply, to `run` or `submit`, or to [`Origin::with`](saddlebag::Origin::with).

use saddlebag::entries::GetEntry;
use saddlebag::files::ReadFile;
use saddlebag::history::ReadVersion;
use saddlebag::journal::{Read, Target};

/// More than the files of most tests have.
const READ_BYTES: u32 = 4096;

/// Commands of any families and origins as one list.
#[macro_export]
macro_rules! commands {
    ($($command:expr),* $(,)?) => {
        vec![$(saddlebag::Submit::submission($command)),*]
    };
}

pub fn read(target: Target) -> Read {
    read_part(target, 0, READ_BYTES)
}

pub fn read_part(target: Target, offset: u64, max_bytes: u32) -> Read {
    Read { target, offset, max_bytes }
}

pub fn read_file(path: impl Into<String>) -> ReadFile {
    ReadFile { path: path.into(), offset: 0, max_bytes: READ_BYTES }
}

pub fn entry(key: impl Into<String>) -> GetEntry {
    GetEntry { key: key.into() }
}

pub fn read_version(name: impl Into<String>, version: u32) -> ReadVersion {
    ReadVersion { name: name.into(), version }
}
