//! What the commands of one scope share, and what one command is given.

use alloc::string::String;
use alloc::sync::Arc;

use super::fs::Fs;
use crate::protocol::{self, Error};
use crate::store::{Layout, LocalTime, RelPath};
use crate::trust::{InputPolicy, Provenance, TrustConfig};

/// What an engine takes at once. The host's own limits come on top of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest file that is read whole, and the largest answer to one read, in bytes.
    pub max_file_bytes: u32,
    /// How many entries one page of a listing may have.
    pub max_list_entries: u32,
    /// How many requests may be owed a result at once.
    pub max_requests: u32,
    /// How many commands may be in flight.
    pub max_commands: u32,
    /// How many bytes of text the search index keeps; files beyond are reported as skipped.
    pub max_index_bytes: u64,
}

impl Default for Limits {
    /// 16 MiB a file, 16,384 entries a page, 256 requests, 64 commands, 256 MiB of indexed text.
    fn default() -> Self {
        let protocol::Limits { max_list_entries, max_requests, max_commands } = protocol::Limits::default();
        Self { max_file_bytes: 16 << 20, max_list_entries, max_requests, max_commands, max_index_bytes: 256 << 20 }
    }
}

/// The scope that an engine was opened for.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) layout: Layout,
    /// Put before every path that is shown.
    pub(crate) path_prefix: String,
    pub(crate) limits: Limits,
    /// Whether a copy of the index is kept in the store.
    pub(crate) index_file: bool,
    /// Names how the host makes versions.
    pub(crate) version_scheme: String,
    /// Whether the host is asked to rate the best notes of a recall.
    pub(crate) rescore: bool,
    /// Whose text is taken, and what of it.
    pub(crate) trust: TrustConfig,
}

impl Scope {
    /// The scope for text of this provenance.
    pub(crate) fn of_provenance(self: Arc<Self>, provenance: Provenance) -> Arc<Self> {
        if provenance == self.trust.provenance {
            return self;
        }
        let Self { layout, path_prefix, limits, index_file, version_scheme, rescore, trust } = &*self;
        Arc::new(Self {
            layout: layout.clone(),
            path_prefix: path_prefix.clone(),
            limits: *limits,
            index_file: *index_file,
            version_scheme: version_scheme.clone(),
            rescore: *rescore,
            trust: TrustConfig { provenance, ..*trust },
        })
    }

    /// A path as replies and messages show it.
    pub(crate) fn display_path(&self, path: &RelPath) -> String {
        alloc::format!("{}{path}", self.path_prefix)
    }

    /// The path below the notebook of a name that begins as [`shown`](Self::display_path) paths do: with the prefix,
    /// the folder of the project, or both. `None` for any other name.
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

    /// The file that a path means: as it is shown, below the store, or below the notebook.
    pub(crate) fn file(&self, name: &str) -> Option<RelPath> {
        let bare = self.without_prefix(name);
        let is_whole = bare.len() < name.len() || self.below_notebook(name).is_some();
        if is_whole { RelPath::parse(bare).ok() } else { self.layout.in_notebook(name).ok() }
    }

    /// The long-term memory or the scratchpad that a path names as it is shown.
    pub(crate) fn kept_file(&self, name: &str) -> Option<&RelPath> {
        let layout = &self.layout;
        let bare = self.without_prefix(name);
        let mut files = [Some(layout.shared_long_term()), layout.project_long_term(), Some(layout.scratchpad())]
            .into_iter()
            .flatten();
        files.find(|path| path.as_str() == bare)
    }

    fn without_prefix<'a>(&self, name: &'a str) -> &'a str {
        name.strip_prefix(self.path_prefix.as_str()).unwrap_or(name)
    }
}

/// What a command has to work with.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) fs: Fs,
    pub(crate) scope: Arc<Scope>,
    pub(crate) now: LocalTime,
    /// Every text that the command stores passes it.
    pub(crate) screen: InputPolicy,
}

impl Call {
    /// The call for text of this provenance; `None` for that of this call, than which it can only be trusted less.
    pub(crate) fn of_provenance(&self, asked: Option<Provenance>) -> Result<Self, Error> {
        let scope = self.scope.clone().of_provenance(self.scope.trust.provenance_of(asked)?);
        let screen = InputPolicy::of_scope(scope.trust, scope.layout.clone());
        Ok(Self { fs: self.fs.clone(), scope, now: self.now, screen })
    }
}
