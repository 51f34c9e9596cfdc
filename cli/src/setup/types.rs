//! Types that several files of setup share: the clients, and the places in a file.

use saddlebag_collections::words;

/// Program that runs agents and can be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Copilot,
    Cursor,
    Gemini,
    OpenClaw,
    OpenCode,
    VsCode,
    Zed,
}

words!(Client, "agent" {
    ClaudeCode = "claude-code",
    ClaudeDesktop = "claude-desktop",
    Codex = "codex",
    Copilot = "copilot",
    Cursor = "cursor",
    Gemini = "gemini",
    OpenClaw = "openclaw",
    OpenCode = "opencode",
    VsCode = "vscode",
    Zed = "zed",
});

/// Configuration to change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Configuration of the user, for all projects.
    #[default]
    User,
    /// Configuration of the project in the current folder.
    Project,
}

words!(Scope, "scope" { User = "user", Project = "project" });

/// Command that entries run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// Program: an absolute path, or a name.
    pub(crate) command: String,
    /// Global options before the subcommand.
    pub(crate) options: Vec<String>,
    /// True if `options` choose the project, so that the client need not.
    pub(crate) has_project: bool,
    /// If set, hooks say nothing about the file or the command of a tool.
    pub(crate) without_before_tool: bool,
}

/// Step of a path in a file: a key of a table, or an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

/// Reason why a file is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The file cannot be parsed, or something else is where our entries belong.
    Malformed { line: usize, column: usize, message: String },
    /// The place of the change is written in a way that cannot be edited without a change of the rest.
    NotInPlace { path: String },
}

impl Unfit {
    /// Returns the problem at an offset of the text. Lines and columns count from 1, and columns count characters.
    pub(crate) fn malformed(text: &str, at: usize, message: String) -> Self {
        let before = &text[..text.floor_char_boundary(at)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self::Malformed { line, column, message }
    }
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed { line, column, message } => write!(f, "line {line}, column {column}: {message}"),
            Self::NotInPlace { path } => {
                write!(f, "`{path}` cannot be changed without a change of the rest of the file; change it by hand")
            }
        }
    }
}

/// What of the store is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Notes of the project.
    Project,
    /// Notes for all projects.
    User,
    /// Notes in the root of the store, with the long-term memory for all projects.
    Notebook,
    /// Entries of the agent.
    Entries,
    /// Entries of the workspace.
    Workspace,
    /// The whole store.
    All,
}

words!(Share, "scope to share" {
    Project = "project",
    User = "user",
    Notebook = "notebook",
    Entries = "entries",
    Workspace = "workspace",
    All = "all",
});
