//! [`Tokens`]: the words of the text, as the index stores them.
//!
//! A word is normalised: compatibility forms are resolved, case and diacritics folded. An identifier such as `src/main.rs`,
//! `parseHttp` or `E0502` is split into its parts, which take the positions; combinations of parts, up to the whole, are further
//! tokens at the position of their first part. Han, Kana and Hangul, written without spaces, become overlapping pairs of
//! characters.

use core::ops::Range;
use saddlebag_collections::prelude::*;

use saddlebag_collections::{SlicePart, TextPart, is_picture};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Maximum size of a token in bytes; the rest is cut. A longer identifier has parts only.
pub(super) const MAX_TOKEN_BYTES: usize = 64;

/// Role of a token in its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A part, which takes its own position.
    Part,
    /// Several parts together.
    Whole,
    /// Last character of a run of Han, Kana or Hangul, so that every character begins a token.
    Last,
}

/// A token.
#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    /// Normalised text.
    pub(super) text: &'a [u8],
    pub(super) kind: TokenKind,
    pub(super) position: u32,
    /// Byte range in the source.
    pub(super) span: Range<usize>,
}

/// Tokens of one text. Its buffers are reused for each text.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Normalised words, one after the other.
    text: Vec<u8>,
    found: Vec<Found>,
    /// For the current run of Han, Kana or Hangul: the start of each character, in `text` and in the source.
    characters: Vec<(usize, usize)>,
    position: u32,
}

#[derive(Debug)]
struct Found {
    kind: TokenKind,
    position: u32,
    text: Range<u32>,
    span: Range<usize>,
}

/// Start of a group of parts.
#[derive(Clone, Copy)]
struct Mark {
    text: usize,
    source: usize,
    position: u32,
}

