//! Lists the notes that match a filter.

use core::ops::Range;

use super::config::NotebookConfig;
use super::files::below_notebook;
use super::index::{
    MAX_ATTEMPTS, Notebook, catch_up, changed_meanwhile, known_config, look_as, read_missing, read_texts, skipped,
    warnings,
};
use super::links::with_anchor;
use super::listed_item::{GraphLink, ItemList, info};
use super::listing::{LinkPlace, Listing, NoteList};
use super::note_filter::NoteFilter;
use super::select::{link_table, select, zk_href};
use super::snapshot::Snapshot;
use crate::changes::Call;
use crate::search::{Corpus, DocId, IndexedFile};
use saddlebag_collections::{part::TextPart, prelude::*};
use saddlebag_markdown::{Link, LinkKind, Note};
use saddlebag_protocol::Error;

/// Maximum size of a block that is a snippet as a whole, in bytes. A table may have thousands of links, and each has a
/// snippet.
const MAX_WHOLE_BLOCK: usize = 1_024;
/// Maximum number of bytes before and after the link in the snippet of a larger block, except for parts of a character.
const SNIPPET_REACH: usize = 128;

/// Lists notes.
pub(crate) async fn list_notes(call: &Call, notebook: &Arc<Notebook>, asked: NoteList) -> Result<ItemList, Error> {
    let request = asked.below_notebook(&call.scope);
    let mut kept = notebook.listing.borrow_mut().take();
    kept = kept.filter(|listing| request.offset > 0 && listing.is_of(&request));
    for _ in 0..MAX_ATTEMPTS {
        let listing = match kept.take() {
            Some(listing) => listing,
            None => listing(call, notebook, &request).await?,
        };
        if request.with_text {
            read_missing(call, notebook, texts_of(&listing, &request)).await;
        }
        let Some(config) = known_config(notebook) else { continue };
        let Some(mut reply) = reply(call, &notebook.corpus.borrow(), &config, &request, &listing)? else {
            // A note has changed since it was listed.
            continue;
        };
        if request.offset == 0 {
            reply.warnings = warnings(call, notebook);
            reply.skipped = skipped(call, notebook);
        }
        // The text of all pages together may not fit into memory.
        if request.with_text && request.limit.is_some() {
            notebook.corpus.borrow_mut().drop_texts_of(&texts_of(&listing, &request));
        }
        let end = request.offset as usize + reply.items.len();
        if !reply.items.is_empty() && end < listing.total() {
            *notebook.listing.borrow_mut() = Some(listing);
        }
        return Ok(reply);
    }
    Err(changed_meanwhile())
}

/// Brings the index up to date, and selects the notes.
async fn listing(call: &Call, notebook: &Arc<Notebook>, request: &NoteList) -> Result<Listing, Error> {
    catch_up(call, notebook).await?;
    if request.filter.needs_text() {
        read_texts(call, notebook, request.zk_links, |snapshot| Ok(snapshot.ids.clone())).await?;
    }
    look_as(notebook, call, request.zk_links, |snapshot| Listing::new(call, snapshot, request))
}

/// Returns the notes whose text a page shows.
fn texts_of(listing: &Listing, request: &NoteList) -> Vec<DocId> {
    let page = listing.page(request);
    let sources = listing.blocks_of(page).map(|(_, place)| place.from);
    page.iter().copied().chain(sources).collect()
}

/// Returns the index numbers of the notes that match a filter.
pub(super) fn selected(call: &Call, snapshot: &Snapshot<'_>, filter: &NoteFilter) -> Result<Vec<DocId>, Error> {
    let request = NoteList { filter: filter.clone(), ..NoteList::default() };
    let filter = &request.by_path(snapshot)?.filter;
    let links = link_table(&snapshot.views, filter, false, false);
    let selected = select(&snapshot.views, filter, &[], None, call.now.timestamp(), &links)?;
    selected.iter().map(|&note| snapshot.id(note)).collect()
}

