//! Parts of strings and slices that exist, because the caller has found them there.
//!
//! For a range that comes from elsewhere, such as an argument or a file, use `get`, which returns an option.

use core::fmt::Debug;
use core::slice::SliceIndex;

/// Returns true for an emoji or another picture, which is a word by itself.
pub fn is_picture(c: char) -> bool {
    matches!(c, '\u{231a}' | '\u{231b}' | '\u{23e9}'..='\u{23fa}' | '\u{2600}'..='\u{27bf}' | '\u{2b50}' | '\u{2b55}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Text with parts.
pub trait TextPart {
    /// Returns the part at a range that is in the text, on character boundaries.
    ///
    /// Any other range is an error of the caller: debug builds panic, release builds return an empty text.
    fn part<R: SliceIndex<str, Output = str> + Clone + Debug>(&self, range: R) -> &str;
}

/// A slice with parts.
pub trait SlicePart<T> {
    /// Returns the part at a range that is in the slice.
    ///
    /// Any other range is an error of the caller: debug builds panic, release builds return an empty slice.
    fn part<R: SliceIndex<[T], Output = [T]> + Clone + Debug>(&self, range: R) -> &[T];
}

impl TextPart for str {
    #[inline]
    #[track_caller]
    fn part<R: SliceIndex<str, Output = str> + Clone + Debug>(&self, range: R) -> &str {
        let part = self.get(range.clone());
        debug_assert!(part.is_some(), "{range:?} is not a part of text of {} bytes", self.len());
        part.unwrap_or_default()
    }
}

impl<T> SlicePart<T> for [T] {
    #[inline]
    #[track_caller]
    fn part<R: SliceIndex<[T], Output = [T]> + Clone + Debug>(&self, range: R) -> &[T] {
        let part = self.get(range.clone());
        debug_assert!(part.is_some(), "{range:?} is not a part of a slice of {}", self.len());
        part.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_that_of_the_range() {
        assert_eq!("größer".part(2..), "ößer");
        assert_eq!([1, 2, 3].part(..2), [1, 2]);
        assert_eq!("a".part(1..), "");
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "3..4 is not a part of text of 8 bytes")]
    fn a_range_between_no_characters_stops_a_debug_build() {
        let _ = "größer".part(3..4);
    }
}
