//! `restore`: a file, a note or an entry as it was.

use clap::Args;
use saddlebag::entries::{RestoreEntry, StoreReply};
use saddlebag::journal::{Restore, RestoreReply, TargetRole};
use saddlebag::notebook::RestoreNote;
use saddlebag::store::NOTE_SUFFIX;
use schemars::JsonSchema;

use crate::entries::StoreArgs;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::input;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::{Subcommand, show};

/// Put the backup of a file, a note or an entry back
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// long_term (or long), scratchpad, daily, note or note:NAME; or the path of a note, as `forget` shows it
    #[arg(required_unless_present = "key")]
    target: Option<String>,
    /// The name of the note, or the date of the log as YYYY-MM-DD
    name: Option<String>,
    /// The same as an option
    #[arg(long = "name", value_name = "NAME", conflicts_with = "name", allow_hyphen_values = true)]
    named: Option<String>,
    /// The entry of this key instead: one that is forgotten, else what it said before it was last overwritten
    #[arg(long, value_name = "KEY", conflicts_with_all = ["target", "name", "named"], allow_hyphen_values = true)]
    key: Option<String>,
}

/// The reply of the family that restored something.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Restored {
    Entry(StoreReply),
    File(RestoreReply),
}

impl Subcommand for RestoreArgs {
    type Json = Restored;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let Self { target, name, named, key } = self;
        if let Some(key) = key {
            let reply = Store::open(global)?.call(RestoreEntry { key }, output)?;
            return show::<StoreArgs>(&reply, output);
        }
        let target = target.unwrap_or_default();
        let name = name.or(named);
        let is_path = !target.starts_with("note:") && (target.contains('/') || target.ends_with(NOTE_SUFFIX));
        let reply = if is_path && name.is_none() {
            Store::open(global)?.call(RestoreNote { note: target }, output)?
        } else {
            let target = input::target(&target, name.as_deref(), TargetRole::Target)?;
            Store::open(global)?.call(Restore { target }, output)?
        };
        output.object_or_line(&reply, &reply.message)?;
        Ok(Exit::Done)
    }
}
