//! `link`: a link between two notes.

use clap::Args;
use saddlebag::notebook::{Link, LinkReply};

use crate::failure::Failure;
use crate::output::Output;
use crate::subcommand::Ask;

/// Write a link to a note at the end of another
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// The note that gets the link
    from: String,
    /// The note that it goes to
    to: String,
    /// What the link shows
    text: Option<String>,
}

impl Ask for LinkArgs {
    type Request = Link;

    fn request(self) -> Result<Link, Failure> {
        Ok(Link { source: self.from, target: self.to, text: self.text })
    }

    fn print(reply: &LinkReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&reply.message)?;
        Ok(())
    }
}
