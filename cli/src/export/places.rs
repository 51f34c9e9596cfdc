//! List of the exports of this user. `expunge` removes text from their files.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hook::log::make_private;
use crate::output::Output;
use crate::regular;

/// Name of the file in the folder of states. It has a line for each export.
const FILE: &str = "exports.log";

/// Maximum size of that file in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Export to a file or a folder.
#[derive(Debug, Serialize, Deserialize)]
struct Export {
    store: PathBuf,
    place: PathBuf,
    /// Beginnings of the digests of its files, so that no other file is taken for one of them.
    files: BTreeSet<String>,
}

/// An export of a store that is still there.
pub(crate) struct ExportPlace {
    pub(crate) path: PathBuf,
    files: BTreeSet<String>,
}

impl ExportPlace {
    /// Returns true if the export wrote these bytes.
    pub(crate) fn wrote(&self, bytes: &[u8]) -> bool {
        self.files.contains(&digest(bytes))
    }
}

/// The places to which this user exported.
pub(crate) struct ExportPlaces(PathBuf);

impl ExportPlaces {
    /// Returns the places of this user; `None` if there is no home folder.
    pub(crate) fn of_user() -> Option<Self> {
        saddlebag_host::state_folder().map(|state| Self(state.join(FILE)))
    }

    /// Notes what an export of a store writes, by the digests of its files. Warns if that cannot be noted.
    pub(crate) fn note(store: &Path, place: &Path, files: Vec<String>, output: &mut Output) {
        let noted = match Self::of_user() {
            Some(places) => places.add(store, place, files),
            None => Err(io::Error::other("there is no home folder")),
        };
        if let Err(error) = noted {
            let cause = saddlebag_host::io_cause(&error);
            output.warning(&format!("the place of this export is not noted, so `expunge` will not change it: {cause}"));
        }
    }

    /// Adds files to an export.
    pub(crate) fn add(&self, store: &Path, place: &Path, files: Vec<String>) -> io::Result<()> {
        let (store, place) = (fs::canonicalize(store)?, std::path::absolute(place)?);
        let line = serde_json::to_string(&Export { store, place, files: files.into_iter().collect() })?;
        self.0.parent().map_or(Ok(()), make_private)?;
        let mut file = regular::open_private(&self.0, OpenOptions::new().create(true).append(true))?;
        file.write_all(format!("{line}\n").as_bytes())
    }

    fn lines(&self) -> io::Result<Vec<String>> {
        let bytes = match regular::read(&self.0, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?.ok_or_else(|| io::Error::other(format!("{} is too large", self.0.display())))?,
        };
        Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect())
    }

    /// Returns the exports of a store that are still there. A link is left out: somebody else made it.
    pub(crate) fn of_store(&self, store: &Path) -> io::Result<Vec<ExportPlace>> {
        let store = fs::canonicalize(store)?;
        let mut found: Vec<ExportPlace> = Vec::new();
        for Export { place, files, .. } in
            self.lines()?.iter().filter_map(|line| read(line)).filter(|export| export.store == store)
        {
            if place.symlink_metadata().map_or(true, |found| found.is_symlink()) {
                continue;
            }
            match found.iter_mut().find(|known| known.path == place) {
                Some(known) => known.files.extend(files),
                None => found.push(ExportPlace { path: place, files }),
            }
        }
        Ok(found)
    }

    /// Returns the file with the places, if it is one of ours.
    pub(crate) fn file_in(state: &Path) -> Option<PathBuf> {
        let file = state.join(FILE);
        let lines = Self(file.clone()).lines().ok()?;
        lines.first().is_some_and(|line| read(line).is_some()).then_some(file)
    }
}

/// Returns the beginning of the digest of bytes.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn read(line: &str) -> Option<Export> {
    serde_json::from_str(line).ok()
}
