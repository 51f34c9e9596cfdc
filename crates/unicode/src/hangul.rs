//! Syllables of Hangul are composed by arithmetic, without a table.

/// First syllable, first leading letter, first vowel, and the place before the first trailing letter.
const SYLLABLES: u32 = 0xac00;
const LEADING: u32 = 0x1100;
const VOWELS: u32 = 0x1161;
const TRAILING: u32 = 0x11a7;

const LEADING_COUNT: u32 = 19;
const VOWEL_COUNT: u32 = 21;
/// A syllable without a trailing letter counts too.
const TRAILING_COUNT: u32 = 28;
const SYLLABLE_COUNT: u32 = LEADING_COUNT * VOWEL_COUNT * TRAILING_COUNT;

/// Returns the letters of a syllable, as UTF-16 units, and their number: 2 or 3.
pub(crate) fn decompose(c: char) -> Option<([u16; 3], usize)> {
    let syllable = u32::from(c).checked_sub(SYLLABLES).filter(|&syllable| syllable < SYLLABLE_COUNT)?;
    let trailing = syllable % TRAILING_COUNT;
    let letters = [
        LEADING + syllable / TRAILING_COUNT / VOWEL_COUNT,
        VOWELS + syllable / TRAILING_COUNT % VOWEL_COUNT,
        TRAILING + trailing,
    ];
    // All are below 0x11c3.
    Some((letters.map(|letter| letter as u16), if trailing == 0 { 2 } else { 3 }))
}

/// Composes a leading letter and a vowel, or a syllable without a trailing letter and such a letter.
pub(crate) fn compose(first: char, second: char) -> Option<char> {
    let (first, second) = (u32::from(first), u32::from(second));
    let below = |c: u32, start: u32, count: u32| c.checked_sub(start).filter(|&at| at < count);
    if let Some(leading) = below(first, LEADING, LEADING_COUNT) {
        let vowel = below(second, VOWELS, VOWEL_COUNT)?;
        return char::from_u32(SYLLABLES + (leading * VOWEL_COUNT + vowel) * TRAILING_COUNT);
    }
    let syllable = below(first, SYLLABLES, SYLLABLE_COUNT)?;
    let trailing = below(second, TRAILING, TRAILING_COUNT)?;
    if syllable % TRAILING_COUNT != 0 || trailing == 0 {
        return None;
    }
    char::from_u32(first + trailing)
}
