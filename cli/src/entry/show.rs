//! `entry show`: prints the content of an entry.

use clap::Args;
use saddlebag::entries::{EntryInfo, GetEntry};

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Print the content of an entry
#[derive(Debug, Args)]
#[command(after_help = example("entry show deploy_target"))]
pub(crate) struct ShowArgs {
    /// Key of the entry, or path of its file
    #[arg(allow_hyphen_values = true)]
    key: String,
}

impl Subcommand for ShowArgs {
    type Json = EntryInfo;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let entry = Store::open(global)?.call(GetEntry { key: self.key }, output)?;
        if output.is_json() {
            output.object(&entry)?;
            return Ok(Exit::Done);
        }
        output.text(&entry.content)?;
        output.flush()?;
        // Standard output gets only the content, byte for byte.
        if let Some(from) = entry.unapproved {
            output.warning(&format!(
                "unapproved: {from}: it does not go into prompts until you approve it with `saddlebag memory approve`"
            ));
        } else if !entry.only_in.is_empty() {
            output.warning(&format!(
                "only in {}: it goes into the prompts of other projects after `saddlebag memory approve`",
                entry.only_in.join(", ")
            ));
        }
        Ok(Exit::Done)
    }
}
