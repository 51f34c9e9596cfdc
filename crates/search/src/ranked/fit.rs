//! [`Fits`]: how well notes fit a whole prompt.
//!
//! The score of a search says which note fits best, not whether any does. A prompt is about a note if the words of the prompt that
//! say something stand together in it, and few such words are missing. The everyday words of developers' prompts say less:
//! `everyday.txt` has them, each with its weight. A function word says nothing. A word that many notes have says less, too, and one
//! that no note has counts against every note.
//!
//! `cargo xtask train` writes `everyday.txt` and `trained.rs`, the numbers of the [`RULE`], from the sets of prompts in
//! `tests/retrieval/prompts/`.

use super::language::{Language, after_line, has_line};
use super::passage::{Asked, Competed, Passages};
use super::trained::NUMBERS;
use super::weights::idf;
use saddlebag_collections::prelude::*;

/// Number of notes of which one has a rare word, and from which on all of the rarity counts: in fewer, most words are in one or
/// two.
const MANY: u32 = 100;

/// Stems of the everyday words, one a line and in byte order, each with its weight in percent.
const EVERYDAY: &str = include_str!("everyday.txt");

/// Stems of the words that only connect, replace or count others, of English and beside its function words: pronouns,
/// prepositions, particles, small numbers, greetings. One a line and in byte order.
pub(super) const PARTICLES: &str = include_str!("particles.txt");

/// Words of a prompt, a bit each: no more than 64 are scored.
pub type Words = u64;

/// Weights of the words of a prompt.
pub struct Fits {
    weights: Vec<f32>,
}

/// How well a note fits a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Weight of the words that stand together: in one block, its heading, and the names of the note.
    pub evidence: f32,
    /// Weight of the other words of the prompt.
    pub missing: f32,
    /// The words that stand together.
    pub together: Words,
    /// True if the prompt has just the words of a name of the note.
    pub is_name: bool,
}

/// The rule, by the sets of prompts in `tests/retrieval/prompts/`.
pub const RULE: Rule = {
    let [share, evidence, question, is_name, fact, page, name] = NUMBERS;
    Rule { share, evidence, question, is_name, fact, page, name }
};

/// The rule: when a prompt is about a note. All numbers are in thousandths of one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Weight of the share of the words that stand together.
    pub share: i32,
    /// Weight of the words that stand together.
    pub evidence: i32,
    /// Added if the prompt asks.
    pub question: i32,
    /// Added if the prompt has just the words of a name.
    pub is_name: i32,
    /// Least score of a fact.
    pub fact: i32,
    /// Least score of a page.
    pub page: i32,
    /// Least score of an item that is only named.
    pub name: i32,
}

impl Rule {
    /// Returns how well a note fits, in thousandths.
    pub fn score(&self, fit: &Fit, asks: bool) -> f32 {
        if fit.evidence <= 0.0 {
            return 0.0;
        }
        let added = [(asks, self.question), (fit.is_name, self.is_name)];
        let added: i32 = added.into_iter().filter(|(is_so, _)| *is_so).map(|(_, number)| number).sum();
        self.share as f32 * fit.share() + self.evidence as f32 * fit.evidence + added as f32
    }
}

impl Fit {
    /// Returns the evidence as a share of the weight of all words of the prompt.
    pub fn share(&self) -> f32 {
        if self.evidence > 0.0 { self.evidence / (self.evidence + self.missing) } else { 0.0 }
    }

    /// Returns true if at least half of the words that stand together are not among others.
    pub fn is_mostly_beside(&self, others: Words) -> bool {
        2 * (self.together & !others).count_ones() >= self.together.count_ones()
    }
}

impl Fits {
    /// Weighs the words of a prompt.
    pub fn new(passages: &Passages) -> Self {
        Self::weighed(passages, &everyday_weight)
    }

    /// Returns the words of a prompt that say something, in lower case: no function words.
    pub fn telling_words(passages: &Passages) -> impl Iterator<Item = String> {
        let telling = passages.asked.iter().filter(|asked| is_telling(passages, asked));
        telling.map(|asked| asked.text.to_lowercase())
    }

    /// Weighs the words of a prompt by other weights than ours. `weight_of` returns that of a key, in percent.
    pub fn weighed(passages: &Passages, weight_of: &dyn Fn(&str) -> u8) -> Self {
        let notes = passages.notes.min(MANY);
        let rare = idf(notes, 1);
        let counts = notes as f32 / MANY as f32;
        let weight = |asked: &Asked| {
            if !is_telling(passages, asked) {
                return 0.0;
            }
            let key = everyday_key(&asked.text.to_lowercase());
            let rarity = if asked.idf < rare { asked.idf / rare } else { 1.0 };
            f32::from(weight_of(&key)) / 100.0 * asked.part * (1.0 - counts * (1.0 - rarity))
        };
        Self { weights: passages.asked.iter().map(weight).collect() }
    }

    /// Returns how well a note fits whose blocks have competed. `names` are its title, its aliases, or its key.
    pub fn of(&self, passages: &mut Passages, competed: &Competed, note: usize, names: &[&str]) -> Fit {
        let of_names: Vec<(Words, bool)> = names.iter().map(|name| self.read_name(passages, name)).collect();
        let in_names = of_names.iter().fold(0, |words, (of_name, _)| words | of_name);
        let (mut together, mut heading) = (in_names, 0);
        let mut section = None;
        for block in competed.blocks_of(note) {
            let words = block.words.iter().fold(0, |words, asked| words | self.word(*asked));
            if section != Some(block.section) || block.is_heading {
                section = Some(block.section);
                heading = if block.is_heading { words } else { 0 };
            }
            let here = words | heading | in_names;
            if self.sum(here) > self.sum(together) {
                together = here;
            }
        }
        let fit = self.of_words(together);
        let is_name = fit.missing <= 0.0 && of_names.iter().any(|(words, is_whole)| *is_whole && *words == together);
        Fit { is_name, ..fit }
    }