impl Tokens {
    /// Finds the tokens of `text`, and replaces the tokens of the previous text. The first takes `position`; returns
    /// the position after the last.
    pub(super) fn read(&mut self, text: &str, position: u32) -> u32 {
        self.text.clear();
        self.found.clear();
        self.position = position;
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&b) = bytes.get(at) {
            at = match CLASSES[usize::from(b)] {
                LOWER | UPPER | DIGIT => self.identifier(text, at),
                WIDE => match (Class::at(text, at), text.get(at..).and_then(|rest| rest.chars().next())) {
                    (Class::Word, _) => self.identifier(text, at),
                    (Class::Unspaced, _) => self.unspaced(text, at),
                    (Class::Other, Some(c)) if is_picture(c) => {
                        let (start, end) = (self.text.len(), at + c.len_utf8());
                        self.text.extend_from_slice(text.part(at..end).as_bytes());
                        self.part(start..self.text.len(), at..end);
                        end
                    }
                    (_, Some(c)) => at + c.len_utf8(),
                    (_, None) => at + 1,
                },
                _ => at + 1,
            };
        }
        self.position
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Token<'_>> {
        self.found.iter().map(|found| Token {
            text: self.text.part(found.text.start as usize..found.text.end as usize),
            kind: found.kind,
            position: found.position,
            span: found.span.clone(),
        })
    }

    fn mark(&self, source: usize) -> Mark {
        Mark { text: self.text.len(), source, position: self.position }
    }

    fn part(&mut self, text: Range<usize>, span: Range<usize>) {
        let end = text.end.min(text.start + MAX_TOKEN_BYTES);
        if let (Ok(start), Ok(end)) = (u32::try_from(text.start), u32::try_from(end)) {
            self.found.push(Found { kind: TokenKind::Part, position: self.position, text: start..end, span });
            self.position = self.position.saturating_add(1);
        }
    }

    /// Adds the text since the mark as one token.
    fn whole(&mut self, since: Mark, source: usize) {
        let text = self.text.part(since.text..);
        if text.len() > MAX_TOKEN_BYTES {
            return;
        }
        let is_version = matches!(text, [b'v', b'0'..=b'9', ..]) && memchr::memchr(b'.', text).is_some();
        if let (Ok(start), Ok(end)) = (u32::try_from(since.text), u32::try_from(self.text.len())) {
            let (kind, position) = (TokenKind::Whole, since.position);
            self.found.push(Found { kind, position, text: start..end, span: since.source..source });
            if is_version {
                self.found.push(Found { kind, position, text: start + 1..end, span: since.source..source });
            }
        }
    }

    /// Reads a word, or several with a single joining character between them. Returns its end.
    fn identifier(&mut self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let all = self.mark(start);
        let mut segment = all;
        let (mut segments, mut atoms) = (1, 0);
        let mut at = start;
        loop {
            at = self.atom(text, at);
            atoms += 1;
            let joiner = bytes.get(at).copied().unwrap_or(0);
            let is_double = joiner == b':' && bytes.get(at + 1) == Some(&b':');
            let next = at + if is_double { 2 } else { 1 };
            let class = CLASSES[usize::from(joiner)];
            let joins = matches!(class, SOFT | HARD) && Class::at(text, next) == Class::Word;
            if !joins || class == HARD {
                if atoms > 1 {
                    self.whole(segment, at);
                }
                atoms = 0;
            }
            if !joins {
                break;
            }
            self.text.extend_from_slice(bytes.part(at..next));
            at = next;
            if class == HARD {
                segments += 1;
                segment = self.mark(at);
            }
        }
        if segments > 1 {
            self.whole(all, at);
        }
        at
    }

    /// Reads letters and digits in a row. Returns their end.
    fn atom(&mut self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let mark = self.mark(start);
        let mut is_mixed = false;
        let mut at = start;
        loop {
            let b = bytes.get(at).copied().unwrap_or(0);
            match CLASSES[usize::from(b)] {
                LOWER | DIGIT => self.text.push(b),
                UPPER => {
                    is_mixed |= at > start;
                    self.text.push(b | 0x20);
                }
                WIDE if Class::at(text, at) == Class::Word => {
                    self.text.truncate(mark.text);
                    return self.wide_atom(text, start);
                }
                _ => break,
            }
            at += 1;
        }
        if is_mixed {
            self.hump_parts(bytes.part(start..at), mark);
            return at;
        }
        let end = self.contraction(bytes, at);
        self.part(mark.text..self.text.len(), start..end.max(at));
        self.sharp_or_plus(bytes, end, mark)
    }

    /// Adds the parts of `camelCase` and `HTTPServer`, and the whole if there are several.
    fn hump_parts(&mut self, word: &[u8], mark: Mark) {
        let class = |at: usize| word.get(at).map_or(OTHER, |&b| CLASSES[usize::from(b)]);
        let mut from = 0;
        for at in 1..=word.len() {
            let follows_upper = class(at - 1) == UPPER;
            let precedes_lower = class(at + 1) == LOWER;
            let is_hump = class(at) == UPPER
                && (class(at - 1) == LOWER || precedes_lower && (follows_upper || class(at - 1) == DIGIT));
            if is_hump || at == word.len() {
                self.part(mark.text + from..mark.text + at, mark.source + from..mark.source + at);
                from = at;
            }
        }
        if self.position > mark.position.saturating_add(1) {
            self.whole(mark, mark.source + word.len());
        }
    }

    /// Continues after an apostrophe: `don't` is one word, `host's` is `host`.
    fn contraction(&mut self, bytes: &[u8], at: usize) -> usize {
        let tail = match bytes.part(at..) {
            [b'\'', tail @ ..] | [0xe2, 0x80, 0x99, tail @ ..] => tail,
            _ => return at,
        };
        let after = bytes.len() - tail.len();
        let length = tail.iter().take_while(|b| b.is_ascii_alphabetic()).take(3).count();
        let tail = tail.part(..length);
        if tail.eq_ignore_ascii_case(b"s") {
            return after + 1;
        }
        if [b"t".as_slice(), b"re", b"ve", b"ll", b"d", b"m"].iter().any(|ending| tail.eq_ignore_ascii_case(ending)) {
            self.text.push(b'\'');
            self.text.extend(tail.iter().map(u8::to_ascii_lowercase));
            return after + length;
        }
        at
    }

    /// Reads `c++`, `c#`: names that differ by a sign.
    fn sharp_or_plus(&mut self, bytes: &[u8], at: usize, mark: Mark) -> usize {
        let sign: &[u8] = match bytes.part(at..) {
            [b'+', b'+', ..] => b"++",
            [b'#', ..] => b"#",
            _ => return at,
        };
        let end = at + sign.len();
        let next = bytes.get(end).map_or(OTHER, |&b| CLASSES[usize::from(b)]);
        // `C++23` names a version of it.
        let goes_on = matches!(next, LOWER | UPPER | WIDE) || next == DIGIT && sign == b"#";
        if at - mark.source > 2 || goes_on || !self.is_alphabetic(mark) {
            return at;
        }
        self.text.extend_from_slice(sign);
        self.whole(mark, end);
        end
    }

    fn is_alphabetic(&self, since: Mark) -> bool {
        self.text.get(since.text..).is_some_and(|text| text.iter().all(u8::is_ascii_alphabetic))
    }

    /// Reads an atom with characters beyond ASCII.
    fn wide_atom(&mut self, text: &str, start: usize) -> usize {
        let mark = self.mark(start);
        let rest = text.part(start..);
        let length = rest.chars().take_while(|&c| Class::from_char(c) == Class::Word).map(char::len_utf8).sum();
        let word = rest.part(..length);
        for c in word.nfkd() {
            if c == '\u{306}' && self.text.part(mark.text..).ends_with("и".as_bytes()) {
                // A separate letter: without it, endings cannot be told from stems.
                self.text.truncate(self.text.len() - 'и'.len_utf8());
                self.text.extend_from_slice("й".as_bytes());
            } else if !is_diacritic(c) && !is_invisible(c) {
                c.to_lowercase().filter(|&c| !is_diacritic(c)).for_each(|c| push_folded(&mut self.text, c));
            }
        }
        let end = self.contraction(text.as_bytes(), start + length);
        if self.text.len() > mark.text {
            self.part(mark.text..self.text.len(), start..end);
        }
        end
    }

    /// Adds one character, in whatever form, as it is commonly written.
    ///
    /// Only Hangul and Kana are composed here, so that the tables for all characters are not needed.
    fn compose(&mut self, character: &str) {
        let mut before: Option<char> = None;
        for c in character.nfkd() {
            before = match before.map(|before| (before, composed(before, c))) {
                Some((_, Some(both))) => Some(both),
                Some((before, None)) => {
                    push_folded(&mut self.text, before);
                    Some(c)
                }
                None => Some(c),
            };
        }
        before.into_iter().for_each(|c| push_folded(&mut self.text, c));
    }

    /// Reads a run of Han, Kana or Hangul.
    fn unspaced(&mut self, text: &str, start: usize) -> usize {
        self.characters.clear();
        let mut at = start;
        let mut rest = text.part(start..).chars().peekable();
        while let Some(c) = rest.next_if(|&c| Class::from_char(c) == Class::Unspaced) {
            self.characters.push((self.text.len(), at));
            let from = at;
            at += c.len_utf8();
            while let Some(mark) = rest.next_if(|&c| extends_unspaced(c)) {
                at += mark.len_utf8();
            }
            let whole = text.part(from..at);
            if at == from + c.len_utf8()
                && matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
            {
                self.text.extend_from_slice(whole.as_bytes());
            } else {
                self.compose(whole);
            }
        }
        self.characters.push((self.text.len(), at));
        let characters = core::mem::take(&mut self.characters);
        for window in characters.windows(3) {
            if let [(text, source), _, (text_end, source_end)] = window {
                self.part(*text..*text_end, *source..*source_end);
            }
        }
        if let [.., (text, source), (text_end, source_end)] = characters.as_slice() {
            self.part(*text..*text_end, *source..*source_end);
            if let (Some(last), true) = (self.found.last_mut(), characters.len() > 2) {
                last.kind = TokenKind::Last;
            }
        }
        self.characters = characters;
        at
    }
}

