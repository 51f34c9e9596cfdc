//! Compares every result with `unicode-normalization`.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char as theirs;

use super::*;

fn nfd(text: &str) -> String {
    let mut out = String::new();
    Normalizer::default().nfd(text.chars(), |c| out.push(c));
    out
}

fn nfkd(text: &str) -> String {
    let mut out = String::new();
    Normalizer::default().nfkd(text.chars(), |c| out.push(c));
    out
}

fn nfc(text: &str) -> String {
    let mut out = String::new();
    Normalizer::default().nfc(text.chars(), |c| out.push(c));
    out
}

fn all_characters() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

/// Checks the three forms of a text.
fn assert_same(text: &str) {
    assert!(text.nfd().eq(nfd(text).chars()), "form D of {text:?} is {:?}", nfd(text));
    assert!(text.nfkd().eq(nfkd(text).chars()), "form KD of {text:?} is {:?}", nfkd(text));
    assert!(text.nfc().eq(nfc(text).chars()), "form C of {text:?} is {:?}", nfc(text));
}

#[test]
fn every_character_has_the_same_properties() {
    for c in all_characters() {
        assert_eq!(canonical_combining_class(c), theirs::canonical_combining_class(c), "class of {c:?}");
        assert_eq!(is_combining_mark(c), theirs::is_combining_mark(c), "{c:?} is a mark");
        let mut parts = Vec::new();
        theirs::decompose_canonical(c, |part| parts.push(part));
        assert!(decompose_canonical(c).eq(parts), "decomposition of {c:?}");
    }
}

#[test]
fn every_character_has_the_same_forms() {
    for c in all_characters() {
        assert_same(c.encode_utf8(&mut [0; 4]));
    }
}

#[test]
fn every_character_that_changes_has_the_same_forms_among_others() {
    let parts: BTreeSet<char> = all_characters().filter(|c| !c.nfkd().eq([*c])).flat_map(|c| c.nfkd()).collect();
    let changes = |c: char| parts.contains(&c) || !c.nfkd().eq([c]) || theirs::canonical_combining_class(c) != 0;
    for c in all_characters().filter(|&c| changes(c)) {
        // Marks above and below, so that they change places; letters that compose with the next or the previous one.
        let text = [c, 'e', c, '\u{301}', c, '\u{316}', '\u{338}', c, '\u{1100}', c, '\u{11a8}', c];
        assert_same(&text.into_iter().collect::<String>());
    }
}

#[test]
fn every_pair_composes_the_same() {
    let composing: Vec<char> = all_characters().filter(|c| c.nfd().nfc().eq([*c]) && c.nfd().count() > 1).collect();
    let firsts: BTreeSet<char> = composing.iter().flat_map(|c| [*c].into_iter().chain(c.nfd())).collect();
    let seconds: BTreeSet<char> = composing.iter().flat_map(|c| c.nfd().skip(1)).collect();
    assert!(firsts.len() > 10_000 && seconds.len() > 60, "{} and {}", firsts.len(), seconds.len());
    for &first in &firsts {
        for &second in &seconds {
            assert_eq!(tables::compose(first, second), theirs::compose(first, second), "{first:?} and {second:?}");
        }
    }
}

#[test]
fn many_marks_are_sorted() {
    let text: String = (0..50_000).flat_map(|_| ['\u{301}', '\u{316}', '\u{338}']).collect();
    assert_same(&text);
    assert_same(&std::format!("a{text}b"));
}

proptest! {
    #[test]
    fn texts_have_the_same_forms(
        text in "([a-zß가-힣éǆΐệḍ]|[\\u{300}-\\u{36f}\\u{591}-\\u{5c7}\\u{1dc0}-\\u{1dff}]|[ᄀ-ᇿ]|\
            [\\u{900}-\\u{dff}]|[\\u{f71}-\\u{f84}]|[か-ヶ\\u{3099}\\u{309a}ﾀ-ﾟ]|[\\u{11080}-\\u{11940}]|\\PC){0,24}"
    ) {
        assert_same(&text);
    }

    #[test]
    fn texts_of_any_characters_have_the_same_forms(text in proptest::collection::vec(any::<char>(), 0..24)) {
        assert_same(&text.into_iter().collect::<String>());
    }
}
