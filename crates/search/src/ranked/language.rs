//! [`Language`]: the function words of a language, and how its words are stemmed.
//!
//! The words are those of the index: diacritics are folded, and the stemmers of Snowball do as well without them. A guess of
//! the language is never needed to find a word as it stands.

use once_cell::race::OnceBox;

use super::stemmer::Program;
use saddlebag_collections::prelude::*;

/// Language of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
    Spanish,
    French,
    Italian,
    Portuguese,
    Russian,
}

/// Maximum size of a term with signs that has other forms.
const MAX_JOINED_BYTES: usize = 24;

impl Language {
    /// Every language.
    pub(super) const ALL: &[Self] =
        &[Self::English, Self::German, Self::Spanish, Self::French, Self::Italian, Self::Portuguese, Self::Russian];

    /// Returns the languages that have the most function words of these words, and none if there are no function words.
    pub(super) fn of_text<'w>(words: impl Iterator<Item = &'w [u8]> + Clone) -> Vec<Self> {
        let count = |language: &Self| words.clone().filter(|word| language.has_function_word(word)).count();
        let counts: Vec<usize> = Self::ALL.iter().map(count).collect();
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        Self::ALL.iter().zip(counts).filter(|(_, count)| *count == most).map(|(language, _)| *language).collect()
    }

    const fn rules(self) -> Rules {
        match self {
            Self::English => Rules {
                function_words: include_str!("function_words/english.txt"),
                common_words: ["the", "and", "of", "is"],
                stems: include_str!("stems/english.txt"),
                endings: &[],
                has_compounds: false,
            },
            Self::German => Rules {
                function_words: include_str!("function_words/german.txt"),
                common_words: ["und", "der", "ist", "nicht"],
                stems: include_str!("stems/german.txt"),
                endings: &[],
                has_compounds: true,
            },
            Self::Spanish => Rules {
                function_words: include_str!("function_words/spanish.txt"),
                common_words: ["los", "las", "el", "y"],
                stems: include_str!("stems/spanish.txt"),
                endings: &[("cion", "ción"), ("sion", "sión")],
                has_compounds: false,
            },
            Self::French => Rules {
                function_words: include_str!("function_words/french.txt"),
                common_words: ["les", "des", "est", "et"],
                stems: include_str!("stems/french.txt"),
                endings: &[("ees", "ées"), ("ee", "ée")],
                has_compounds: false,
            },
            Self::Italian => Rules {
                function_words: include_str!("function_words/italian.txt"),
                common_words: ["che", "della", "il", "di"],
                stems: include_str!("stems/italian.txt"),
                endings: &[],
                has_compounds: false,
            },
            Self::Portuguese => Rules {
                function_words: include_str!("function_words/portuguese.txt"),
                common_words: ["uma", "nao", "dos", "em"],
                stems: include_str!("stems/portuguese.txt"),
                endings: &[("oes", "ao"), ("aes", "ao"), ("eis", "el"), ("ais", "al"), ("ois", "ol"), ("ns", "m")],
                has_compounds: false,
            },
            Self::Russian => Rules {
                function_words: include_str!("function_words/russian.txt"),
                common_words: ["и", "в", "не", "на"],
                stems: include_str!("stems/russian.txt"),
                endings: &[],
                has_compounds: false,
            },
        }
    }

    /// Returns true for a normalised word that says little about a subject.
    pub(super) fn has_function_word(self, word: &[u8]) -> bool {
        has_line(self.rules().function_words, word)
    }

    /// Returns true for a function word of any language.
    pub(super) fn is_function_word(word: &[u8]) -> bool {
        Self::ALL.iter().any(|language| language.has_function_word(word))
    }

    /// Returns function words that most notes in this language have, and few in others.
    pub(super) const fn common_words(self) -> [&'static str; 4] {
        self.rules().common_words
    }

    /// Returns true if it writes compounds as one word.
    pub(super) const fn has_compounds(self) -> bool {
        self.rules().has_compounds
    }

    /// Writes the stem of a normalised word to `out`. Returns false for a word that is not one of this language.
    pub(super) fn stem(self, word: &[u8], out: &mut String) -> bool {
        let Some(mut word) = core::str::from_utf8(word).ok().filter(|word| self.may_have(word)) else { return false };
        if self == Self::English {
            let irregular = IRREGULAR.binary_search_by(|(form, _)| (*form).cmp(word)).ok();
            word = irregular.and_then(|at| IRREGULAR.get(at)).map_or(word, |(_, word)| word);
        }
        let mut restored = self.rules().endings.iter().filter_map(|(folded, ending)| {
            let rest = word.strip_suffix(folded).filter(|rest| !rest.is_empty())?;
            Some([rest, ending].concat())
        });
        self.program().stem(restored.next().as_deref().unwrap_or(word), out);
        true
    }

    /// Writes what the other forms of a term have in common to `out`: the English stem of a word, also of one that is written with
    /// signs in it, so that `e-mail` and `email`, `Node.js` and `nodejs`, `DL-11` and `DL11` are forms of one word. Returns false for a
    /// term without other forms.
    pub(super) fn form_of(term: &[u8], out: &mut String) -> bool {
        if Self::English.stem(term, out) {
            return true;
        }
        let is_sign = |byte: &u8| matches!(byte, b'-' | b'.' | b'_');
        let is_word = |byte: &u8| is_sign(byte) || byte.is_ascii_lowercase() || byte.is_ascii_digit();
        // The signs of a number and of a version say something.
        let is_number = |bytes: &[u8]| matches!(bytes, [b'0'..=b'9', sign, b'0'..=b'9'] if is_sign(sign));
        let is_joined = (3..=MAX_JOINED_BYTES).contains(&term.len())
            && term.iter().all(is_word)
            && term.iter().any(u8::is_ascii_lowercase)
            && !term.windows(3).any(is_number);
        if !is_joined {
            return false;
        }
        let joined: Vec<u8> = term.iter().copied().filter(|byte| !is_sign(byte)).collect();
        if !Self::English.stem(&joined, out) {
            out.clear();
            out.push_str(core::str::from_utf8(&joined).unwrap_or_default());
        }
        true
    }

    /// Returns the stemmer. It is made for the first word.
    fn program(self) -> &'static Program {
        static PROGRAMS: [OnceBox<Program>; Language::ALL.len()] = [const { OnceBox::new() }; Language::ALL.len()];
        PROGRAMS[self as usize].get_or_init(|| Box::new(Program::new(self.rules().stems)))
    }

    fn may_have(self, word: &str) -> bool {
        match self {
            Self::English => word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()),
            _ => word.chars().all(char::is_alphabetic),
        }
    }
}

