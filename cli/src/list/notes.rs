//! Notes that pass filters, with or without the links between them.

use std::collections::BTreeMap;

use saddlebag::notebook::{GraphLink, ListNotes, ListNotesReply, NoteInfo};

use super::all::of_user;
use super::args::ListArgs;
use super::{graph, pages};
use crate::note::filter::sort_keys;
use crate::note::shared::{marks_of, warn};
use crate::output::{STRONG, warn_of_skipped};
use crate::prelude::*;

/// Lists the notes of the memory, and with them those for all projects.
pub(super) fn list(args: &ListArgs, global: &Global, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let request = ListNotes {
        sort: sort_keys(&args.sort)?,
        limit: args.limit,
        filter: args.of_notes(store.now()),
        with_links: args.links,
        with_text: args.snippets && output.is_json(),
        ..ListNotes::default()
    };
    if output.is_json() && args.format.is_some() {
        return Err(Failure::usage("--format is not for JSON", "leave out --json or --format"));
    }
    // Notes for all projects have no links with those of a project, whose names they may share.
    let mut user = if request.filter.names_notes() { None } else { of_user(global)? };
    if output.is_json() {
        let reply = pages::list_all(store, user.as_mut(), &request, output)?;
        output.object(&reply)?;
        return Ok(());
    }
    if let Some(form) = args.format {
        let reply = pages::list_all(store, user.as_mut(), &request, output)?;
        graph::print(&reply, form, output)?;
        output.flush()?;
        warn(&reply.warnings, output);
        warn_of_skipped(&reply.skipped, output);
        return Ok(());
    }
    let print = if args.links { print_links } else { print_notes };
    let reply = pages::list_both(store, user.as_mut(), &request, output, |page, output| print(&page, output))?;
    output.flush()?;
    match reply.total == 0 {
        true if args.has_tags() => output.note(&format!(
            "no note passes the filters with the tag `{}`; `saddlebag list --tags` lists the tags",
            args.shown_tags()
        )),
        true => output.note("there are no such notes"),
        false => {}
    }
    warn(&reply.warnings, output);
    warn_of_skipped(&reply.skipped, output);
    Ok(())
}

fn print_notes(page: &ListNotesReply, output: &mut Output) -> Result<(), Failure> {
    for note in &page.notes {
        output.line(&format!("{}  {}{}", note.path, note.title, marks_of(note)))?;
    }
    Ok(())
}

fn print_links(page: &ListNotesReply, output: &mut Output) -> Result<(), Failure> {
    for (note, targets) in links_of_notes(&page.notes, page.links.iter()) {
        output.styled(STRONG, &format!("{}  {}{}", note.path, note.title, marks_of(note)))?;
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
