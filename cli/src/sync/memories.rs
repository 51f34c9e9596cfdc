//! [`Memories`]: changes files through the memories that they belong to, as one operation of the history.

use saddlebag::Origin;
use saddlebag::history::{ListVersions, MAX_HISTORY_ITEMS, ReplaceFile};
use saddlebag::protocol::{ErrorCode, Version};
use saddlebag::store::{
    AGENTS_FOLDER, ENTRIES_FOLDER, NOTE_SUFFIX, PROJECTS_FOLDER, RelPath, USER_FOLDER, WORKSPACES_FOLDER,
    is_of_entries, text_of_name,
};
use saddlebag::trust::SecretPolicy;
use saddlebag_host::Project;

use crate::failure::Code;
use crate::item::text_of_version;
use crate::prelude::*;
use crate::project::opened;
use crate::store::{Store, named_project};

/// Memories of one store.
pub(super) struct Memories<'a> {
    global: &'a Global,
    /// Memories that were opened.
    opened: Vec<Memory>,
    /// Beginning of the name of the operation of each memory. A memory that shares a file with another must not take the change of
    /// the other for undone.
    operation: String,
    reason: &'static str,
    /// Commit that the next changes come from, and its author, as its text says.
    source: Option<String>,
}

/// An open memory, and what it was opened for.
struct Memory {
    agent: String,
    workspace: Option<String>,
    project: Project,
    store: Store,
    /// True if a file was changed through it.
    is_changed: bool,
    /// True if a file was changed that is not an entry.
    has_notes: bool,
}

/// An operation of the history that one run made. A run makes one for each memory whose files it changes.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct MadeOperation {
    /// Identifier.
    pub(super) operation: String,
    /// Command that takes it back.
    pub(super) undo: String,
    /// Project in whose folder the command runs; `null` for the current folder.
    pub(super) project: Option<String>,
}

impl Memory {
    /// Returns the options that open the memory of the root with the entries of an agent and a workspace.
    fn options(&self, global: &Global) -> String {
        let option =
            |name: &str, value: &str| format!(" {name} {}", shlex::try_quote(value).unwrap_or_else(|_| value.into()));
        let agent = (self.agent != global.agent).then(|| option("--agent", &self.agent));
        let workspace = self.workspace.as_ref().filter(|_| self.workspace != global.workspace);
        let workspace = workspace.map(|workspace| option("--workspace", workspace));
        format!(" --notebook{}{}", agent.unwrap_or_default(), workspace.unwrap_or_default())
    }
}

/// Answer of the memory that a file belongs to.
pub(super) enum Answer {
    /// It has changed the file.
    Changed,
    /// The file is no longer as it was read.
    Stale,
    /// The file belongs to no memory, or to one without a history.
    NotKept,
    /// The text has a value that was rejected for good.
    Rejected(String),
    /// It refuses the text for another reason.
    Refused(String),
}

impl<'a> Memories<'a> {
    pub(super) fn new(global: &'a Global, reason: &'static str) -> Self {
        Self { global, opened: Vec::new(), operation: saddlebag_host::new_operation(), reason, source: None }
    }

    /// Changes a file if it has this version, or does not exist if there is none.
    pub(super) fn change(
        &mut self,
        path: &RelPath,
        version: Option<&Version>,
        content: Option<&[u8]>,
    ) -> Result<Answer, Failure> {
        let is_json = self.global.json;
        let source = self.source.as_ref().map_or_else(String::new, |source| format!(": {source}"));
        let reason = self.global.reason.clone().unwrap_or_else(|| self.reason.into()) + &source;
        let Some((memory, operation)) = self.of(path)? else { return Ok(Answer::NotKept) };
        let replace = ReplaceFile {
            path: path.to_string(),
            version: version.map(|version| version.0.clone()),
            content: content.map(<[u8]>::to_vec),
        };
        let origin = Origin { operation: Some(operation), reason: Some(reason), ..Origin::default() };
        match memory.store.call(origin.with(replace), &mut Output::new(is_json)) {
            Ok(reply) if reply.replaced => {
                memory.is_changed = true;
                memory.has_notes |= !is_of_entries(path);
                Ok(Answer::Changed)
            }
            Ok(_) => Ok(Answer::Stale),
            Err(failure) => match failure.code {
                Code::Memory(ErrorCode::NotFound | ErrorCode::NotPermitted) => Ok(Answer::NotKept),
                Code::Memory(ErrorCode::Rejected) => Ok(Answer::Rejected(failure.message)),
                Code::Memory(ErrorCode::Contention) => Ok(Answer::Stale),
                Code::Memory(ErrorCode::Storage) | Code::Program(_) => Err(failure),
                Code::Memory(_) => Ok(Answer::Refused(failure.message)),
            },
        }
    }

