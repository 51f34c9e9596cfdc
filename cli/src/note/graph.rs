//! `note graph`: prints notes and the links between them.

use clap::Args;
use saddlebag::notebook::{GraphLink, ListNotes, ListNotesReply, NoteInfo};

use super::filter::FilterArgs;
use super::pages;
use super::shared::{mark, warn_of_notes};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::{Output, STRONG};
use crate::store::Store;
use crate::subcommand::Subcommand;
use std::collections::BTreeMap;

/// Print notes and the links between them
#[derive(Debug, Args)]
#[command(after_help = example("note graph --tag infra"))]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// With --json, add the text around each link and the beginning of each note; reads each note
    #[arg(long)]
    snippets: bool,
}

impl Subcommand for GraphArgs {
    type Json = ListNotesReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let with_text = self.snippets && output.is_json();
        let request = ListNotes { filter: self.filter.into(), with_links: true, with_text, ..ListNotes::default() };
        let mut store = Store::open(global)?;
        if output.is_json() {
            let reply = pages::list_all(&mut store, &request, output)?;
            output.object(&reply)?;
            return Ok(Exit::Done);
        }
        let reply = pages::list(&mut store, &request, output, |page, output| print(&page, output))?;
        output.flush()?;
        warn_of_notes(&reply, output);
        Ok(Exit::Done)
    }
}

fn print(page: &ListNotesReply, output: &mut Output) -> Result<(), Failure> {
    for (note, targets) in links_of_notes(&page.notes, page.links.iter()) {
        output.styled(STRONG, &format!("{}  {}{}", note.path, note.title, mark(note.unapproved)))?;
        for target in targets {
            output.line(&format!("  -> {target}"))?;
        }
    }
    Ok(())
}

/// Returns each note with the notes that it links to. One pass over the links serves all notes.
fn links_of_notes<'a>(
    notes: &'a [NoteInfo],
    links: impl Iterator<Item = &'a GraphLink>,
) -> impl Iterator<Item = (&'a NoteInfo, Vec<&'a str>)> {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for link in links {
        targets.entry(&link.source).or_default().push(&link.target);
    }
    notes.iter().map(move |note| (note, targets.remove(note.path.as_str()).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(notes: usize) -> ListNotesReply {
        let path = |number: usize| format!("facts/a-note-of-a-ring-{}.md", number % notes);
        ListNotesReply {
            notes: (0..notes).map(|number| NoteInfo { path: path(number), ..NoteInfo::default() }).collect(),
            links: (0..notes)
                .map(|number| GraphLink { source: path(number), target: path(number + 1), ..GraphLink::default() })
                .collect(),
            ..ListNotesReply::default()
        }
    }

    #[test]
    fn a_graph_of_many_notes_looks_at_each_link_once() {
        for notes in [2_000, 4_000] {
            let graph = ring(notes);
            let mut looked_at = 0;
            let printed =
                links_of_notes(&graph.notes, graph.links.iter().inspect(|_| looked_at += 1)).map(|(note, targets)| {
                    assert_eq!(targets.len(), 1, "{}", note.path);
                });
            assert_eq!(printed.count(), notes);
            assert_eq!(looked_at, notes);
        }
    }
}
