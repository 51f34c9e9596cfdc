//! Whose entries a memory has: those of one agent, and those of its workspace.
//!
//! Both come from the host's configuration. What a command names can only confirm them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::category::Category;
use super::document::Fields;
use super::retention::MAX_ENTRIES;
use crate::protocol::{Error, ErrorCode};
use crate::store::{EntryFolder, Layout, PathError, RelPath};

/// How long the name of an agent or of a workspace may be, in bytes.
pub const MAX_SCOPE_NAME_BYTES: usize = 255;

/// Whose entries a memory keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntriesConfig {
    /// The agent, by any name of 1 to 255 bytes.
    pub agent: String,
    /// The workspace that it shares entries with; `None` where there is none.
    pub workspace: Option<String>,
    /// Other agents of the workspace. It gives access to nothing: a command that names one of them is told
    /// that this is not allowed, one that names any other that there is none.
    pub peers: Vec<String>,
    /// How many entries the agent may have.
    pub max_entries: u32,
    /// How many entries the workspace may have.
    pub max_workspace_entries: u32,
}

impl EntriesConfig {
    /// Of an agent without a workspace, with the usual limits.
    #[must_use]
    pub fn of_agent(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            workspace: None,
            peers: Vec::new(),
            max_entries: MAX_ENTRIES,
            max_workspace_entries: MAX_ENTRIES,
        }
    }
}

/// The entries of one owner, with a cap of their own.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) folder: EntryFolder,
    pub(super) owner: String,
    pub(super) cap: u32,
    /// Of the workspace.
    pub(super) shared: bool,
}

impl Pool {
    /// The file of a key. No category that was parsed and no key is empty, and no other name lacks a path.
    pub(super) fn file(&self, category: &str, key: &str) -> Result<RelPath, Error> {
        let broken = |error| Error::internal(format!("`{key}` in `{category}` has no path: {error}"));
        self.folder.file(category, key).map_err(broken)
    }

    /// The file that keeps what an entry said before, wherever a person has put the entry's own file.
    pub(super) fn backup_of(&self, fields: &Fields) -> Result<RelPath, Error> {
        Ok(Layout::backup_of(&self.file(fields.category.as_str(), &fields.key)?))
    }
}

/// What a memory may see of the entries.
#[derive(Debug)]
pub(super) struct EntriesScope {
    pub(super) own: Pool,
    pub(super) shared: Option<Pool>,
    peers: Vec<String>,
    /// The folder of the agent, which has that of the entries.
    pub(super) beside: RelPath,
    /// Where the number of the newest run is.
    pub(super) fence: RelPath,
}

impl EntriesScope {
    pub(super) fn new(config: EntriesConfig) -> Result<Self, PathError> {
        let EntriesConfig { agent, workspace, peers, max_entries, max_workspace_entries } = config;
        let folder = EntryFolder::of_agent(&agent)?;
        let agent_folder = folder.root().parent().ok_or(PathError::EmptySegment)?;
        let shared = workspace.map(|workspace| {
            let folder = EntryFolder::of_workspace(&workspace)?;
            Ok::<_, PathError>(Pool { folder, owner: workspace, cap: max_workspace_entries, shared: true })
        });
        Ok(Self {
            own: Pool { folder, owner: agent, cap: max_entries, shared: false },
            shared: shared.transpose()?,
            peers,
            fence: agent_folder.join("fence")?,
            beside: agent_folder,
        })
    }

    /// Refuses what names another scope.
    pub(super) fn check(&self, agent: Option<&str>, workspace: Option<&str>) -> Result<(), Error> {
        let is_foreign = |given: Option<&str>, own: Option<&str>| given.is_some_and(|given| Some(given) != own);
        if is_foreign(workspace, self.shared.as_ref().map(|pool| pool.owner.as_str())) {
            return Err(not_found("workspace", workspace.unwrap_or_default()));
        }
        if !is_foreign(agent, Some(&self.own.owner)) {
            return Ok(());
        }
        let agent = agent.unwrap_or_default();
        if self.peers.iter().any(|peer| peer == agent) {
            let message = format!("UZ-MEM-001: the entries of `{agent}` are its own");
            let help = "share what both need in the category `workspace`";
            return Err(Error::new(ErrorCode::ScopeDenied, message, help));
        }
        Err(not_found("agent", agent))
    }

    /// The pool of a category.
    pub(super) fn pool(&self, category: &Category) -> Result<&Pool, Error> {
        match category {
            Category::Workspace => self.shared.as_ref().ok_or_else(|| {
                let help = "open the memory with a workspace, or choose another category";
                Error::invalid_argument("this memory was opened without a workspace", help)
            }),
            _ => Ok(&self.own),
        }
    }

    /// The own pool, then that of the workspace.
    pub(super) fn pools(&self) -> impl Iterator<Item = &Pool> {
        core::iter::once(&self.own).chain(&self.shared)
    }
}

fn not_found(what: &str, name: &str) -> Error {
    let message = format!("UZ-MEM-002: no {what} `{name}` here");
    Error::new(ErrorCode::ScopeNotFound, message, "a memory has the entries of the agent that it was opened for")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_names_another_scope_is_refused() {
        let config = EntriesConfig {
            workspace: Some("w".into()),
            peers: alloc::vec!["b".into()],
            ..EntriesConfig::of_agent("a")
        };
        let scope = EntriesScope::new(config).unwrap();
        assert_eq!(scope.check(None, None), Ok(()));
        assert_eq!(scope.check(Some("a"), Some("w")), Ok(()));
        let code = |agent, workspace| scope.check(agent, workspace).unwrap_err().code;
        assert_eq!(code(Some("b"), None), ErrorCode::ScopeDenied);
        assert_eq!(code(Some("b"), Some("w")), ErrorCode::ScopeDenied);
        // In a foreign workspace, nothing is said of the agents.
        assert_eq!(code(Some("b"), Some("x")), ErrorCode::ScopeNotFound);
        assert_eq!(code(Some("c"), None), ErrorCode::ScopeNotFound);
        assert_eq!(code(None, Some("x")), ErrorCode::ScopeNotFound);
    }
}
