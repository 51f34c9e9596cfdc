//! Trains the rule that decides when a prompt is about a note, with the sets of prompts in `tests/retrieval/prompts/`.
//!
//! The rule is linear in four numbers of a prompt and an item, fitted by logistic regression: the share of the prompt's words that
//! stand together in the item, their weight, whether the prompt asks, and whether it is just a name. A word of ordinary prompts weighs less the more of them
//! have it. What a fact must reach is chosen by ordinary prompts, what a page must reach by prompts of the other sets. Each
//! set is also judged by a rule of all others, which the table shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::{Table, presets};
use saddlebag::session::{asks, question};
use saddlebag_search::ranked::{
    Fields, Fit, Fits, Passages, Pool, Query, RankedIndex, Rule, Source, everyday_key, search,
};
use serde_json::Value;

use crate::work::Result;

/// Our question sets, and those of other hands.
const SETS: [(&str, &str); 13] = [
    ("shop", include_str!("../../tests/retrieval/prompts/shop.json")),
    ("trackers", include_str!("../../tests/retrieval/prompts/trackers.json")),
    ("game", include_str!("../../tests/retrieval/prompts/game.json")),
    ("rover", include_str!("../../tests/retrieval/prompts/rover.json")),
    ("radio", include_str!("../../tests/retrieval/prompts/radio.json")),
    ("sailings", include_str!("../../tests/retrieval/prompts/sailings.json")),
    ("clinic", include_str!("../../tests/retrieval/prompts/clinic.json")),
    ("vineyard", include_str!("../../tests/retrieval/prompts/vineyard.json")),
    ("ebike", include_str!("../../tests/retrieval/prompts/ebike.json")),
    ("platform", include_str!("../../tests/retrieval/prompts/platform.json")),
    ("trials", include_str!("../../tests/retrieval/prompts/trials.json")),
    ("auction", include_str!("../../tests/retrieval/prompts/auction.json")),
    ("bibliothek", include_str!("../../tests/retrieval/prompts/bibliothek.json")),
];

/// Sets that no rule was trained with, by hands that had seen none: in English, German, French and Spanish.
const HELD_OUT: [(&str, &str); 4] = [
    ("harbour", include_str!("../../tests/retrieval/prompts/harbour.json")),
    ("werkstatt", include_str!("../../tests/retrieval/prompts/werkstatt.json")),
    ("fromagerie", include_str!("../../tests/retrieval/prompts/fromagerie.json")),
    ("naranjas", include_str!("../../tests/retrieval/prompts/naranjas.json")),
];

/// Share of ordinary prompts that may bring text, and of prompts of other sets that may bring a page, of those that are trained with.
const ORDINARY: f64 = 0.0055;
const STRANGE: f64 = 0.01;
/// Share of ordinary prompts that may bring a name.
const NAMED: f64 = 0.06;
/// Number of ordinary prompts that have an everyday word at least.
const LEAST: usize = 3;
/// Number of items of a search that are judged, as at a prompt.
const HITS: usize = 12;
/// Numbers of a prompt and an item, and 1.
const FEATURES: usize = 5;
/// Kinds of prompts of the table. The first half of the questions of some sets is in the words of the fact.
const KINDS: [&str; 8] =
    ["questions", "same words", "other words", "short", "pairs", "relations", "misspelt", "orders"];

type Features = [f64; FEATURES];

/// A set of prompts.
struct Set {
    name: &'static str,
    items: Vec<Item>,
    prompts: Vec<Prompt>,
}

struct Item {
    id: String,
    names: Vec<String>,
    text: String,
}

struct Prompt {
    /// `None` for an ordinary prompt.
    kind: Option<&'static str>,
    text: String,
    right: Vec<String>,
}

/// Everyday words with their weights in percent.
type Everyday = BTreeMap<String, u8>;

/// Result of a training.
struct Trained {
    everyday: Everyday,
    rule: Rule,
}

/// Page with the table of sets left out.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/hooks.md");
/// Beginning of the table.
const HEAD: &str = "Left out";

