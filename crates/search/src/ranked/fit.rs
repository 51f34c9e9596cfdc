//! [`Fits`]: how well notes fit a whole prompt.
//!
//! The score of a search says which note fits best, not whether any does. A prompt is a question about a note if the words of the
//! prompt that say something stand together in it, and few such words are missing. An ordinary word of a day's work, such
//! as `file` or `server`, says less than a name, whatever its rarity in the store; `ordinary.txt` has these words. A word of work on
//! code, such as `test` or `rename`, says still less, because most prompts have some of them and few ask for a note; `work.txt` has
//! these. A word of almost every text, such as `not` or `only`, says least; `particles.txt` has these. A word that many notes have says
//! less, too. A word that no note has counts against every note.

use alloc::string::String;
use alloc::vec::Vec;

use super::language::{Language, has_line};
use super::passage::{Asked, Competed, Passages};
use super::weights::idf;

/// Weight of an ordinary word, relative to any other.
const ORDINARY_WEIGHT: f32 = 0.4;
/// Weight of a word of work on code.
const WORK_WEIGHT: f32 = 0.27;
/// Weight of a particle.
const PARTICLE: f32 = 0.15;
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
/// have, and names of languages, tools, endings of files and notions that are the same in any project.
const ORDINARY: &str = include_str!("ordinary.txt");

/// Stems of the words for work on the code of any project, one a line and in byte order: what is done (`rename`, `fix`), to what
/// (`function`, `file`), and what comes of it (`error`, `typo`).
const WORK: &str = include_str!("work.txt");

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
    /// Weight of the words that are in names.
    pub names: f32,
    /// Weight of the best name whose words are all in the prompt.
    pub named: f32,
    /// Number of words of the prompt that the note has, without function words.
    pub words: f32,
    /// The words that stand together.
    pub together: Words,
}

impl Fit {
    /// Returns the evidence as a share of the weight of all words of the prompt.
    #[must_use]
    pub fn share(&self) -> f32 {
        if self.evidence > 0.0 { self.evidence / (self.evidence + self.missing) } else { 0.0 }
    }

    /// Returns true if at least half of the words that stand together are not among others.
    #[must_use]
    pub fn is_mostly_beside(&self, others: Words) -> bool {
        2 * (self.together & !others).count_ones() >= self.together.count_ones()
    }
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
        Self { weights: passages.asked.iter().map(weight).collect() }
    }

    /// Returns how well a note fits whose blocks have competed. `names` are its title, its aliases, or its key.
    pub fn of(&self, passages: &mut Passages, competed: &Competed, note: usize, names: &[&str]) -> Fit {
        let of_names: Vec<Name> = names.iter().map(|name| self.read_name(passages, name)).collect();
        let in_names = of_names.iter().fold(0, |words, name| words | name.words);
        let (mut all, mut together, mut heading) = (in_names, in_names, 0);
        let mut section = None;
        for block in competed.blocks_of(note) {
            let words = block.words.iter().fold(0, |words, asked| words | self.word(*asked));
            if section != Some(block.section) || block.is_heading {
                section = Some(block.section);
                heading = if block.is_heading { words } else { 0 };
            }
            all |= words;
            let here = words | heading | in_names;
            if self.sum(here) > self.sum(together) {
                together = here;
            }
        }
        let named = of_names.iter().filter(|name| name.is_whole).map(|name| self.sum(name.words)).fold(0.0, f32::max);
        Fit { names: self.sum(in_names), named, ..self.of_words(together, all) }
    }

    /// Returns how well a note fits of which only the words of the prompt that it has are known.
    #[must_use]
    pub fn of_terms(&self, passages: &Passages, terms: &[String]) -> Fit {
        let has = passages.asked.iter().enumerate().filter(|(_, asked)| terms.contains(&asked.text));
        let all = has.fold(0, |words, (asked, _)| words | self.word(asked));
        self.of_words(all, all)
    }

    /// Returns how well a note fits without names. A word that says less than an ordinary word is a part of one.
    fn of_words(&self, together: Words, all: Words) -> Fit {
        let words = self.weights_of(all).map(|weight| (weight / ORDINARY_WEIGHT).min(1.0)).sum();
        let (evidence, missing) = (self.sum(together), self.sum(!together));
        Fit { evidence, missing, words, together, ..Fit::default() }
    }

    /// Returns a word that says anything.
    fn word(&self, asked: usize) -> Words {
        let says = self.weights.get(asked).is_some_and(|weight| *weight > 0.0);
        u32::try_from(asked).ok().filter(|_| says).and_then(|asked| Words::from(1_u8).checked_shl(asked)).unwrap_or(0)
    }

    fn weights_of(&self, words: Words) -> impl Iterator<Item = f32> {
        (0..Words::BITS).zip(&self.weights).filter(move |(bit, _)| words >> bit & 1 == 1).map(|(_, weight)| *weight)
    }

    fn sum(&self, words: Words) -> f32 {
        self.weights_of(words).sum()
    }

    fn read_name(&self, passages: &mut Passages, name: &str) -> Name {
        let (mut words, mut is_whole) = (0, true);
        for word in name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let whole = passages.hits(word, &(0..word.len()));
            match whole.iter().find(|hit| hit.span == (0..word.len()) && !hit.is_compound) {
                Some(hit) => words |= self.word(hit.asked),
                None => is_whole &= Language::is_function_word(word.to_lowercase().as_bytes()),
            }
        }
        Name { words, is_whole }
    }
}

