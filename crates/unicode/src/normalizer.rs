//! [`Normalizer`]: text in the normal forms of Unicode Standard Annex #15.

use alloc::vec::Vec;

use saddlebag_collections::order;

use crate::tables::{self, Decomposition, FIRST};

/// Brings text into normal forms. Its buffers are reused for each text.
///
/// Characters are emitted as soon as their order is known; only marks in a row are kept until the next other character.
#[derive(Clone, Debug, Default)]
pub struct Normalizer {
    marks: Vec<Mark>,
    composition: Composition,
}

/// A character with a combining class other than 0.
#[derive(Clone, Copy, Debug)]
struct Mark {
    class: u8,
    character: char,
}

impl Normalizer {
    /// Emits the text in form D: canonical decompositions.
    pub fn nfd(&mut self, text: impl IntoIterator<Item = char>, mut emit: impl FnMut(char)) {
        decompose(&mut self.marks, text, tables::canonical, |c, _| emit(c));
    }

    /// Emits the text in form KD: canonical and compatibility decompositions.
    pub fn nfkd(&mut self, text: impl IntoIterator<Item = char>, mut emit: impl FnMut(char)) {
        decompose(&mut self.marks, text, tables::compatible, |c, _| emit(c));
    }

    /// Emits the text in form C: canonical decompositions, composed again.
    pub fn nfc(&mut self, text: impl IntoIterator<Item = char>, mut emit: impl FnMut(char)) {
        let composition = &mut self.composition;
        decompose(&mut self.marks, text, tables::canonical, |c, class| composition.push(c, class, &mut emit));
        composition.finish(&mut emit);
    }
}

/// Emits the characters of the decomposed text in canonical order, each with its combining class.
#[inline]
fn decompose(
    marks: &mut Vec<Mark>,
    text: impl IntoIterator<Item = char>,
    decomposition: impl Fn(char) -> Decomposition,
    mut emit: impl FnMut(char, u8),
) {
    for c in text {
        if c < FIRST && marks.is_empty() {
            emit(c, 0);
            continue;
        }
        match decomposition(c) {
            Decomposition::None { class } => push(marks, c, class, &mut emit),
            Decomposition::Parts(parts) => parts.for_each(|part| push(marks, part, tables::class(part), &mut emit)),
        }
    }
    emit_marks(marks, &mut emit);
}

#[inline]
fn push(marks: &mut Vec<Mark>, character: char, class: u8, emit: &mut impl FnMut(char, u8)) {
    if class != 0 {
        marks.push(Mark { class, character });
        return;
    }
    if !marks.is_empty() {
        emit_marks(marks, emit);
    }
    emit(character, 0);
}

#[inline]
fn emit_marks(marks: &mut Vec<Mark>, emit: &mut impl FnMut(char, u8)) {
    if marks.len() > 1 {
        sort(marks);
    }
    marks.drain(..).for_each(|mark| emit(mark.character, mark.class));
}

#[inline(never)]
fn sort(marks: &mut [Mark]) {
    order::sort_slice_by_key(marks, |mark| mark.class);
}

/// Composes characters that are in canonical order.
#[derive(Clone, Debug, Default)]
struct Composition {
    /// Last character of class 0, with all that was composed with it.
    starter: Option<char>,
    /// Marks since then that did not compose.
    marks: Vec<Mark>,
}

impl Composition {
    fn push(&mut self, c: char, class: u8, emit: &mut impl FnMut(char)) {
        let Some(starter) = self.starter else {
            if class == 0 {
                self.starter = Some(c);
            } else {
                emit(c);
            }
            return;
        };
        // A mark of the same class in between keeps two characters apart, and any mark keeps letters apart.
        let is_next = self.marks.last().is_none_or(|last| last.class < class);
        if let Some(both) = is_next.then(|| tables::compose(starter, c)).flatten() {
            self.starter = Some(both);
        } else if class == 0 {
            self.finish(emit);
            self.starter = Some(c);
        } else {
            self.marks.push(Mark { class, character: c });
        }
    }

    /// Emits what is left.
    fn finish(&mut self, emit: &mut impl FnMut(char)) {
        self.starter.take().into_iter().for_each(&mut *emit);
        self.marks.drain(..).for_each(|mark| emit(mark.character));
    }
}
