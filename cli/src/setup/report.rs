//! [`SetupReport`]: what a run of `setup` found and did, as text and as JSON.

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::clients::Client;
use crate::disk::DiskError;
use crate::output::{FAINT, Output, STRONG};

/// Work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Entries are added.
    Add,
    /// Entries are removed.
    Remove,
}

/// Agents that were looked for, and the changes of their configurations.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SetupReport {
    /// `add` or `remove`.
    action: &'static str,
    /// True if nothing was written because of `--dry-run`.
    dry_run: bool,
    /// Every agent that was looked for.
    pub(super) agents: Vec<AgentReport>,
}

/// One agent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AgentReport {
    /// Agent.
    #[schemars(with = "String")]
    pub(super) agent: Client,
    /// True if the agent is installed.
    pub(super) found: bool,
    /// Folder or program that shows that it is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<String>,
    /// Places that were looked at.
    pub(super) looked: Vec<String>,
    /// Files with our entries.
    pub(super) files: Vec<FileReport>,
    /// Settings that switch all hooks of the agent off, so that ours do not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) hooks_off: Vec<String>,
    /// Step that is left to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    /// Reason why the agent was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

/// One file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FileReport {
    /// Path of the file.
    pub(super) path: String,
    /// File that is changed instead, if the path leads through a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) leads_to: Option<String>,
    /// Result: `created`, `changed`, `removed`, `unchanged` or `left-alone`; with `--dry-run`, the result that there would be.
    pub(super) state: &'static str,
    /// Difference in the unified format; empty if the file stays as it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) diff: String,
    /// Reasons why the file, or an entry in it, was left alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<String>,
}

impl SetupReport {
    pub(super) fn new(action: Action, dry_run: bool, agents: Vec<AgentReport>) -> Self {
        let action = if action == Action::Add { "add" } else { "remove" };
        Self { action, dry_run, agents }
    }

    /// Prints which agents are installed, and where the others were looked for.
    pub(super) fn show_found(&self, output: &mut Output) -> io::Result<()> {
        if output.is_json() {
            return Ok(());
        }
        for AgentReport { agent, at, looked, .. } in &self.agents {
            match at {
                Some(at) => output.line(&format!("found {}: {at}", agent.title()))?,
                None => output.styled(FAINT, &format!("not found: {}: {}", agent.title(), looked.join(", ")))?,
            }
        }
        Ok(())
    }

    /// Prints the changes of each file.
    pub(super) fn show_changes(&self, output: &mut Output) -> io::Result<()> {
        for agent in self.agents.iter().filter(|agent| !agent.files.is_empty()) {
            for file in agent.files.iter().filter(|file| !file.diff.is_empty()) {
                output.line("")?;
                let leads_to = file.leads_to.as_ref().map(|target| format!(", a link to {target}")).unwrap_or_default();
                output.styled(STRONG, &format!("{}: {}{leads_to}", agent.agent.title(), file.path))?;
                output.text(&file.diff)?;
            }
        }
        Ok(())
    }

    /// Prints the reasons why files or entries were left alone.
    pub(super) fn warn(&self, output: &mut Output) {
        for agent in &self.agents {
            if let Some(problem) = &agent.problem {
                output.warning(problem);
            }
            for setting in &agent.hooks_off {
                let title = agent.agent.title();
                output.warning(&format!(
                    "the hooks of {title} are switched off: {setting}; change it, or memory has only its tools"
                ));
            }
            for file in &agent.files {
                file.problems.iter().for_each(|problem| output.warning(&format!("{}: {problem}", file.path)));
            }
        }
    }

    /// Records that a file was not written.
    pub(super) fn note_failure(&mut self, path: &Path, error: &DiskError) {
        self.agents.iter_mut().for_each(|agent| note_failure(&mut agent.files, path, error));
    }

    /// Returns true if something was left alone that should have been changed.
    pub(super) fn has_problems(&self) -> bool {
        let has =
            |agent: &AgentReport| agent.problem.is_some() || agent.files.iter().any(|file| !file.problems.is_empty());
        self.agents.iter().any(has)
    }
}

/// Records that a file was not written.
pub(super) fn note_failure(files: &mut [FileReport], path: &Path, error: &DiskError) {
    if let Some(file) = files.iter_mut().find(|file| Path::new(&file.path) == path) {
        file.state = "left-alone";
        file.diff.clear();
        file.problems.push(error.to_string());
    }
}
