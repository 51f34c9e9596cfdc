//! The hooks of each client: its events, and the entries that run our `hook`.

use super::piece::{Piece, Syntax, WITHOUT_BEFORE_TOOL, shell_line};
use super::places::Platform;
use super::types::{Client, Run};
use super::value::Value;
use crate::hook::acting_tools;

/// Seconds after which a client stops a hook. A hook takes milliseconds; the rest is for a machine under load.
const TIMEOUT_SECONDS: u64 = 10;

/// Seconds that Codex gives a hook at the end of a session. It warns of more at every start.
const CODEX_END_SECONDS: u64 = 3;

/// Event of our `hook` before a tool runs. Clients that take no text then get it with the result of the tool.
const BEFORE_TOOL: &str = "before-tool";

/// Hooks of a client.
pub(crate) struct Hooks {
    /// Each event of the client, with the event of our `hook` that it runs.
    events: &'static [(&'static str, &'static str)],
    shape: Shape,
}

/// Shape of a hook in a client's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Group of handlers. A handler has a command line: some programs that read the same file ignore a list of
    /// arguments, and would run the program without any.
    Group,
    /// Group of handlers. A handler has a command line and a name, and its time is in milliseconds.
    GroupInMilliseconds,
    /// Handler with a command line.
    Line,
    /// Handler with a command line for each kind of shell.
    TwoLines,
}

const CLAUDE_CODE: Hooks = Hooks {
    events: &[
        ("SessionStart", "start"),
        ("SubagentStart", "start"),
        ("UserPromptSubmit", "prompt"),
        ("PreToolUse", BEFORE_TOOL),
        ("PostToolUse", "tool"),
        ("PostToolUseFailure", "tool"),
        ("PreCompact", "compact"),
        ("Stop", "stop"),
        ("SessionEnd", "end"),
    ],
    shape: Shape::Group,
};

const CODEX: Hooks = Hooks {
    events: &[
        ("SessionStart", "start"),
        ("SubagentStart", "start"),
        ("UserPromptSubmit", "prompt"),
        ("PreToolUse", BEFORE_TOOL),
        ("PostToolUse", "tool"),
        ("PreCompact", "compact"),
        ("Stop", "stop"),
        ("SessionEnd", "end"),
    ],
    shape: Shape::Group,
};

const CURSOR: Hooks = Hooks {
    events: &[
        ("sessionStart", "start"),
        ("beforeSubmitPrompt", "prompt"),
        ("postToolUse", "tool"),
        ("postToolUseFailure", "tool"),
        ("preCompact", "compact"),
        ("stop", "stop"),
        ("sessionEnd", "end"),
    ],
    shape: Shape::Line,
};

const GEMINI: Hooks = Hooks {
    events: &[
        ("SessionStart", "start"),
        ("BeforeAgent", "prompt"),
        ("AfterTool", "tool"),
        ("PreCompress", "compact"),
        ("AfterAgent", "stop"),
        ("SessionEnd", "end"),
    ],
    shape: Shape::GroupInMilliseconds,
};

const COPILOT: Hooks = Hooks {
    events: &[
        ("sessionStart", "start"),
        ("userPromptSubmitted", "prompt"),
        ("postToolUse", "tool"),
        ("postToolUseFailure", "tool"),
        ("preCompact", "compact"),
        ("agentStop", "stop"),
        ("sessionEnd", "end"),
    ],
    shape: Shape::TwoLines,
};

/// Returns the hooks of a client; `None` if it has no hooks in its configuration.
pub(crate) fn of(client: Client) -> Option<&'static Hooks> {
    match client {
        Client::ClaudeCode => Some(&CLAUDE_CODE),
        Client::Codex => Some(&CODEX),
        Client::Copilot => Some(&COPILOT),
        Client::Cursor => Some(&CURSOR),
        Client::Gemini => Some(&GEMINI),
        Client::ClaudeDesktop | Client::OpenClaw | Client::OpenCode | Client::VsCode | Client::Zed => None,
    }
}

impl Hooks {
    /// Returns the entries for a configuration file.
    pub(crate) fn pieces(&self, client: Client, run: &Run, platform: Platform) -> Vec<Piece> {
        let demands_version = matches!(self.shape, Shape::Line | Shape::TwoLines);
        let version = Piece::Demanded { key: "version".to_string(), value: number(1) };
        let hooks = self.events.iter().map(|(event, ours)| Piece::Hook {
            path: vec!["hooks".to_string(), (*event).to_string()],
            value: (*ours != BEFORE_TOOL || !run.without_before_tool).then(|| self.hook(ours, client, run, platform)),
        });
        demands_version.then_some(version).into_iter().chain(hooks).collect()
    }

    fn has_before_tool(&self) -> bool {
        self.events.iter().any(|(_, ours)| *ours == BEFORE_TOOL)
    }

    fn hook(&self, event: &str, client: Client, run: &Run, platform: Platform) -> Value {
        let is_without = run.without_before_tool && event == "tool" && !self.has_before_tool();
        let arguments = ["hook", event, "--client", client.as_str()].into_iter();
        let arguments = arguments.chain(is_without.then_some(WITHOUT_BEFORE_TOOL)).map(str::to_string);
        let words = std::iter::once(&run.command).chain(&run.options).cloned();
        let words: Vec<String> = words.chain(arguments).collect();
        let line = |shell| Value::text(shell_line(&words, shell));
        let usual = match (platform, client) {
            (Platform::Windows, Client::ClaudeCode) => Syntax::AnyOfWindows,
            (Platform::Windows, _) => Syntax::Cmd,
            _ => Syntax::Posix,
        };
        let kind = ("type", Value::text("command"));
        let seconds = if client == Client::Codex && event == "end" { CODEX_END_SECONDS } else { TIMEOUT_SECONDS };
        let timeout = ("timeout", number(seconds));
        // The other tools need not start a program.
        let matcher = (event == BEFORE_TOOL).then(|| ("matcher", Value::text(matcher(client))));
        let group =
            |handler| table(matcher.into_iter().chain([("hooks", Value::List(vec![table(handler)]))]).collect());
        match self.shape {
            Shape::Group => group(vec![kind, ("command", line(usual)), timeout]),
            Shape::GroupInMilliseconds => {
                let timeout = ("timeout", number(seconds * 1000));
                group(vec![("name", Value::text(super::piece::SERVER)), kind, ("command", line(usual)), timeout])
            }
            Shape::Line => table(vec![("command", line(usual)), timeout]),
            Shape::TwoLines => table(vec![
                kind,
                ("bash", line(Syntax::Posix)),
                ("powershell", line(Syntax::PowerShell)),
                ("timeoutSec", number(seconds)),
            ]),
        }
    }
}

/// Returns the pattern for the tools that write files or run commands. Claude Code compares a list of names, and Codex matches
/// an expression.
fn matcher(client: Client) -> String {
    let names = client.as_str().parse().map(acting_tools).unwrap_or_default().join("|");
    if client == Client::Codex { format!("^({names})$") } else { names }
}

fn number(number: u64) -> Value {
    Value::Number(number.to_string())
}

fn table(pairs: Vec<(&str, Value)>) -> Value {
    Value::Table(pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}
