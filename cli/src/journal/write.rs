//! `write`: text in a file of memory.

use clap::Args;
use saddlebag::journal::{TargetRole, Write, WriteMode, WriteReply};

use crate::failure::Failure;
use crate::input::{self, free_text};
use crate::output::Output;
use crate::subcommand::Ask;
use crate::word::word;

/// Write text to long-term memory, the scratchpad, today's log or a note
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// long_term (or long), scratchpad, daily, note (with --name) or note:NAME
    target: String,
    /// The text; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    content: String,
    /// The name of the note
    #[arg(long, allow_hyphen_values = true)]
    name: Option<String>,
    /// append: behind what is there; overwrite: in its place
    #[arg(long, default_value = "append", value_parser = word::<WriteMode>())]
    mode: WriteMode,
    /// Keep the first 65,536 bytes of a longer text instead of refusing it
    #[arg(long)]
    truncate: bool,
}

impl Ask for WriteArgs {
    type Request = Write;

    fn request(self) -> Result<Write, Failure> {
        Ok(Write {
            target: input::target(&self.target, self.name.as_deref(), TargetRole::Target)?,
            mode: self.mode,
            content: input::text(self.content)?,
            truncate: self.truncate,
        })
    }

    fn print(reply: &WriteReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&reply.message)?;
        Ok(())
    }
}
