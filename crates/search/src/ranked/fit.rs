//! [`Fits`]: how well notes fit a whole prompt.
//!
//! The score of a search says which note fits best, not whether any does. A prompt is a question about a note if the words of the
//! prompt that say something stand together in it, and are a good part of all such words. An ordinary word of a day's work, such
//! as `test` or `file`, says less than a name, whatever its rarity in the store; `ordinary.txt` has these words. A word that
//! many notes have says less, too. A word that no note has counts against every note.

use alloc::string::String;
use alloc::vec::Vec;

use super::language::{Language, has_line};
use super::passage::{Asked, Block, Competed, Passages};
use super::weights::{idf, ln};

/// Weight of an ordinary word, relative to any other.
const ORDINARY_WEIGHT: f32 = 0.4;
/// Weight of a word of another language than English, of which the ordinary words are not known.
const FOREIGN: f32 = 0.7;
/// Weight of a number of at least three digits.
const NUMBER: f32 = 0.5;
/// Weight of a shorter number.
const SHORT_NUMBER: f32 = 0.15;
/// Weight of a single letter.
const LETTER: f32 = 0.1;
/// Number of notes of which one has a rare word, and from which on all of the rarity counts: in fewer, most words are in one or
/// two.
const MANY: u32 = 100;

/// Stems of the ordinary words of a day's work, one a line and in byte order: words that many pages of documentation of software
/// have.
const ORDINARY: &str = include_str!("ordinary.txt");

/// Weights of the words of a prompt.
pub struct Fits {
    weights: Vec<f32>,
    total: f32,
    /// Logarithm of one more than the number of words.
    length: f32,
}

/// How well a note fits a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Weight of the words that stand together: in one block, its heading, and the names of the note.
    pub evidence: f32,
    /// The evidence as a share of the weight of all words of the prompt.
    pub share: f32,
    /// Weight of the words that are in names.
    pub names: f32,
    /// Weight of the best name whose words are all in the prompt.
    pub named: f32,
    /// Number of words of the prompt that the note has, without function words.
    pub words: f32,
    /// Natural logarithm of one more than the number of words of the prompt.
    pub length: f32,
}

impl Fits {
    /// Weighs the words of a prompt.
    #[must_use]
    pub fn new(passages: &Passages) -> Self {
        let notes = passages.notes.min(MANY);
        let rare = idf(notes, 1);
        let counts = notes as f32 / MANY as f32;
        let weight = |asked: &Asked| {
            let rarity = if asked.idf < rare { asked.idf / rare } else { 1.0 };
            own_weight(asked, &passages.languages) * (1.0 - counts * (1.0 - rarity))
        };
        let weights: Vec<f32> = passages.asked.iter().map(weight).collect();
        let total = weights.iter().sum();
        let words: f32 = passages.asked.iter().map(|asked| asked.part).sum();
        Self { weights, total, length: ln(1.0 + f64::from(words)) as f32 }
    }

    /// Returns how well a note fits whose blocks have competed. `names` are its title, its aliases, or its key.
    pub fn of(&self, passages: &mut Passages, competed: &Competed, note: usize, names: &[&str]) -> Fit {
        let of_names: Vec<Name> = names.iter().map(|name| self.read_name(passages, name)).collect();
        let mut in_names = self.none();
        of_names.iter().flat_map(|name| &name.asked).for_each(|asked| mark(&mut in_names, *asked));
        let (mut all, mut heading, mut evidence) = (in_names.clone(), self.none(), self.sum(&in_names));
        let mut section = None;
        for block in competed.blocks_of(note) {
            if section != Some(block.section) || block.is_heading {
                section = Some(block.section);
                heading = if block.is_heading { self.words_of(block) } else { self.none() };
            }
            let mut here = self.words_of(block);
            all.iter_mut().zip(&here).for_each(|(all, here)| *all |= here);
            for ((here, name), heading) in here.iter_mut().zip(&in_names).zip(&heading) {
                *here |= name | heading;
            }
            evidence = evidence.max(self.sum(&here));
        }
        let named = of_names.iter().filter(|name| name.is_whole).map(|name| name.weight).fold(0.0, f32::max);
        let words = self.count(&all);
        let (share, names, length) = (self.share(evidence), self.sum(&in_names), self.length);
        Fit { evidence, share, names, named, words, length }
    }

    /// Returns how well a note fits of which only the words of the prompt that it has are known.
    #[must_use]
    pub fn of_terms(&self, passages: &Passages, terms: &[String]) -> Fit {
        let has: Vec<bool> = passages.asked.iter().map(|asked| terms.contains(&asked.text)).collect();
        let evidence = self.sum(&has);
        let (share, words, length) = (self.share(evidence), self.count(&has), self.length);
        Fit { evidence, share, words, length, ..Fit::default() }
    }

    fn none(&self) -> Vec<bool> {
        alloc::vec![false; self.weights.len()]
    }

    fn sum(&self, has: &[bool]) -> f32 {
        self.weights.iter().zip(has).filter(|(_, has)| **has).map(|(weight, _)| weight).sum()
    }

    fn share(&self, evidence: f32) -> f32 {
        if self.total > 0.0 { evidence / self.total } else { 0.0 }
    }

    /// Counts words. One that says less than an ordinary word is a part of one.
    fn count(&self, has: &[bool]) -> f32 {
        let counted = self.weights.iter().zip(has).filter(|(_, has)| **has);
        counted.map(|(weight, _)| (weight / ORDINARY_WEIGHT).min(1.0)).sum()
    }

    fn words_of(&self, block: &Block) -> Vec<bool> {
        let mut has = self.none();
        block.words.iter().for_each(|asked| mark(&mut has, *asked));
        has
    }