/// Returns a page of a listing. `None` if one of its notes has changed since.
fn reply(
    call: &Call,
    corpus: &Corpus,
    config: &NotebookConfig,
    request: &NoteList,
    listing: &Listing,
) -> Result<Option<ItemList>, Error> {
    let page = listing.page(request);
    let mut blocks = listing.blocks_of(page).peekable();
    let mut reply = ItemList { total: u32::try_from(listing.total()).unwrap_or(u32::MAX), ..Default::default() };
    for &id in page {
        let Some((document, note)) = noted(corpus, id, request)? else { return Ok(None) };
        let mut info = info(call, corpus, config, document, &note, request.with_text);
        let mut snippets: Vec<String> = Vec::new();
        while let Some((_, place)) = blocks.next_if(|(note, _)| *note == id) {
            let Some(block) = block(corpus, *place, request)? else { return Ok(None) };
            if !block.is_empty() && snippets.last() != Some(&block) {
                snippets.push(block);
            }
        }
        if !snippets.is_empty() {
            info.snippets = snippets;
        }
        reply.items.push(info);
    }
    // Most links of a note follow each other.
    let mut source: Option<(DocId, &IndexedFile, Note)> = None;
    for listed in listing.links_of(page) {
        let LinkPlace { from, link } = listed.place;
        if source.as_ref().is_none_or(|(id, ..)| *id != from) {
            let Some((document, note)) = noted(corpus, from, request)? else { return Ok(None) };
            source = Some((from, document, note));
        }
        let Some(((_, document, note), target)) = source.as_ref().zip(corpus.files.doc(listed.to)) else {
            return Ok(None);
        };
        let Some(link) = note.links.get(link) else { return Err(no_such_link(document, link)) };
        reply.links.push(graph_link(call, document, link, target));
    }
    Ok(Some(reply))
}

/// Returns a note of a listing with its file. `None` if it has changed since.
fn noted<'a>(corpus: &'a Corpus, id: DocId, request: &NoteList) -> Result<Option<(&'a IndexedFile, Note)>, Error> {
    let Some(document) = corpus.files.doc(id) else { return Ok(None) };
    if request.with_text && document.text.is_none() {
        return Ok(None);
    }
    let note = corpus.note(document)?;
    Ok(note.map(|note| (document, if request.zk_links { note.into_zk() } else { note })))
}

/// Returns the block of text with a link. `None` if its note has changed since.
fn block(corpus: &Corpus, place: LinkPlace, request: &NoteList) -> Result<Option<String>, Error> {
    let Some((document, note)) = noted(corpus, place.from, request)? else { return Ok(None) };
    let Some(link) = note.links.get(place.link) else { return Err(no_such_link(document, place.link)) };
    Ok(Some(document.text().part(link.context.clone()).to_string()))
}

fn no_such_link(document: &IndexedFile, link: usize) -> Error {
    Error::internal(format!("link {link} of {} is not in the index", document.path))
}

/// Returns a link as replies show it. Its snippet is empty if the text of its note was not read.
fn graph_link(call: &Call, source: &IndexedFile, link: &Link, target: &IndexedFile) -> GraphLink {
    let snippet = source.text.as_deref().map(|text| snippet_span(text, link)).unwrap_or_default();
    let target_of_root = zk_href(below_notebook(call, &source.path), link);
    GraphLink {
        source: call.scope.display_path(&source.path),
        target: call.scope.display_path(&target.path),
        title: link.text.clone(),
        href: with_anchor(target_of_root.unwrap_or_else(|| link.target.clone()), link),
        kind: match link.kind {
            LinkKind::Wiki => "wiki-link",
            LinkKind::Markdown | LinkKind::Url => "markdown",
            LinkKind::Embed | LinkKind::Image => "embed",
            LinkKind::Property => "property",
        }
        .to_string(),
        relations: link.relations.clone(),
        // Others may have written the index, so its spans may not fit the text.
        snippet: source.text().part(snippet.clone()).to_string(),
        snippet_start: snippet.start as u64,
        snippet_end: snippet.end as u64,
    }
}