    /// Returns the words of the prompt that a name has, and true if the prompt has all that it says.
    fn read_name(&self, passages: &mut Passages, name: &str) -> (Words, bool) {
        let (mut words, mut is_whole) = (0, true);
        for word in name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let hits = passages.hits(word, &(0..word.len()));
            match hits.iter().find(|hit| hit.span == (0..word.len()) && !hit.is_compound) {
                Some(hit) => words |= self.word(hit.asked),
                None => is_whole &= Language::is_function_word(word.to_lowercase().as_bytes()),
            }
        }
        (words, is_whole)
    }

    /// Returns how well a note fits of which only the words of the prompt that it has are known.
    pub fn of_terms(&self, passages: &Passages, terms: &[String]) -> Fit {
        let has = passages.asked.iter().enumerate().filter(|(_, asked)| terms.contains(&asked.text));
        self.of_words(has.fold(0, |words, (asked, _)| words | self.word(asked)))
    }

    fn of_words(&self, together: Words) -> Fit {
        Fit { evidence: self.sum(together), missing: self.sum(!together), together, is_name: false }
    }

    /// Returns a word that says anything.
    fn word(&self, asked: usize) -> Words {
        let says = self.weights.get(asked).is_some_and(|weight| *weight > 0.0);
        u32::try_from(asked).ok().filter(|_| says).and_then(|asked| Words::from(1_u8).checked_shl(asked)).unwrap_or(0)
    }

    fn sum(&self, words: Words) -> f32 {
        (0..Words::BITS).zip(&self.weights).filter(|(bit, _)| words >> bit & 1 == 1).map(|(_, weight)| *weight).sum()
    }
}

/// Returns true unless a word of a prompt is a function word. If the prompt has only function words, they are searched for.
fn is_telling(passages: &Passages, asked: &Asked) -> bool {
    let text = asked.text.to_lowercase();
    let is_function_word = |language: &Language| language.has_function_word(text.as_bytes());
    let is_particle = || has_line(PARTICLES, everyday_key(&text).as_bytes());
    !asked.is_stop_word && !passages.languages.iter().any(is_function_word) && !is_particle()
}

/// Returns the key of a word in lower case among the everyday words: its English stem, or for a number how many digits it has, up
/// to three.
pub fn everyday_key(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return "000".chars().take(word.len()).collect();
    }
    let mut stem = String::new();
    if Language::English.stem(word.as_bytes(), &mut stem) { stem } else { word.into() }
}

/// Returns true for a form of an everyday word or a particle in lower case.
pub fn is_everyday(word: &str) -> bool {
    let key = everyday_key(word);
    after_line(EVERYDAY, &key).is_some() || has_line(PARTICLES, key.as_bytes())
}

/// Returns the weight of a key in percent: 100 for a word that is not an everyday one.
fn everyday_weight(key: &str) -> u8 {
    after_line(EVERYDAY, key).and_then(|weight| weight.parse().ok()).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::super::passage::Pool;
    use super::super::source::Source;
    use super::super::{Fields, Query, RankedIndex};
    use super::*;

    fn fit_of(names: &[&str], text: &str, prompt: &str) -> Fit {
        let mut index = RankedIndex::default();
        index.insert(0, &Fields { title: &names.join(" "), body: text, ..Fields::default() });
        let query = Query::parse(prompt).expect("a query");
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
        assert!(together.evidence > apart.evidence && together.share() > 0.99, "{together:?} {apart:?}");
        let unknown = fit_of(&[], text, "redis fortnight valgrind flexbox");
        assert!((unknown.share() - 0.5).abs() < 0.1, "{unknown:?}");
    }

    #[test]
    fn an_everyday_word_says_less_than_a_name_and_a_function_word_nothing() {
        for word in ["test", "renamed", "functions", "fix"] {
            let fit = fit_of(&[], "The test was renamed, the functions need a fix.", word);
            assert!(fit.evidence > 0.0 && fit.evidence < 0.6, "{word}: {fit:?}");
        }
        let name = fit_of(&[], "Run the fixtures of kubernetes.", "the kubernetes");
        assert!((name.evidence - 1.0).abs() < 1e-6, "{name:?}");
        for particle in ["not", "only", "up", "Somebody", "without", "three"] {
            let fit = fit_of(&[], "Not only somebody went up without three.", particle);
            assert_eq!(fit, Fit::default(), "{particle}");
        }
    }

    #[test]
    fn the_lists_are_in_order_and_share_no_word() {
        let stems: Vec<&str> = EVERYDAY.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(stems.is_sorted() && PARTICLES.lines().is_sorted());
        assert!(PARTICLES.lines().all(|word| !stems.contains(&word)));
    }

    #[test]
    fn a_note_about_other_words_of_a_prompt_is_beside_those_that_have_some() {
        let prompt = "pytest fixtures and the nginx certificate";
        let of = |text: &str| fit_of(&[], text, prompt);
        let (first, second) = (of("Fixtures of pytest."), of("The certificate of nginx."));
        assert!(second.is_mostly_beside(first.together) && !first.is_mostly_beside(first.together));
        assert!(!of("Fixtures, pytest and nginx.").is_mostly_beside(first.together));
    }

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
            assert!(RULE.score(&fit, false) < RULE.fact as f32, "{prompt}: {fit:?}");
        }
        let two = fit_of(&[], "Der Server steht im Keller.", "Steht der Server im Keller?");
        assert!(RULE.score(&two, true) >= RULE.fact as f32, "{two:?}");
    }
}
