//! Where exports were written, so that `expunge` finds them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::hook::log::make_private;
use crate::output::Output;
use crate::regular;

/// Name of the file in the folder of states. It has a line for each export.
const FILE: &str = "exports.log";

/// Maximum size of that file in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Export to a file or a folder.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Export {
    store: PathBuf,
    place: PathBuf,
}

/// The places to which this user exported.
pub(crate) struct ExportPlaces(PathBuf);

impl ExportPlaces {
    /// Returns the places of this user; `None` if there is no home folder.
    pub(crate) fn of_user() -> Option<Self> {
        saddlebag_host::state_folder().map(|state| Self(state.join(FILE)))
    }

    /// Notes a place that an export of a store is about to be written to. Warns if that cannot be noted.
    pub(crate) fn note(store: &Path, place: &Path, output: &mut Output) {
        let noted = match Self::of_user() {
            Some(places) => places.add(store, place),
            None => Err(io::Error::other("there is no home folder")),
        };
        if let Err(error) = noted {
            let cause = saddlebag_host::io_cause(&error);
            output.warning(&format!("the place of this export is not noted, so `expunge` will not search it: {cause}"));
        }
    }

    fn add(&self, store: &Path, place: &Path) -> io::Result<()> {
        let export = Export { store: fs::canonicalize(store)?, place: std::path::absolute(place)? };
        if self.lines()?.iter().any(|line| read(line).as_ref() == Some(&export)) {
            return Ok(());
        }
        self.0.parent().map_or(Ok(()), make_private)?;
        let mut file = regular::open_private(&self.0, OpenOptions::new().create(true).append(true))?;
        file.write_all(format!("{}\n", serde_json::to_string(&export)?).as_bytes())
    }

    fn lines(&self) -> io::Result<Vec<String>> {
        let bytes = match regular::read(&self.0, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => read?,
        };
        Ok(String::from_utf8_lossy(&bytes.unwrap_or_default()).lines().map(str::to_string).collect())
    }

    /// Returns the places of a store's exports that are still there. A link is left out: somebody else made it.
    pub(crate) fn of_store(&self, store: &Path) -> io::Result<Vec<PathBuf>> {
        let store = fs::canonicalize(store)?;
        let exports = self.lines()?.into_iter().filter_map(|line| read(&line));
        let is_there = |place: &PathBuf| place.symlink_metadata().is_ok_and(|found| !found.is_symlink());
        Ok(exports.filter(|export| export.store == store).map(|export| export.place).filter(is_there).collect())
    }

    /// Forgets the places whose names have a text. Returns their number.
    pub(crate) fn forget(&self, text: &str) -> io::Result<u32> {
        let (gone, kept): (Vec<String>, Vec<String>) = self.lines()?.into_iter().partition(|line| {
            let has_text = |path: &Path| path.to_string_lossy().contains(text);
            read(line).is_none_or(|export| has_text(&export.store) || has_text(&export.place))
        });
        if !gone.is_empty() {
            let kept: String = kept.iter().map(|line| format!("{line}\n")).collect();
            regular::open_private(&self.0, OpenOptions::new().write(true).truncate(true))?
                .write_all(kept.as_bytes())?;
        }
        Ok(u32::try_from(gone.len()).unwrap_or(u32::MAX))
    }

    /// Returns the file with the places, if it is one of ours.
    pub(crate) fn file_in(state: &Path) -> Option<PathBuf> {
        let file = state.join(FILE);
        let lines = Self(file.clone()).lines().ok()?;
        lines.first().is_some_and(|line| read(line).is_some()).then_some(file)
    }
}

fn read(line: &str) -> Option<Export> {
    serde_json::from_str(line).ok()
}