/// Returns the block with the link, or the part of a large block that is around the link.
fn snippet_span(text: &str, link: &Link) -> Range<usize> {
    let block = link.context.clone();
    if block.len() <= MAX_WHOLE_BLOCK {
        return block;
    }
    let start = text.floor_char_boundary(link.span.start.saturating_sub(SNIPPET_REACH).max(block.start));
    let end = text.ceil_char_boundary(link.span.end.saturating_add(SNIPPET_REACH).min(block.end));
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::super::index::NotebookCall;
    use super::super::note_filter::ConditionKind;
    use super::super::testing::{Store, call_at, day};
    use super::*;
    use crate::request::Run as _;

    /// Lists a page in a memory that goes on living.
    fn page(store: &mut Store, notebook: &Arc<Notebook>, offset: u32) -> ItemList {
        let notebook = Arc::clone(notebook);
        let reply = store.run(|fs| async move {
            let call = call_at(fs, day());
            let request = NoteList { limit: Some(2), offset, with_links: true, ..NoteList::default() };
            list_notes(&call, &notebook, request).await
        });
        reply.expect("listed")
    }

    #[test]
    fn pages_are_of_one_listing_and_together_the_whole() {
        let files = ["a", "b", "c", "d", "e"].map(|name| (format!("{name}.md"), format!("# {name}\n\n[[a]] [[e]]\n")));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let (mut store, notebook) = (Store::with(&files), Arc::new(Notebook::default()));
        let (mut titles, mut links) = (Vec::new(), Vec::new());
        for offset in [0, 2, 4] {
            let reply = page(&mut store, &notebook, offset);
            assert_eq!(reply.total, 5);
            titles.extend(reply.items.into_iter().map(|note| note.name));
            links.extend(reply.links.into_iter().map(|link| (link.source, link.target)));
        }
        assert_eq!(titles, ["a", "b", "c", "d", "e"]);
        assert_eq!(links.len(), 10, "a link to a note of another page is listed too: {links:?}");
        assert!(notebook.listing.borrow().is_none(), "nothing is kept after the last page");
    }

    #[test]
    fn a_further_page_lists_no_folder_until_one_of_its_notes_has_changed() {
        let files = ["a", "b", "c", "d", "e"].map(|name| (format!("{name}.md"), format!("# {name}\n")));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let (mut store, notebook) = (Store::with(&files), Arc::new(Notebook::default()));
        assert_eq!(page(&mut store, &notebook, 0).items.len(), 2);
        store.put("0.md", b"# 0\n".to_vec());
        let titles = |reply: ItemList| reply.items.into_iter().map(|note| note.name).collect::<Vec<_>>();
        assert_eq!(titles(page(&mut store, &notebook, 2)), ["c", "d"]);
        // Another command sees that a note of the next page has changed.
        store.put("e.md", b"# e2\n".to_vec());
        let tags = super::super::tags::Tags;
        let shared = Arc::clone(&notebook);
        let run = store
            .run(|fs| async move { tags.run(&NotebookCall { call: &call_at(fs, day()), notebook: &shared }).await });
        run.expect("counted");
        assert_eq!(titles(page(&mut store, &notebook, 4)), ["d", "e2"], "the notes are selected again");
    }

    #[test]
    fn a_listing_by_links_shows_the_block_of_the_link_whichever_note_has_it() {
        let mut store =
            Store::with(&[("a.md", "# A\n\nfirst\n\nsee [[b]] for ports\n"), ("b.md", "# B\n\nlead of b\n")]);
        let mut snippets = |filter: NoteFilter| {
            let request = NoteList { filter, with_text: true, ..NoteList::default() };
            let reply = store
                .run(|fs| async move { list_notes(&call_at(fs, day()), &Arc::default(), request).await })
                .expect("listed");
            reply.items.into_iter().map(|note| (note.name, note.snippets)).collect::<Vec<_>>()
        };
        let block = || vec!["see [[b]] for ports".to_string()];
        let linked_by = NoteFilter::default().with(ConditionKind::LinkedBy, ["a"]);
        assert_eq!(snippets(linked_by), [("B".to_string(), block())]);
        let link_to = NoteFilter::default().with(ConditionKind::LinkTo, ["b"]);
        assert_eq!(snippets(link_to), [("A".to_string(), block())]);
    }
}
