//! Environment that the commands of one scope share.

use crate::store::{BackupPlace, Layout, RelPath};
use crate::trust::{Provenance, TrustConfig};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{self as protocol, Error};

/// Limits of an engine. The host may have stricter limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size in bytes of a file that is read whole, and of the answer to one read.
    pub max_file_bytes: u32,
    /// Maximum number of entries on one page of a listing.
    pub max_list_entries: u32,
    /// Maximum number of requests without a result.
    pub max_requests: u32,
    /// Maximum number of commands in flight.
    pub max_commands: u32,
    /// Maximum size of the text that the search index keeps, in bytes. Files beyond it are reported as skipped.
    pub max_index_bytes: u64,
}

impl Default for Limits {
    /// Returns 16 MiB per file, 16,384 entries per page, 256 requests, 64 commands, 256 MiB of indexed text.
    fn default() -> Self {
        let protocol::Limits { max_list_entries, max_requests, max_commands } = protocol::Limits::default();
        Self { max_file_bytes: 16 << 20, max_list_entries, max_requests, max_commands, max_index_bytes: 256 << 20 }
    }
}

impl Limits {
    /// Creates an engine with these limits.
    pub(crate) fn engine<R: 'static>(self, epoch: u64) -> protocol::Engine<R> {
        let Self { max_list_entries, max_requests, max_commands, .. } = self;
        let limits = protocol::Limits { max_list_entries, max_requests, max_commands };
        protocol::Engine::new(epoch, limits, Layout::is_bookkeeping)
    }
}

/// Scope that an engine was opened for.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) layout: Layout,
    /// Prefix of every path that is shown.
    pub(crate) path_prefix: String,
    /// Absolute paths of the root, with which a name may begin.
    pub(crate) roots: Vec<String>,
    pub(crate) limits: Limits,
    /// True if the store keeps a copy of the index.
    pub(crate) index_file: bool,
    /// Name of the host's version scheme.
    pub(crate) version_scheme: String,
    /// Policy for incoming text.
    pub(crate) trust: TrustConfig,
    /// Place where replaced text is kept.
    pub(crate) backups: BackupPlace,
    /// Maximum size of the map of a block, in bytes; 0: a block has none.
    pub(crate) map_bytes: u32,
}

impl Scope {
    /// Returns the scope for text of this provenance.
    pub(crate) fn of_provenance(mut self: Arc<Self>, provenance: Provenance) -> Arc<Self> {
        if provenance != self.trust.provenance {
            Arc::make_mut(&mut self).trust.provenance = provenance;
        }
        self
    }

    /// Returns a path as replies and messages show it.
    pub(crate) fn display_path(&self, path: &RelPath) -> String {
        format!("{}{path}", self.path_prefix)
    }

    /// Returns the path relative to the notebook, for a name that begins like a [`display_path`](Self::display_path) path: with the
    /// prefix, the folder of the project, or both. `None` for any other name.
    pub(crate) fn below_notebook<'a>(&self, name: &'a str) -> Option<&'a str> {
        let bare = self.without_prefix(name);
        match self.layout.project_folder() {
            Some(folder) => {
                let below = bare.strip_prefix(folder.as_str())?;
                if below.is_empty() { Some(below) } else { below.strip_prefix('/') }
            }
            None => (bare.len() < name.len()).then_some(bare),
        }
    }

    /// Returns the file of a path that is written as it is shown, or relative to the store or to the notebook.
    pub(crate) fn file(&self, name: &str) -> Option<RelPath> {
        let bare = self.without_prefix(name);
        let is_of_user = self.layout.is_of_user(bare);
        let is_whole = bare.len() < name.len() || is_of_user || self.below_notebook(name).is_some();
        if is_whole { RelPath::new(bare).ok() } else { self.layout.in_notebook(name).ok() }
    }

    /// Returns the long-term memory or the scratchpad, if a shown path names it.
    pub(crate) fn kept_file(&self, name: &str) -> Option<&RelPath> {
        let layout = &self.layout;
        let bare = self.without_prefix(name);
        let mut files = [Some(layout.shared_long_term()), layout.project_long_term(), Some(layout.scratchpad())]
            .into_iter()
            .flatten();
        files.find(|path| path.as_str() == bare)
    }

    /// Returns the file of a path that is absolute, written as it is shown, or relative to the root.
    pub(crate) fn whole(&self, name: &str) -> Option<RelPath> {
        RelPath::new(self.without_prefix(name)).ok()
    }

    /// Returns the file that a backup belongs to, for the path of the backup.
    pub(crate) fn original(&self, name: &str) -> Option<RelPath> {
        let backups = [self.whole(name), self.layout.in_notebook(name).ok()];
        backups.into_iter().flatten().find_map(|backup| Layout::original_of(&backup))
    }

    /// Returns the error for the path of a backup, which names its file only for a command that restores it. Any other command
    /// would act on text that the backup does not have.
    pub(crate) fn is_backup(&self, name: &str, original: &RelPath) -> Error {
        let message = format!("`{}` is the backup of {}", name.escape_debug(), self.display_path(original));
        Error::invalid_argument(message, "`restore` puts it back; other commands take the path of the file")
    }

    /// Returns the error for a change of a note that the user keeps for all projects, if a name is the path of one.
    pub(crate) fn kept_for_all_projects(&self, name: &str) -> Option<Error> {
        let path = self.whole(name).filter(|path| self.layout.is_of_user(path.as_str()))?;
        let message = format!("{} is kept for all projects", self.display_path(&path));
        let help = "a person opens and changes it with `--user`";
        Some(Error::new(protocol::ErrorCode::NotPermitted, message, help))
    }

    /// Refuses a change of a note that the user keeps for all projects, if a name is the path of one.
    pub(crate) fn check_of_this_project(&self, name: &str) -> Result<(), Error> {
        self.kept_for_all_projects(name).map_or(Ok(()), Err)
    }

    /// Returns a name without the path of the root.
    pub(crate) fn without_prefix<'a>(&self, name: &'a str) -> &'a str {
        let prefixes = self.roots.iter().chain([&self.path_prefix]).filter(|prefix| !prefix.is_empty());
        prefixes.into_iter().find_map(|prefix| name.strip_prefix(prefix.as_str())).unwrap_or(name)
    }
}
