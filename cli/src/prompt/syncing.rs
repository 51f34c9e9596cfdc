//! [`Syncing`]: notes in the folder of states which folder outside of the store is written now. A run that is killed
//! leaves a temporary file there, which the next run and `setup --uninstall` find through this note.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use saddlebag_host::{LocalDir, LocalDirOptions};

use crate::hook::log::make_private;
use crate::output;
use crate::regular;

/// Folder of the notes, in the folder of states.
const FOLDER: &str = "syncing";
/// Maximum length of a note, in bytes. It is a path.
const MAX_BYTES: u64 = 4096;

/// A note that is removed when it is dropped.
pub(super) struct Syncing {
    note: PathBuf,
    /// Its lock shows that the run lives.
    _file: File,
}

impl Syncing {
    /// Clears up after runs that were killed, and notes the folder of this run. Without a folder for it, nothing is noted.
    pub(super) fn begin(folder: &Path) -> Option<Self> {
        let notes = saddlebag_host::state_folder()?.join(FOLDER);
        clear(&notes);
        Self::note(&notes, &folder.canonicalize().ok()?).ok()
    }

    fn note(notes: &Path, folder: &Path) -> io::Result<Self> {
        let path = folder.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        make_private(notes)?;
        let note = notes.join(format!("{:016x}", RandomState::new().hash_one(path)));
        let mut file = regular::open_private(&note, OpenOptions::new().write(true).create_new(true))?;
        // Without locks, another run may remove the note of this one.
        let _ = file.try_lock();
        file.write_all(path.as_bytes())?;
        file.sync_all()?;
        Ok(Self { note, _file: file })
    }
}

impl Drop for Syncing {
    fn drop(&mut self) {
        // A note that stays is removed by the next run.
        let _ = fs::remove_file(&self.note);
        if let Some(notes) = self.note.parent() {
            let _ = fs::remove_dir(notes);
        }
    }
}

/// Removes what killed runs left in the folders that are noted in a folder of states, and the notes.
pub(crate) fn clear_in(state: &Path) {
    clear(&state.join(FOLDER));
}

/// Returns the notes in a folder of states, and their folder.
pub(crate) fn files_in(state: &Path) -> (Vec<PathBuf>, PathBuf) {
    let notes = state.join(FOLDER);
    (notes_in(&notes), notes)
}

fn clear(notes: &Path) {
    for note in notes_in(notes) {
        let is_used = regular::open(&note, OpenOptions::new().read(true)).is_ok_and(|file| file.try_lock().is_err());
        if is_used {
            continue;
        }
        let options = LocalDirOptions { on_recovered: Some(output::recovered), ..LocalDirOptions::default() };
        if let Some(folder) = folder_of(&note)
            && let Ok(folder) = LocalDir::open(&folder, options)
        {
            folder.clear_leftovers();
        }
        // A note that stays is removed by a later run.
        let _ = regular::remove_unused(&note);
    }
}

fn notes_in(notes: &Path) -> Vec<PathBuf> {
    if !notes.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(notes).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|note| folder_of(note).is_some()).collect()
}

/// Returns the folder of a note; `None` if the file is not a note.
fn folder_of(note: &Path) -> Option<PathBuf> {
    let name = note.file_name()?.to_str()?;
    if name.len() != 16 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut text = String::new();
    let file = regular::open(note, OpenOptions::new().read(true)).ok()?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).ok()?;
    Some(PathBuf::from(text)).filter(|folder| folder.is_absolute() && folder.as_os_str().len() as u64 <= MAX_BYTES)
}
