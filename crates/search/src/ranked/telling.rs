//! [`telling_words`]: the words of text or of a name that say what it is about.

use super::fit::PARTICLES;
use super::language::{Language, has_line};
use super::tokens::{TokenKind, Tokens};
use saddlebag_collections::prelude::*;

/// Words that any note may be called, in lower case and without diacritics: of notes, of their weight, and of the occasion. English,
/// German, French; Spanish, Italian and Portuguese.
const OF_ANY_NOTE: &str = "
    call chat conversation decision decisions discussion doc draft entry fact facts file general idea ideas important info
    information item knowledge latest learning learnings meeting memo memory misc miscellaneous new note notes project quick random
    remark remember reminder session stuff summary temp text thing things thought thoughts tmp today todo todos untitled update
    updates urgent useful various week yesterday
    allgemein allgemeines besprechung diverses entscheidung entscheidungen gesprach heute idee notiz notizen projekt sonstiges termin
    verschiedenes wichtig wichtiges zusammenfassung
    aujourd divers hui projet rendez reunion resume
    hoy importante nota notas oggi progetto projeto proyecto resumen reuniao riunione varios";

/// Words of a name that only together say something, such as those of `on-call`.
const PAIRS: &[(&str, &str)] = &[("on", "call")];

/// Returns the words that say what a text is about, in their order: neither function words, numbers and dates nor words that any
/// note may be called. A word with a joining character, such as `pkg/lotlock`, is one word.
///
/// ```
/// use saddlebag_search::ranked::telling_words;
///
/// assert_eq!(telling_words("The lock of a sale is in pkg/lotlock."), ["lock", "sale", "pkg/lotlock"]);
/// assert!(telling_words("2026-11-28: notes from the call, important!!").is_empty());
/// ```
pub fn telling_words(text: &str) -> Vec<&str> {
    let is_joining = |c: char| matches!(c, '_' | '-' | '/' | '.' | '@' | '\'' | '’' | ':');
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_joining(c)).map(|word| word.trim_matches(is_joining));
    let mut tokens = Tokens::default();
    words.filter(|word| !word.is_empty() && is_telling(word, &mut tokens)).collect()
}

fn is_telling(word: &str, tokens: &mut Tokens) -> bool {
    // A short form such as `don't` is a function word as a whole.
    if Language::is_function_word(word.to_lowercase().as_bytes()) {
        return false;
    }
    tokens.read(word, 0);
    let parts = tokens.iter().filter(|token| token.kind != TokenKind::Whole);
    let parts: Vec<&str> = parts.filter_map(|token| core::str::from_utf8(token.text).ok()).collect();
    let says_something = |part: &&str| {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        let word = part.as_bytes();
        let is_particle = Language::is_function_word(word) || has_line(PARTICLES, word);
        !is_number && !is_particle && OF_ANY_NOTE.split_whitespace().all(|known| known != *part)
    };
    let is_pair = parts.windows(2).any(|pair| PAIRS.iter().any(|(a, b)| *pair == [*a, *b]));
    is_pair || parts.iter().any(says_something)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_note_have_no_telling_word() {
        for name in
            ["note", "Notes (2)", "important!!", "notes from the call", "2026-11-28", "Wichtig: Notizen", "TODO"]
        {
            assert_eq!(telling_words(name), [] as [&str; 0], "{name}");
        }
        for name in ["On-call", "Refunds", "CAN bus", "no_heap", "Zorvapay", "発注", "Who owns what, staging", "E0502"]
        {
            assert!(!telling_words(name).is_empty(), "{name}");
        }
    }
}
