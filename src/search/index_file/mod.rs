//! The index file: records that a new engine need not read and parse again.
//!
//! It is a cache and never the truth: every file in it is known by its version, and is read again if the version differs. If
//! anything is wrong with it (a missing part, a wrong checksum, another format), it is not used.
//!
//! # What is the index, and what is on disk?
//!
//! A `Corpus` is the one index of the opened `memory`, for all families. It keeps only what was needed so far:
//!
//! | Part | Made | Grows with |
//! | --- | --- | --- |
//! | `Files`: path, version | By the first command that looks at the tree | The notes |
//! | Their text | By the first literal search, and for the hits of a recall | The text, up to `max-index-bytes` |
//! | Literal words and their lines | By the second literal search | The text |
//! | The parsed notes, as bytes (`EncodedNote`); the ranked index; which note supersedes which; invalid frontmatter | By the first command of the notebook that asks the index | The notes |
//!
//! **Which files.** The Markdown files directly in the root, the files of the journal, and every file of the scope's
//! tree that is a note by the configuration of the notebook; before a notebook command has read it, every Markdown
//! file. Literal search answers from the journal's files whatever the configuration says, the notebook from its notes.
//! Hidden files and folders are left out, and so is the memory of other scopes: `projects/<slug>/`,
//! `agents/*/entries/`, `workspaces/*/entries/`. Folders are listed 16 at a time, at most 65,536 of them with 1,048,576
//! entries each.
//!
//! **Numbers.** A file has a number (`DocId`). A changed file is a new file under a new number, and numbers only grow:
//! the index entries of the old one are skipped until the index is packed. So a change costs its own size. Packing
//! (`RankedIndex::settle`) happens when most of the documents are gone, or when the new part has more than half the
//! postings of the packed part. Spread over the notes, that too costs each its own size.
//!
//! **Text.** A notebook command indexes the notes batch by batch (`READ_BATCH`) as they are read, and then drops their
//! text: memory holds the words and not the text. The passages of a hit are cut from its text, which is read for that
//! and kept. Once literal search was used, which needs all text, all text is kept.
//!
//! **Versions.** A file of the index is known by the version that the host gave it, and read again when a listing shows
//! another. One listing is the whole check. It is not needed
//! if the host tells that nothing has changed (`generation`). Hosts of other version schemes have
//! their own columns; see `schemes.rs`. A note with a new version but the same bytes is not indexed again.
//!
//! **The index file** lets a new engine begin without reading every note. It is in `.saddlebag/index/` of the scope,
//! `0000` and on. Its head has number, path and hash of the bytes of each note, and the dictionary of the ranked index.
//! Its body has the parsed notes, the postings, and for each version scheme the versions and times of the notes. A
//! `recall` in a new engine reads the head, the column of its scheme, and the postings of its words; any other command,
//! and any second one, the whole body. Notes, the table of files and the ranked index are used as they are in the file,
//! so a file that no command asks for is never decoded. The text of notes is not in it; for hits it is read. For each
//! scheme it also holds the versions of the pages on which the notes were listed: a folder in which nothing changed is
//! `unchanged`, and none of its entries crosses the boundary. These versions are valid for the configuration that they
//! were listed under. A folder in which a file could not be read is left out.
//!
//! - *Format.* See `parts.rs` for the blocks, `catalog.rs` for what is in them, `rows.rs` for the table of files.
//! - *Read* by the first command that asks the index of the notebook, in an engine that has not listed anything yet. It is
//!   not used if the configuration now reads tags in another way.
//! - *Written* if there are at least 128 notes (`MIN_NOTES`) and a tenth of them were added, removed or changed since it was
//!   read or written; reading fewer notes again is about as fast as writing. If the host refuses, the command continues.
//!   The file is written from the pieces in memory: parsed notes, packed postings. Nothing has a copy of the whole file.
//!   The column of a scheme that would be dropped next is written again by a host that uses it, at most once a day.
//! - *Changes since* are in `recent` beside it, if the host has a token of the store; see `recent.rs`.
//! - *Deleted* at any time; `index-file` of the `config` turns it off.
//!
//! It is never the truth: it says what a file of this path and version holds, and the listing says which files and versions
//! exist. Two concurrent writers leave parts of two writings, which is not a valid index, and the next command writes a new one.
//! If it turns out to be damaged when more of the body is read, the command reads every note.

mod catalog;
mod recent;

use core::ops::Range;

use atomic_refcell::AtomicRefCell;
use catalog::Catalog;
pub(crate) use recent::read as read_recent;

use super::corpus::{Corpus, Restored};
use super::parts;
use super::scopes::FolderScope;
use crate::changes::Call;
use saddlebag_collections::prelude::*;

/// Minimum number of notes for an index file. Fewer notes are read as fast as their index.
const MIN_NOTES: usize = 128;

