//! `note list`: lists the notes that pass filters.

use clap::Args;
use saddlebag::notebook::{ListNotes, ListNotesReply};

use super::filter::{FilterArgs, sort_keys};
use super::pages;
use super::shared::{NO_NOTES, print_notes, warn_of_notes};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// List all notes, or those that match filters
#[derive(Debug, Args)]
#[command(after_help = example("note list --tag infra --sort modified --limit 10"))]
pub(crate) struct ListArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Key to sort by: created, modified, path, title, word-count; `+` after it sorts upward, `-` downward; repeatable
    #[arg(long, short = 's', value_name = "KEY")]
    sort: Vec<String>,
    /// Maximum number of notes
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// With --json, add the beginning of each note and the passages that match; reads each note
    #[arg(long)]
    snippets: bool,
}

impl Subcommand for ListArgs {
    type Json = ListNotesReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let tags = self.filter.tags().join("`, `");
        let request = ListNotes {
            sort: sort_keys(&self.sort)?,
            limit: self.limit,
            filter: self.filter.into(),
            with_text: self.snippets && output.is_json(),
            ..ListNotes::default()
        };
        let mut store = Store::open(global)?;
        if output.is_json() {
            let reply = pages::list_all(&mut store, &request, output)?;
            output.object(&reply)?;
            return Ok(Exit::Done);
        }
        let reply = pages::list(&mut store, &request, output, |page, output| print_notes(&page.notes, output))?;
        output.flush()?;
        match reply.total == 0 {
            true if tags.is_empty() => output.note(NO_NOTES),
            true => output.note(&format!(
                "no note passes the filters with the tag `{tags}`; `saddlebag note tags` lists the tags"
            )),
            false => {}
        }
        warn_of_notes(&reply, output);
        Ok(Exit::Done)
    }
}
