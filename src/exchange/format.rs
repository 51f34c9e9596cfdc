//! [`Format`]: memory formats of other agents, and the table of their files, readers and writers.

use alloc::string::String;

use saddlebag_collections::words;

use super::text::base_name;
use super::types::{Converted, Exported, TextFile};
use super::{basic_memory, claude_code, codex, flat, json, letta, mcp_memory, openclaw, snapshots};
use crate::entries::ForeignEntry;

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
    /// Letta's MemFS.
    Letta,
    /// Codex's memories.
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

type Wants = fn(&str) -> bool;
/// Reads files. The second argument has the paths of files that belong to the same memory but are not passed.
type Read = fn(&[TextFile<'_>], &[String]) -> Converted;
type Write = fn(&[ForeignEntry]) -> Exported;

/// How a format is read and written.
pub(super) struct Converter {
    file: Option<&'static str>,
    wants: Wants,
    pub(super) read: Read,
    /// `None` if the format is for import only.
    pub(super) write: Option<Write>,
}

impl Format {
    /// Returns the row of a format in the table of all formats.
    pub(super) const fn converter(self) -> Converter {
        let (file, wants, read, write): (Option<&'static str>, Wants, Read, Option<Write>) = match self {
            Self::JsonLines => (
                Some("saddlebag.jsonl"),
                |path| path.ends_with(".jsonl"),
                |files, _| json::import(files),
                Some(json::export),
            ),
            Self::ClaudeCode => (
                None,
                is_markdown,
                |files, others| claude_code::import(files, others, &claude_code::CLAUDE_CODE),
                Some(claude_code::export),
            ),
            Self::OpenClaw => (None, openclaw::wants, |files, _| openclaw::import(files), None),
            Self::ZeroClaw => {
                let wants: Wants = |path| base_name(path) == "MEMORY_SNAPSHOT.md";
                (Some("MEMORY_SNAPSHOT.md"), wants, |files, _| snapshots::import_zeroclaw(files), None)
            }
            Self::NullClaw => {
                let wants: Wants = |path| base_name(path) == "MEMORY_SNAPSHOT.json";
                (Some("MEMORY_SNAPSHOT.json"), wants, |files, _| snapshots::import_nullclaw(files), None)
            }
            Self::Hermes => {
                let wants: Wants = |path| matches!(base_name(path), "MEMORY.md" | "USER.md");
                (None, wants, |files, _| flat::import_hermes(files), None)
            }
            Self::BasicMemory => {
                (None, is_markdown, |files, _| basic_memory::import(files), Some(basic_memory::export))
            }
            Self::McpMemory => {
                let wants: Wants = |path| base_name(path) == "memory.jsonl";
                (Some("memory.jsonl"), wants, |files, _| mcp_memory::import(files), Some(mcp_memory::export))
            }
            Self::Gemini => (Some("GEMINI.md"), is_markdown, flat::import_gemini, None),
            Self::Letta => {
                let wants: Wants = |path| is_markdown(path) && !path.starts_with("skills/");
                (None, wants, |files, _| letta::import(files), None)
            }
            Self::Codex => {
                let wants: Wants = |path| matches!(path, "MEMORY.md" | "memory_summary.md");
                (None, wants, |files, _| codex::import(files), None)
            }
        };
        Converter { file, wants, read, write }
    }

    /// Returns true if the format can be exported.
    #[must_use]
    pub fn is_written(self) -> bool {
        self.converter().write.is_some()
    }

    /// Returns the name of the file, if the format is a single file.
    #[must_use]
    pub fn single_file(self) -> Option<&'static str> {
        self.converter().file
    }

    /// Returns true if a file of a folder has memory of this format. Other files are skipped.
    #[must_use]
    pub fn wants(self, path: &str) -> bool {
        (self.converter().wants)(path)
    }
}

fn is_markdown(path: &str) -> bool {
    path.ends_with(".md")
}
