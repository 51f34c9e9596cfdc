//! [`Language`]: the function words of a language, and how its words are stemmed.
//!
//! The words are those of the index: diacritics are folded, which costs the stemmers of Snowball nothing measurable. A guess of
//! the language is never needed to find a word as it stands.

use alloc::string::String;
use alloc::vec::Vec;

use snowstem::{Algorithm, Stemmer};

/// Language of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    #[cfg(feature = "german")]
    German,
    #[cfg(feature = "spanish")]
    Spanish,
    #[cfg(feature = "french")]
    French,
    #[cfg(feature = "italian")]
    Italian,
    #[cfg(feature = "portuguese")]
    Portuguese,
    #[cfg(feature = "russian")]
    Russian,
}

impl Language {
    /// Every language of this build.
    pub(super) const ALL: &[Self] = &[
        Self::English,
        #[cfg(feature = "german")]
        Self::German,
        #[cfg(feature = "spanish")]
        Self::Spanish,
        #[cfg(feature = "french")]
        Self::French,
        #[cfg(feature = "italian")]
        Self::Italian,
        #[cfg(feature = "portuguese")]
        Self::Portuguese,
        #[cfg(feature = "russian")]
        Self::Russian,
    ];

    /// Returns the languages that most of the function words of a text are of: English alone if it is one of several, and none
    /// if there are no function words.
    pub(super) fn of_text<'w>(words: impl Iterator<Item = &'w [u8]> + Clone) -> Vec<Self> {
        let count = |language: &Self| words.clone().filter(|word| language.has_function_word(word)).count();
        let counts: Vec<usize> = Self::ALL.iter().map(count).collect();
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let mut found: Vec<Self> =
            Self::ALL.iter().zip(counts).filter(|(_, count)| *count == most).map(|(language, _)| *language).collect();
        if found.first() == Some(&Self::English) {
            found.truncate(1);
        }
        found
    }

    /// Returns true for a normalised word that says little about the subject of a text.
    pub(super) fn has_function_word(self, word: &[u8]) -> bool {
        has_line(self.function_words(), word)
    }

    /// Returns true for a function word of any language.
    pub(super) fn is_function_word(word: &[u8]) -> bool {
        Self::ALL.iter().any(|language| language.has_function_word(word))
    }

    /// Function words, one a line, in byte order.
    const fn function_words(self) -> &'static str {
        match self {
            Self::English => include_str!("function_words/english.txt"),
            #[cfg(feature = "german")]
            Self::German => include_str!("function_words/german.txt"),
            #[cfg(feature = "spanish")]
            Self::Spanish => include_str!("function_words/spanish.txt"),
            #[cfg(feature = "french")]
            Self::French => include_str!("function_words/french.txt"),
            #[cfg(feature = "italian")]
            Self::Italian => include_str!("function_words/italian.txt"),
            #[cfg(feature = "portuguese")]
            Self::Portuguese => include_str!("function_words/portuguese.txt"),
            #[cfg(feature = "russian")]
            Self::Russian => include_str!("function_words/russian.txt"),
        }
    }

    /// Function words that most notes in this language have, and few in others.
    pub(super) const fn common_words(self) -> [&'static str; 4] {
        match self {
            Self::English => ["the", "and", "of", "is"],
            #[cfg(feature = "german")]
            Self::German => ["und", "der", "ist", "nicht"],
            #[cfg(feature = "spanish")]
            Self::Spanish => ["los", "del", "una", "el"],
            #[cfg(feature = "french")]
            Self::French => ["les", "des", "est", "pour"],
            #[cfg(feature = "italian")]
            Self::Italian => ["che", "della", "il", "di"],
            #[cfg(feature = "portuguese")]
            Self::Portuguese => ["uma", "nao", "dos", "com"],
            #[cfg(feature = "russian")]
            Self::Russian => ["и", "в", "не", "на"],
        }
    }

    /// Returns true if it writes compounds as one word.
    pub(super) const fn has_compounds(self) -> bool {
        match self {
            #[cfg(feature = "german")]
            Self::German => true,
            _ => false,
        }
    }

    /// Writes the stem of a normalised word to `out`. Returns false for a word that is not one of this language.
    pub(super) fn stem(self, word: &[u8], out: &mut String) -> bool {
        let Some(mut word) = core::str::from_utf8(word).ok().filter(|word| self.may_have(word)) else { return false };
        let algorithm = match self {
            Self::English => {
                word = IRREGULAR
                    .binary_search_by(|(form, _)| (*form).cmp(word))
                    .ok()
                    .and_then(|at| IRREGULAR.get(at))
                    .map_or(word, |(_, word)| word);
                Algorithm::English
            }
            #[cfg(feature = "german")]
            Self::German => Algorithm::German,
            #[cfg(feature = "spanish")]
            Self::Spanish => Algorithm::Spanish,
            #[cfg(feature = "french")]
            Self::French => Algorithm::French,
            #[cfg(feature = "italian")]
            Self::Italian => Algorithm::Italian,
            #[cfg(feature = "portuguese")]
            Self::Portuguese => Algorithm::Portuguese,
            #[cfg(feature = "russian")]
            Self::Russian => Algorithm::Russian,
        };
        Stemmer::create(algorithm).stem_into(word, out);
        true
    }

    fn may_have(self, word: &str) -> bool {
        match self {
            Self::English => word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()),
            #[allow(unreachable_patterns, reason = "English may be the only language")]
            _ => word.chars().all(char::is_alphabetic),
        }
    }
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
    let mut rest = list.as_bytes();
    while !rest.is_empty() {
        let middle = rest.len() / 2;
        let (before, after) = rest.split_at_checked(middle).unwrap_or((rest, &[]));
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let end = middle + memchr::memchr(b'\n', after).unwrap_or(after.len());
        match rest.get(start..end).unwrap_or_default().cmp(line) {
            core::cmp::Ordering::Equal => return true,
            core::cmp::Ordering::Less => rest = rest.get(end + 1..).unwrap_or_default(),
            core::cmp::Ordering::Greater => rest = rest.get(..start).unwrap_or_default(),
        }
    }
    false
}
