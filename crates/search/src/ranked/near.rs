//! [`near_words`]: words that a query has misspelled.

use super::fit::is_everyday;
use super::plan::Plan;
use super::query::Query;
use super::source::{Frequencies, Source, View};
use saddlebag_collections::prelude::*;

/// Minimum number of letters of a word that is looked up: of a shorter one, too many others differ by one letter.
const MIN_LETTERS: usize = 5;
/// Maximum number of words of a query that are looked up.
const MAX_LOOKED_UP: usize = 8;
/// Maximum number of words with the same first letter that are compared.
const MAX_COMPARED: usize = 100_000;

/// Returns the words of a query that no note has, each with the most common word of the notes that begins with the same letter
/// and differs by one letter: one more, one less, another one, or two neighbours exchanged. A word that only has another ending
/// than its beginning is not such a word, and neither is an everyday one.
pub fn near_words(sources: &[Source<'_>], query: &Query) -> Vec<(String, String)> {
    let views = View::of_all(sources);
    let plan = Plan::new(&views, query, Frequencies::Stored);
    let is_unknown = |concept: &&super::plan::Concept| {
        let letters = concept.text.chars().count();
        concept.forms.iter().all(Vec::is_empty)
            && !concept.is_stop_word
            && letters >= MIN_LETTERS
            && concept.text.chars().all(char::is_alphabetic)
            && !is_everyday(&concept.text.to_lowercase())
    };
    let mut found = Vec::new();
    for concept in plan.concepts.iter().filter(is_unknown).take(MAX_LOOKED_UP) {
        let wanted: Vec<char> = concept.text.to_lowercase().chars().collect();
        let Some(first) = wanted.first() else { continue };
        let mut best: Option<(u32, String)> = None;
        for view in &views {
            for form in view.index.starting_with(first.encode_utf8(&mut [0; 4]).as_bytes(), MAX_COMPARED) {
                let Ok(name) = core::str::from_utf8(&form.name) else { continue };
                if !is_near(&wanted, name) || is_everyday(name) {
                    continue;
                }
                let docs = view.frequency(&form, Frequencies::Stored);
                if best.as_ref().is_none_or(|(most, _)| *most < docs) {
                    best = Some((docs, name.into()));
                }
            }
        }
        if let Some((_, name)) = best {
            found.push((concept.text.clone(), name));
        }
    }
    found
}

/// Returns true if two words differ by one edit that is not at the end of the shorter one.
fn is_near(wanted: &[char], name: &str) -> bool {
    if name.len().abs_diff(wanted.len()) > 4 {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    let same = wanted.iter().zip(&name).take_while(|(a, b)| a == b).count();
    let (rest, other) = (wanted.get(same..).unwrap_or_default(), name.get(same..).unwrap_or_default());
    match (rest, other) {
        ([], _) | (_, []) => false,
        ([a, x, rest @ ..], [b, y, other @ ..]) if a == y && x == b && rest == other => true,
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        ([_, rest @ ..], other) if rest == other => true,
        (rest, [_, other @ ..]) => rest == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_more_less_or_other_is_near_and_an_ending_is_not() {
        let near = |one: &str, other: &str| is_near(&one.chars().collect::<Vec<_>>(), other);
        for (one, other) in
            [("kuberntes", "kubernetes"), ("grafanna", "grafana"), ("timescael", "timescale"), ("maplibra", "maplibre")]
        {
            assert!(near(one, other) && near(other, one), "{one} {other}");
        }
        for (one, other) in [("deploy", "deploys"), ("grafana", "grafana"), ("grafana", "grana"), ("redis", "radio")] {
            assert!(!near(one, other) && !near(other, one), "{one} {other}");
        }
    }
}
