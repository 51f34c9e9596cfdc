//! [`Pair`]: what the two characters of a pair are, in Chinese and Japanese.
//!
//! Without spaces, the words of a question are not known, so its text is looked up in pairs of characters. Most pairs of a polite
//! question are endings and particles, and rare in notes, so that they would decide. Hiragana writes the endings and
//! particles of Japanese; Chinese has characters that are particles, pronouns and question words nearly always.

/// Pair with a function character, which says little about a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// Both are function characters.
    Function,
    /// The first is one: `の設`.
    Before,
    /// The second is one, and the first is of Han, as the stem of a word with its ending: `設け`.
    After,
}

/// Function characters of Chinese, simplified and traditional, in the order of their code points.
const CHINESE: &str = include_str!("function_words/chinese.txt");

impl Pair {
    /// Returns what a normalised token is; `None` if it is not such a pair. In Japanese text, the function characters are those of
    /// Hiragana.
    pub(super) fn of(token: &[u8], is_japanese: bool) -> Option<Self> {
        let mut characters = core::str::from_utf8(token).ok()?.chars();
        let (first, second) = (characters.next()?, characters.next()?);
        if characters.next().is_some() || first.is_ascii() || second.is_ascii() {
            return None;
        }
        let is_function = |c: char| match is_japanese {
            true => is_hiragana(c),
            false => CHINESE.contains(c),
        };
        match (is_function(first), is_function(second)) {
            (true, true) => Some(Self::Function),
            (true, false) => Some(Self::Before),
            (false, true) if is_han(first) => Some(Self::After),
            _ => None,
        }
    }
}

/// Returns true if a normalised token has a letter of Hiragana.
pub(super) fn has_hiragana(token: &[u8]) -> bool {
    core::str::from_utf8(token).is_ok_and(|token| token.contains(is_hiragana))
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hiragana_is_the_ending_of_a_japanese_word() {
        let of = |pair: &str| Pair::of(pair.as_bytes(), true);
        assert_eq!((of("です"), of("の設"), of("消す")), (Some(Pair::Function), Some(Pair::Before), Some(Pair::After)));
        assert_eq!((of("設定"), of("デー"), of("タの"), of("の"), of("ab")), (None, None, None, None, None));
    }

    #[test]
    fn particles_and_question_words_are_function_characters_of_chinese() {
        let of = |pair: &str| Pair::of(pair.as_bytes(), false);
        assert_eq!((of("怎么"), of("的图"), of("删了")), (Some(Pair::Function), Some(Pair::Before), Some(Pair::After)));
        assert_eq!((of("照片"), of("設定")), (None, None));
        let code_points: alloc::vec::Vec<char> = CHINESE.trim_end().chars().collect();
        assert!(code_points.is_sorted_by(|a, b| a < b));
    }
}
