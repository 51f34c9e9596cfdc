//! Items, one on a line, with or without the links between the notes.

use std::collections::BTreeMap;

use saddlebag::items::{GraphLink, ItemList, ListItems, ListedItem};
use saddlebag::store::LocalTime;

use super::args::ListArgs;
use super::graph;
use crate::entry::shared::preview;
use crate::note::shared::{marked, warn};
use crate::output::{STRONG, single_line, warn_of_skipped};
use crate::prelude::*;

/// Number of items of a page, so that a reply never has all items of a large memory.
const PAGE: u32 = 8192;
/// Number of items of a page with the text of the notes.
const PAGE_WITH_TEXT: u32 = 512;
/// Number of characters of a day.
const DAY: usize = 10;

/// Lists items.
pub(super) fn list(args: &ListArgs, store: &mut Store, output: &mut Output) -> Result<(), Failure> {
    let request = args.request(store.now(), output.is_json())?;
    if output.is_json() && args.format.is_some() {
        return Err(Failure::usage("--format is not for JSON", "leave out --json or --format"));
    }
    let whole = output.is_json() || args.format.is_some();
    let mut all = ItemList::default();
    let now = store.now().local();
    let about = pages(store, &request, output, |page, output| {
        match (whole, args.links) {
            (true, _) => {
                all.items.extend(page.items);
                all.links.extend(page.links);
            }
            (false, true) => print_links(&page, output)?,
            (false, false) => page.items.iter().try_for_each(|item| print(item, &request, now, output))?,
        }
        Ok(())
    })?;
    let all = ItemList { items: all.items, links: all.links, ..about };
    if output.json(&all)? {
        return Ok(());
    }
    if let Some(form) = args.format {
        graph::print(&all, form, output)?;
    }
    output.flush()?;
    match (&all.next, all.total) {
        (_, 0) if args.has_tags() => output.note(&format!(
            "nothing passes the filters with the tag `{}`; `saddlebag list --tags` lists the tags of notes",
            args.shown_tags()
        )),
        (_, 0) => output.note("there are no such items"),
        (Some(next), total) => output.note(&format!("more of {total}: --after '{}'", single_line(next))),
        (None, _) => {}
    }
    warn(&all.warnings, output);
    warn_of_skipped(&all.skipped, output);
    Ok(())
}

/// Lists items in pages, up to the limit of the request, and passes each page on. Returns the reply of the first page without its
/// items and links, and with the `next` of the last.
fn pages(
    store: &mut Store,
    request: &ListItems,
    output: &mut Output,
    mut page: impl FnMut(ItemList, &mut Output) -> Result<(), Failure>,
) -> Result<ItemList, Failure> {
    let most = if request.with_text { PAGE_WITH_TEXT } else { PAGE };
    let mut first: Option<ItemList> = None;
    let mut after = request.after.clone();
    let mut rest = request.limit;
    loop {
        let limit = Some(rest.map_or(most, |rest| rest.min(most)));
        let mut reply = store.call(ListItems { after, limit, ..request.clone() }, output)?;
        let about = ItemList {
            total: reply.total,
            warnings: std::mem::take(&mut reply.warnings),
            skipped: std::mem::take(&mut reply.skipped),
            ..ItemList::default()
        };
        let first = first.get_or_insert(about);
        let count = u32::try_from(reply.items.len()).unwrap_or(u32::MAX);
        rest = rest.map(|rest| rest.saturating_sub(count));
        after = reply.next.take();
        page(reply, output)?;
        if after.is_none() || rest == Some(0) {
            first.next = after;
            return Ok(std::mem::take(first));
        }
    }
}

fn print(item: &ListedItem, request: &ListItems, now: Option<LocalTime>, output: &mut Output) -> Result<(), Failure> {
    let day = now.filter(|_| item.modified > 0).map_or_else(|| "-".into(), |now| now.day_of(item.modified));
    let name = single_line(&item.name);
    let what = match (item.kind, &item.category) {
        (kind, _) if kind.is_note() => format!("{}  {name}", item.path),
        (_, Some(category)) => format!("{name}  ({})", single_line(category)),
        (_, None) => item.path.clone(),
    };
    let marks = marks_of(item);
    let line = match &item.entry {
        _ if request.kinds.is_empty() => format!("{:7}  {day:DAY$}  {what}{marks}", item.kind.as_str()),
        // In a list of one kind, a line begins with the name that other commands take.
        Some(entry) => format!("{what}{marks}  {}", preview(&entry.content)),
        None => what + &marks,
    };
    output.line(&line)?;
    Ok(())
}

fn marks_of(item: &ListedItem) -> String {
    let writer = item.writer.as_ref().map(|name| format!("  [by {}]", single_line(name))).unwrap_or_default();
    marked(&item.marks) + &writer
}

fn print_links(page: &ItemList, output: &mut Output) -> Result<(), Failure> {
    for (note, targets) in links_of_notes(&page.items, page.links.iter()) {
        output.styled(STRONG, &format!("{}  {}{}", note.path, note.name, marks_of(note)))?;
        for target in targets {
            output.line(&format!("  -> {target}"))?;
        }
    }
    Ok(())
}

/// Returns each note with the notes that it links to. One pass over the links serves all notes.
fn links_of_notes<'a>(
    notes: &'a [ListedItem],
    links: impl Iterator<Item = &'a GraphLink>,
) -> impl Iterator<Item = (&'a ListedItem, Vec<&'a str>)> {
    let mut targets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for link in links {
        targets.entry(&link.source).or_default().push(&link.target);
    }
    notes.iter().map(move |note| (note, targets.remove(note.path.as_str()).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(notes: usize) -> ItemList {
        let path = |number: usize| format!("facts/a-note-of-a-ring-{}.md", number % notes);
        ItemList {
            items: (0..notes).map(|number| ListedItem { path: path(number), ..ListedItem::default() }).collect(),
            links: (0..notes)
                .map(|number| GraphLink { source: path(number), target: path(number + 1), ..GraphLink::default() })
                .collect(),
            ..ItemList::default()
        }
    }

    #[test]
    fn a_graph_of_many_notes_looks_at_each_link_once() {
        for notes in [2_000, 4_000] {
            let graph = ring(notes);
            let mut looked_at = 0;
            let printed =
                links_of_notes(&graph.items, graph.links.iter().inspect(|_| looked_at += 1)).map(|(note, targets)| {
                    assert_eq!(targets.len(), 1, "{}", note.path);
                });
            assert_eq!(printed.count(), notes);
            assert_eq!(looked_at, notes);
        }
    }
}
