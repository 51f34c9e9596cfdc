//! `note dead-links`: lists the links that lead to no note, or to several.

use clap::Args;
use saddlebag::notebook::{DeadLinks, DeadLinksReply};

use crate::failure::Failure;
use crate::help::example;
use crate::output::{Output, warn_of_skipped};
use crate::subcommand::Ask;

/// List the links whose target is missing or ambiguous
#[derive(Debug, Args)]
#[command(after_help = example("note dead-links"))]
pub(crate) struct DeadLinksArgs {
    /// Leave out links to missing files that are not notes, such as pictures
    #[arg(long)]
    only_notes: bool,
}

impl Ask for DeadLinksArgs {
    type Request = DeadLinks;

    fn request(self) -> Result<DeadLinks, Failure> {
        Ok(DeadLinks { only_notes: self.only_notes })
    }

    fn print(reply: &DeadLinksReply, output: &mut Output) -> Result<(), Failure> {
        for link in &reply.links {
            let meaning = match link.candidates.as_slice() {
                [] if link.is_file => "no such file".to_string(),
                [] => "no such note".to_string(),
                candidates => format!("could be {}", candidates.join(", ")),
            };
            output.line(&format!("{}:{}  {}  ({meaning})", link.path, link.line, link.target))?;
        }
        Ok(())
    }

    fn warn(reply: &DeadLinksReply, output: &mut Output) -> Result<(), Failure> {
        if reply.links.is_empty() {
            output.note("every link leads to one note or file");
        }
        warn_of_skipped(&reply.skipped, output);
        Ok(())
    }
}
