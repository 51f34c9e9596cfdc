//! [`HistoryFolder`]: where the history of a scope is.
//!
//! ```text
//! <scope>/.saddlebag/history/
//! ├── 2026-11/<machine>.log      one log per month and machine
//! ├── blobs/<digest>             contents that are too large for a line
//! └── open/<operation>           operations on several files that are not finished
//! ```

use chrono::{DateTime, Datelike};

use super::layout::{Layout, PROJECTS_FOLDER, STATE_FOLDER, is_below_entries};
use super::{PathError, RelPath};
use saddlebag_collections::prelude::*;

/// Name of the folder in [`STATE_FOLDER`].
const HISTORY_FOLDER: &str = "history";

/// Extension of a log.
const LOG_SUFFIX: &str = ".log";

/// Folder with the history of one scope: the root, a project, or the entries of an agent or a workspace. Its records name files
/// by their paths relative to the folder of the scope, so they stay right when that folder moves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HistoryFolder {
    path: RelPath,
    /// Folder of the scope, with a separator at its end; empty for the root.
    scope: String,
}

/// A file of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HistoryFile {
    /// Log of a machine for a month.
    Log,
    /// Operation that is not finished.
    Open,
    /// A content.
    Blob,
}

impl HistoryFolder {
    /// Returns the folder of the history.
    pub(crate) fn path(&self) -> &RelPath {
        &self.path
    }

    /// Returns the path of a file of the scope as records have it.
    pub(crate) fn relative<'a>(&self, path: &'a RelPath) -> &'a str {
        path.as_str().strip_prefix(&self.scope).unwrap_or(path.as_str())
    }

    /// Returns the file of a path in a record. `None` if it is not a file of the scope.
    pub(crate) fn absolute(&self, relative: &str) -> Option<RelPath> {
        let path = RelPath::new(format!("{}{relative}", self.scope)).ok()?;
        (Layout::history_of(&path).ok()? == *self).then_some(path)
    }

    /// Returns the hidden folder of the scope, which has the history and all other bookkeeping.
    pub(crate) fn state_folder(&self) -> Option<RelPath> {
        self.path.parent()
    }

    /// Returns what a file of the hidden folder is for the history; `None` if it is not part of it.
    pub(crate) fn file_kind(&self, path: &RelPath) -> Option<HistoryFile> {
        let below = path.as_str().strip_prefix(self.path.as_str())?.strip_prefix('/')?;
        match below.split_once('/')? {
            ("open", _) => Some(HistoryFile::Open),
            ("blobs", _) => Some(HistoryFile::Blob),
            (_, name) if name.ends_with(LOG_SUFFIX) => Some(HistoryFile::Log),
            _ => None,
        }
    }

    /// Returns the log of a machine for the month of a time, in seconds since 1970-01-01T00:00:00Z.
    pub(crate) fn log(&self, seconds: i64, machine: &str) -> Result<RelPath, PathError> {
        let time = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
        RelPath::new(format!("{}/{:04}-{:02}/{machine}.log", self.path, time.year(), time.month()))
    }

    /// Returns the folder of the operations that are not finished.
    pub(crate) fn open(&self) -> Result<RelPath, PathError> {
        RelPath::new(format!("{}/open", self.path))
    }

    /// Returns the folder of the contents that have a separate file.
    pub(crate) fn blobs(&self) -> Result<RelPath, PathError> {
        RelPath::new(format!("{}/blobs", self.path))
    }

    /// Returns the file of a content.
    pub(crate) fn blob(&self, digest: &str) -> Result<RelPath, PathError> {
        RelPath::new(format!("{}/blobs/{digest}", self.path))
    }
}

/// Returns true for the name of the folder of a month, such as `2026-05`.
pub(crate) fn is_month(name: &str) -> bool {
    let is_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    matches!(name.as_bytes(), [year @ .., b'-', m1, m2] if year.len() == 4 && is_digits(year) && is_digits(&[*m1, *m2]))
}

impl Layout {
    /// Returns the file with the policy of the history of the whole store.
    pub(crate) fn history_policy() -> Result<RelPath, PathError> {
        RelPath::new(format!("{STATE_FOLDER}/{HISTORY_FOLDER}/policy.json"))
    }

    /// Returns the folder with the history of a file. Only the path decides, because one store may be opened with and without a
    /// project: the history of a project, an agent or a workspace is below its own folder.
    pub(crate) fn history_of(path: &RelPath) -> Result<HistoryFolder, PathError> {
        let segments: alloc::vec::Vec<&str> = path.segments().take(4).collect();
        let scope = match segments.as_slice() {
            [PROJECTS_FOLDER, slug, _, ..] => format!("{PROJECTS_FOLDER}/{slug}/"),
            [owners, owner, entries, ..] if is_below_entries(path) => format!("{owners}/{owner}/{entries}/"),
            _ => String::new(),
        };
        let path = RelPath::new(format!("{scope}{STATE_FOLDER}/{HISTORY_FOLDER}"))?;
        Ok(HistoryFolder { path, scope })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_has_its_own_history() {
        for (path, folder) in [
            ("MEMORY.md", ".saddlebag/history"),
            ("notes/a.md", ".saddlebag/history"),
            ("projects/a.md", ".saddlebag/history"),
            ("projects/api-0db23a34/MEMORY.md", "projects/api-0db23a34/.saddlebag/history"),
            ("projects/user/notes/a.md", "projects/user/.saddlebag/history"),
            ("agents/a/entries/fact/k.md", "agents/a/entries/.saddlebag/history"),
            ("workspaces/w/entries/fact/k.md", "workspaces/w/entries/.saddlebag/history"),
            ("agents/a/notes.md", ".saddlebag/history"),
        ] {
            let path = RelPath::new(path).unwrap();
            assert_eq!(Layout::history_of(&path).unwrap().path().as_str(), folder, "{path}");
        }
    }

    #[test]
    fn each_month_and_machine_has_its_own_log() {
        let folder = Layout::history_of(&RelPath::new("a.md").unwrap()).unwrap();
        let log = |seconds| folder.log(seconds, "laptop").unwrap();
        assert_eq!(log(1_779_700_000).as_str(), ".saddlebag/history/2026-05/laptop.log");
        assert_eq!(log(i64::MIN).as_str(), ".saddlebag/history/1970-01/laptop.log");
    }
}