const OTHER: u8 = 0;
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 3;
/// Character that joins the words of a name.
const SOFT: u8 = 4;
/// Character that joins names.
const HARD: u8 = 5;
/// Byte of a character beyond ASCII.
const WIDE: u8 = 6;

static CLASSES: [u8; 256] = classes();

#[allow(clippy::indexing_slicing, reason = "the index is a byte")]
const fn classes() -> [u8; 256] {
    let mut classes = [OTHER; 256];
    let mut b = 0_usize;
    while b < 256 {
        classes[b] = match b as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' | b'-' | b'.' => SOFT,
            b'/' | b':' | b'@' | b'\\' => HARD,
            0x80.. => WIDE,
            _ => OTHER,
        };
        b += 1;
    }
    classes
}

/// Class of a character for the tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Word,
    Unspaced,
    Other,
}

impl Class {
    fn at(text: &str, at: usize) -> Self {
        match text.as_bytes().get(at) {
            None => Self::Other,
            Some(&b) => match CLASSES[usize::from(b)] {
                LOWER | UPPER | DIGIT => Self::Word,
                WIDE => text.get(at..).and_then(|rest| rest.chars().next()).map_or(Self::Other, Self::from_char),
                _ => Self::Other,
            },
        }
    }

    fn from_char(c: char) -> Self {
        if is_unspaced(c) {
            Self::Unspaced
        } else if is_invisible(c) || c.is_alphanumeric() || !c.is_ascii() && canonical_combining_class(c) != 0 {
            Self::Word
        } else {
            Self::Other
        }
    }
}

