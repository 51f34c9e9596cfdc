//! `write`: writes text to a file of memory.

use saddlebag::items::{ItemKind, Show};
use saddlebag::journal::{Target, WriteFile, WriteMode, WriteReply};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{LONG_TERM_FILE, LongTermScope};

use crate::failure::set_changes;
use crate::input::{self, free_text};
use crate::item::{ItemName, with_kind};
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
        // The error says that nothing was changed, although finding the item only reads.
        let target = target(&self.item, &mut store, output).inspect_err(|_| set_changes(true, false))?;
        let reply = store.call(WriteFile { target, mode: self.mode, content, truncate: self.truncate }, output)?;
        let is_shared = reply.path == LONG_TERM_FILE && !global.notebook && global.long_term() == LongTermScope::Shared;
        let shared = if is_shared { "; all projects share it" } else { "" };
        output.object_or_line(&reply, &format!("{}{shared}", reply.message.as_str()))?;
        Ok(Exit::Done)
    }
}

/// Returns the file to write.
fn target(item: &ItemName, store: &mut Store, output: &mut Output) -> Result<Target, Failure> {
    let (name, kind) = (item.without_lines(), item.kind);
    let target = Target::from_name(&name)?;
    let is_page = matches!(target, Target::Page(_));
    if !is_page && kind.is_none() {
        return Ok(target);
    }
    let found = store.call(Show::item(name, kind), output).map_err(with_kind)?;
    if found.kind == ItemKind::Entry {
        let help = format!("use `saddlebag remember --key {}`", single_line(&found.name));
        let message = format!("`{}` is an entry", single_line(&item.name));
        return Err(Failure::new(ErrorCode::InvalidArgument, message, help));
    }
    Ok(if is_page { Target::Page(found.path) } else { target })
}