/// A name of a note.
struct Name {
    /// Words of the prompt that it has.
    words: Words,
    /// True if the prompt has all of its words.
    is_whole: bool,
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
    let unknown = if is_foreign && text.chars().all(char::is_alphabetic) { FOREIGN } else { 1.0 };
    let of_word = match () {
        () if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            if letters >= 3 {
                NUMBER
            } else {
                SHORT_NUMBER
            }
        }
        () if letters == 1 => LETTER,
        () => ordinary_weight(&text).unwrap_or(unknown),
    };
    of_word * asked.part
}

/// Returns true for a form of an ordinary word, a word of work on code, or a particle in lower case.
pub(super) fn is_ordinary(word: &str) -> bool {
    ordinary_weight(word).is_some()
}

/// Returns the weight of a form of an ordinary word, a word of work on code, or a particle in lower case.
fn ordinary_weight(word: &str) -> Option<f32> {
    let mut stem = String::new();
    let is_stemmed = Language::English.stem(word.as_bytes(), &mut stem);
    let stem = if is_stemmed { stem.as_bytes() } else { word.as_bytes() };
    match () {
        () if has_line(PARTICLES, stem) => Some(PARTICLE),
        () if has_line(WORK, stem) => Some(WORK_WEIGHT),
        () if has_line(ORDINARY, stem) => Some(ORDINARY_WEIGHT),
        () => None,
    }
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
        assert!((unknown.share() - 0.5).abs() < 0.01, "{unknown:?}");
    }

    #[test]
    fn an_ordinary_word_says_less_than_a_name_and_a_function_word_nothing() {
        let ordinary = fit_of(&[], "Start the server of the parser.", "the server");
        assert!((ordinary.evidence - ORDINARY_WEIGHT).abs() < 1e-6 && ordinary.share() > 0.99, "{ordinary:?}");
        let name = fit_of(&[], "Run the fixtures of kubernetes.", "the kubernetes");
        assert!((name.evidence - 1.0).abs() < 1e-6, "{name:?}");
    }

    #[test]
    fn a_word_of_work_on_code_says_less_than_another_ordinary_word() {
        for word in ["test", "renamed", "functions", "fix"] {
            let fit = fit_of(&[], "The test was renamed, the functions need a fix.", word);
            assert!(fit.evidence > PARTICLE && fit.evidence <= WORK_WEIGHT, "{word}: {fit:?}");
        }
    }

    #[test]
    fn each_word_has_one_weight_and_the_lists_are_in_order() {
        let lists = [ORDINARY, WORK, PARTICLES];
        for (number, list) in lists.iter().enumerate() {
            assert!(list.lines().is_sorted(), "list {number}");
            for other in &lists[number + 1..] {
                let both = list.lines().find(|line| has_line(other, line.as_bytes()));
                assert_eq!(both, None, "list {number}");
            }
        }
    }

    #[test]
    fn a_particle_says_less_than_an_ordinary_word() {
        for particle in ["not", "only", "up", "Somebody", "without", "three"] {
            let fit = fit_of(&[], "Not only somebody went up without three.", particle);
            assert!(fit.evidence > 0.0 && fit.evidence <= PARTICLE, "{particle}: {fit:?}");
        }
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
