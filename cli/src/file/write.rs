//! `file write`: writes text to a file of memory.

use clap::Args;
use saddlebag::journal::{Write, WriteMode, WriteReply};

use super::target::NamedTarget;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input::{self, free_text};
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;
use crate::word::word;

/// Write text to a file of memory
#[derive(Debug, Args)]
#[command(after_help = example("file write scratchpad \"- [ ] renew the certificate\""))]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    target: NamedTarget,
    /// Text to write, at most 65,536 bytes; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    content: String,
    /// Place of the text: append adds it at the end, overwrite replaces the file
    #[arg(long, default_value = "append", value_parser = word::<WriteMode>())]
    mode: WriteMode,
    /// Cut longer text after 65,536 bytes instead of refusing it
    #[arg(long)]
    truncate: bool,
}

impl Subcommand for WriteArgs {
    type Json = WriteReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let content = input::text(self.content)?;
        let content = match self.mode {
            WriteMode::Append => input::not_blank(content, "the text", "add `--mode overwrite` to empty the file")?,
            WriteMode::Overwrite => content,
        };
        let mut store = Store::open(global)?;
        let target = self.target.to_change("store", &mut store, output)?;
        let reply = store.call(Write { target, mode: self.mode, content, truncate: self.truncate }, output)?;
        output.object_or_line(&reply, reply.message.as_str())?;
        Ok(Exit::Done)
    }
}
