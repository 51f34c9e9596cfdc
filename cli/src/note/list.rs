//! `note list`: lists the notes that pass filters.

use clap::Args;
use saddlebag::notebook::{ListNotes, ListNotesReply};

use super::filter::{FilterArgs, sort_keys};
use super::shared::{NO_NOTES, print_notes, warn_of_notes};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// List notes: all of them, or those that pass filters
#[derive(Debug, Args)]
#[command(after_help = example("note list --tag infra --sort modified --limit 10"))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Key to sort by: created, modified, path, title, word-count; `+` after it sorts upward, `-` downward; repeatable
    #[arg(long, short = 's', value_name = "KEY")]
    sort: Vec<String>,
    /// Largest number of notes
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<u32>,
}

impl Subcommand for ListArgs {
    type Json = ListNotesReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let tags = self.filter.tags().join("`, `");
        let request = ListNotes {
            sort: sort_keys(&self.sort)?,
            limit: self.limit,
            filter: self.filter.into(),
            ..ListNotes::default()
        };
        let reply = Store::open(global)?.call(request, output)?;
        let exit = if reply.notes.is_empty() { Exit::Nothing } else { Exit::Done };
        if output.is_json() {
            output.object(&reply)?;
            return Ok(exit);
        }
        print_notes(&reply.notes, output)?;
        output.flush()?;
        match exit {
            Exit::Nothing if tags.is_empty() => output.note(NO_NOTES),
            Exit::Nothing => output.note(&format!(
                "no note passes the filters with the tag `{tags}`; `saddlebag note tags` lists the tags"
            )),
            _ => {}
        }
        warn_of_notes(&reply, output);
        Ok(exit)
    }
}
