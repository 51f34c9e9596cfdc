//! Unicode normalization in small tables.
//!
//! The results are those of the crate `unicode-normalization`, whose tables are 128 KB of a WebAssembly component. The tables
//! here have 47 KB. A build script makes them from those of that crate, so both have one Unicode version.
//!
//! * [`Normalizer`] brings text into the normal forms D, KD and C, one character at a time.
//! * [`decompose_canonical`], [`canonical_combining_class`] and [`is_combining_mark`] are about one character.
//!
//! This crate does not check whether a text is normalized already, and does not have the form KC.
//!
//! ```
//! use saddlebag_unicode::Normalizer;
//!
//! let mut normalizer = Normalizer::default();
//! let mut text = String::new();
//! normalizer.nfkd("ﬁancé".chars(), |c| text.push(c));
//! assert_eq!(text, "fiance\u{301}");
//!
//! let mut composed = String::new();
//! normalizer.nfc(text.chars(), |c| composed.push(c));
//! assert_eq!(composed, "fiancé");
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod hangul;
mod normalizer;
mod tables;
#[cfg(test)]
mod tests;

pub use normalizer::Normalizer;

use tables::Decomposition;

/// Returns the canonical decomposition of a character: the character itself if it has none.
///
/// ```
/// assert!(saddlebag_unicode::decompose_canonical('ệ').eq("e\u{323}\u{302}".chars()));
/// ```
pub fn decompose_canonical(c: char) -> impl Iterator<Item = char> {
    let (parts, itself) = match tables::canonical(c) {
        Decomposition::None { .. } => (None, Some(c)),
        Decomposition::Parts(parts) => (Some(parts), None),
    };
    parts.into_iter().flatten().chain(itself)
}

/// Returns the canonical combining class of a character, as in the Unicode Character Database.
///
/// ```
/// assert_eq!(saddlebag_unicode::canonical_combining_class('\u{301}'), 230);
/// assert_eq!(saddlebag_unicode::canonical_combining_class('é'), 0);
/// ```
#[must_use]
pub fn canonical_combining_class(c: char) -> u8 {
    tables::class(c)
}

/// Returns true for characters of the general category Mark.
///
/// ```
/// assert!(saddlebag_unicode::is_combining_mark('\u{301}'));
/// assert!(!saddlebag_unicode::is_combining_mark('é'));
/// ```
#[must_use]
pub fn is_combining_mark(c: char) -> bool {
    tables::is_mark(c)
}
