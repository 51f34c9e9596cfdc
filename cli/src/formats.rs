//! [`ImportFormat`] and [`ExportFormat`]: the formats of `memory import --from` and `memory export --to`.

use clap::ValueEnum;
use saddlebag::exchange::Format;
use schemars::JsonSchema;
use serde::Serialize;

/// A format that is read, as it is called on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
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
    /// The memory of a Letta agent
    Letta,
    /// Codex's memories
    Codex,
    /// Detect the format of the folder; without a folder, import all that this machine has
    Auto,
}

/// A format that is written, as it is called on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExportFormat {
    /// Files of entries, byte for byte as Saddlebag keeps them
    #[default]
    Markdown,
    /// A JSON object a line, with every field of an entry
    Jsonl,
    /// The folder of Claude Code's auto memory
    ClaudeCode,
    /// Notes of basic-memory
    BasicMemory,
    /// memory.jsonl of the MCP reference memory server
    McpMemory,
}

/// Returns the format that the component converts; `None` for our own Markdown and for `auto`.
pub(crate) fn converted(name: &impl ValueEnum) -> Option<Format> {
    name.to_possible_value()?.get_name().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_of_the_component_has_its_name() {
        let imported: Vec<Format> = ImportFormat::value_variants().iter().filter_map(converted).collect();
        assert_eq!(imported, Format::ALL);
        let exported: Vec<Format> = ExportFormat::value_variants().iter().filter_map(converted).collect();
        let written: Vec<Format> = Format::ALL.into_iter().filter(|format| format.is_written()).collect();
        assert_eq!(exported, written);
    }
}
