//! `store`: an entry under a key.

use clap::Args;
use saddlebag::entries::{NewEntry, StoreEntry, StoreReply, StoreState};

use crate::failure::{Exit, Failure};
use crate::input;
use crate::output::{Output, single_line};
use crate::subcommand::Ask;

/// Keep an entry under a key: make it, or replace what its key said
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Any text of 1 to 255 bytes
    #[arg(allow_hyphen_values = true)]
    key: String,
    /// Its content, kept byte for byte; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    content: String,
    /// core, daily, workspace, or one of your own
    #[arg(long, short = 'c', default_value = "core", value_name = "CATEGORY")]
    category: String,
    /// A tag; several times, or with commas
    #[arg(long, short = 't', value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,
    /// Where it comes from, for people
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// The key of an entry that this one stands in for
    #[arg(long, value_name = "KEY")]
    supersedes: Option<String>,
    /// Only if the entry still has this version
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
        output.line(&single_line(&reply.message))?;
        Ok(())
    }

    fn exit(reply: &StoreReply) -> Exit {
        match reply.state {
            StoreState::Forgotten | StoreState::Conflict => Exit::Failed,
            _ => Exit::Done,
        }
    }
}
