//! [`Withheld`]: files of the checked-out commit that this machine did not write, because it does not share their scopes or cannot have
//! them. Whoever may push to one shared project must not change another scope here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use saddlebag::history::MAX_MERGED_BYTES;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::RelPath;

use super::report::LeftOut;
use crate::disk::write_file;
use crate::failure::{Failure, ProgramCode};
use crate::git::repository::{Difference, Repository};
use crate::output::single_line;
use crate::setup::sharing::{self, is_state};

/// File beside those of git with the paths, each ended by a zero byte.
const RECORD: &str = "saddlebag-left-out";

/// Paths in the work tree whose committed version was not written here. That they are missing deletes them for nobody.
pub(super) struct Withheld {
    record: PathBuf,
    written: Option<String>,
    pub(super) paths: BTreeSet<String>,
}

impl Withheld {
    pub(super) fn read(state: &Path) -> Result<Self, Failure> {
        let record = state.join(RECORD);
        let written = match fs::read_to_string(&record) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("cannot read `{}`: {}", record.display(), saddlebag_host::io_cause(&error));
                return Err(Failure::new(ProgramCode::Input, message, "make it a file that you may read"));
            }
        };
        let paths = written.iter().flat_map(|text| text.split_terminator('\0')).map(String::from).collect();
        Ok(Self { record, written, paths })
    }

    pub(super) fn write(&mut self) -> Result<(), Failure> {
        let text: String = self.paths.iter().map(|path| format!("{path}\0")).collect();
        let text = Some(text).filter(|text| !text.is_empty());
        if text != self.written {
            write_file(&self.record, self.written.as_deref(), text.as_deref().unwrap_or_default())?;
            self.written = text;
        }
        Ok(())
    }

    /// Returns the files that were left out and may be written now, such as those of a scope that is shared since.
    pub(super) fn due(&self, repository: &Repository, shared: &BTreeSet<String>) -> Result<Vec<Difference>, Failure> {
        let files = self.paths.iter().filter_map(|path| Some((path, repository.files.get(path)?)));
        let changes = files.map(|(path, entry)| Difference {
            path: path.clone(),
            mode: entry.mode.clone(),
            before: None,
            after: Some(entry.blob.clone()),
        });
        let mut due = changes.collect();
        judge(repository, shared, &mut due)?;
        Ok(due)
    }

    /// Takes the changes out that must not be written here, and returns them with the reasons.
    pub(super) fn take_out(
        &mut self,
        repository: &Repository,
        shared: &BTreeSet<String>,
        changes: &mut Vec<Difference>,
    ) -> Result<Vec<LeftOut>, Failure> {
        let left_out = judge(repository, shared, changes)?;
        let mut named = Vec::new();
        for (change, shown, reason) in left_out {
            let was_left_out = !self.paths.insert(change.path.clone());
            if change.after.is_none() {
                self.paths.remove(&change.path);
            }
            if change.after.is_some() || !was_left_out {
                named.push(LeftOut { path: shown, reason });
            }
        }
        for change in changes {
            if self.paths.remove(&change.path) {
                change.before = None;
            }
        }
        Ok(named)
    }
}

/// Keeps the changes that may be written here, and returns the others with the paths in the store and the reasons.
///
/// # Errors
///
/// What is left out would be taken back by the next commit of a person: a file outside of the store, or one that a filter changes. Or one
/// path has two files.
fn judge(
    repository: &Repository,
    shared: &BTreeSet<String>,
    changes: &mut Vec<Difference>,
) -> Result<Vec<(Difference, String, String)>, Failure> {
    let paths: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
    let filtered = repository.filtered(&paths)?;
    let regular = changes.iter().filter(|change| change.is_regular());
    let blobs: Vec<String> = regular.filter_map(|change| change.after.clone()).collect();
    let sizes: BTreeMap<String, u64> = blobs.iter().cloned().zip(repository.sizes(&blobs)?).collect();
    let (mut kept, mut left_out, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for change in changes.drain(..) {
        let refused = |reason: &str, help: &str| {
            Err(Failure::new(ErrorCode::Conflict, format!("`{}` {reason}", single_line(&change.path)), help))
        };
        if !seen.insert(change.path.clone()) {
            return refused(
                "is there twice in a commit of another machine",
                "`git fsck` says more: restore the remote repository",
            );
        }
        let Some(shown) = repository.shown(&change.path) else {
            return refused(
                "is outside of the store, and other machines changed it",
                "run `git pull`, which merges memory too",
            );
        };
        let is_shared = sharing::is_shared(shared, &shown) && !is_state(&shown);
        if is_shared && change.after.is_some() && filtered.contains(&change.path) {
            return refused("is changed by a filter of git", "run `git pull`, which merges memory too");
        }
        let size = change.after.as_ref().and_then(|blob| sizes.get(blob)).copied().unwrap_or_default();
        let reason = if is_state(&shown) {
            Some("it belongs to the state of a machine".into())
        } else if !is_shared {
            Some(NOT_SHARED.into())
        } else if change.after.is_none() {
            None
        } else if shown.contains(char::REPLACEMENT_CHARACTER) {
            Some("its name is not UTF-8".into())
        } else if !change.is_regular() {
            Some("it is not a file, but a link or a repository".into())
        } else if size > MAX_MERGED_BYTES as u64 {
            Some(format!("it has {size} bytes; the limit is {MAX_MERGED_BYTES}"))
        } else {
            RelPath::new(shown.clone()).err().map(|error| format!("it cannot be a file here: {error}"))
        };
        match reason {
            Some(reason) => left_out.push((change, shown, reason)),
            None => kept.push(change),
        }
    }
    *changes = kept;
    Ok(left_out)
}

/// Reason why a file neither leaves this machine nor arrives.
pub(super) const NOT_SHARED: &str = "its scope is not shared from this machine; `setup git --share` does that";
