//! `memory pending`: lists text of tools and imports, which does not go into prompts until the user approves it.

use clap::Args;
use saddlebag::approval::{DEFAULT_PENDING_ITEMS, Pending, PendingReply};

use super::shared::print_item;
use crate::failure::Failure;
use crate::help::example;
use crate::input::shown_path;
use crate::output::{FAINT, Output, single_line, warn_of_skipped};
use crate::subcommand::Ask;

/// List the notes and entries that wait for approval
#[derive(Debug, Args)]
#[command(after_help = example("memory pending --from claude-code"))]
pub(crate) struct PendingArgs {
    /// Print the whole text of this entry (key) or note (path, name or title)
    #[arg(value_name = "KEY|PATH", value_parser = shown_path, conflicts_with_all = ["from", "after"])]
    name: Option<String>,
    /// Source of the text: `tool`, `import`, a format such as claude-code, or the source that an entry names
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    /// Maximum number of notes and entries
    #[arg(long, short = 'n', default_value_t = DEFAULT_PENDING_ITEMS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Cursor that the previous page printed
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
            output.line("Nothing waits for approval.")?;
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

    fn warn(reply: &PendingReply, output: &mut Output) -> Result<(), Failure> {
        warn_of_skipped(&reply.skipped, output);
        Ok(())
    }
}
