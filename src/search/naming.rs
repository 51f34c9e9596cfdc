//! Whether the name of an item says what it is about, and a better name from the words of its text.

use super::ranked::telling_words;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::head;

/// Key words are taken from this many bytes at the beginning, which says what text is about.
const MAX_TEXT_BYTES: usize = 1_000;
/// Maximum number of key words.
const MAX_KEY_WORDS: usize = 6;
/// Minimum number of key words that make a name.
const MIN_KEY_WORDS: usize = 2;
/// Maximum size of a key word in bytes. A longer one is an address or a path.
const MAX_KEY_WORD_BYTES: usize = 32;
/// Number of hexadecimal digits at the end of a project's slug.
const SLUG_DIGITS: usize = 8;

/// Returns true for a name that could be that of any item of the project: a date, `note`, the name of the project.
///
/// ```
/// use saddlebag::search::says_nothing;
///
/// assert!(says_nothing("2026-11-28 important!!", None) && says_nothing("Shop notes", Some("shop-0db23a34")));
/// assert!(!says_nothing("Refunds", Some("shop-0db23a34")));
/// ```
pub fn says_nothing(name: &str, project: Option<&str>) -> bool {
    let is_word = |c: char| c.is_alphanumeric();
    let project = project.map(|slug| match slug.rsplit_once('-') {
        Some((name, digits)) if digits.len() == SLUG_DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit()) => name,
        _ => slug,
    });
    let of_project: Vec<String> = project
        .unwrap_or_default()
        .split(|c| !is_word(c))
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty())
        .collect();
    let is_of_project = |word: &str| {
        let mut parts = word.split(|c| !is_word(c)).filter(|part| !part.is_empty());
        parts.all(|part| of_project.contains(&part.to_lowercase()))
    };
    // A single letter may be the name of a variable or of a key.
    name.chars().filter(|c| is_word(*c)).count() != 1 && telling_words(name).into_iter().all(is_of_project)
}

/// Returns the first words that say what the text is about, three to six of them as far as it has them.
pub(crate) fn key_words(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    // Lines of our own templates, and comments.
    let is_said = |line: &&str| !["- Supersedes:", "<!--"].iter().any(|begins| line.trim_start().starts_with(begins));
    for word in head(text, MAX_TEXT_BYTES).lines().filter(is_said).flat_map(telling_words) {
        let is_known = words.iter().any(|known| known.to_lowercase() == word.to_lowercase());
        if !is_known && word.len() <= MAX_KEY_WORD_BYTES && word.chars().count() > 1 {
            words.push(word);
        }
        if words.len() == MAX_KEY_WORDS {
            break;
        }
    }
    words.join(" ")
}

/// Returns the end of the message about a new item whose name says nothing: a better name, made of the words of its text.
pub(crate) fn naming_advice(name: &str, text: &str, project: Option<&str>) -> String {
    if !says_nothing(name, project) {
        return String::new();
    }
    let words = key_words(text);
    let better = match words.split(' ').count() >= MIN_KEY_WORDS {
        true => format!("for example `{}`", in_title_case(&words)),
        false => "one that a colleague would understand".to_string(),
    };
    format!("; the name says nothing about it, and sessions begin with the names: better is {better}")
}

fn in_title_case(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_item_gets_a_better_one_from_the_text() {
        let text = "Refunds over 1,000 EUR need an approval of finance in Stripe.";
        for (name, project, better) in [
            ("important!!", None, "for example `Refunds EUR need approval finance Stripe`"),
            ("Acme shop", Some("acme-shop-0db23a34"), "for example `Refunds EUR need approval finance Stripe`"),
        ] {
            let advice = naming_advice(name, text, project);
            assert!(advice.ends_with(better), "{name}: {advice}");
        }
        assert!(naming_advice("note", "see it", None).ends_with("a colleague would understand"));
        for name in ["Refunds", "Acme shop refunds", "k", "port"] {
            assert_eq!(naming_advice(name, text, Some("acme-shop-0db23a34")), "", "{name}");
        }
    }

    #[test]
    fn key_words_are_few_and_say_each_once() {
        assert_eq!(
            key_words("Mail: the MAIL is by mailgun, https://example.org/a/very/long/address/of/it"),
            "Mail mailgun"
        );
        assert_eq!(
            key_words(&"word1 word2 word3 word4 word5 word6 word7 ".repeat(9)).split(' ').count(),
            MAX_KEY_WORDS
        );
    }
}