/// Trains with all sets, writes the rule, its words and the table of sets left out, and returns the table.
pub(crate) fn train() -> Result<String> {
    let sets = read()?;
    let [words, rule] = files();
    let trained = trained_with(&sets.iter().collect::<Vec<_>>());
    let (of_words, of_rule) = written(&trained);
    std::fs::write(words, of_words)?;
    std::fs::write(rule, of_rule)?;
    let table = table(&sets)?;
    let page = std::fs::read_to_string(PAGE)?;
    let start = page.find(&format!("| {HEAD}")).ok_or("the page has no place for the table")?;
    let end = page[start..].find("\n\n").map_or(page.len(), |end| start + end);
    std::fs::write(PAGE, [&page[..start], &table, &page[end..]].concat())?;
    Ok(table)
}

fn files() -> [PathBuf; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/search/src/ranked");
    ["everyday.txt", "trained.rs"].map(|name| folder.join(name))
}

/// Returns the text of the files.
fn written(trained: &Trained) -> (String, String) {
    let words = trained.everyday.iter().fold(String::new(), |mut text, (word, weight)| {
        let _ = writeln!(text, "{word} {weight}");
        text
    });
    let Rule { share, evidence, question, is_name, fact, page, name } = trained.rule;
    let rule = format!(
        "//! Written by `cargo xtask train`.\n\n/// Numbers of the rule, in the order of its fields.\n\
         pub(super) const NUMBERS: [i32; 7] = [{share}, {evidence}, {question}, {is_name}, {fact}, {page}, {name}];\n"
    );
    (words, rule)
}

fn read() -> Result<Vec<Set>> {
    SETS.iter().map(|(name, text)| Set::read(name, &serde_json::from_str(text)?)).collect()
}

impl Set {
    fn read(name: &'static str, set: &Value) -> Result<Self> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let texts = |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<String>>();
        let facts = set["facts"].as_array().ok_or("a set without facts")?;
        let items = facts.iter().map(|fact| {
            let of_note = || std::iter::once(text(&fact["title"])).chain(texts(&fact["aliases"])).collect();
            let names = if fact["kind"] == "entry" { vec![text(&fact["key"])] } else { of_note() };
            Item { id: text(&fact["id"]), names, text: text(&fact["text"]) }
        });
        let mut prompts = Vec::new();
        for kind in ["questions", "short", "pairs", "relations", "misspelt", "orders"] {
            for asked in set[kind].as_array().into_iter().flatten() {
                let kind = match asked["words"].as_str() {
                    Some("same") => KINDS[1],
                    Some(_) => KINDS[2],
                    None => kind,
                };
                prompts.push(Prompt { kind: Some(kind), text: text(&asked["prompt"]), right: texts(&asked["right"]) });
            }
        }
        let ordinary = texts(&set["unrelated"]).into_iter();
        prompts.extend(ordinary.map(|text| Prompt { kind: None, text, right: Vec::new() }));
        Ok(Self { name, items: items.collect(), prompts })
    }

    fn ordinary(&self) -> impl Iterator<Item = &Prompt> {
        self.prompts.iter().filter(|prompt| prompt.kind.is_none())
    }
}

/// Returns the words of ordinary prompts that several have.
fn everyday(sets: &[&Set]) -> Everyday {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = 0;
    for prompt in sets.iter().flat_map(|set| set.ordinary()) {
        all += 1;
        let asked = question(&prompt.text).unwrap_or_default();
        let Ok(query) = Query::parse(&asked) else { continue };
        let index = RankedIndex::default();
        let tie = |_| (std::cmp::Reverse(0), "");
        let passages = Passages::new(&[Source::new(&index, &tie)], &query);
        let keys: BTreeSet<String> = Fits::telling_words(&passages).map(|word| everyday_key(&word)).collect();
        keys.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
    }
    let rarity = |count: f64| ((all as f64 + 1.0) / (count + 0.5)).ln();
    let weight = |count: usize| (100.0 * rarity(count as f64) / rarity(0.0)).round() as u8;
    counts.into_iter().filter(|(_, count)| *count >= LEAST).map(|(word, count)| (word, weight(count))).collect()
}