/// Returns true for Han, Kana, Bopomofo and Hangul: scripts whose words are not separated by spaces, or whose words
/// carry endings.
fn is_unspaced(c: char) -> bool {
    c >= '\u{1100}'
        && matches!(c,
            '\u{1100}'..='\u{11ff}' | '\u{2f00}'..='\u{2fd5}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
            | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303c}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}'
            | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{3105}'..='\u{312f}' | '\u{3131}'..='\u{318e}'
            | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7fb}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}'
            | '\u{ffa0}'..='\u{ffdc}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{323af}')
}

/// Returns true for a character that joins the previous one: voiced sound marks, the later letters of a Hangul
/// syllable.
fn extends_unspaced(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}' | '\u{1160}'..='\u{11ff}')
}

/// Composes two characters: a Hangul syllable and its next letter, a Kana and its sound mark.
fn composed(a: char, b: char) -> Option<char> {
    let (first, second) = (u32::from(a), u32::from(b));
    let both = match (first, second) {
        (0x1100..=0x1112, 0x1161..=0x1175) => 0xac00 + ((first - 0x1100) * 21 + second - 0x1161) * 28,
        (0xac00..=0xd7a3, 0x11a8..=0x11c2) if (first - 0xac00) % 28 == 0 => first + second - 0x11a7,
        (0x3046 | 0x30a6, 0x3099) => first + 0x4e,
        (0x304b..=0x3062 | 0x30ab..=0x30c2 | 0x306f..=0x307b | 0x30cf..=0x30db, 0x3099) => first + 1,
        (0x3064..=0x3068 | 0x30c4..=0x30c8 | 0x309d | 0x30fd, 0x3099) => first + 1,
        (0x30ef..=0x30f2, 0x3099) => first + 8,
        (0x306f..=0x307b | 0x30cf..=0x30db, 0x309a) => first + 2,
        _ => return None,
    };
    char::from_u32(both)
}

/// Returns true for a character that shows nothing and does not end a word: where it may be divided, and how letters join.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}')
}

/// Returns true for marks that are folded away: accents, Hebrew points, Arabic vowels. Those of other scripts are
/// letters.
fn is_diacritic(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}')
}

/// Folds letters that are equivalent to others although Unicode does not decompose them.
fn push_folded(out: &mut Vec<u8>, c: char) {
    let mut buffer = [0; 4];
    let plain = match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ł' => "l",
        'þ' => "th",
        'ς' => "σ",
        _ => c.encode_utf8(&mut buffer),
    };
    out.extend_from_slice(plain.as_bytes());
}

#[cfg(test)]
mod tests {
    use saddlebag_collections::prelude::*;

    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Tokens {
        let mut tokens = Tokens::default();
        tokens.read(text, 0);
        tokens
    }

    /// Renders `position:token` of each token; a whole in brackets.
    fn dump(text: &str) -> String {
        let tokens = read(text);
        let shown = tokens.iter().map(|token| {
            let word = String::from_utf8_lossy(token.text).into_owned();
            match token.kind {
                TokenKind::Part => format!("{}:{word}", token.position),
                TokenKind::Whole => format!("{}:[{word}]", token.position),
                TokenKind::Last => format!("{}:({word})", token.position),
            }
        });
        shown.collect::<Vec<String>>().join(" ")
    }

    fn words(text: &str) -> String {
        let tokens = read(text);
        let words = tokens.iter().map(|token| String::from_utf8_lossy(token.text).into_owned());
        words.collect::<Vec<String>>().join(" ")
    }

