//! [`ContextArgs`]: the arguments of `context`.

use std::path::PathBuf;

use clap::Args;
use saddlebag::context::{BlockForm, DEFAULT_BLOCK_BYTES, Overflow};
use saddlebag::session::DEFAULT_SESSION_BYTES;

use crate::help::example;
use crate::past::AtArgs;
use crate::word::word;

/// Print the memory block that a session begins with, or another one
///
/// Without --overflow, --recall, --entries=BYTES and --preamble, this is what the hook gives a new session, byte for byte.
#[derive(Debug, Args)]
#[command(after_help = example("context --entries --max-bytes 16384"))]
pub(crate) struct ContextArgs {
    /// Print the start of a conversation instead: rules, architecture, memory
    #[arg(long, conflicts_with_all = ["message", "sources"])]
    pub(super) preamble: bool,
    /// Folder with AGENTS.md and ARCHITECTURE.md; its project gives the memory, unless --project names another [default: .]
    #[arg(long, value_name = "PATH", requires = "preamble")]
    pub(super) dir: Option<PathBuf>,
    /// Maximum size of the whole preamble, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::context::DEFAULT_PREAMBLE_BYTES, requires = "preamble")]
    pub(super) preamble_bytes: u32,
    /// Form of the block: claude (tags), openai (Markdown) or plain (no markup)
    #[arg(long = "for", default_value = "claude", value_name = "FORM", value_parser = word::<BlockForm>())]
    pub(super) form: BlockForm,
    /// File to print before the block, such as a base prompt; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub(super) append_to: Option<PathBuf>,
    /// Print a developer message of OpenAI's interface, as JSON
    #[arg(long, conflicts_with_all = ["report", "prompt"])]
    pub(super) message: bool,
    /// Choice when memory is larger than the block: documented, prioritised or balanced
    #[arg(long, default_value = "balanced", value_name = "POLICY", value_parser = word::<Overflow>())]
    pub(super) overflow: Overflow,
    /// Maximum size of the block, in bytes [default: 8000 for the start of a session, 32768 for another block]
    #[arg(long, value_name = "BYTES")]
    pub(super) max_bytes: Option<u32>,
    /// Include entries, up to this many bytes [without BYTES: up to the size of the block]; the start of a session has them
    #[arg(long, value_name = "BYTES", num_args = 0..=1, require_equals = true)]
    pub(super) entries: Option<Option<u64>>,
    /// Instead of the text, print its size and what it leaves out
    #[arg(long)]
    pub(super) report: bool,
    /// Instead of the block, print the file of each of its lines
    #[arg(long, conflicts_with_all = ["report", "prompt", "append_to", "message", "preamble"])]
    pub(super) sources: bool,
    /// Print the instructions about memory for a model at the end
    #[arg(long)]
    pub(super) prompt: bool,
    /// Question to recall; the answers become the last section of the block
    #[arg(long, value_name = "QUESTION", allow_hyphen_values = true)]
    pub(super) recall: Option<String>,
    #[command(flatten)]
    pub(super) at: AtArgs,
}

impl ContextArgs {
    /// Returns true if the block is the one that a session begins with.
    pub(super) fn is_start(&self) -> bool {
        let is_own = matches!(self.entries, Some(Some(_))) || self.recall.is_some() || self.preamble;
        self.overflow == Overflow::Balanced && !is_own
    }

    /// Returns the maximum size of the block in bytes.
    pub(super) fn block_bytes(&self) -> u32 {
        self.max_bytes.unwrap_or(if self.is_start() { DEFAULT_SESSION_BYTES } else { DEFAULT_BLOCK_BYTES })
    }
}
