//! `tag`: adds tags to a note or an entry, or removes them.

use clap::{Args, ValueEnum};
use saddlebag::items::{Tag, TagReply};

use crate::item::{ItemName, with_kind};
use crate::output::single_line;
use crate::prelude::*;

/// Add tags to a note or an entry, or remove them
#[derive(Debug, Args)]
#[command(after_help = example("tag add \"Load balancer\" infra tls"))]
pub(crate) struct TagArgs {
    /// Whether to add or to remove the tags
    #[arg(value_enum)]
    action: Action,
    #[command(flatten)]
    item: ItemName,
    /// Tags
    #[arg(required = true, value_delimiter = ',', value_name = "TAG")]
    tags: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// Add tags that the item does not have
    Add,
    /// Remove tags that it has
    Remove,
}

impl Subcommand for TagArgs {
    type Json = TagReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let (add, remove) = match self.action {
            Action::Add => (self.tags, Vec::new()),
            Action::Remove => (Vec::new(), self.tags),
        };
        let tag = Tag { name: self.item.without_lines(), kind: self.item.kind, add, remove };
        let reply = Store::open(global)?.call(tag, output).map_err(with_kind)?;
        output.object_or_line(&reply, &single_line(reply.message.as_str()))?;
        Ok(Exit::Done)
    }
}
