//! The folder of the locks, what the locks protect, and time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What a host asks of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read(String),
    Write(String, Vec<u8>),
    /// Creates an empty file.
    Create(String),
    /// Writes the content of a file that was just created.
    Fill(u64, Vec<u8>),
    List(String),
    Remove(String),
    MakeFolder(String),
    Now,
    Pause(Duration),
    Open(String),
    TryLock(u64),
    IsAt(u64, String),
    ReadOpen(u64),
    WriteOpen(u64, u64, Vec<u8>),
    Close(u64),
    /// Takes some time, as writing and syncing a temporary file does.
    Work,
    /// Reads what the lock protects.
    Load,
    /// Changes it, if nobody has changed it since the host knew this value.
    Store(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    Flag(bool),
    /// A file that was created or opened; `None` if the name is taken.
    File(Option<u64>),
    Content(Option<Vec<u8>>),
    Names(Option<Vec<String>>),
    Time(Duration),
    Value(u64),
}

/// A host's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) offset: Duration,
    pub(crate) rate: f64,
    /// Real time of the last look at it.
    pub(crate) looked: Duration,
}

/// Longest delay between the look at the clock and the change for which the protocol answers, with clocks that run at most 1.2 times
/// as fast as each other: 8 s of the fastest, less 4 s of the slowest.
const ANSWERED_FOR: Duration = Duration::from_millis(2600);

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) now: Duration,
    /// The file of each name.
    names: BTreeMap<String, u64>,
    /// The content of each file, also of those without a name.
    contents: BTreeMap<u64, Vec<u8>>,
    folders: BTreeSet<String>,
    /// Open files: of which host, and which file.
    open: BTreeMap<u64, (usize, u64)>,
    /// The open file that has the kernel lock of a file.
    flocks: BTreeMap<u64, u64>,
    next: u64,
    value: u64,
    /// Changes of a host that did not have the lock alone.
    pub(crate) violations: u32,
    /// The same, within the window that the documentation names.
    pub(crate) in_window: u32,
    pub(crate) changes: u32,
}

impl World {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn perform(&mut self, host: usize, clock: &mut Clock, call: &Call) -> Answer {
        match call {
            Call::Read(path) => Answer::Content(self.names.get(path).map(|file| self.contents[file].clone())),
            Call::Write(path, bytes) => {
                let file = self.names.get(path).copied();
                if let Some(file) = file {
                    self.overwrite(file, 0, bytes);
                }
                Answer::Flag(file.is_some())
            }
            Call::Create(path) => {
                if self.names.contains_key(path) {
                    return Answer::File(None);
                }
                let file = self.number();
                // A temporary file is made after a check, as a change is.
                if !is_temporary(path) || self.now - clock.looked <= ANSWERED_FOR {
                    self.names.insert(path.clone(), file);
                }
                self.contents.insert(file, Vec::new());
                Answer::File(Some(file))
            }
            Call::Fill(file, bytes) => {
                self.overwrite(*file, 0, bytes);
                Answer::Done
            }
            Call::List(folder) => {
                let inside = |name: &String| name.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
                let names = || self.names.keys().filter_map(inside).collect();
                Answer::Names(self.folders.contains(folder).then(names))
            }
            Call::Remove(path) => {
                self.names.remove(path);
                Answer::Done
            }
            Call::MakeFolder(path) => {
                self.folders.insert(path.clone());
                Answer::Done
            }
            Call::Now => {
                clock.looked = self.now;
                Answer::Time(clock.offset + self.now.mul_f64(clock.rate))
            }
            Call::Pause(_) | Call::Work => Answer::Done,
            Call::Open(path) => {
                let file = match self.names.get(path) {
                    Some(file) => *file,
                    None => {
                        let file = self.number();
                        self.names.insert(path.clone(), file);
                        self.contents.insert(file, Vec::new());
                        file
                    }
                };
                let handle = self.number();
                self.open.insert(handle, (host, file));
                Answer::File(Some(handle))
            }
            Call::TryLock(handle) => {
                let (_, file) = self.open[handle];
                Answer::Flag(*self.flocks.entry(file).or_insert(*handle) == *handle)
            }
            Call::IsAt(handle, path) => Answer::Flag(self.names.get(path) == Some(&self.open[handle].1)),
            Call::ReadOpen(handle) => Answer::Content(Some(self.contents[&self.open[handle].1].clone())),
            Call::WriteOpen(handle, offset, bytes) => {
                self.overwrite(self.open[handle].1, *offset, bytes);
                Answer::Done
            }
            Call::Close(handle) => {
                self.close(*handle);
                Answer::Done
            }
            Call::Load => Answer::Value(self.value),
            Call::Store(known) => {
                self.changes += 1;
                let is_alone = *known == self.value;
                if self.now - clock.looked > ANSWERED_FOR {
                    // It may disturb others, so they are not shown it.
                    self.in_window += u32::from(!is_alone);
                    return Answer::Value(*known);
                }
                self.violations += u32::from(!is_alone);
                self.value += 1;
                Answer::Value(self.value)
            }
        }
    }

    /// Ends a process: its files are closed.
    pub(crate) fn kill(&mut self, host: usize) {
        let handles: Vec<u64> =
            self.open.iter().filter(|(_, (owner, _))| *owner == host).map(|(handle, _)| *handle).collect();
        handles.into_iter().for_each(|handle| self.close(handle));
    }

    /// Returns the temporary files.
    pub(crate) fn temporary(&self) -> Vec<&String> {
        self.names.keys().filter(|name| is_temporary(name)).collect()
    }

    fn close(&mut self, handle: u64) {
        self.open.remove(&handle);
        self.flocks.retain(|_, holder| *holder != handle);
    }

    fn overwrite(&mut self, file: u64, offset: u64, bytes: &[u8]) {
        let content = self.contents.get_mut(&file).unwrap();
        let offset = usize::try_from(offset).unwrap();
        content.resize(content.len().max(offset + bytes.len()), 0);
        content[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
}

fn is_temporary(name: &str) -> bool {
    name.starts_with(".saddlebag-")
}