    fn read_name(&self, passages: &mut Passages, name: &str) -> Name {
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let (mut asked, mut is_whole, mut weight) = (Vec::new(), true, 0.0);
        for word in words {
            let whole = passages.hits(word, &(0..word.len()));
            let found = whole.iter().find(|hit| hit.span == (0..word.len()) && !hit.is_compound).map(|hit| hit.asked);
            asked.extend(found);
            match found {
                Some(found) => weight += self.weights.get(found).copied().unwrap_or(0.0),
                None => is_whole &= Language::is_function_word(word.to_lowercase().as_bytes()),
            }
        }
        Name { asked, is_whole: is_whole && weight > 0.0, weight }
    }
}

/// A name of a note.
struct Name {
    /// Words of the prompt that it has.
    asked: Vec<usize>,
    /// True if the prompt has all of its words.
    is_whole: bool,
    weight: f32,
}

fn mark(has: &mut [bool], asked: usize) {
    if let Some(has) = has.get_mut(asked) {
        *has = true;
    }
}

/// Returns the weight that a word has in any store.
fn own_weight(asked: &Asked, languages: &[Language]) -> f32 {
    let text = asked.text.to_lowercase();
    // If the prompt has only function words, they are searched for.
    if asked.is_stop_word || languages.iter().any(|language| language.has_function_word(text.as_bytes())) {
        return 0.0;
    }
    let is_foreign = !text.is_ascii() || !languages.is_empty() && !languages.contains(&Language::English);
    let letters = text.chars().count();
    let of_word = match () {
        () if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            if letters >= 3 {
                NUMBER
            } else {
                SHORT_NUMBER
            }
        }
        () if letters == 1 => LETTER,
        () if is_ordinary(&text) => ORDINARY_WEIGHT,
        () if is_foreign && text.chars().all(char::is_alphabetic) => FOREIGN,
        () => 1.0,
    };
    of_word * asked.part
}

/// Returns true for a form of an ordinary word in lower case.
pub(super) fn is_ordinary(word: &str) -> bool {
    let mut stem = String::new();
    let is_stemmed = Language::English.stem(word.as_bytes(), &mut stem);
    has_line(ORDINARY, if is_stemmed { stem.as_bytes() } else { word.as_bytes() })
}

#[cfg(test)]
mod tests {
    use super::super::passage::Pool;
    use super::super::query::Joining;
    use super::super::source::Source;
    use super::super::{Fields, Query, RankedIndex};
    use super::*;

    fn fit_of(names: &[&str], text: &str, prompt: &str) -> Fit {
        let mut index = RankedIndex::default();
        index.insert(0, &Fields { title: &names.join(" "), body: text, ..Fields::default() });
        let query = Query::parse(prompt, Joining::Any).expect("a query");
        let tie = |_| (core::cmp::Reverse(0), "a");
        let mut passages = Passages::new(&[Source::new(&index, &tie)], &query);
        let mut pool = Pool::default();
        let number = pool.add(&mut passages, ("", text), 0..text.len(), &mut core::iter::empty(), 1.0).expect("room");
        let competed = pool.compete(&passages);
        Fits::new(&passages).of(&mut passages, &competed, number, names)
    }

    #[test]
    fn words_that_stand_together_count_and_unknown_ones_count_against_a_note() {
        let text = "Redis keeps sessions for a fortnight.\n\nGrafana has the dashboards.";
        let together = fit_of(&[], text, "redis fortnight");
        let apart = fit_of(&[], text, "redis dashboards");
        assert!(together.evidence > apart.evidence && together.share > 0.99, "{together:?} {apart:?}");
        let unknown = fit_of(&[], text, "redis fortnight valgrind flexbox");
        assert!((unknown.share - 0.5).abs() < 0.01, "{unknown:?}");
    }

    #[test]
    fn an_ordinary_word_says_less_than_a_name_and_a_function_word_nothing() {
        let ordinary = fit_of(&[], "Run the test of the parser.", "the test");
        assert!((ordinary.evidence - ORDINARY_WEIGHT).abs() < 1e-6 && ordinary.share > 0.99, "{ordinary:?}");
        let name = fit_of(&[], "Run the fixtures of kubernetes.", "the kubernetes");
        assert!((name.evidence - 1.0).abs() < 1e-6, "{name:?}");
    }

    #[cfg(feature = "languages")]
    #[test]
    fn one_word_of_another_language_or_a_compound_is_not_enough() {
        for (text, prompt) in [
            ("Der Server steht im Keller.", "Starte den Server neu"),
            ("El servidor está en el sótano.", "Reinicia el servidor"),
            ("Сервер в подвале.", "Перезапусти сервер"),
            ("Die Warteschlange ist leer.", "Wie lange ruht der Teig?"),
            ("der die das", "der die das und oder ist"),
        ] {
            let fit = fit_of(&[], text, prompt);
            assert!(fit.evidence <= FOREIGN, "{prompt}: {fit:?}");
        }
        let two = fit_of(&[], "Der Server steht im Keller.", "Steht der Server im Keller?");
        assert!(two.evidence > 1.0, "{two:?}");
    }

    #[test]
    fn a_name_counts_whole_if_the_prompt_has_all_of_its_words() {
        let names = ["Who owns the gateway", "k8s"];
        assert!(fit_of(&names, "Text.", "k8s").named >= 1.0);
        assert!(fit_of(&names, "Text.", "the gateway").named == 0.0);
        assert!(fit_of(&names, "Text.", "who owns the gateway").named > 1.0);
    }
}
