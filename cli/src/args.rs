//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use saddlebag::agents_md::Side;
use saddlebag::context::{BlockForm, Overflow};
use saddlebag::journal::WriteMode;

use crate::global::Global;
use crate::word::Word;

const AFTER_HELP: &str = "\
Exit codes:
  0  done
  1  nothing found: no match, no such file, empty memory
  2  bad use: unknown options, targets, modes or arguments
  3  refused or failed: bad names, missing targets of a change, storage errors

Errors go to standard error; with --json as {\"error\": {\"code\", \"message\", \"help\"}}.
SADDLEBAG_LOG=debug logs to standard error what happens, without content.";

/// Plain Markdown memory for agents
#[derive(Debug, Parser)]
#[command(name = "saddlebag", version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[allow(clippy::large_enum_variant, reason = "there is one in a run")]
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write text to long-term memory, the scratchpad, today's log or a note
    Write(WriteArgs),
    /// Print a file of memory, or a part of it
    Read(ReadArgs),
    /// List the files of memory
    List(ListArgs),
    /// Replace the one occurrence of a text, or delete a note
    Edit(EditArgs),
    /// Put the backup of a file, a note or an entry back
    Restore(RestoreArgs),
    /// Search for words, best match first
    Search(SearchArgs),
    /// Print the memory block for a prompt
    Context(ContextArgs),
    /// Print what a conversation begins with: base prompt, AGENTS.md, ARCHITECTURE.md, memory
    Preamble(PreambleArgs),
    /// Keep facts in a section of AGENTS.md, and read edits of them back
    #[command(name = "agents-md", subcommand)]
    AgentsMd(AgentsMdCommand),
    /// Add an entry to today's log
    Log(LogArgs),
    /// Print the sizes of what is always at hand
    Status,
    /// Print where something is, as an absolute path; nothing is made
    Path(PathArgs),
    /// Run a `/memory` command line
    Slash {
        /// For example `search WORDS`, `clear scratchpad`; nothing for the status
        #[arg(value_name = "LINE", trailing_var_arg = true, allow_hyphen_values = true)]
        line: Vec<String>,
    },
    #[command(flatten)]
    Notebook(crate::notebook::Command),
    #[command(flatten)]
    Entries(crate::entries::Command),
    /// Print the tools that a model is given
    Tools(crate::tools::ToolsArgs),
    /// Run a tool as a model would
    Call(crate::tools::CallArgs),
    #[command(flatten)]
    Trust(crate::trust::Command),
    /// Run a command line of zk: list, new, tag list, graph, init
    #[command(disable_help_flag = true)]
    Zk {
        /// What would stand behind `zk`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Serve memory to clients of the Model Context Protocol, on standard input and output or HTTP
    #[cfg(feature = "mcp")]
    Mcp(crate::mcp::McpArgs),
    /// Show memory at work on a sample store in a fresh folder
    Demo {
        /// Leave the folder, and say where it is
        #[arg(long)]
        keep: bool,
    },
    /// Print a completion script
    Completions {
        /// For this shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// long_term (or long), scratchpad, daily, note (with --name) or note:NAME
    pub(crate) target: String,
    /// The text; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    pub(crate) content: String,
    /// The name of the note
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) name: Option<String>,
    /// append: behind what is there; overwrite: in its place
    #[arg(long, default_value = "append", value_parser = WriteMode::parse_word)]
    pub(crate) mode: WriteMode,
    /// Keep the first 65,536 bytes of a longer text instead of refusing it
    #[arg(long)]
    pub(crate) truncate: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NamedTarget {
    /// long_term (or long), scratchpad, daily, note or note:NAME
    pub(crate) target: String,
    /// The name of the note, or the date of the log as YYYY-MM-DD
    pub(crate) name: Option<String>,
    /// The same as an option
    #[arg(long = "name", value_name = "NAME", conflicts_with = "name", allow_hyphen_values = true)]
    pub(crate) named: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// long_term (or long), scratchpad, daily, note or note:NAME; or the path of a note, as `forget` shows it
    #[arg(required_unless_present = "key")]
    pub(crate) target: Option<String>,
    /// The name of the note, or the date of the log as YYYY-MM-DD
    pub(crate) name: Option<String>,
    /// The same as an option
    #[arg(long = "name", value_name = "NAME", conflicts_with = "name", allow_hyphen_values = true)]
    pub(crate) named: Option<String>,
    /// The entry of this key instead: one that is forgotten, else what it said before it was last overwritten
    #[arg(long, value_name = "KEY", conflicts_with_all = ["target", "name", "named"], allow_hyphen_values = true)]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) source: NamedTarget,
    /// Where to start, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub(crate) offset: u64,
    /// How many bytes at most
    #[arg(long, value_name = "BYTES", default_value_t = saddlebag::journal::DEFAULT_READ_BYTES)]
    pub(crate) limit: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// With sizes in bytes
    #[arg(long, short)]
    pub(crate) long: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) target: NamedTarget,
    /// The text to replace, which must occur exactly once; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) old: Option<String>,
    /// The text in its place; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "old")]
    pub(crate) new: Option<String>,
    /// Delete the old text; without --old, delete the whole note, keeping a backup
    #[arg(long, conflicts_with = "new")]
    pub(crate) delete: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Each is looked for within words, whatever its case; `-` reads them from standard input
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// How many files to show
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// How many files to pass over: the next page
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u32,
    /// How many bytes of text to show
    #[arg(long, value_name = "N", default_value_t = saddlebag::journal::DEFAULT_READ_BYTES)]
    pub(crate) max_bytes: u32,
}

#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    /// For whom the block is written: claude (tags), openai (Markdown) or plain (no markup)
    #[arg(long = "for", default_value = "claude", value_name = "FORM", value_parser = BlockForm::parse_word)]
    pub(crate) form: BlockForm,
    /// Print the text of FILE with the block behind it; `-` reads it from standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["report", "prompt"])]
    pub(crate) append_to: Option<PathBuf>,
    /// Print a developer message of OpenAI's interface, as JSON
    #[arg(long, conflicts_with_all = ["report", "prompt"])]
    pub(crate) message: bool,
    /// What happens when memory is larger than the budget: documented, prioritised or balanced
    #[arg(long, default_value = "balanced", value_name = "POLICY", value_parser = Overflow::parse_word)]
    pub(crate) overflow: Overflow,
    /// How large the block may be
    #[arg(long, value_name = "N", default_value_t = saddlebag::context::DEFAULT_BLOCK_BYTES)]
    pub(crate) max_bytes: u32,
    /// Put entries into the block, those of N bytes that are hydrated; without N, of as many as the block has
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub(crate) entries: Option<Option<u64>>,
    /// Print the size of the block and what it leaves out, not the block
    #[arg(long)]
    pub(crate) report: bool,
    /// Also print what a model is to be told about its memory, behind the block
    #[arg(long, conflicts_with = "report")]
    pub(crate) prompt: bool,
    /// Put what is recalled for this question into the block, as its last section
    #[arg(long, value_name = "QUESTION", allow_hyphen_values = true)]
    pub(crate) recall: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PreambleArgs {
    /// The folder with AGENTS.md and ARCHITECTURE.md; the memory is that of its project, unless one is named
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// The base prompt; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) base: Option<PathBuf>,
    /// How large the whole may be
    #[arg(long, value_name = "N", default_value_t = saddlebag::context::DEFAULT_PREAMBLE_BYTES)]
    pub(crate) max_bytes: u32,
    /// How large the block of memory may be
    #[arg(long, value_name = "N", default_value_t = saddlebag::context::DEFAULT_BLOCK_BYTES)]
    pub(crate) memory_bytes: u32,
    /// For whom the block is written: claude (tags), openai (Markdown) or plain (no markup)
    #[arg(long = "for", default_value = "claude", value_name = "FORM", value_parser = BlockForm::parse_word)]
    pub(crate) form: BlockForm,
    /// What happens when memory is larger than its budget: documented, prioritised or balanced
    #[arg(long, default_value = "balanced", value_name = "POLICY", value_parser = Overflow::parse_word)]
    pub(crate) overflow: Overflow,
    /// Put entries into the block, those of N bytes that are hydrated; without N, of as many as the block has
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub(crate) entries: Option<Option<u64>>,
    /// Put what is recalled for this question into the block, as its last section
    #[arg(long, value_name = "QUESTION", allow_hyphen_values = true)]
    pub(crate) recall: Option<String>,
    /// End with what a model is to be told about its memory
    #[arg(long)]
    pub(crate) prompt: bool,
    /// Print the parts and what is left out, not the text
    #[arg(long)]
    pub(crate) report: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsMdCommand {
    /// Bring the section and the entries together
    Sync(AgentsMdArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AgentsMdArgs {
    /// The folder with the file
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// The file in that folder, made if it is missing and there is something to say
    #[arg(long, value_name = "NAME", default_value = "AGENTS.md")]
    pub(crate) file: String,
    /// List the facts with this tag; without --tag and --key the section goes on with the facts that it lists
    #[arg(long, short, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// List the fact of this key, likewise
    #[arg(long, short, value_name = "KEY", allow_hyphen_values = true)]
    pub(crate) key: Vec<String>,
    /// How large the section may be
    #[arg(long, value_name = "N", default_value_t = saddlebag::agents_md::DEFAULT_SECTION_BYTES)]
    pub(crate) max_bytes: u32,
    /// What counts where both have changed: section or store
    #[arg(long, value_name = "SIDE", value_parser = Side::parse_word)]
    pub(crate) prefer: Option<Side>,
    /// Confirm without asking what the file changes in prompts, and a section that this store has not written
    #[arg(long)]
    pub(crate) yes: bool,
    /// Change nothing, and say what would come of it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// One line; with --compaction the summary
    #[arg(value_parser = free_text, allow_hyphen_values = true)]
    pub(crate) heading: String,
    /// The text below it; `-` reads it from standard input
    #[arg(value_parser = free_text, allow_hyphen_values = true, conflicts_with = "compaction")]
    pub(crate) body: Option<String>,
    /// Keep the summary of a conversation that is compacted
    #[arg(long)]
    pub(crate) compaction: bool,
    /// How many messages the summary stands for
    #[arg(long, value_name = "N", requires = "compaction")]
    pub(crate) messages: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// root, project, long_term (or long), scratchpad, daily, note or note:NAME [default: root]
    pub(crate) target: Option<String>,
    /// The name of the note, or the date of the log as YYYY-MM-DD
    pub(crate) name: Option<String>,
}

/// Text may begin with a hyphen, as a list item does; a mistyped option is no text.
fn free_text(text: &str) -> Result<String, String> {
    let option = text.strip_prefix("--").and_then(|rest| rest.chars().next()).is_some_and(char::is_alphabetic);
    if option {
        return Err("looks like an option; give such text on standard input, with `-`".into());
    }
    Ok(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_list_item_is_text_and_a_mistyped_option_is_not() {
        let parse = |content| Cli::try_parse_from(["saddlebag", "write", "scratchpad", content]);
        for text in ["- [ ] task", "-", "---", "-- quoted", "* [ ] x"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        assert!(parse("--overwrite").is_err());
    }
}
