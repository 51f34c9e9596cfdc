//! `link`: writes a link between two notes.

use saddlebag::notebook::{Link, LinkReply};
use saddlebag::store::Timestamp;

use crate::input::shown_path;
use crate::prelude::*;
use crate::subcommand::Ask;

/// Add a link to a note at the end of another note
#[derive(Debug, Args)]
#[command(after_help = example("link \"Load balancer\" deploy"))]
pub(crate) struct LinkArgs {
    /// Note that gets the link
    #[arg(value_parser = shown_path)]
    source: String,
    /// Note that the link leads to
    #[arg(value_parser = shown_path)]
    target: String,
    /// Text of the link [default: the title of the note]
    text: Option<String>,
}

impl Ask for LinkArgs {
    type Request = Link;

    fn request(self, _: Timestamp) -> Result<Link, Failure> {
        Ok(Link { source: self.source, target: self.target, text: self.text })
    }

    fn print(reply: &LinkReply, output: &mut Output) -> Result<(), Failure> {
        output.line(reply.message.as_str())?;
        Ok(())
    }
}
