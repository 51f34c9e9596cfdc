//! [`Record`]: the files that setup has written, and their bytes from before, so that `--remove` can restore them.
//!
//! The record is `setup.json` in the state folder; the bytes are beside it, in `setup/`, each file named by its
//! SHA-256. Configurations contain tokens, so all of it is readable by this user only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::disk::{self, DiskError};
use crate::regular;

/// File of the record in the state folder.
pub(crate) const FILE: &str = "setup.json";
/// Folder of the bytes from before, in the state folder.
pub(crate) const ORIGINALS: &str = "setup";

/// Version of the format of the record.
const VERSION: u32 = 1;

/// Files that setup has written.
#[derive(Debug)]
pub(crate) struct Record {
    folder: PathBuf,
    /// Bytes that were read; `None` if there was no record.
    read: Option<Vec<u8>>,
    /// Folders that were created for the record.
    made: Vec<PathBuf>,
    files: Vec<Entry>,
    /// Entries whose paths do not belong to a client, so that nothing is written or removed there.
    strangers: Vec<Entry>,
    /// Temporary files of the run that wrote the record. They are written down before they are made, because they have
    /// the tokens of a configuration, and a killed run leaves them.
    temporary: Vec<PathBuf>,
}

/// File that setup has written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) client: String,
    pub(crate) scope: String,
    pub(crate) path: PathBuf,
    /// SHA-256 of the bytes before the first change; `None` if there was no file.
    pub(crate) before: Option<String>,
    /// SHA-256 of the bytes that setup wrote.
    pub(crate) after: String,
    /// Folders that were created for the file, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    #[serde(default)]
    folders: Vec<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    temporary: Vec<PathBuf>,
    files: Vec<Entry>,
}

impl Record {
    /// Reads the record in a state folder. A folder without one has an empty record. Entries for which `is_known` is false
    /// are kept, and are not used.
    pub(crate) fn read(folder: &Path, is_known: impl Fn(&Entry) -> bool) -> Result<Self, String> {
        let path = folder.join(FILE);
        let problem = |why: String| format!("the record of setup, {}, cannot be used: {why}", path.display());
        let read = disk::read(&path).map_err(|error| problem(error.to_string()))?;
        let stored = match &read {
            Some(bytes) => serde_json::from_slice(bytes).map_err(|error| problem(error.to_string()))?,
            None => Stored { version: VERSION, folders: Vec::new(), temporary: Vec::new(), files: Vec::new() },
        };
        if stored.version != VERSION {
            return Err(problem(format!("its version is {}, this program knows {VERSION}", stored.version)));
        }
        let (mut files, strangers): (Vec<Entry>, Vec<Entry>) = stored.files.into_iter().partition(is_known);
        for file in &mut files {
            let path = file.path.clone();
            file.folders.retain(|made| *made != path && path.starts_with(made));
        }
        let made = stored.folders.into_iter().filter(|made| folder.starts_with(made)).collect();
        let temporary = stored.temporary.into_iter().filter(|path| disk::is_temporary(path)).collect();
        Ok(Self { folder: folder.to_path_buf(), read, made, files, strangers, temporary })
    }

    /// Returns the entries whose paths do not belong to a client.
    pub(crate) fn strangers(&self) -> &[Entry] {
        &self.strangers
    }

    /// Removes the temporary files of runs that were killed, except those that are in use.
    pub(crate) fn sweep(&mut self) {
        for folder in [self.folder.clone(), self.folder.join(ORIGINALS)] {
            let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
            let entries = is_folder.then(|| fs::read_dir(&folder).ok()).flatten().into_iter().flatten();
            self.temporary.extend(entries.flatten().map(|entry| entry.path()).filter(|path| disk::is_temporary(path)));
        }
        // A file that cannot be removed stays in the record, for the next run. A link is not ours.
        let is_left = |error: io::Error| error.kind() != io::ErrorKind::InvalidInput;
        self.temporary.retain(|path| regular::remove_unused(path).is_err_and(is_left));
    }

    /// Returns true if a run that was killed may have left something.
    pub(crate) fn has_temporary(&self) -> bool {
        !self.temporary.is_empty()
    }

    /// Adds the temporary files that this run will make.
    pub(crate) fn will_make(&mut self, temporary: impl IntoIterator<Item = PathBuf>) {
        self.temporary.extend(temporary);
    }

    /// Forgets the temporary files that are gone.
    pub(crate) fn forget_temporary(&mut self) {
        self.temporary.retain(|path| path.symlink_metadata().is_ok());
    }

