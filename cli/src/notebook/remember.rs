//! `remember`: a new note.

use clap::Args;
use saddlebag::notebook::{Remember, RememberReply};

use super::shared::warn;
use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use crate::subcommand::Ask;

/// Keep a fact, a decision or another note
#[derive(Debug, Args)]
pub(crate) struct RememberArgs {
    /// One line; any text
    #[arg(allow_hyphen_values = true)]
    title: String,
    /// Markdown; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    content: String,
    /// fact, decision, or the name of a folder
    #[arg(long, default_value = "fact")]
    template: String,
    /// The group of the configuration whose file name and template are used [default: that of the folder]
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// A tag; several times, or with commas
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// A note to link to; several times
    #[arg(long, value_name = "NOTE")]
    link: Vec<String>,
    /// In place of the note that has this title: the new one supersedes it
    #[arg(long)]
    supersede: bool,
}

impl Ask for RememberArgs {
    type Request = Remember;

    fn request(self) -> Result<Remember, Failure> {
        Ok(Remember {
            title: self.title,
            content: input::text(self.content)?,
            template: self.template,
            group: self.group,
            tags: self.tag,
            links: self.link,
            supersede: self.supersede,
        })
    }

    fn print(reply: &RememberReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&reply.message)?;
        Ok(())
    }

    fn warn(reply: &RememberReply, output: &mut Output) -> Result<(), Failure> {
        warn(&reply.warnings, output);
        Ok(())
    }
}
