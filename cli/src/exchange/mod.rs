//! `import --from` and `export --to`: memory from and for other agents.

mod export;
mod import;
mod known;
mod sources;

pub(crate) use export::run as export;
pub(crate) use import::run as import;

use clap::ValueEnum;
use saddlebag::Reply;
use saddlebag::entries::ExchangeState;
use saddlebag::exchange::{ExchangeCommand, ExchangeReply, ExchangeVerb, Format};
use serde_json::{Value, json};

use crate::commands::{run_in, wrong_reply};
use crate::failure::Failure;
use crate::output::Output;
use crate::store::Store;

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
    /// What the folder looks like; without a folder, what is found on this machine; only imported
    Auto,
}

impl FormatName {
    /// The format of another agent; `None` for our own Markdown and for `auto`.
    fn foreign(self) -> Option<Format> {
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

fn execute(store: &mut Store, verb: ExchangeVerb, output: &mut Output) -> Result<ExchangeReply, Failure> {
    match run_in(store, ExchangeCommand::new(verb), output)? {
        Reply::Exchange(reply) => Ok(reply),
        _ => Err(wrong_reply()),
    }
}

/// A reply as a JSON object.
pub(crate) fn json(reply: &ExchangeReply) -> Value {
    match reply {
        ExchangeReply::ImportFrom(reply) => json!({
            "entries": reply.entries.iter().map(|entry| {
                let (state, detail) = state(&entry.state);
                json!({ "path": entry.path, "line": entry.line, "key": entry.key, "state": state, "detail": detail })
            }).collect::<Vec<_>>(),
            "rejected": reply.rejected.iter().map(|part| {
                json!({ "path": part.path, "line": part.line, "reason": part.reason })
            }).collect::<Vec<_>>(),
        }),
        ExchangeReply::ExportTo(reply) => json!({
            "files": reply.files,
            "bytes": reply.bytes,
            "entries": reply.entries,
            "next": reply.next,
            "losses": export::losses(&reply.losses),
        }),
        _ => Value::Null,
    }
}

fn state(state: &ExchangeState) -> (&'static str, Option<&str>) {
    match state {
        ExchangeState::Stored => ("stored", None),
        ExchangeState::Updated => ("updated", None),
        ExchangeState::Unchanged => ("unchanged", None),
        ExchangeState::Renamed(key) => ("renamed", Some(key)),
        ExchangeState::Kept(reason) => ("kept", Some(reason)),
        ExchangeState::Rejected(reason) => ("rejected", Some(reason)),
        _ => ("other", None),
    }
}
