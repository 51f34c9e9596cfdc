//! Case folding: characters that are equal if case is ignored.

use hashbrown::HashMap;

use saddlebag_collections::prelude::*;

use unicode_normalization::UnicodeNormalization;

/// Folds text by Unicode simple case folding, the rule of case-insensitive regular expressions: `Σ`, `σ` and `ς` are
/// equal, `K` and the Kelvin sign are equal, `ß` and `SS` are different.
#[derive(Clone, Debug, Default)]
pub(super) struct Folder {
    /// Cache of characters beyond ASCII, because finding their class is slow.
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
            // Forms of one letter are equal: macOS writes `é` as two characters.
            out.extend(text.nfc().map(|c| self.fold(c)));
        }
    }

    /// Returns `text`, folded.
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

/// Returns one character for all that equal `c`. Folding is nearly the lower case of the upper case, whose tables are
/// linked anyway; those for folding are not.
fn representative(c: char) -> char {
    match c {
        // Its upper case is `I`, which folds to `i`.
        'ı' => c,
        // Characters whose upper case is several characters. Unicode has two such pairs.
        '\u{1fd3}' => '\u{390}',
        '\u{1fe3}' => '\u{3b0}',
        '\u{fb05}' => '\u{fb06}',
        _ => {
            let upper = only(c.to_uppercase()).unwrap_or(c);
            only(upper.to_lowercase()).unwrap_or(upper)
        }
    }
}

/// Returns the character, if there is exactly one.
fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next();
    if chars.next().is_none() { first } else { None }
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
        assert_eq!(folder.folded("\u{1fd3}\u{1fe3}\u{fb05}"), folder.folded("\u{390}\u{3b0}\u{fb06}"));
        assert_ne!(folder.folded("ı"), folder.folded("i"));
    }

    #[test]
    fn two_characters_fold_alike_exactly_when_a_regex_says_so() {
        let mut folder = Folder::default();
        // Letters of Unicode 17, which the regex crate does not know yet.
        let is_newer = |c: &char| matches!(*c as u32, 0xa7ce..=0xa7d5 | 0x1_6ea0..=0x1_6ed3);
        for c in (0x80..0x2_0000).filter_map(char::from_u32).filter(|c| !is_newer(c)) {
            for other in c.to_lowercase().chain(c.to_uppercase()).filter(|&other| other != c) {
                let same = regex::Regex::new(&format!("^(?i:{c})$")).expect("a letter is a valid pattern");
                let same = same.is_match(other.encode_utf8(&mut [0; 4]));
                assert_eq!(folder.fold(c) == folder.fold(other), same, "{c:?} {other:?}");
            }
        }
    }
}