/// Returns the prompts of a set, each with the features of the items that have a word of it, best hits first.
fn judged<'s>(items: &[&Item], set: &'s Set, everyday: &Everyday) -> Vec<(&'s Prompt, Vec<(usize, Features)>)> {
    let mut index = RankedIndex::default();
    for (number, item) in (0..).zip(items) {
        index.insert(number, &Fields { title: &item.names.join(" "), body: &item.text, ..Fields::default() });
    }
    let tie = |_| (std::cmp::Reverse(0), "");
    let sources = [Source::new(&index, &tie)];
    let weight_of = |key: &str| everyday.get(key).copied().unwrap_or(100);
    let judge = |prompt: &Prompt| {
        let asked = question(&prompt.text).unwrap_or_default();
        let Ok(query) = Query::parse(&asked) else { return Vec::new() };
        let mut passages = Passages::new(&sources, &query);
        let mut pool = Pool::default();
        let mut found = Vec::new();
        for hit in search(&sources, &query, HITS).hits {
            let Some(item) = items.get(hit.doc as usize) else { continue };
            let number = pool.add(&mut passages, ("", &item.text), 0..item.text.len(), &mut std::iter::empty(), 1.0);
            found.extend(number.map(|number| (hit.doc as usize, number)));
        }
        let competed = pool.compete(&passages);
        let fits = Fits::weighed(&passages, &weight_of);
        let question = f64::from(asks(&prompt.text));
        let features = |(item, number): (usize, usize)| {
            let names: Vec<&str> = items[item].names.iter().map(String::as_str).collect();
            let fit: Fit = fits.of(&mut passages, &competed, number, &names);
            (item, [f64::from(fit.share()), f64::from(fit.evidence), question, f64::from(fit.is_name), 1.0])
        };
        found.into_iter().map(features).filter(|(_, features)| features[1] > 0.0).collect()
    };
    set.prompts.iter().map(|prompt| (prompt, judge(prompt))).collect()
}

/// Trains with some sets.
fn trained_with(sets: &[&Set]) -> Trained {
    let everyday = everyday(sets);
    let mut rows: Vec<(Features, bool)> = Vec::new();
    let mut of_ordinary: Vec<Vec<Features>> = Vec::new();
    for set in sets {
        let items: Vec<&Item> = set.items.iter().collect();
        for (prompt, found) in judged(&items, set, &everyday) {
            rows.extend(found.iter().map(|(item, row)| (*row, prompt.right.contains(&items[*item].id))));
            if prompt.kind.is_none() {
                of_ordinary.push(found.into_iter().map(|(_, row)| row).collect());
            }
        }
    }
    let weights = fitted(&rows);
    let [share, evidence, question, is_name, bias] = weights;
    let score = |row: &Features| row.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>();
    let best = |rows: &Vec<Features>| rows.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
    let fact = least(of_ordinary.iter().map(best).collect(), ORDINARY);
    // Prompts beside the items of all other sets.
    let (mut strange, mut named) = (Vec::new(), Vec::new());
    for set in sets {
        let items: Vec<&Item> =
            sets.iter().filter(|other| other.name != set.name).flat_map(|other| &other.items).collect();
        for (prompt, found) in judged(&items, set, &everyday) {
            let best = best(&found.into_iter().map(|(_, row)| row).collect());
            if prompt.kind.is_some() { strange.push(best) } else { named.push(best) }
        }
    }
    let page = least(strange, STRANGE).max(fact);
    let name = least(named, NAMED).min(fact);
    // On a scale that begins with 0.
    let thousandths = |number: f64| (number * 1_000.0).round() as i32;
    let from_zero = |number: f64| thousandths(number - bias);
    let rule = Rule {
        share: thousandths(share),
        evidence: thousandths(evidence),
        question: thousandths(question),
        is_name: thousandths(is_name),
        fact: from_zero(fact),
        page: from_zero(page),
        name: from_zero(name),
    };
    Trained { everyday, rule }
}

/// Returns a number that only a share of these reach.
fn least(mut numbers: Vec<f64>, share: f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let above = (numbers.len() as f64 * share) as usize;
    let place = numbers.len().saturating_sub(above + 1);
    numbers.get(place).copied().unwrap_or_default() + 1e-3
}

