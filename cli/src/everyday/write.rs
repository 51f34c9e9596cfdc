//! `write`: writes text to a file of memory.

use saddlebag::journal::{Target, Write, WriteMode, WriteReply};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::LongTermScope;

use crate::input::{self, free_text};
use crate::item::{ItemName, Named};
use crate::output::single_line;
use crate::prelude::*;
use crate::word::word;

/// Write text to a file of memory
#[derive(Debug, Args)]
#[command(after_help = example("write scratchpad \"- [ ] renew the certificate\""))]
pub(crate) struct WriteArgs {
    #[command(flatten)]
    item: ItemName,
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
        let target = match self.item.find_to_change(&mut store, output)? {
            Named::Target(target) => target,
            Named::Entry(key) => {
                let help = format!("use `saddlebag remember --key {}`; nothing was changed", single_line(&key));
                let message = format!("`{}` is an entry", single_line(&self.item.name));
                return Err(Failure::new(ErrorCode::InvalidArgument, message, help));
            }
        };
        let is_shared = target == Target::LongTerm && !global.notebook && global.long_term() == LongTermScope::Shared;
        let reply = store.call(Write { target, mode: self.mode, content, truncate: self.truncate }, output)?;
        let shared = if is_shared { "; all projects share it" } else { "" };
        output.object_or_line(&reply, &format!("{}{shared}", reply.message.as_str()))?;
        Ok(Exit::Done)
    }
}
