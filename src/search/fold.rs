//! Case folding: which characters are the same whatever their case.

use hashbrown::HashMap;
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use alloc::string::String;

/// Folds text by Unicode simple case folding, the rule of case-insensitive regular expressions:
/// `Σ`, `σ` and `ς` are one, `K` and the Kelvin sign are one, `ß` and `SS` are two.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    /// Characters beyond ASCII that were met before: finding their class is slow.
    known: HashMap<char, char>,
}

impl Folder {
    /// Appends `text`, folded, to `out`.
    pub(super) fn fold_into(&mut self, text: &str, out: &mut String) {
        if text.is_ascii() {
            let start = out.len();
            out.push_str(text);
            if let Some(added) = out.get_mut(start..) {
                added.make_ascii_lowercase();
            }
        } else {
            out.extend(text.chars().map(|c| self.fold(c)));
        }
    }

    /// `text` folded.
    pub(super) fn folded(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        self.fold_into(text, &mut out);
        out
    }

    fn fold(&mut self, c: char) -> char {
        if c.is_ascii() {
            return c.to_ascii_lowercase();
        }
        *self.known.entry(c).or_insert_with(|| representative(c))
    }
}

/// One character for the whole class of `c`: the ASCII lower-case letter in it, else the smallest.
fn representative(c: char) -> char {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    if class.try_case_fold_simple().is_err() {
        return c;
    }
    let smallest = class.iter().map(ClassUnicodeRange::start).min().unwrap_or(c);
    smallest.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_simple_and_complete() {
        let mut folder = Folder::default();
        assert_eq!(folder.folded("ΣΊΣΥΦΟΣ"), folder.folded("σίσυφος"));
        assert_eq!(folder.folded("\u{212a}ſ"), "ks");
        assert_ne!(folder.folded("straße"), folder.folded("STRASSE"));
        assert_eq!(folder.folded("日本 Ü"), folder.folded("日本 ü"));
    }

    #[test]
    fn two_characters_fold_alike_exactly_when_a_regex_says_so() {
        let mut folder = Folder::default();
        for c in (0x80..0x2_0000).filter_map(char::from_u32) {
            for other in c.to_lowercase().chain(c.to_uppercase()).filter(|&other| other != c) {
                let same = regex::Regex::new(&alloc::format!("^(?i:{c})$")).expect("a letter is a valid pattern");
                let same = same.is_match(other.encode_utf8(&mut [0; 4]));
                assert_eq!(folder.fold(c) == folder.fold(other), same, "{c:?} {other:?}");
            }
        }
    }
}
