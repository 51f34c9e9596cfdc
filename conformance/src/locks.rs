//! The locks of a store on the disk, as another host has them, living or dead.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::Path;

use crate::bench::on_disk;
use crate::report::Ended;

/// Folder of the locks.
const LOCKS: &str = ".saddlebag/locks-3";
/// Number of the lock of the paths whose ASCII characters are those of `notes/.md`.
const NUMBER: &str = "42";

/// Returns a path that has the lock, another one for each `index`.
pub(crate) fn path(index: usize) -> String {
    let letter = char::from_u32(0x4e00 + index as u32).unwrap_or('é');
    format!("notes/{letter}.md")
}

/// Kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    File,
    Lease,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::File, Self::Lease];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::File => "a lock file",
            Self::Lease => "a lease",
        }
    }
}

/// A lock that the kit holds. Dropping it is the death of its holder.
pub(crate) struct Held(File);

impl Held {
    /// Takes the free lock of a store, and writes these records of one holder after the other. A lock file has room for one.
    pub(crate) fn new(root: &Path, kind: Kind, records: &[String]) -> Result<Self, Ended> {
        Self::write(root, kind, records).map_err(|error| on_disk("a lock", &error))
    }

    fn write(root: &Path, kind: Kind, records: &[String]) -> io::Result<Self> {
        let leases = root.join(LOCKS).join("leases").join(NUMBER);
        let first = newest(&leases) + 1;
        let folder = if kind == Kind::Lease { leases } else { root.join(LOCKS) };
        fs::create_dir_all(&folder)?;
        let mut held = None;
        for (index, record) in records.iter().enumerate() {
            let count = first + index as u64;
            let line = format!("held\t1\tanother host\t{:016x}-{count}\n{record}", fastrand::u64(..));
            let name = if kind == Kind::Lease { count.to_string() } else { NUMBER.into() };
            let mut file = File::options().create(true).truncate(false).write(true).open(folder.join(name))?;
            if kind == Kind::File {
                file.lock()?;
            }
            file.write_all(line.as_bytes())?;
            held = Some(Self(file));
        }
        held.ok_or_else(|| io::Error::other("it has no holder"))
    }

    /// Gives the lock back.
    pub(crate) fn release(mut self) -> Result<(), Ended> {
        self.0.rewind().and_then(|()| self.0.write_all(b"free")).map_err(|error| on_disk("a lock", &error))
    }
}

/// Puts a new file in the place of one, as another host does that holds the lock.
pub(crate) fn replace(root: &Path, path: &str, text: &str) -> Result<(), Ended> {
    let temporary = root.join(path).with_file_name(".saddlebag-1-2-3.tmp");
    let placed = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, root.join(path)));
    placed.map_err(|error| on_disk(path, &error))
}

/// Returns the number of the newest lease; 0 if there is none.
fn newest(leases: &Path) -> u64 {
    let entries = fs::read_dir(leases).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).max().unwrap_or(0)
}