/// What recall knows about a language.
struct Rules {
    /// Function words, one a line, in byte order.
    function_words: &'static str,
    /// See [`Language::common_words`].
    common_words: [&'static str; 4],
    /// Rules of the stemmer: see [`Program`].
    stems: &'static str,
    /// Endings for which the stemmer needs their diacritics or their singular, with what it is given for them.
    endings: &'static [(&'static str, &'static str)],
    /// See [`Language::has_compounds`].
    has_compounds: bool,
}

/// Irregular forms of English words, with the word that they are forms of, in byte order. Forms that are also another word, such as
/// `ground`, are left out.
const IRREGULAR: [(&str, &str); 155] = [
    ("ate", "eat"),
    ("began", "begin"),
    ("begun", "begin"),
    ("bitten", "bite"),
    ("blew", "blow"),
    ("blown", "blow"),
    ("borne", "bear"),
    ("bought", "buy"),
    ("bred", "breed"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("burnt", "burn"),
    ("came", "come"),
    ("caught", "catch"),
    ("children", "child"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("clung", "cling"),
    ("crept", "creep"),
    ("crises", "crisis"),
    ("dealt", "deal"),
    ("drank", "drink"),
    ("drawn", "draw"),
    ("dreamt", "dream"),
    ("drew", "draw"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("dug", "dig"),
    ("eaten", "eat"),
    ("fallen", "fall"),
    ("fed", "feed"),
    ("feet", "foot"),
    ("fell", "fall"),
    ("felt", "feel"),
    ("fled", "flee"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("forbade", "forbid"),
    ("forbidden", "forbid"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("fought", "fight"),
    ("found", "find"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("gave", "give"),
    ("geese", "goose"),
    ("given", "give"),
    ("gone", "go"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("halves", "half"),
    ("heard", "hear"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("hung", "hang"),
    ("indices", "index"),
    ("kept", "keep"),
    ("knew", "know"),
    ("knives", "knife"),
    ("known", "know"),
    ("laid", "lay"),
    ("leapt", "leap"),
    ("learnt", "learn"),
    ("led", "lead"),
    ("lent", "lend"),
    ("lost", "lose"),
    ("made", "make"),
    ("matrices", "matrix"),
    ("meant", "mean"),
    ("men", "man"),
    ("met", "meet"),
    ("mice", "mouse"),
    ("mistaken", "mistake"),
    ("mistook", "mistake"),
    ("overridden", "override"),
    ("overrode", "override"),
    ("overtook", "overtake"),
    ("paid", "pay"),
    ("proven", "prove"),
    ("ran", "run"),
    ("rang", "ring"),
    ("rebuilt", "rebuild"),
    ("rewritten", "rewrite"),
    ("rewrote", "rewrite"),
    ("ridden", "ride"),
    ("risen", "rise"),
    ("rode", "ride"),
    ("said", "say"),
    ("sang", "sing"),
    ("sank", "sink"),
    ("sat", "sit"),
    ("seen", "see"),
    ("sent", "send"),
    ("shaken", "shake"),
    ("shelves", "shelf"),
    ("shook", "shake"),
    ("shot", "shoot"),
    ("shown", "show"),
    ("slept", "sleep"),
    ("slid", "slide"),
    ("sold", "sell"),
    ("sought", "seek"),
    ("spelt", "spell"),
    ("spent", "spend"),
    ("spilt", "spill"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("spun", "spin"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("stood", "stand"),
    ("strove", "strive"),
    ("struck", "strike"),
    ("stuck", "stick"),
    ("stung", "sting"),
    ("sung", "sing"),
    ("sunk", "sink"),
    ("swam", "swim"),
    ("swept", "sweep"),
    ("swore", "swear"),
    ("sworn", "swear"),
    ("taken", "take"),
    ("taught", "teach"),
    ("teeth", "tooth"),
    ("thought", "think"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("tore", "tear"),
    ("torn", "tear"),
    ("understood", "understand"),
    ("undertook", "undertake"),
    ("undid", "undo"),
    ("undone", "undo"),
    ("vertices", "vertex"),
    ("went", "go"),
    ("withdrew", "withdraw"),
    ("wives", "wife"),
    ("woke", "wake"),
    ("woken", "wake"),
    ("wolves", "wolf"),
    ("women", "woman"),
    ("won", "win"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("wove", "weave"),
    ("woven", "weave"),
    ("written", "write"),
    ("wrote", "write"),
    ("wrung", "wring"),
];

/// Returns true if a list has a line. Its lines must be in byte order.
pub(super) fn has_line(list: &str, line: &[u8]) -> bool {
    find_line(list, |found| found.cmp(line)).is_some()
}

/// Returns what stands after a word and a blank in a list. Its words must be in byte order.
pub(super) fn after_line<'a>(list: &'a str, word: &str) -> Option<&'a str> {
    let word_of = |line: &'a [u8]| line.split(|byte| *byte == b' ').next().unwrap_or_default();
    let line = find_line(list, |line| word_of(line).cmp(word.as_bytes()))?;
    core::str::from_utf8(line.get(word.len() + 1..)?).ok()
}

fn find_line<'a>(list: &'a str, compare: impl Fn(&'a [u8]) -> core::cmp::Ordering) -> Option<&'a [u8]> {
    let mut rest = list.as_bytes();
    while !rest.is_empty() {
        let middle = rest.len() / 2;
        let (before, after) = rest.split_at_checked(middle).unwrap_or((rest, &[]));
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let end = middle + memchr::memchr(b'\n', after).unwrap_or(after.len());
        let line = rest.get(start..end).unwrap_or_default();
        match compare(line) {
            core::cmp::Ordering::Equal => return Some(line),
            core::cmp::Ordering::Less => rest = rest.get(end + 1..).unwrap_or_default(),
            core::cmp::Ordering::Greater => rest = rest.get(..start).unwrap_or_default(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use saddlebag_collections::prelude::*;

    use proptest::prelude::*;

    use super::super::tokens::Tokens;
    use super::*;

    fn stem(language: Language, word: &str) -> String {
        let mut stem = String::new();
        language.stem(word.as_bytes(), &mut stem);
        stem
    }

    #[test]
    fn the_lists_are_in_byte_order_and_as_the_index_has_words() {
        for language in Language::ALL {
            let words: Vec<&str> = language.rules().function_words.lines().collect();
            assert!(words.is_sorted_by(|a, b| a < b), "{language:?}");
            for word in words {
                let mut tokens = Tokens::default();
                tokens.read(word, 0);
                let read: Vec<String> =
                    tokens.iter().map(|token| String::from_utf8_lossy(token.text).to_string()).collect();
                assert_eq!(read, [word], "{language:?}");
                assert!(language.has_function_word(word.as_bytes()), "{word}");
            }
            assert!(language.common_words().iter().all(|word| language.has_function_word(word.as_bytes())));
        }
        assert!(IRREGULAR.is_sorted());
    }

    #[test]
    fn a_line_is_found_and_nothing_else() {
        let list = "a\nbc\nbcd\nz\n";
        for line in ["a", "bc", "bcd", "z"] {
            assert!(has_line(list, line.as_bytes()), "{line}");
        }
        for other in ["", "b", "bcde", "0", "zz", "a\nbc"] {
            assert!(!has_line(list, other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn inflections_share_a_stem() {
        for words in [["deploy", "deploys", "deployed", "deploying"], ["query", "queries", "queried", "querying"]] {
            assert!(words.iter().all(|word| stem(Language::English, word) == stem(Language::English, words[0])));
        }
    }

    #[test]
    fn irregular_forms_of_english_are_forms() {
        assert_eq!(stem(Language::English, "wrote"), stem(Language::English, "writing"));
        assert_eq!(stem(Language::English, "children"), stem(Language::English, "child"));
        assert_ne!(stem(Language::English, "ground"), stem(Language::English, "grind"));
    }

    #[test]
    fn endings_without_their_diacritics_are_endings() {
        for (language, one, other) in [
            (Language::Spanish, "exportacion", "exportaciones"),
            (Language::French, "importee", "importer"),
            (Language::Portuguese, "traducao", "traducoes"),
            (Language::Portuguese, "pao", "paes"),
            (Language::Portuguese, "papel", "papeis"),
            (Language::Portuguese, "homem", "homens"),
        ] {
            assert_eq!(stem(language, one), stem(language, other));
        }
    }

    #[test]
    fn the_function_words_tell_the_language() {
        let of = |text: &str| Language::of_text(text.split(' ').map(str::as_bytes));
        assert_eq!(of("where is the key"), [Language::English]);
        assert_eq!(of("staging port"), []);
        assert_eq!(of("wo ist der schlussel"), [Language::German]);
        assert!(of("de la red").contains(&Language::Spanish) && of("de la red").contains(&Language::French));
        assert!(of("in").contains(&Language::English) && of("in").contains(&Language::German));
    }

    proptest! {
        #[test]
        fn any_word_has_a_stem_or_none(word in "\\PC{0,40}|[a-z]{0,80}|[а-я]{0,40}|[yuaeioß']{0,12}") {
            for &language in Language::ALL {
                let (mut stem, mut again) = (String::from("rest"), String::new());
                if language.stem(word.as_bytes(), &mut stem) {
                    prop_assert!(language.stem(word.as_bytes(), &mut again) && stem == again);
                }
            }
        }
    }
}
