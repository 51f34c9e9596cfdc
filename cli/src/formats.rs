//! [`FormatName`]: the formats of `memory import --from` and `memory export --to`.

use clap::ValueEnum;
use saddlebag::exchange::Format;

/// A format, as it is called on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// Files of entries, byte for byte as Saddlebag keeps them
    #[default]
    Markdown,
    /// A JSON object a line, with every field of an entry
    Jsonl,
    /// The folder of Claude Code's auto memory
    ClaudeCode,
    /// OpenClaw's workspace
    Openclaw,
    /// ZeroClaw's MEMORY_SNAPSHOT.md
    Zeroclaw,
    /// NullClaw's MEMORY_SNAPSHOT.json
    Nullclaw,
    /// The memories of Hermes
    Hermes,
    /// Notes of basic-memory
    BasicMemory,
    /// memory.jsonl of the MCP reference memory server
    McpMemory,
    /// GEMINI.md of Gemini CLI
    Gemini,
    /// The memory of a Letta agent; only imported
    Letta,
    /// Codex's memories; only imported
    Codex,
    /// Detect the format of the folder; without a folder, import all that this machine has; import only
    Auto,
}

impl FormatName {
    /// Returns the format of another agent, or `None` for our own Markdown and for `auto`.
    pub(crate) fn foreign(self) -> Option<Format> {
        Some(match self {
            Self::Markdown | Self::Auto => return None,
            Self::Jsonl => Format::JsonLines,
            Self::ClaudeCode => Format::ClaudeCode,
            Self::Openclaw => Format::OpenClaw,
            Self::Zeroclaw => Format::ZeroClaw,
            Self::Nullclaw => Format::NullClaw,
            Self::Hermes => Format::Hermes,
            Self::BasicMemory => Format::BasicMemory,
            Self::McpMemory => Format::McpMemory,
            Self::Gemini => Format::Gemini,
            Self::Letta => Format::Letta,
            Self::Codex => Format::Codex,
        })
    }
}
