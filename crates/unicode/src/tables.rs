//! Looks up characters in the tables, which the build script writes.
//!
//! A character has a value of 16 bits, found in three levels: `TOP`, `GROUPS`, `VALUES`. It is 0 for most. With `PLAIN_MARK`
//! the character is a mark without decomposition, and the value has its class. Otherwise the value has the number of a
//! decomposition. Numbers are sorted by length, so `RANGES` finds the place in `CANONICAL` or `COMPATIBLE`, which is UTF-16.
//! A program without form KD does not link `COMPATIBLE`.

use core::array;
use core::char::DecodeUtf16;
use core::iter::{Copied, Take};
use core::slice;

use crate::hangul;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// No character below decomposes or is a mark.
pub(crate) const FIRST: char = '\u{a0}';

/// How a character decomposes.
pub(crate) enum Decomposition {
    /// It is its own decomposition.
    None {
        class: u8,
    },
    Parts(Parts),
}

/// The characters of a decomposition.
pub(crate) enum Parts {
    Text(DecodeUtf16<Copied<slice::Iter<'static, u16>>>),
    Hangul(DecodeUtf16<Take<array::IntoIter<u16, 3>>>),
}

impl Iterator for Parts {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let next = match self {
            Self::Text(text) => text.next(),
            Self::Hangul(letters) => letters.next(),
        };
        next.map(|part| part.unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

/// Returns the canonical decomposition of a character, with no part that decomposes further.
pub(crate) fn canonical(c: char) -> Decomposition {
    let value = value(c);
    decomposition(c, value, canonical_number(c, value).map(|number| text(&CANONICAL, number)))
}

/// Returns the canonical or compatibility decomposition of a character, with no part that decomposes further.
pub(crate) fn compatible(c: char) -> Decomposition {
    let value = value(c);
    let text = number(value).map(|number| match number {
        FIRST_COMPATIBLE.. => text(&COMPATIBLE, number),
        _ => text(&CANONICAL, number),
    });
    decomposition(c, value, text)
}

/// Returns the decomposition of a character with this value, and with this text in the tables.
fn decomposition(c: char, value: u16, text: Option<&'static [u16]>) -> Decomposition {
    match text {
        Some(text) => Decomposition::Parts(Parts::Text(char::decode_utf16(text.iter().copied()))),
        None => match hangul::decompose(c) {
            Some((letters, count)) => {
                Decomposition::Parts(Parts::Hangul(char::decode_utf16(letters.into_iter().take(count))))
            }
            None => Decomposition::None { class: class_of(value) },
        },
    }
}

/// Returns the canonical combining class.
pub(crate) fn class(c: char) -> u8 {
    class_of(value(c))
}

/// Returns true if the general category is Mark.
pub(crate) fn is_mark(c: char) -> bool {
    value(c) & (PLAIN_MARK | MARK) != 0
}

/// Composes two characters by their canonical decomposition.
pub(crate) fn compose(first: char, second: char) -> Option<char> {
    let (Ok(small_first), Ok(small_second)) = (u16::try_from(u32::from(first)), u16::try_from(u32::from(second)))
    else {
        let at =
            LARGE_COMPOSITIONS.binary_search_by_key(&(first, second), |&[first, second, _]| (first, second)).ok()?;
        return LARGE_COMPOSITIONS.get(at).map(|&[.., both]| both);
    };
    if let Some(syllable) = hangul::compose(first, second) {
        return Some(syllable);
    }
    let at = SECONDS.binary_search_by_key(&small_second, |&[second, _]| second).ok()?;
    let end = |at: usize| SECONDS.get(at).map_or(0, |&[_, end]| usize::from(end));
    let pairs = FIRSTS.get(at.checked_sub(1).map_or(0, end)..end(at))?;
    let at = pairs.binary_search_by_key(&small_first, |&[first, _]| first).ok()?;
    pairs.get(at).and_then(|&[_, both]| char::from_u32(both.into()))
}

/// Returns the value of a character.
fn value(c: char) -> u16 {
    let at = c as usize;
    let found = || {
        let group = usize::from(*TOP.get(at >> (BLOCK_BITS + GROUP_BITS))?);
        let block = usize::from(*GROUPS.get(group << GROUP_BITS | at >> BLOCK_BITS & ((1 << GROUP_BITS) - 1))?);
        VALUES.get(block << BLOCK_BITS | at & ((1 << BLOCK_BITS) - 1)).copied()
    };
    // The tables end with the last character that has a value.
    if c < FIRST { 0 } else { found().unwrap_or(0) }
}

/// Returns the number of the decomposition that a value names.
fn number(value: u16) -> Option<u16> {
    (value & PLAIN_MARK == 0 && value != 0).then_some(value & NUMBER)
}

/// Returns the number of the canonical decomposition of a character with this value.
fn canonical_number(c: char, value: u16) -> Option<u16> {
    let number = number(value)?;
    if number < FIRST_COMPATIBLE {
        return Some(number);
    }
    // Few characters have two decompositions. The value names the compatibility decomposition.
    let at = DIFFERING.binary_search_by_key(&c, |&(c, _)| c).ok()?;
    DIFFERING.get(at).map(|&(_, number)| number)
}

/// Returns the decomposition with this number, which is in `texts`.
fn text(texts: &'static [u16], number: u16) -> &'static [u16] {
    let range = RANGES.get(RANGES.partition_point(|&[_, end, ..]| end <= number));
    let Some(&[start, _, text, length]) = range else { return &[] };
    let at = usize::from(text) + usize::from(number.saturating_sub(start)) * usize::from(length);
    texts.get(at..at + usize::from(length)).unwrap_or_default()
}

fn class_of(value: u16) -> u8 {
    if value & PLAIN_MARK != 0 {
        return value as u8;
    }
    if value & HAS_CLASS == 0 {
        return 0;
    }
    let first = text(&CANONICAL, value & NUMBER).first().and_then(|&unit| char::from_u32(unit.into()));
    first.map_or(0, class)
}
