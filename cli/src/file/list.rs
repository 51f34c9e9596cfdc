//! `file list`: lists the files of memory.

use clap::Args;
use saddlebag::journal::{ListJournal, ListReply};

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::{Output, warn_of_skipped};
use crate::store::Store;
use crate::subcommand::Subcommand;

/// List the files that `search` covers
#[derive(Debug, Args)]
#[command(after_help = example("file list --long"))]
pub(crate) struct ListArgs {
    /// Print the size of each file, in bytes
    #[arg(long, short)]
    long: bool,
}

impl Subcommand for ListArgs {
    type Json = ListReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let list = Store::open(global)?.call(ListJournal, output)?;
        if output.is_json() {
            output.object(&list)?;
            return Ok(Exit::Done);
        }
        let width = list.files.iter().map(|file| file.size.to_string().len()).max().unwrap_or_default();
        for file in &list.files {
            let size = file.size;
            output.line(&if self.long { format!("{size:width$}  {}", file.path) } else { file.path.clone() })?;
        }
        output.flush()?;
        warn_of_skipped(&list.skipped, output);
        if list.files.is_empty() {
            output.note("there is no memory yet");
        }
        Ok(Exit::Done)
    }
}