    /// Returns the files of the record itself: the record, and the bytes from before.
    pub(crate) fn own_files(&self) -> Vec<PathBuf> {
        let originals = self.folder.join(ORIGINALS);
        let is_folder = originals.symlink_metadata().is_ok_and(|found| found.is_dir());
        let entries = is_folder.then(|| fs::read_dir(&originals).ok()).flatten().into_iter().flatten();
        let kept = entries.flatten().map(|entry| entry.path()).filter(|path| is_original(path));
        let record = self.read.is_some().then(|| self.folder.join(FILE)).filter(|path| regular::is_one(path));
        record.into_iter().chain(kept).collect()
    }

    pub(crate) fn files(&self) -> &[Entry] {
        &self.files
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Entry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    /// Adds an entry, or replaces the one of the same file.
    pub(crate) fn put(&mut self, entry: Entry) {
        self.forget(&entry.path);
        self.files.push(entry);
    }

    /// Removes the entry of a file.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.files.retain(|entry| entry.path != path);
    }

    /// Returns the bytes of a file from before. The outer `None` means that they are not known, the inner one that
    /// there was no file.
    pub(crate) fn original(&self, entry: &Entry) -> Option<Option<Vec<u8>>> {
        let Some(name) = &entry.before else { return Some(None) };
        let bytes = disk::read(&self.folder.join(ORIGINALS).join(name)).ok()??;
        (digest(&bytes) == *name).then_some(Some(bytes))
    }

    /// Keeps bytes from before, and returns their name.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> io::Result<String> {
        let name = digest(bytes);
        let folder = self.folder.join(ORIGINALS);
        self.make_private(&folder)?;
        let path = folder.join(&name);
        if !path.exists() {
            disk::write_private(&folder, &path, bytes)?;
        }
        Ok(name)
    }

    /// Writes the record, and removes the bytes that it no longer names. An empty record is removed, as are the folders
    /// that were created for it.
    pub(crate) fn save(&mut self) -> Result<(), String> {
        let path = self.folder.join(FILE);
        let problem = |why: String| format!("the record of setup, {}, cannot be written: {why}", path.display());
        let io_problem = |error: &io::Error| problem(saddlebag_host::io_cause(error).to_string());
        if disk::read(&path).map_err(|error| problem(error.to_string()))? != self.read {
            return Err(problem(DiskError::Changed.to_string()));
        }
        if self.files.is_empty() && self.strangers.is_empty() && self.temporary.is_empty() {
            self.remove_originals();
            if self.read.is_some() {
                fs::remove_file(&path).map_err(|error| io_problem(&error))?;
                self.read = None;
            }
            disk::remove_folders(&self.made);
            return Ok(());
        }
        let folder = self.folder.clone();
        self.make_private(&folder).map_err(|error| io_problem(&error))?;
        let files = [self.files.as_slice(), &self.strangers].concat();
        let temporary = self.temporary.clone();
        let stored = Stored { version: VERSION, folders: self.made.clone(), temporary, files };
        let mut bytes = serde_json::to_vec_pretty(&stored).map_err(|error| problem(error.to_string()))?;
        bytes.push(b'\n');
        disk::write_private(&folder, &path, &bytes).map_err(|error| io_problem(&error))?;
        self.read = Some(bytes);
        self.remove_originals();
        Ok(())
    }

    /// Removes only the bytes that no entry names any more.
    fn remove_originals(&self) {
        let folder = self.folder.join(ORIGINALS);
        let record = self.folder.join(FILE);
        let files = || self.files.iter().chain(&self.strangers);
        for path in self.own_files().into_iter().filter(|path| *path != record) {
            let is_named = files().any(|file| file.before.as_deref().is_some_and(|name| path.ends_with(name)));
            if !is_named {
                // A file that stays is removed by the next run.
                let _ = fs::remove_file(path);
            }
        }
        if files().next().is_none() {
            let _ = fs::remove_dir(&folder);
        }
    }

    /// Creates a folder that only this user can read, and remembers the created folders.
    fn make_private(&mut self, folder: &Path) -> io::Result<()> {
        let mut missing: Vec<PathBuf> =
            folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
        missing.reverse();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        self.made.extend(missing.into_iter().filter(|made| *made != self.folder.join(ORIGINALS)));
        Ok(())
    }
}

/// Returns true for a regular file with the bytes that its name says.
fn is_original(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_digest = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest && regular::is_one(path) && disk::read(path).ok().flatten().is_some_and(|bytes| digest(&bytes) == name)
}

/// Returns the SHA-256 of bytes in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
