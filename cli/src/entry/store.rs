//! `entry store`: stores an entry under a key.

use clap::Args;
use saddlebag::entries::{NewEntry, StoreEntry, StoreReply, StoreState};

use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::input;
use crate::output::{Output, single_line};
use crate::subcommand::Ask;

/// Store an entry under a key, or replace its text
#[derive(Debug, Args)]
#[command(after_help = example("entry store deploy_target \"Staging first, then production.\" --tag ops"))]
pub(crate) struct StoreArgs {
    /// Key of the entry, 1 to 255 bytes
    #[arg(allow_hyphen_values = true)]
    key: String,
    /// Text of the entry, kept byte for byte; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    content: String,
    /// Category: core, daily, workspace, or your own category
    #[arg(long, short = 'c', default_value = "core", value_name = "CATEGORY")]
    category: String,
    /// Tag of the entry; repeatable, or separated by commas
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// Origin of the text, for people
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Key of an entry that this one replaces
    #[arg(long, value_name = "KEY")]
    supersedes: Option<String>,
    /// Store only if the entry still has this version
    #[arg(long, value_name = "VERSION")]
    base: Option<String>,
}

impl Ask for StoreArgs {
    type Request = StoreEntry;

    fn request(self) -> Result<StoreEntry, Failure> {
        let entry = NewEntry {
            key: self.key,
            content: input::text(self.content)?,
            category: self.category,
            tags: self.tag,
            source: self.source,
            supersedes: self.supersedes,
        };
        Ok(StoreEntry { entry, expected_version: self.base })
    }

    fn print(reply: &StoreReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&single_line(reply.message.as_str()))?;
        Ok(())
    }

    fn exit(reply: &StoreReply) -> Exit {
        match reply.state {
            StoreState::Forgotten | StoreState::Conflict => Exit::Failed,
            _ => Exit::Done,
        }
    }
}
