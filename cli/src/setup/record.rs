//! [`Record`]: the files that setup has written, and their bytes from before, so that `--remove` can restore them.
//!
//! The record is `setup.json` in the state folder; the bytes are beside it, in `setup/`, each file named by its
//! SHA-256. Configurations contain tokens, so all of it is readable by this user only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::disk::{self, DiskError};

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
    files: Vec<Entry>,
}

impl Record {
    /// Reads the record in a state folder. A folder without one has an empty record.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join(FILE);
        let problem = |why: String| format!("the record of setup, {}, cannot be used: {why}", path.display());
        let read = disk::read(&path).map_err(|error| problem(error.to_string()))?;
        let stored = match &read {
            Some(bytes) => serde_json::from_slice(bytes).map_err(|error| problem(error.to_string()))?,
            None => Stored { version: VERSION, folders: Vec::new(), files: Vec::new() },
        };
        if stored.version != VERSION {
            return Err(problem(format!("its version is {}, this program knows {VERSION}", stored.version)));
        }
        Ok(Self { folder: folder.to_path_buf(), read, made: stored.folders, files: stored.files })
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
        let bytes = fs::read(self.folder.join(ORIGINALS).join(name)).ok()?;
        (digest(&bytes) == *name).then_some(Some(bytes))
    }

    /// Keeps bytes from before, and returns their name.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> io::Result<String> {
        let name = digest(bytes);
        let folder = self.folder.join(ORIGINALS);
        self.make_private(&folder)?;
        let path = folder.join(&name);
        if !path.exists() {
            write_private(&folder, &path, bytes)?;
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
        if self.files.is_empty() {
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
        let stored = Stored { version: VERSION, folders: self.made.clone(), files: self.files.clone() };
        let mut bytes = serde_json::to_vec_pretty(&stored).map_err(|error| problem(error.to_string()))?;
        bytes.push(b'\n');
        write_private(&folder, &path, &bytes).map_err(|error| io_problem(&error))?;
        self.read = Some(bytes);
        self.remove_originals();
        Ok(())
    }

    fn remove_originals(&self) {
        let folder = self.folder.join(ORIGINALS);
        let Ok(entries) = fs::read_dir(&folder) else { return };
        for entry in entries.filter_map(Result::ok) {
            let is_named =
                self.files.iter().any(|file| file.before.as_deref().is_some_and(|name| entry.file_name() == name));
            if !is_named {
                // A file that stays is removed by the next run.
                let _ = fs::remove_file(entry.path());
            }
        }
        if self.files.is_empty() {
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

/// Writes a file that only this user can read.
fn write_private(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;

    let mut file = tempfile::Builder::new().prefix(".saddlebag-").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Returns the SHA-256 of bytes in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
