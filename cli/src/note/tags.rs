//! `note tags`: lists the tags of the notebook.

use clap::Args;
use saddlebag::notebook::{Tags, TagsReply};

use crate::failure::Failure;
use crate::help::example;
use crate::output::{Output, warn_of_skipped};
use crate::subcommand::Ask;

/// List the tags, with the number of notes of each
#[derive(Debug, Args)]
#[command(after_help = example("note tags"))]
pub(crate) struct TagsArgs;

impl Ask for TagsArgs {
    type Request = Tags;

    fn request(self) -> Result<Tags, Failure> {
        Ok(Tags)
    }

    fn print(reply: &TagsReply, output: &mut Output) -> Result<(), Failure> {
        let width = reply.tags.iter().map(|tag| tag.notes.to_string().len()).max().unwrap_or_default();
        for tag in &reply.tags {
            output.line(&format!("{:width$}  {}", tag.notes, tag.name))?;
        }
        Ok(())
    }

    fn warn(reply: &TagsReply, output: &mut Output) -> Result<(), Failure> {
        if reply.tags.is_empty() {
            output.note("no note has a tag");
        }
        warn_of_skipped(&reply.skipped, output);
        Ok(())
    }
}
