//! `diff`: shows the difference between two versions of an item.

use saddlebag::history::{CompareVersions, Comparison};
use saddlebag::store::Timestamp;

use crate::input::shown_path;
use crate::output::single_line;
use crate::prelude::*;
use crate::subcommand::{Ask, ReplyOf};

/// Show the difference between two versions of an item
///
/// Versions are counted from the newest, which is 1; `history NAME` lists them.
#[derive(Debug, Args)]
#[command(after_help = example("diff \"Load balancer\" 3 1"))]
pub(crate) struct DiffArgs {
    /// Name of a note, an entry or a file
    #[arg(value_parser = shown_path)]
    name: String,
    /// Number of the version before [default: 2]
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    before: Option<u32>,
    /// Number of the version after [default: 1]
    #[arg(value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    after: Option<u32>,
}

impl Ask for DiffArgs {
    type Request = CompareVersions;

    fn request(self, _: Timestamp) -> Result<CompareVersions, Failure> {
        let (before, after) = (self.before.unwrap_or_default(), self.after.unwrap_or_default());
        Ok(CompareVersions { name: self.name, before, after })
    }

    fn print(reply: &Comparison, output: &mut Output) -> Result<(), Failure> {
        if !reply.diff.is_empty() {
            let path = single_line(&reply.path);
            output.line(&format!("--- {path}@{}", reply.before))?;
            output.line(&format!("+++ {path}@{}", reply.after))?;
            output.text(&reply.diff)?;
            return Ok(());
        }
        output.note(&format!("versions {} and {} are the same", reply.before, reply.after));
        Ok(())
    }

    fn exit(reply: &ReplyOf<Self>) -> Exit {
        if reply.diff.is_empty() { Exit::Nothing } else { Exit::Done }
    }
}
