//! [`Event`]: one moment of a session, in words that no client owns.

use std::path::PathBuf;

use saddlebag::session::StoredItem;
use saddlebag_collections::words;

/// Client whose hook ran the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex, on the command line or in an editor.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// OpenCode, through our plugin.
    OpenCode,
    /// Copilot CLI, and the agent of VS Code.
    Copilot,
    /// OpenClaw, through our plugin.
    OpenClaw,
    /// Hermes, through our plugin.
    Hermes,
}

words!(Client, "client" {
    ClaudeCode = "claude-code",
    Codex = "codex",
    Cursor = "cursor",
    Gemini = "gemini",
    OpenCode = "opencode",
    Copilot = "copilot",
    OpenClaw = "openclaw",
    Hermes = "hermes",
});

/// Moment of a session at which a client runs a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A session begins or goes on.
    Start,
    /// The user has written a prompt.
    Prompt,
    /// A tool is about to run.
    BeforeTool,
    /// A tool has run.
    Tool,
    /// The client is about to summarise the conversation.
    Compact,
    /// The agent has finished a turn.
    Stop,
    /// The session is over.
    End,
}

words!(Moment, "event" {
    Start = "start",
    Prompt = "prompt",
    BeforeTool = "before-tool",
    Tool = "tool",
    Compact = "compact",
    Stop = "stop",
    End = "end",
});

/// Names of the clients' events, each with its moment. `None` marks an event that memory does not use.
const NAMES: [(&str, Option<Moment>); 57] = [
    ("SessionStart", Some(Moment::Start)),
    ("sessionStart", Some(Moment::Start)),
    ("session.created", Some(Moment::Start)),
    ("UserPromptSubmit", Some(Moment::Prompt)),
    ("beforeSubmitPrompt", Some(Moment::Prompt)),
    ("BeforeAgent", Some(Moment::Prompt)),
    ("userPromptSubmitted", Some(Moment::Prompt)),
    ("chat.message", Some(Moment::Prompt)),
    ("PreToolUse", Some(Moment::BeforeTool)),
    ("preToolUse", Some(Moment::BeforeTool)),
    ("BeforeTool", Some(Moment::BeforeTool)),
    ("tool.execute.before", Some(Moment::BeforeTool)),
    ("PostToolUse", Some(Moment::Tool)),
    ("postToolUse", Some(Moment::Tool)),
    ("PostToolUseFailure", Some(Moment::Tool)),
    ("postToolUseFailure", Some(Moment::Tool)),
    ("AfterTool", Some(Moment::Tool)),
    ("tool.execute.after", Some(Moment::Tool)),
    ("PreCompact", Some(Moment::Compact)),
    ("preCompact", Some(Moment::Compact)),
    ("PreCompress", Some(Moment::Compact)),
    ("experimental.session.compacting", Some(Moment::Compact)),
    ("Stop", Some(Moment::Stop)),
    ("stop", Some(Moment::Stop)),
    ("AfterAgent", Some(Moment::Stop)),
    ("agentStop", Some(Moment::Stop)),
    ("session.idle", Some(Moment::Stop)),
    ("SessionEnd", Some(Moment::End)),
    ("sessionEnd", Some(Moment::End)),
    ("dispose", Some(Moment::End)),
    ("PermissionRequest", None),
    ("permissionRequest", None),
    ("PostCompact", None),
    ("SubagentStart", Some(Moment::Start)),
    ("subagentStart", None),
    ("SubagentStop", None),
    ("subagentStop", None),
    ("Notification", None),
    ("notification", None),
    ("Interrupt", None),
    ("StopFailure", None),
    ("ErrorOccurred", None),
    ("errorOccurred", None),
    ("BeforeModel", None),
    ("AfterModel", None),
    ("BeforeToolSelection", None),
    ("beforeShellExecution", None),
    ("afterShellExecution", None),
    ("beforeMCPExecution", None),
    ("afterMCPExecution", None),
    ("beforeReadFile", None),
    ("afterFileEdit", None),
    ("afterAgentResponse", None),
    ("afterAgentThought", None),
    ("userPromptTransformed", None),
    ("beforeTabFileRead", None),
    ("afterTabFileEdit", None),
];

