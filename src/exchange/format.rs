//! [`Format`]: the formats of memory that other agents have.

use alloc::format;
use alloc::vec::Vec;

use super::text;
use crate::protocol::Error;

/// A format of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// Our own: a JSON object a line with all fields of an entry.
    JsonLines,
    /// Claude Code's auto memory: a file a topic, and an index.
    ClaudeCode,
    /// OpenClaw's workspace: `MEMORY.md` and `memory/<date>.md`.
    OpenClaw,
    /// ZeroClaw's `MEMORY_SNAPSHOT.md`.
    ZeroClaw,
    /// NullClaw's `MEMORY_SNAPSHOT.json`.
    NullClaw,
    /// Hermes' `MEMORY.md` and `USER.md`.
    Hermes,
    /// basic-memory's notes.
    BasicMemory,
    /// `memory.jsonl` of the reference memory server of the Model Context Protocol.
    McpMemory,
    /// The section `Gemini Added Memories` of `GEMINI.md`, and the private memory of a project.
    Gemini,
    /// Letta's MemFS; only read.
    Letta,
    /// Codex's memories; only read.
    Codex,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::JsonLines,
        Self::ClaudeCode,
        Self::OpenClaw,
        Self::ZeroClaw,
        Self::NullClaw,
        Self::Hermes,
        Self::BasicMemory,
        Self::McpMemory,
        Self::Gemini,
        Self::Letta,
        Self::Codex,
    ];

    /// The name, as the source of an entry has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::ClaudeCode => "claude-code",
            Self::OpenClaw => "openclaw",
            Self::ZeroClaw => "zeroclaw",
            Self::NullClaw => "nullclaw",
            Self::Hermes => "hermes",
            Self::BasicMemory => "basic-memory",
            Self::McpMemory => "mcp-memory",
            Self::Gemini => "gemini",
            Self::Letta => "letta",
            Self::Codex => "codex",
        }
    }

    /// Whether it can be written.
    #[must_use]
    pub fn is_written(self) -> bool {
        !matches!(self, Self::Letta | Self::Codex)
    }

    /// The one file that it is, where it is one.
    #[must_use]
    pub fn single_file(self) -> Option<&'static str> {
        match self {
            Self::JsonLines => Some("saddlebag.jsonl"),
            Self::ZeroClaw => Some("MEMORY_SNAPSHOT.md"),
            Self::NullClaw => Some("MEMORY_SNAPSHOT.json"),
            Self::McpMemory => Some("memory.jsonl"),
            Self::Gemini => Some("GEMINI.md"),
            _ => None,
        }
    }

    /// Whether a file of a folder, by its path there, has memory of this format. Others are passed over.
    #[must_use]
    pub fn wants(self, path: &str) -> bool {
        let name = text::base_name(path);
        let is_markdown = name.ends_with(".md");
        match self {
            Self::JsonLines => name.ends_with(".jsonl"),
            Self::ZeroClaw | Self::NullClaw | Self::McpMemory => Some(name) == self.single_file(),
            Self::Hermes => matches!(name, "MEMORY.md" | "USER.md"),
            Self::OpenClaw => {
                path.eq_ignore_ascii_case("MEMORY.md")
                    || (is_markdown && path.strip_prefix("memory/").is_some_and(|path| !path.contains('/')))
            }
            Self::Codex => matches!(path, "MEMORY.md" | "memory_summary.md"),
            Self::Letta => is_markdown && !path.starts_with("skills/"),
            Self::Gemini | Self::ClaudeCode | Self::BasicMemory => is_markdown,
        }
    }

    /// The format of a name.
    ///
    /// # Errors
    ///
    /// A name that no format has.
    pub fn parse(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
            let message = format!("no format is called `{}`", name.escape_debug());
            Error::invalid_argument(message, format!("there are {}", names.join(", ")))
        })
    }
}
