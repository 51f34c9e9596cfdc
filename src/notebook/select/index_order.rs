//! The order of notes in an index of zk.

use alloc::vec::Vec;

use crate::notebook::types::NoteView;
use crate::order;

/// Notes in the order in which zk indexes and numbers them: by path, a folder before what only begins
/// like it.
pub(crate) fn index_order(notes: &[NoteView<'_>]) -> Vec<usize> {
    let mut notes_in_order: Vec<usize> = (0..notes.len()).collect();
    let key = |byte: u8| if byte == b'/' { 1 } else { byte };
    let path = |note: usize| notes.get(note).map(|view| view.path.bytes().map(key)).into_iter().flatten();
    order::sort_slice(&mut notes_in_order, |&a, &b| path(a).cmp(path(b)));
    notes_in_order
}