/// Returns the moment that a name of ours or of a client means. The outer `None` is an unknown name, the inner one an
/// event that memory does not use.
pub(crate) fn moment(name: &str) -> Option<Option<Moment>> {
    let of_client = || NAMES.iter().find(|(known, _)| *known == name).map(|(_, moment)| *moment);
    name.parse().ok().map(Some).or_else(of_client)
}

/// One moment of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Client that reports it.
    pub(crate) client: Client,
    /// Name of the event in the words of the client, for an answer that repeats it.
    pub(crate) name: String,
    /// Spelling of the answer.
    pub(crate) style: Style,
    /// Id of the session, as the client gives it.
    pub(crate) session: String,
    /// Folders that the client works in, the most certain one first.
    pub(crate) folders: Vec<PathBuf>,
    /// Fields of this moment.
    pub(crate) detail: Detail,
    /// Ids that two reports of the same moment share, such as the id of a call; empty if the client gives none.
    pub(crate) id: String,
}

impl Event {
    /// Returns true if a session begins, and not only a subagent of it.
    pub(crate) fn begins_session(&self) -> bool {
        matches!(self.detail, Detail::Start(source, _) if source != Source::Subagent)
    }

    /// Returns the moment.
    pub(crate) fn moment(&self) -> Moment {
        match self.detail {
            Detail::Start(..) => Moment::Start,
            Detail::Prompt(_) => Moment::Prompt,
            Detail::BeforeTool(_) => Moment::BeforeTool,
            Detail::Tool(_) => Moment::Tool,
            Detail::Compact => Moment::Compact,
            Detail::Stop(_) => Moment::Stop,
            Detail::End => Moment::End,
        }
    }
}

/// Fields that only one moment has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Reason why a session begins, and its first prompt without private parts, if the client knows it already.
    Start(Source, Option<String>),
    /// Prompt of the user, without private parts.
    Prompt(String),
    /// Use of a tool that has not begun: its files and its command.
    BeforeTool(ToolUse),
    /// Use of a tool.
    Tool(ToolUse),
    /// Nothing more.
    Compact,
    /// Last answer of the agent, if the client gives it.
    Stop(Option<String>),
    /// Nothing more.
    End,
}

/// Reason why a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A new session.
    Startup,
    /// An earlier session goes on.
    Resume,
    /// The user has cleared the conversation.
    Clear,
    /// The client has summarised the conversation.
    Compact,
    /// A copy of an earlier session.
    Fork,
    /// A subagent of the session.
    Subagent,
}

words!(Source, "source of a session" {
    Startup = "startup",
    Resume = "resume",
    Clear = "clear",
    Compact = "compact",
    Fork = "fork",
    Subagent = "subagent",
});

/// Use of a tool, without the content of any file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolUse {
    /// Name of the tool, as the client gives it.
    pub(crate) tool: String,
    /// Paths of files that it wrote, as the client gives them.
    pub(crate) files: Vec<String>,
    /// Command that it ran.
    pub(crate) command: Option<String>,
    /// True if the tool or its command failed.
    pub(crate) failed: bool,
    /// Text that it printed: the error, or the end of the output of a command that hides the exit code of tests.
    pub(crate) output: Option<String>,
    /// Text that it stored in memory.
    pub(crate) stored: Option<StoredItem>,
}

impl ToolUse {
    /// Returns true if the tool changed something, ran something or failed.
    pub(crate) fn has_effect(&self) -> bool {
        self.failed || !self.files.is_empty() || self.command.is_some() || self.stored.is_some()
    }
}

/// Spelling of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `hookSpecificOutput` with `additionalContext`.
    Nested,
    /// `additional_context` at the top.
    Snake,
    /// `additionalContext` at the top.
    Camel,
    /// `text` at the top, for our plugin.
    Plugin,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_known_in_our_words_and_in_those_of_every_client() {
        for (name, expected) in [
            ("start", Some(Some(Moment::Start))),
            ("SessionStart", Some(Some(Moment::Start))),
            ("stop", Some(Some(Moment::Stop))),
            ("AfterTool", Some(Some(Moment::Tool))),
            ("userPromptSubmitted", Some(Some(Moment::Prompt))),
            ("PreToolUse", Some(Some(Moment::BeforeTool))),
            ("SubagentStop", Some(None)),
            ("Sessionstart", None),
            ("", None),
        ] {
            assert_eq!(moment(name), expected, "{name}");
        }
    }

    #[test]
    fn no_name_of_an_event_is_there_twice() {
        let mut names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NAMES.len());
    }
}
