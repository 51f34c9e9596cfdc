//! [`list`]: lists notes page by page, so that a reply never has all notes of a large notebook.

use crate::prelude::*;
use std::collections::BTreeSet;

use saddlebag::notebook::{ListNotes, ListNotesReply, NoteInfo, SortBy, SortFields, SortKey};

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

/// Lists the notes of a memory and those for all projects, if they are given, in one order, like [`list`].
pub(super) fn list_both(
    store: &mut Store,
    user: Option<&mut Store>,
    request: &ListNotes,
    output: &mut Output,
    mut page: impl FnMut(ListNotesReply, &mut Output) -> Result<(), Failure>,
) -> Result<ListNotesReply, Failure> {
    let Some(user) = user else { return list(store, request, output, page) };
    let of_user = list_all(user, None, request, output)?;
    let (mut links, mut rest) = (of_user.links, of_user.notes.into_iter().peekable());
    let mut room = request.limit.map_or(usize::MAX, |limit| limit as usize);
    let own = list(store, request, output, |mut own, output| {
        let mut notes = Vec::new();
        for note in std::mem::take(&mut own.notes) {
            while let Some(before) = rest.next_if(|of_user| comes_before(of_user, &note, &request.sort)) {
                notes.push(before);
            }
            notes.push(note);
        }
        notes.truncate(room);
        room -= notes.len();
        let paths: BTreeSet<&str> = notes.iter().map(|note| note.path.as_str()).collect();
        let is_here = |source: &str| paths.contains(source);
        let here = links.extract_if(.., |link| is_here(&link.source)).chain(own.links);
        let links = here.filter(|link| room > 0 || is_here(&link.source)).collect();
        page(ListNotesReply { notes, links, ..own }, output)
    })?;
    let notes: Vec<NoteInfo> = rest.take(room).collect();
    if !notes.is_empty() {
        page(ListNotesReply { notes, links, ..ListNotesReply::default() }, output)?;
    }
    Ok(ListNotesReply {
        total: own.total.saturating_add(of_user.total),
        warnings: [own.warnings, of_user.warnings].concat(),
        skipped: [own.skipped, of_user.skipped].concat(),
        ..own
    })
}

/// Returns true if a note of another notebook comes before a note in a listing by these keys.
fn comes_before(other: &NoteInfo, note: &NoteInfo, keys: &[SortKey]) -> bool {
    // Where the keys are equal, a listing is in the order of the titles.
    let last = [SortBy::Title, SortBy::Path].map(|by| SortKey { by, ascending: true });
    SortKey::compare(&[keys, &last].concat(), &fields(other), &fields(note)).is_lt()
}

fn fields(note: &NoteInfo) -> SortFields<'_> {
    let NoteInfo { created, modified, path, title, word_count, .. } = note;
    // A note without a date has the time of its last change for that of its creation.
    let created = Some(*created).filter(|created| created != modified);
    SortFields { created, modified: *modified, path, title, word_count: *word_count }
}

/// Lists notes and returns all of them as one reply, for output as one object.
pub(super) fn list_all(
    store: &mut Store,
    user: Option<&mut Store>,
    request: &ListNotes,
    output: &mut Output,
) -> Result<ListNotesReply, Failure> {
    let (mut notes, mut links) = (Vec::new(), Vec::new());
    let about = list_both(store, user, request, output, |page, _| {
        notes.extend(page.notes);
        links.extend(page.links);
        Ok(())
    })?;
    Ok(ListNotesReply { notes, links, ..about })
}
