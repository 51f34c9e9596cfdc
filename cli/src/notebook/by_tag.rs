//! `by-tag`: the notes that have a tag.

use clap::Args;
use saddlebag::notebook::{ListNotes, ListNotesReply, NoteFilter};

use super::shared::{print_notes, warn_of_notes};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// List the notes that have a tag
#[derive(Debug, Args)]
pub(crate) struct ByTagArgs {
    /// A tag, or a glob such as `lang/*`; `a OR b`, `NOT a`
    tag: String,
    /// How many at most
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<u32>,
}

impl Subcommand for ByTagArgs {
    type Json = ListNotesReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let Self { tag, limit } = self;
        let filter = NoteFilter { tags: vec![tag.clone()], ..NoteFilter::default() };
        let reply = Store::open(global)?.call(ListNotes { filter, limit, ..ListNotes::default() }, output)?;
        let exit = if reply.notes.is_empty() { Exit::Nothing } else { Exit::Done };
        if output.is_json() {
            output.object(&reply)?;
            return Ok(exit);
        }
        print_notes(&reply.notes, output)?;
        output.flush()?;
        if exit == Exit::Nothing {
            output.note(&format!("no note has a tag that fits `{tag}`; `tags` lists those that there are"));
        }
        warn_of_notes(&reply, output);
        Ok(exit)
    }
}
