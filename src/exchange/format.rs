//! [`Format`]: memory formats of other agents, and the table of their files, readers and writers.

use saddlebag_collections::{prelude::*, words};

use super::text::base_name;
use super::types::{Converted, Output, TextFile};
use super::{basic_memory, claude_code, json, mcp_memory, readers};
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

/// Reads the memory in files.
pub(super) enum Read {
    /// Reads the files one by one.
    Each(fn(&TextFile<'_>, &mut Converted)),
    /// Reads all files together. The second argument has the paths of files that belong to the same memory but are not
    /// passed.
    All(fn(&[TextFile<'_>], &[String], &mut Converted)),
}

impl Read {
    pub(super) fn run(&self, files: &[TextFile<'_>], others: &[String]) -> Converted {
        let mut converted = Converted::default();
        match self {
            Self::Each(read) => files.iter().for_each(|file| read(file, &mut converted)),
            Self::All(read) => read(files, others, &mut converted),
        }
        converted
    }
}

/// How a format is read and written: the name of its file if it is a single one, whether a path is one of its files, the
/// reader, and the writer unless the format is for import only.
type Row = (Option<&'static str>, fn(&str) -> bool, Read, Option<fn(&[ForeignEntry]) -> Output>);

impl Format {
    /// Returns the row of a format in the table of all formats.
    pub(super) const fn row(self) -> Row {
        match self {
            Self::JsonLines => {
                (Some("saddlebag.jsonl"), |path| path.ends_with(".jsonl"), Read::Each(json::read), Some(json::export))
            }
            Self::ClaudeCode => (None, is_markdown, Read::All(claude_code::read_own), Some(claude_code::export)),
            Self::OpenClaw => (None, readers::wants_openclaw, Read::Each(readers::openclaw), None),
            Self::ZeroClaw => (
                Some("MEMORY_SNAPSHOT.md"),
                |path| base_name(path) == "MEMORY_SNAPSHOT.md",
                Read::Each(readers::zeroclaw),
                None,
            ),
            Self::NullClaw => (
                Some("MEMORY_SNAPSHOT.json"),
                |path| base_name(path) == "MEMORY_SNAPSHOT.json",
                Read::Each(readers::nullclaw),
                None,
            ),
            Self::Hermes => {
                (None, |path| matches!(base_name(path), "MEMORY.md" | "USER.md"), Read::Each(readers::hermes), None)
            }
            Self::BasicMemory => (None, is_markdown, Read::Each(basic_memory::read), Some(basic_memory::export)),
            Self::McpMemory => (
                Some("memory.jsonl"),
                |path| base_name(path) == "memory.jsonl",
                Read::Each(mcp_memory::read),
                Some(mcp_memory::export),
            ),
            Self::Gemini => (Some("GEMINI.md"), is_markdown, Read::All(readers::gemini), None),
            Self::Letta => {
                (None, |path| is_markdown(path) && !path.starts_with("skills/"), Read::Each(readers::letta), None)
            }
            Self::Codex => {
                (None, |path| matches!(path, "MEMORY.md" | "memory_summary.md"), Read::All(readers::codex), None)
            }
        }
    }

    /// Returns true if the format can be exported.
    pub fn is_written(self) -> bool {
        self.row().3.is_some()
    }

    /// Returns the name of the file, if the format is a single file.
    pub fn single_file(self) -> Option<&'static str> {
        self.row().0
    }

    /// Returns true if a file of a folder has memory of this format. Other files are skipped.
    pub fn wants(self, path: &str) -> bool {
        (self.row().1)(path)
    }
}

fn is_markdown(path: &str) -> bool {
    path.ends_with(".md")
}
