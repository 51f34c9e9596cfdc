//! `tag`: adds tags to a note or an entry, or removes them.

use clap::{Args, ValueEnum};
use saddlebag::entries::{EntryInfo, NewEntry, StoreEntry, StoreReply, StoreState};
use saddlebag::journal::Target;
use saddlebag::notebook::{TagNote, TagNoteReply};
use saddlebag::protocol::ErrorCode;

use crate::failure::set_changes;
use crate::item::{self, ItemName, Named};
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

/// Tagged note, or tagged entry.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of the replies that are printed")]
pub(crate) enum Tagged {
    Note(TagNoteReply),
    Entry(StoreReply),
}

impl Subcommand for TagArgs {
    type Json = Tagged;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let note = match self.item.find_to_change(&mut store, output)? {
            Named::Entry(key) => return tag_entry(key, self.action, self.tags, &mut store, output),
            Named::Target(Target::Page(note)) | Named::File(note) => note,
            Named::Target(_) => {
                let message = format!("`{}` is neither a note nor an entry", single_line(&self.item.name));
                return Err(Failure::new(ErrorCode::InvalidArgument, message, "only notes and entries have tags"));
            }
        };
        let (add, remove) = match self.action {
            Action::Add => (self.tags, Vec::new()),
            Action::Remove => (Vec::new(), self.tags),
        };
        let reply = store.call(TagNote { note, add, remove }, output)?;
        output.object_or_line(&reply, reply.message.as_str())?;
        Ok(Exit::Done)
    }
}

/// Stores an entry with other tags, if nobody has changed it meanwhile.
fn tag_entry(
    key: String,
    action: Action,
    named: Vec<String>,
    store: &mut Store,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let entry = item::entry(key, store, output)?;
    if let Some(from) = entry.unapproved {
        set_changes(true, false);
        // The entry is stored as the user's own text.
        let message = format!("`{}` is unapproved text of `{from}`", single_line(&entry.key));
        let help = format!("approve it first: saddlebag memory approve {}", single_line(&entry.key));
        return Err(Failure::new(ErrorCode::NotPermitted, message, help));
    }
    let EntryInfo { key, content, category, mut tags, source, version, .. } = entry;
    match action {
        Action::Add => {
            let new: Vec<String> = named.into_iter().filter(|tag| !tags.contains(tag)).collect();
            tags.extend(new);
        }
        Action::Remove => tags.retain(|tag| !named.contains(tag)),
    }
    let entry = NewEntry { key, content, category, tags, source, supersedes: None };
    let reply = store.call(StoreEntry { entry, expected_version: Some(version) }, output)?;
    output.object_or_line(&reply, &single_line(reply.message.as_str()))?;
    Ok(match reply.state {
        StoreState::Forgotten | StoreState::Conflict => Exit::Failed,
        _ => Exit::Done,
    })
}
