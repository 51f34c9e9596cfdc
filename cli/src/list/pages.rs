//! [`list`]: lists notes page by page, so that a reply never has all notes of a large notebook.

use saddlebag::notebook::{ListNotes, ListNotesReply};

use crate::failure::Failure;
use crate::output::Output;
use crate::store::Store;

/// Number of notes of a page.
const PAGE: u32 = 8192;
/// Number of notes of a page with their text.
const PAGE_WITH_TEXT: u32 = 512;

/// Lists notes in pages, up to the limit of the request, and passes each page on. Returns the reply of the first page
/// without its notes and links: warnings, skipped files, and the number of all notes.
pub(super) fn list(
    store: &mut Store,
    request: &ListNotes,
    output: &mut Output,
    mut page: impl FnMut(ListNotesReply, &mut Output) -> Result<(), Failure>,
) -> Result<ListNotesReply, Failure> {
    let most = if request.with_text { PAGE_WITH_TEXT } else { PAGE };
    let mut first: Option<ListNotesReply> = None;
    let mut listed = 0_u32;
    loop {
        let rest = request.limit.map_or(u32::MAX, |limit| limit - listed);
        let asked = ListNotes { offset: listed, limit: Some(most.min(rest)), ..request.clone() };
        let mut reply = store.call(asked, output)?;
        let about = ListNotesReply {
            total: reply.total,
            warnings: std::mem::take(&mut reply.warnings),
            skipped: std::mem::take(&mut reply.skipped),
            ..ListNotesReply::default()
        };
        let first = first.get_or_insert(about);
        let count = u32::try_from(reply.notes.len()).unwrap_or(u32::MAX);
        listed = listed.saturating_add(count);
        let is_last = count == 0 || listed >= reply.total.min(request.limit.unwrap_or(u32::MAX));
        page(reply, output)?;
        if is_last {
            return Ok(std::mem::take(first));
        }
    }
}

/// Lists notes and returns all of them as one reply, for output as one object.
pub(super) fn list_all(store: &mut Store, request: &ListNotes, output: &mut Output) -> Result<ListNotesReply, Failure> {
    let (mut notes, mut links) = (Vec::new(), Vec::new());
    let about = list(store, request, output, |page, _| {
        notes.extend(page.notes);
        links.extend(page.links);
        Ok(())
    })?;
    Ok(ListNotesReply { notes, links, ..about })
}
