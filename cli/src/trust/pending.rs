//! `pending`: what waits to go into prompts.

use clap::Args;
use saddlebag::approval::{DEFAULT_PENDING_ITEMS, Pending, PendingReply};

use super::shared::print_item;
use crate::failure::{Exit, Failure};
use crate::output::{FAINT, Output, single_line};
use crate::subcommand::Ask;

/// List notes and entries of tools and imports, which go into no prompt until they are approved
#[derive(Debug, Args)]
pub(crate) struct PendingArgs {
    /// Show the whole text of this one: the key of an entry; the path, name or title of a note
    #[arg(value_name = "KEY|PATH", conflicts_with_all = ["from", "after"])]
    name: Option<String>,
    /// Only those with this source; `tool` and `import` select all of that provenance, a format such as claude-code
    /// all that was imported from it
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    /// How many at most
    #[arg(long, short = 'n', default_value_t = DEFAULT_PENDING_ITEMS, value_name = "N")]
    limit: u32,
    /// The cursor that the page before has given
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true)]
    after: Option<String>,
}

impl Ask for PendingArgs {
    type Request = Pending;

    fn request(self) -> Result<Pending, Failure> {
        Ok(Pending { limit: self.limit, cursor: self.after, name: self.name, source: self.from })
    }

    fn print(reply: &PendingReply, output: &mut Output) -> Result<(), Failure> {
        if reply.items.is_empty() {
            output.line("Nothing waits to be approved.")?;
            return Ok(());
        }
        for item in &reply.items {
            print_item(item, output)?;
            output.styled(FAINT, &format!("  version: {}", item.version))?;
        }
        match &reply.next {
            Some(next) => output.styled(FAINT, &format!("More of {}: --after '{}'", reply.total, single_line(next)))?,
            None => output.styled(FAINT, &format!("Listed {}, digest: {}", reply.items.len(), reply.digest))?,
        }
        Ok(())
    }

    fn exit(reply: &PendingReply) -> Exit {
        if reply.items.is_empty() { Exit::Nothing } else { Exit::Done }
    }
}