    #[test]
    fn prose_is_words() {
        assert_eq!(dump("The deploy, failed."), "0:the 1:deploy 2:failed");
        assert_eq!(words("don't the host's hosts' o'brien’s I’m"), "don't the host hosts o brien i'm");
        assert_eq!(words("  --json *bold* <b>#tag!"), "json bold b tag");
    }

    #[test]
    fn identifiers_are_parts_and_wholes() {
        assert_eq!(dump("snake_case x"), "0:snake 1:case 0:[snake_case] 2:x");
        assert_eq!(dump("parseHTTPResponse2"), "0:parse 1:http 2:response2 0:[parsehttpresponse2]");
        assert_eq!(dump("kebab-case"), "0:kebab 1:case 0:[kebab-case]");
        assert_eq!(dump("HTTPServer GitHub"), "0:http 1:server 0:[httpserver] 2:git 3:hub 2:[github]");
        assert_eq!(dump("v1.2.3"), "0:v1 1:2 2:3 0:[v1.2.3] 0:[1.2.3]");
        assert_eq!(dump("src/main.rs:12"), "0:src 1:main 2:rs 1:[main.rs] 3:12 0:[src/main.rs:12]");
        assert_eq!(dump("ERR_CONN_RESET E0502"), "0:err 1:conn 2:reset 0:[err_conn_reset] 3:e0502");
        assert_eq!(dump("std::vec::Vec"), "0:std 1:vec 2:vec 0:[std::vec::vec]");
        assert_eq!(words("C++ and C# in A#b"), "c c++ and c c# in a b");
        assert_eq!(words("C++23"), "c c++ 23");
        assert_eq!(words("end. Next -- dash"), "end next dash");
    }

    #[test]
    fn forms_of_a_letter_are_one() {
        assert_eq!(words("Café cafe\u{301} ＣＡＦＥ ﬁre straße Ærø"), "cafe cafe cafe fire strasse aero");
        assert_eq!(words("ΣΊΣΥΦΟΣ Σίσυφος"), "σισυφοσ σισυφοσ");
        assert_eq!(words("Київ ЙОГО и\u{306}о\u{306}г ещё"), "киів його йог еще");
        assert_eq!(words("Server\u{ad}raum می\u{200c}خواهم \u{200d} \u{ad}"), "serverraum میخواهم");
    }

    #[test]
    fn scripts_without_spaces_are_pairs() {
        assert_eq!(dump("日本語"), "0:日本 1:本語 2:(語)");
        assert_eq!(dump("Redisの設定"), "0:redis 1:の設 2:設定 3:(定)");
        assert_eq!(dump("木 x"), "0:木 1:x");
        assert_eq!(words("ﾃﾞｰﾀ"), words("データ"));
        assert_eq!(words("か\u{3099}く"), words("がく"));
        assert_eq!(words("데이터"), words(&"데이터".nfd().collect::<String>()));
    }

    #[test]
    fn characters_are_composed_as_unicode_does() {
        for c in ('\u{3041}'..='\u{30ff}').chain('\u{ac00}'..='\u{d7a3}').chain('\u{ff66}'..='\u{ffdc}') {
            let form = |form: String| words(&form);
            assert_eq!(form(c.nfkd().collect()), form(c.nfkc().collect()), "{c}");
        }
    }

    #[test]
    fn a_token_has_a_greatest_length() {
        let tokens = read(&format!("{} {}", "x".repeat(500), "y_".repeat(80)));
        assert!(tokens.iter().all(|token| token.text.len() <= MAX_TOKEN_BYTES));
    }

    proptest! {
        #[test]
        fn spans_are_valid_and_positions_grow(text in "(\\PC|[a-zA-Z0-9_./:'’# -]|[日本語がﾃﾞ가각é]){0,60}") {
            let tokens = read(&text);
            let mut next = 0;
            for token in tokens.iter() {
                prop_assert!(text.get(token.span.clone()).is_some_and(|source| !source.is_empty()));
                prop_assert!(!token.text.is_empty());
                if token.kind == TokenKind::Whole {
                    prop_assert!(token.position < next);
                } else {
                    prop_assert_eq!(token.position, next);
                    next += 1;
                }
            }
        }

        #[test]
        fn a_token_read_again_is_itself(text in "[a-zA-Z0-9é]{1,12}") {
            for token in read(&text).iter() {
                let word = core::str::from_utf8(token.text).unwrap();
                prop_assert_eq!(words(word), word);
            }
        }
    }
}
