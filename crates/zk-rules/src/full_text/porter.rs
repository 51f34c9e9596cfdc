//! Porter's stemmer of 1980, as SQLite's FTS5 runs it: on the bytes of a folded word.
//!
//! It is not the Snowball stemmer that recall uses: zk's queries match what FTS5 matches, odd stems included.

use alloc::vec::Vec;

/// Words outside of these lengths, in bytes, are their own stems.
const STEMMED_LENGTHS: core::ops::RangeInclusive<usize> = 3..=64;

/// A suffix and its replacement.
type Rule = (&'static [u8], &'static [u8]);

/// In the order in which they are tried; the first that the word ends in decides.
const STEP_2: &[Rule] = &[
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"logi", b"log"),
    (b"bli", b"ble"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
];

const STEP_3: &[Rule] = &[
    (b"ical", b"ic"),
    (b"ness", b""),
    (b"icate", b"ic"),
    (b"iciti", b"ic"),
    (b"ful", b""),
    (b"ative", b""),
    (b"alize", b"al"),
];

const STEP_4: &[&[u8]] = &[
    b"al", b"ance", b"ence", b"er", b"ic", b"able", b"ible", b"ant", b"ement", b"ment", b"ent", b"ion", b"ou", b"ism",
    b"ate", b"iti", b"ous", b"ive", b"ize",
];

/// Replaces a word, folded to lower case, by its stem.
pub(super) fn stem(word: &mut Vec<u8>) {
    if !STEMMED_LENGTHS.contains(&word.len()) {
        return;
    }
    plural(word);
    past_and_progressive(word);
    if let Some(before) = before(word, b"y")
        && has_vowel(before)
    {
        let kept = before.len();
        word.truncate(kept);
        word.push(b'i');
    }
    replace_suffix(word, STEP_2);
    replace_suffix(word, STEP_3);
    drop_suffix(word);
    final_e(word);
    if let Some(before) = before(word, b"l")
        && before.last() == Some(&b'l')
        && measure(before) > 1
    {
        word.pop();
    }
}

/// The word before a suffix; `None` if the word does not end in it, or is nothing but the suffix.
fn before<'a>(word: &'a [u8], suffix: &[u8]) -> Option<&'a [u8]> {
    word.strip_suffix(suffix).filter(|before| !before.is_empty())
}

/// Step 1a: `sses`, `ies`, `s`.
fn plural(word: &mut Vec<u8>) {
    let cut = match word.as_slice() {
        [_, .., b's', b's', b'e', b's'] | [_, .., b'i', b'e', b's'] => 2,
        [.., b's', b's'] => 0,
        [.., b's'] => 1,
        _ => 0,
    };
    word.truncate(word.len() - cut);
}

/// Step 1b: `eed`, `ed`, `ing`, and what the stem needs where one of the latter went.
fn past_and_progressive(word: &mut Vec<u8>) {
    if let Some(before) = before(word, b"eed") {
        if measure(before) > 0 {
            word.pop();
        }
        return;
    }
    let Some(kept) = before(word, b"ed").or_else(|| before(word, b"ing")).filter(|kept| has_vowel(kept)) else {
        return;
    };
    let kept = kept.len();
    word.truncate(kept);
    if [b"at".as_slice(), b"bl", b"iz"].iter().any(|suffix| before(word, suffix).is_some()) {
        word.push(b'e');
    } else if let [.., a, b] = *word.as_slice()
        && a == b
        && !matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'l' | b's' | b'z')
    {
        word.pop();
    } else if measure(word) == 1 && ends_in_short_syllable(word) {
        word.push(b'e');
    }
}

/// Steps 2 and 3: a suffix gives way to a shorter one where a syllable precedes it.
fn replace_suffix(word: &mut Vec<u8>, rules: &[Rule]) {
    for (suffix, replacement) in rules {
        if let Some(before) = before(word, suffix) {
            if measure(before) > 0 {
                let kept = before.len();
                word.truncate(kept);
                word.extend_from_slice(replacement);
            }
            return;
        }
    }
}

/// Step 4: a suffix goes where two syllables precede it.
fn drop_suffix(word: &mut Vec<u8>) {
    for &suffix in STEP_4 {
        if let Some(before) = before(word, suffix) {
            let fits = suffix != b"ion" || matches!(before.last(), Some(b's' | b't'));
            if fits && measure(before) > 1 {
                let kept = before.len();
                word.truncate(kept);
            }
            return;
        }
    }
}

/// Step 5a: `e` at the end.
fn final_e(word: &mut Vec<u8>) {
    let Some(before) = before(word, b"e") else { return };
    let syllables = measure(before);
    if syllables > 1 || (syllables == 1 && !ends_in_short_syllable(before)) {
        word.pop();
    }
}

/// For each letter, true if it is a consonant: all but `aeiou`, and but `y` after a consonant.
fn consonants(word: &[u8]) -> impl Iterator<Item = bool> {
    word.iter().scan(false, |previous, letter| {
        let vowel = matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u') || (*letter == b'y' && *previous);
        *previous = !vowel;
        Some(*previous)
    })
}

/// Number of times that consonants follow vowels.
fn measure(word: &[u8]) -> usize {
    let mut after_vowel = false;
    let mut count = 0;
    for consonant in consonants(word) {
        count += usize::from(consonant && after_vowel);
        after_vowel = !consonant;
    }
    count
}

/// A `y` is a vowel here wherever it is not the first letter.
fn has_vowel(word: &[u8]) -> bool {
    word.iter()
        .enumerate()
        .any(|(i, letter)| matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u') || (i > 0 && *letter == b'y'))
}

/// Consonant, vowel, consonant; the last is not `w`, `x` or `y`.
fn ends_in_short_syllable(word: &[u8]) -> bool {
    let last_three = consonants(word).fold(0_u8, |mask, consonant| (mask << 1) | u8::from(consonant));
    !matches!(word.last(), Some(b'w' | b'x' | b'y')) && last_three & 0b111 == 0b101
}
