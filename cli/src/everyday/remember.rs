//! `remember`: creates a note.

use clap::Args;
use saddlebag::notebook::{Remember, RememberReply};

use crate::failure::Failure;
use crate::help::example;
use crate::input::{self, shown_path};
use crate::note::shared::warn;
use crate::output::Output;
use crate::subcommand::Ask;

/// Keep a fact, a decision or another note
#[derive(Debug, Args)]
#[command(after_help = example("remember \"Load balancer\" \"Two nodes, renewed every 60 days.\" --tag infra"))]
pub(crate) struct RememberArgs {
    /// Title of the note, one line of any text
    #[arg(allow_hyphen_values = true)]
    title: String,
    /// Text of the note, in Markdown; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    content: String,
    /// Kind of note: fact, decision, or the name of a folder [default: kind of the replaced note, else fact]
    #[arg(long, value_name = "KIND")]
    template: Option<String>,
    /// Group of the configuration that gives file name and template [default: group of the folder]
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Tag of the note; repeatable, or separated by commas
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// Note to link to; repeatable
    #[arg(long, value_name = "NOTE", value_parser = shown_path)]
    link: Vec<String>,
    /// Supersede the note with this title; the new note takes over its kind, tags and links
    #[arg(long)]
    supersede: bool,
    /// Note to supersede, whatever its title
    #[arg(long, value_name = "NOTE", value_parser = shown_path)]
    supersedes: Option<String>,
}

impl Ask for RememberArgs {
    type Request = Remember;

    fn request(self) -> Result<Remember, Failure> {
        Ok(Remember {
            title: self.title,
            content: input::not_blank(input::text(self.content)?, "the text", "give the text to remember")?,
            template: self.template.unwrap_or_default(),
            group: self.group,
            tags: self.tag,
            links: self.link,
            supersede: self.supersede,
            supersedes: self.supersedes,
        })
    }

    fn print(reply: &RememberReply, output: &mut Output) -> Result<(), Failure> {
        output.line(reply.message.as_str())?;
        Ok(())
    }

    fn warn(reply: &RememberReply, output: &mut Output) -> Result<(), Failure> {
        warn(&reply.warnings, output);
        Ok(())
    }
}
