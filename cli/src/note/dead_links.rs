//! `note dead-links`: lists the links that lead to no note, or to several.

use clap::Args;
use saddlebag::notebook::{DeadLinks, DeadLinksReply};

use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Ask;

/// List the links that lead to no note, or to more than one
#[derive(Debug, Args)]
#[command(after_help = example("note dead-links"))]
pub(crate) struct DeadLinksArgs;

impl Ask for DeadLinksArgs {
    type Request = DeadLinks;

    fn request(self) -> Result<DeadLinks, Failure> {
        Ok(DeadLinks)
    }

    fn print(reply: &DeadLinksReply, output: &mut Output) -> Result<(), Failure> {
        for link in &reply.links {
            let meaning = match link.candidates.as_slice() {
                [] => "no such note".to_string(),
                candidates => format!("could be {}", candidates.join(", ")),
            };
            output.line(&format!("{}:{}  {}  ({meaning})", link.path, link.line, link.target))?;
        }
        Ok(())
    }

    fn exit(reply: &DeadLinksReply) -> Exit {
        if reply.links.is_empty() { Exit::Nothing } else { Exit::Done }
    }
}
