//! Scope of a memory's entries: one agent and its workspace.
//!
//! Both come from the host's configuration. A command can only confirm them by name.

use super::category::Category;
use super::document::Fields;
use super::retention::MAX_ENTRIES;
use crate::store::{EntryFolder, Layout, PathError, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum length of the name of an agent or a workspace in bytes.
pub const MAX_SCOPE_NAME_BYTES: usize = 255;

/// Configuration of the entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntriesConfig {
    /// Name of the agent: 1 to 255 bytes.
    pub agent: String,
    /// Name of the workspace that it shares entries with; `None` without a workspace.
    pub workspace: Option<String>,
    /// Maximum number of entries of the agent.
    pub max_entries: u32,
    /// Maximum number of entries of the workspace.
    pub max_workspace_entries: u32,
}

impl EntriesConfig {
    /// Returns the configuration of an agent without a workspace, with the default limits.
    pub fn for_agent(agent: impl Into<String>) -> Self {
        Self { agent: agent.into(), workspace: None, max_entries: MAX_ENTRIES, max_workspace_entries: MAX_ENTRIES }
    }
}

/// Entries of one owner, with their own limit.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) folder: EntryFolder,
    pub(super) owner: String,
    pub(super) cap: u32,
    /// True for the pool of the workspace.
    pub(super) shared: bool,
}

impl Pool {
    /// Returns the file of a key. A parsed category and a key are never empty, and every other name has a path.
    pub(super) fn file(&self, category: &str, key: &str) -> Result<RelPath, Error> {
        let broken = |error| Error::internal(format!("`{key}` in `{category}` has no path: {error}"));
        self.folder.file(category, key).map_err(broken)
    }

    /// Returns the file of the backup, which does not depend on where a person moved the entry's file.
    pub(super) fn backup_of(&self, fields: &Fields) -> Result<RelPath, Error> {
        Ok(Layout::backup_of(&self.file(fields.category.as_str(), &fields.key)?))
    }
}

/// Entries that a memory may see.
#[derive(Debug)]
pub(super) struct EntriesScope {
    pub(super) own: Pool,
    pub(super) shared: Option<Pool>,
    /// File with the number of the newest run.
    pub(super) fence: RelPath,
}

impl EntriesScope {
    pub(super) fn new(config: EntriesConfig) -> Result<Self, PathError> {
        let EntriesConfig { agent, workspace, max_entries, max_workspace_entries } = config;
        let folder = EntryFolder::for_agent(&agent)?;
        let agent_folder = folder.root().parent().ok_or(PathError::EmptySegment)?;
        let shared = workspace.map(|workspace| {
            let folder = EntryFolder::for_workspace(&workspace)?;
            Ok::<_, PathError>(Pool { folder, owner: workspace, cap: max_workspace_entries, shared: true })
        });
        Ok(Self {
            own: Pool { folder, owner: agent, cap: max_entries, shared: false },
            shared: shared.transpose()?,
            fence: agent_folder.join("fence")?,
        })
    }

    /// Refuses the name of another scope. The error does not tell whether that scope exists.
    pub(super) fn check(&self, agent: Option<&str>, workspace: Option<&str>) -> Result<(), Error> {
        let own = self.shared.as_ref().map(|pool| pool.owner.as_str());
        if let Some(workspace) = workspace.filter(|workspace| Some(*workspace) != own) {
            let message = format!("no workspace `{workspace}` is visible from this memory");
            let help = "a memory sees only the agent and workspace that it was opened for";
            return Err(Error::new(ErrorCode::ScopeNotFound, message, help));
        }
        if let Some(agent) = agent.filter(|agent| *agent != self.own.owner) {
            let message = format!("`{agent}` is not the agent of this memory");
            let help = "leave the agent out; agents share what they need in the category `workspace`";
            return Err(Error::new(ErrorCode::ScopeDenied, message, help));
        }
        Ok(())
    }

    /// Returns the pool of a category.
    pub(super) fn pool(&self, category: &Category) -> Result<&Pool, Error> {
        match category {
            Category::Workspace => self.shared.as_ref().ok_or_else(|| {
                let help = "open the memory with a workspace, or choose another category";
                Error::invalid_argument("this memory was opened without a workspace", help)
            }),
            _ => Ok(&self.own),
        }
    }

    /// Returns the agent's pool, then the pool of the workspace.
    pub(super) fn pools(&self) -> impl Iterator<Item = &Pool> {
        core::iter::once(&self.own).chain(&self.shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_names_another_scope_is_refused() {
        let config = EntriesConfig { workspace: Some("w".into()), ..EntriesConfig::for_agent("a") };
        let scope = EntriesScope::new(config).unwrap();
        assert_eq!(scope.check(None, None), Ok(()));
        assert_eq!(scope.check(Some("a"), Some("w")), Ok(()));
        let code = |agent, workspace| scope.check(agent, workspace).unwrap_err().code;
        assert_eq!(code(Some("b"), None), ErrorCode::ScopeDenied);
        assert_eq!(code(Some("b"), Some("w")), ErrorCode::ScopeDenied);
        assert_eq!(code(Some("b"), Some("x")), ErrorCode::ScopeNotFound);
        assert_eq!(code(None, Some("x")), ErrorCode::ScopeNotFound);
    }
}
