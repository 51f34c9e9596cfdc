//! [`Format`]: memory formats of other agents.

use saddlebag_words::words;

use super::text;

/// A memory format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// Saddlebag's own: a JSON object per line, with all fields of an entry.
    JsonLines,
    /// Claude Code's auto memory: a file per topic, and an index.
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
    /// Letta's MemFS; import only.
    Letta,
    /// Codex's memories; import only.
    Codex,
}

words!(Format, "format" {
    JsonLines = "jsonl",
    ClaudeCode = "claude-code",
    OpenClaw = "openclaw",
    ZeroClaw = "zeroclaw",
    NullClaw = "nullclaw",
    Hermes = "hermes",
    BasicMemory = "basic-memory",
    McpMemory = "mcp-memory",
    Gemini = "gemini",
    Letta = "letta",
    Codex = "codex",
});

impl Format {
    /// Returns true if the format can be exported.
    #[must_use]
    pub fn is_written(self) -> bool {
        !matches!(self, Self::Letta | Self::Codex)
    }

    /// Returns the name of the file, if the format is a single file.
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

    /// Returns true if a file of a folder has memory of this format. Other files are skipped.
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
}