    pub(super) fn set_source(&mut self, source: Option<&String>) {
        self.source = source.cloned();
    }

    /// Returns the memory that a file belongs to, and its operation; `None` if it belongs to none.
    fn of(&mut self, path: &RelPath) -> Result<Option<(&mut Memory, String)>, Failure> {
        if !path.file_name().ends_with(NOTE_SUFFIX) {
            return Ok(None);
        }
        let (global, project) = scope_of(path, self.global);
        let is_same = |memory: &Memory| {
            (&memory.agent, &memory.workspace, &memory.project) == (&global.agent, &global.workspace, &project)
        };
        let place = match self.opened.iter().position(is_same) {
            Some(place) => place,
            None => {
                let store = match Store::for_project(project.clone(), &global) {
                    Ok(store) => store,
                    Err(failure) if failure.code == ErrorCode::Storage.into() => return Err(failure),
                    // A folder whose name no project or agent can have.
                    Err(_) => return Ok(None),
                };
                let (agent, workspace) = (global.agent, global.workspace);
                self.opened.push(Memory { agent, workspace, project, store, is_changed: false, has_notes: false });
                self.opened.len() - 1
            }
        };
        let operation = self.operation_of(place);
        Ok(self.opened.get_mut(place).map(|memory| (memory, operation)))
    }

    fn operation_of(&self, place: usize) -> String {
        format!("{}-{place}", self.operation)
    }

    /// Returns the operations that were made, with the commands that take them back.
    pub(super) fn made(&self) -> Vec<MadeOperation> {
        let own = opened(self.global, &named_project(self.global));
        let changed = self.opened.iter().enumerate().filter(|(_, memory)| memory.is_changed);
        let is_only = changed.clone().count() == 1;
        // The memory of any project has the entries of its agent and workspace.
        let has_plain_undo = |memory: &Memory| {
            let is_same = (&memory.agent, &memory.workspace) == (&self.global.agent, &self.global.workspace);
            is_only && !memory.has_notes && is_same
        };
        let made = changed.map(|(place, memory)| {
            let (options, project) = match &memory.project {
                Project::Slug(slug) if slug == USER_FOLDER => (" --user".to_string(), None),
                Project::Slug(slug) if own.as_ref() == Some(slug) => (String::new(), None),
                Project::Slug(slug) => (String::new(), Some(slug.clone())),
                _ if has_plain_undo(memory) => (String::new(), None),
                _ => (memory.options(self.global), None),
            };
            let operation = self.operation_of(place);
            let undo = format!("saddlebag{options} undo {operation}");
            MadeOperation { operation, undo, project }
        });
        made.collect()
    }
}

/// Returns the options and the project of the memory that a file is in.
pub(crate) fn scope_of(path: &RelPath, global: &Global) -> (Global, Project) {
    let segments: Vec<&str> = path.segments().collect();
    // What another machine wrote is taken as it is, or without a record: a changed text would go back to that machine.
    let secrets = if global.secrets == SecretPolicy::Redact { SecretPolicy::Refuse } else { global.secrets };
    let mut global = Global { absolute: false, notebook: false, user: false, secrets, ..global.clone() };
    let project = match segments[..] {
        [PROJECTS_FOLDER, slug, _, ..] => Project::Slug(slug.to_string()),
        [AGENTS_FOLDER, agent, ENTRIES_FOLDER, ..] => {
            global.agent = text_of_name(agent);
            Project::Notebook
        }
        [WORKSPACES_FOLDER, workspace, ENTRIES_FOLDER, ..] => {
            global.workspace = Some(text_of_name(workspace));
            Project::Notebook
        }
        _ => Project::Notebook,
    };
    (global, project)
}

/// Returns the versions that the history has of a file, the oldest first. Without a history there are none.
pub(super) fn versions(path: &RelPath, global: &Global, output: &mut Output) -> Vec<Vec<u8>> {
    let read = |output: &mut Output| -> Result<Vec<Vec<u8>>, Failure> {
        let (global, project) = scope_of(path, global);
        let mut store = Store::for_project(project, &global)?;
        let list = ListVersions { name: path.to_string(), limit: MAX_HISTORY_ITEMS, ..ListVersions::default() };
        let list = store.call(list, output)?;
        let mut versions = Vec::new();
        for info in list.versions.iter().rev().filter(|info| !info.unkept && info.size.is_some()) {
            let text = text_of_version(path.as_str(), info.number, &mut store, output)?;
            versions.extend(text.map(String::into_bytes));
        }
        Ok(versions)
    };
    read(output).unwrap_or_default()
}
