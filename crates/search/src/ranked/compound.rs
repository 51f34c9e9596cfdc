//! [`Compound`]: a word that may be a part of words that are written as one, such as the German `Graphansicht`, or be one.

use saddlebag_collections::SlicePart;

use super::index::{Form, RankedIndex};
use super::language::Language;
use saddlebag_collections::prelude::*;

/// Minimum number of letters of a word within a compound.
const MIN_WORD: usize = 5;
/// Minimum number of letters of its stem.
const MIN_PART: usize = 4;
/// Minimum number of letters of the rest of the compound, without an ending.
const MIN_REST: usize = 3;
/// Beginning of a participle: `gelöscht`.
const PARTICIPLE: &[u8] = b"ge";
/// Maximum number of letters at the end in which two forms of a word differ.
const MAX_ENDING: usize = 2;
/// Number of letters by which the ends of words are compared first.
const END: usize = 2;
/// Maximum number of related words. One with more is an ending rather than a word, and has none.
const MAX_RELATED: usize = 1000;

/// A word of a query.
pub(super) struct Compound<'a> {
    word: &'a [u8],
    stem: String,
    language: Language,
}

impl<'a> Compound<'a> {
    /// Returns `None` for a word that is too short, or has no stem.
    pub(super) fn new(word: &'a [u8], language: Language) -> Option<Self> {
        let mut stem = String::new();
        let is_stemmed = word.is_ascii() && word.len() >= MIN_WORD && language.stem(word, &mut stem);
        (is_stemmed && stem.len() >= MIN_PART).then_some(Self { word, stem, language })
    }

    /// Returns true for a compound that begins or ends with this word, and for a word that this one begins or ends with.
    fn is_related(&self, term: &[u8]) -> bool {
        let (word, stem) = (self.word, self.stem.as_bytes());
        (0..=MAX_ENDING).any(|ending| {
            let cut = term.part(..term.len().saturating_sub(ending));
            if cut.len() < MIN_PART {
                return false;
            }
            let is_after = cut.strip_suffix(stem).is_some_and(|rest| rest.len() >= MIN_REST || rest == PARTICIPLE);
            is_after
                || cut.len() >= stem.len() + MIN_REST && cut.starts_with(stem)
                || (word.starts_with(cut) || stem.ends_with(cut)) && self.has(term)
        })
    }

    /// Returns true if this word is a compound that begins or ends with a term.
    fn has(&self, term: &[u8]) -> bool {
        let mut part = String::new();
        term.len() >= MIN_WORD
            && self.language.stem(term, &mut part)
            && part.len() >= MIN_PART
            && self.stem.len() >= part.len() + MIN_REST
            && (self.stem.starts_with(&part) || self.stem.ends_with(&part))
    }

    /// Returns the related terms of an index for each word, by name. Looks at all terms once.
    pub(super) fn find(words: &[Option<Self>], index: &RankedIndex) -> Vec<Vec<Form>> {
        let mut found: Vec<Vec<Form>> = words.iter().map(|_| Vec::new()).collect();
        if words.iter().all(Option::is_none) {
            return found;
        }
        let (mut beginnings, mut ends) = (Keys::default(), Keys::default());
        for Self { word, stem, .. } in words.iter().flatten() {
            beginnings.insert(word.part(..MIN_PART));
            ends.insert(stem.as_bytes().part(stem.len() - END..));
        }
        let may_be_related = |term: &[u8]| {
            let end = |ending: usize| term.len().checked_sub(ending + END).map(|start| term.part(start..start + END));
            term.len() >= MIN_PART
                && (beginnings.may_have(term.part(..MIN_PART))
                    || (0..=MAX_ENDING).any(|ending| end(ending).is_some_and(|end| ends.may_have(end))))
        };
        let is_wanted = |term: &[u8]| may_be_related(term) && words.iter().flatten().any(|word| word.is_related(term));
        for form in index.terms_that(&is_wanted) {
            for (word, found) in words.iter().zip(&mut found) {
                if word.as_ref().is_some_and(|word| word.is_related(&form.name)) {
                    found.push(form.clone());
                }
            }
        }
        found.iter_mut().filter(|found| found.len() > MAX_RELATED).for_each(Vec::clear);
        found
    }
}

/// A set of short keys, which may take a key for another one.
#[derive(Default)]
struct Keys([u64; 16]);

impl Keys {
    fn place(key: &[u8]) -> (usize, u64) {
        let hash = key.iter().fold(0_u32, |hash, byte| hash.wrapping_mul(37).wrapping_add(u32::from(*byte)));
        ((hash / 64 % 16) as usize, 1 << (hash % 64))
    }

    fn insert(&mut self, key: &[u8]) {
        let (word, bit) = Self::place(key);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    fn may_have(&self, key: &[u8]) -> bool {
        let (word, bit) = Self::place(key);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compound_is_related_to_its_first_and_its_last_part() {
        let is_related = |one: &str, other: &str| {
            Compound::new(one.as_bytes(), Language::German).is_some_and(|word| word.is_related(other.as_bytes()))
        };
        for (one, other) in [
            ("ansicht", "graphansicht"),
            ("graphen", "graphansicht"),
            ("kopie", "sicherungskopien"),
            ("sicherungen", "sicherungskopie"),
        ] {
            assert!(is_related(one, other) && is_related(other, one), "{one} {other}");
        }
        assert!(is_related("losche", "geloscht"));
        for (one, other) in [
            ("rat", "strafzettel"),
            ("ansicht", "ansichten"),
            ("tasten", "kasten"),
            ("speichern", "speise"),
            ("weiter", "zweiten"),
            ("stand", "bestande"),
            ("lage", "lager"),
            ("a", "b"),
        ] {
            assert!(!is_related(one, other) && !is_related(other, one), "{one} {other}");
        }
    }
}