/// Returns the weights of a logistic regression by Newton's method, with a small penalty for large weights.
fn fitted(rows: &[(Features, bool)]) -> Features {
    const PENALTY: f64 = 1e-3;
    let mut weights = [0.0; FEATURES];
    for _ in 0..30 {
        let mut gradient = [0.0; FEATURES];
        let mut curvature = [[0.0; FEATURES]; FEATURES];
        for (row, is_right) in rows {
            let sum: f64 = row.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
            let likely = 1.0 / (1.0 + (-sum).exp());
            for i in 0..FEATURES {
                gradient[i] += row[i] * (likely - f64::from(*is_right));
                for j in 0..FEATURES {
                    curvature[i][j] += row[i] * row[j] * likely * (1.0 - likely);
                }
            }
        }
        for i in 0..FEATURES {
            gradient[i] += PENALTY * weights[i];
            curvature[i][i] += PENALTY;
        }
        let step = solved(curvature, gradient);
        weights.iter_mut().zip(step).for_each(|(weight, step)| *weight -= step);
    }
    weights
}

/// Solves a system of linear equations by elimination. Its matrix is symmetric and positive.
fn solved(mut matrix: [[f64; FEATURES]; FEATURES], mut sides: Features) -> Features {
    for i in 0..FEATURES {
        for j in i + 1..FEATURES {
            let factor = matrix[j][i] / matrix[i][i];
            let row = matrix[i];
            matrix[j].iter_mut().zip(row).for_each(|(value, above)| *value -= factor * above);
            sides[j] -= factor * sides[i];
        }
    }
    for i in (0..FEATURES).rev() {
        for k in i + 1..FEATURES {
            sides[i] -= matrix[i][k] * sides[k];
        }
        sides[i] /= matrix[i][i];
    }
    sides
}

/// Returns the table of each set, judged by a rule that was trained with all others, and of the set that no rule was trained with.
fn table(sets: &[Set]) -> Result<String> {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([HEAD, "Ordinary prompts that bring text"].into_iter().chain(KINDS));
    let mut sums = Counts::new();
    for set in sets {
        let others: Vec<&Set> = sets.iter().filter(|other| other.name != set.name).collect();
        let counts = counted(set, &trained_with(&others));
        for (kind, (part, all)) in &counts {
            let sum = sums.entry(kind).or_default();
            *sum = (sum.0 + part, sum.1 + all);
        }
        table.add_row(cells(set.name, &counts));
    }
    table.add_row(cells("together", &sums));
    let trained = trained_with(&sets.iter().collect::<Vec<_>>());
    for (name, text) in HELD_OUT {
        table.add_row(cells(name, &counted(&Set::read(name, &serde_json::from_str(text)?)?, &trained)));
    }
    Ok(table.to_string())
}

/// Prompts of each kind that bring what helps, and all; of ordinary ones those that bring anything.
type Counts = BTreeMap<&'static str, (usize, usize)>;

fn counted(set: &Set, Trained { everyday, rule }: &Trained) -> Counts {
    let items: Vec<&Item> = set.items.iter().collect();
    let mut counts = Counts::new();
    for (prompt, found) in judged(&items, set, everyday) {
        let weights = [rule.share, rule.evidence, rule.question, rule.is_name].map(f64::from);
        let score = |row: &Features| row.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>();
        let brought = found.iter().filter(|(_, row)| score(row) >= f64::from(rule.fact));
        let brings = match prompt.kind {
            None => brought.count() > 0,
            Some(_) => brought.map(|(item, _)| &items[*item].id).any(|id| prompt.right.contains(id)),
        };
        let count = counts.entry(prompt.kind.unwrap_or_default()).or_default();
        *count = (count.0 + usize::from(brings), count.1 + 1);
    }
    counts
}

fn cells(name: &str, counts: &Counts) -> Vec<String> {
    let of = |kind: &str| counts.get(kind).map_or_else(|| "–".to_string(), |(part, all)| format!("{part} of {all}"));
    [name.to_string(), of("")].into_iter().chain(KINDS.map(of)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_and_its_words_are_what_training_gives() {
        let sets = read().unwrap();
        let (words, rule) = written(&trained_with(&sets.iter().collect::<Vec<_>>()));
        let [of_words, of_rule] = files().map(|file| std::fs::read_to_string(file).unwrap());
        assert_eq!((words, rule), (of_words, of_rule), "`cargo xtask train` writes them");
    }
}
