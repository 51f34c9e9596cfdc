//! [`slug`]: the file name for a title.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use xxhash_rust::xxh3::xxh3_64;

use crate::store::is_device_name;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::head;

/// Maximum length of a slug in bytes. With a number and an extension, it is far below the limit of a path's segment.
pub const MAX_SLUG_BYTES: usize = 80;

/// Maximum number of characters of a title that are used.
const MAX_CHARS: usize = 1_000;

/// Returns the file name for a title, without its extension.
///
/// Letters and digits of every script are kept in lower case, Latin, Greek and Cyrillic letters without their
/// diacritics; everything between them becomes one `-`. The result has 1 to [`MAX_SLUG_BYTES`] bytes, is never hidden
/// and never the name of a device. A title without a letter or digit gets a generated name.
///
/// ```
/// use saddlebag::notebook::slug;
///
/// assert_eq!(slug("Error: it's [broken] #1"), "error-it-s-broken-1");
/// assert_eq!(slug("日本語"), "日本語");
/// assert!(slug("!!!").starts_with("note-"));
/// ```
pub fn slug(title: &str) -> String {
    let mut words = String::new();
    // True if marks on the last letter are dropped, such as the mark of é.
    let mut folds_marks = true;
    for c in title.chars().take(MAX_CHARS).nfkd().flat_map(char::to_lowercase) {
        if is_combining_mark(c) {
            if !folds_marks && !words.ends_with('-') && !words.is_empty() {
                words.push(c);
            }
        } else if c.is_alphanumeric() {
            folds_marks = has_diacritics(c);
            match spelled_out(c) {
                Some(letters) => words.push_str(letters),
                None => words.push(c),
            }
        } else if !words.is_empty() && !words.ends_with('-') {
            words.push('-');
        }
    }
    // Composes the syllables of Hangul and the like again.
    let words: String = words.nfc().collect();
    let name = head(&words, MAX_SLUG_BYTES).trim_matches('-');
    if name.is_empty() {
        return format!("note-{:08x}", xxh3_64(title.as_bytes()) & 0xffff_ffff);
    }
    if is_device_name(name) { format!("note-{name}") } else { name.into() }
}

/// Returns true if the letter is of a script that can be read without its accents.
fn has_diacritics(c: char) -> bool {
    matches!(u32::from(c), 0..=0x24f | 0x370..=0x52f | 0x1e00..=0x1fff)
}

/// Returns the plain spelling of Latin letters that are not made by a diacritic.
fn spelled_out(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ħ' => "h",
        'ı' => "i",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_give_readable_names() {
        for (title, name) in [
            ("Error: it's [broken] #1", "error-it-s-broken-1"),
            ("Café Wi‑Fi — naïve", "cafe-wi-fi-naive"),
            ("日本語", "日本語"),
            ("日本語のメモ・がぎ", "日本語のメモ-がぎ"),
            ("한국어 메모", "한국어-메모"),
            ("हिन्दी", "हिन्दी"),
            ("Straße ﬁn Ørsted ½ ™", "strasse-fin-orsted-1-2-tm"),
            ("Ελληνικά Ёлка", "ελληνικα-елка"),
            ("../../etc/evil", "etc-evil"),
            (".hidden", "hidden"),
            ("  a  b  ", "a-b"),
            ("snake_case v1.2.3", "snake-case-v1-2-3"),
            ("CON", "note-con"),
            ("com1", "note-com1"),
        ] {
            assert_eq!(slug(title), name, "{title}");
        }
    }

    #[test]
    fn a_title_without_letters_has_a_name_of_its_own() {
        assert_eq!(slug("!!!"), slug("!!!"));
        assert_ne!(slug("!!!"), slug("???"));
        assert_eq!(slug("").len(), "note-".len() + 8);
        assert!(slug("\u{301}\u{301}").starts_with("note-"));
    }

    #[test]
    fn a_long_title_is_cut_between_characters() {
        assert_eq!(slug(&"x".repeat(300)), "x".repeat(80));
        assert_eq!(slug(&"記".repeat(300)), "記".repeat(26));
        assert_eq!(slug(&format!("{} b", "a".repeat(79))), "a".repeat(79));
        assert!(slug(&"a\u{301}".repeat(100_000)).len() <= 80);
    }
}