/// Part of the index that a command needs.
#[derive(Clone, Copy)]
pub(crate) enum Needed<'a> {
    /// The parsed notes.
    Notes,
    /// Ranges of the index file that a search needs.
    Ranges(&'a (dyn Fn(&Corpus) -> Vec<Range<usize>> + Sync)),
    Everything,
}

/// Reads the index from the store, if the corpus is empty and the store has one. Notes and postings are read later, by
/// [`read_needed`].
pub(crate) async fn read(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    if !call.scope.index_file || !corpus.borrow().is_untouched() {
        return;
    }
    let index = read_for(call, corpus, false).await;
    let mut corpus = corpus.borrow_mut();
    if !corpus.is_untouched() {
        return;
    }
    corpus.has_looked_for_index = true;
    if let Some(index) = index {
        corpus.restore(index);
    }
}

/// Reads the index file before it is overwritten, if the corpus began without it, to keep the records of other
/// schemes.
async fn read_others(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    if corpus.borrow().has_looked_for_index {
        return;
    }
    let index = read_for(call, corpus, true).await;
    let mut corpus = corpus.borrow_mut();
    if corpus.has_looked_for_index {
        return;
    }
    corpus.has_looked_for_index = true;
    if let Some(index) = index {
        corpus.adopt_others(index);
    }
}

/// Reads and decodes the index file. `None` if it cannot be used.
async fn read_for(call: &Call, corpus: &AtomicRefCell<Corpus>, is_whole: bool) -> Option<Restored> {
    let scheme = &call.scope.version_scheme;
    let (head, body) = parts::open(call).await?;
    let head = Arc::new(head);
    let catalog = Catalog::parse(&head)?;
    let body =
        if is_whole { body.whole(call).await? } else { body.with(call, &catalog.needed_ranges(scheme)?).await? };
    let index = catalog.restore(&head, body, &corpus.borrow(), scheme)?;
    let scopes = corpus.borrow().scopes(&call.scope.layout);
    FolderScope::all_hold(&scopes, index.table.rows.paths()).then_some(index)
}

/// Reads what a search needs of the index file. If that is damaged, the corpus forgets what it had of it, and returns
/// false: then it must be brought up to date again.
///
/// An engine that needs ranges a second time reads everything, as it goes on living.
pub(crate) async fn read_needed(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>, needed: Needed<'_>) -> bool {
    let (body, needed, damages) = {
        let corpus = corpus.borrow();
        if corpus.body().bytes().is_whole() {
            return true;
        }
        let ranges = match needed {
            Needed::Everything => None,
            // A new index file is written from all of the old one.
            _ if is_outdated(call, &corpus) => None,
            Needed::Notes => Some(vec![corpus.files.notes_of_index()]),
            Needed::Ranges(ranges) => Some(ranges(&corpus)),
        };
        (corpus.body().clone(), ranges, corpus.damages())
    };
    let read = match needed {
        Some(ranges) if body.has(&ranges) => return true,
        Some(ranges) if !body.was_searched => body.for_search(call, &ranges).await,
        _ => body.whole(call).await,
    };
    let mut corpus = corpus.borrow_mut();
    if corpus.damages() != damages {
        return false;
    }
    match read {
        // Another command may have read everything meanwhile.
        Some(_) if corpus.body().bytes().is_whole() => {}
        Some(mut body) => {
            body.merge(corpus.body());
            corpus.set_body(body);
        }
        None => {
            corpus.forget_index_file();
            return false;
        }
    }
    true
}

/// Returns true if enough has changed for a new index file.
fn is_outdated(call: &Call, corpus: &Corpus) -> bool {
    let (unsaved, notes) = (corpus.unsaved(), corpus.files.len());
    // Reading a tenth of the notes is about as fast as writing the index.
    let is_outdated = unsaved * 10 >= notes
        || corpus.has_new_generation()
        || corpus.others.would_drop_own(call.now.timestamp().seconds);
    call.scope.index_file && notes >= MIN_NOTES && is_outdated
}

/// Writes the index if enough has changed, otherwise the changes since it was written, if the host tells of changes.
pub(crate) async fn save(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    if !is_outdated(call, &corpus.borrow()) {
        if call.scope.index_file {
            recent::save(call, corpus).await;
        }
        return;
    }
    read_others(call, corpus).await;
    if !corpus.borrow_mut().pack_words() {
        return;
    }
    let encoded = catalog::encode(&corpus.borrow(), &call.scope.version_scheme, call.now.timestamp().seconds);
    let Some((mut head, body, generation)) = encoded else { return };
    let Some((writing, parts)) = parts::parts(&mut head, &body) else { return };
    corpus.borrow_mut().saved(writing, generation);
    // One after the other, because each part is a copy. The pieces stay as they are whatever other commands change.
    for (number, part) in parts.enumerate() {
        let Some(path) = parts::part_path(call, number) else { return };
        // A failed write of a cache is not an error.
        if !call.write_cache(&path, part).await {
            return;
        }
    }
}
