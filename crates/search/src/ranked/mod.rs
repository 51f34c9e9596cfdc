//! Ranked search: which notes answer a question best, and which passage of them.
//!
//! A [`RankedIndex`] holds for every word the notes, fields and positions that have it. A [`Query`] is a
//! sentence, or words with the operators of `zk --match`; [`RankedIndex::search`] gives the notes that
//! match it, best first, each with the parts of its score. [`Passages`] finds the part of a note's text
//! that says most about the query.
//!
//! # How does recall work?
//!
//! docs/recall.md has the rules for those who ask; this is where they live. All of it is
//! `search/ranked/`, but for what a note's supersession counts.
//!
//! **Words** (`tokens.rs`). Text is normalised: compatibility forms resolved (NFKD), case and diacritics folded. An
//! identifier such as `src/main.rs`, `parseHttp` or `v1.2.3` gives its parts, which take the positions, and each whole that
//! they make up, at the position of the first part. A run of Han, Kana or Hangul gives overlapping pairs of characters. A
//! token has at most `MAX_TOKEN_BYTES` (64). Nothing is stemmed when it is indexed: `stem.rs` groups the terms of an index
//! by their stem, so that a query finds every form and knows which one is exact.
//!
//! **Fields.** Title, aliases, headings, tags, path and body, `Field::ALL`, weigh `FIELD_WEIGHTS` = 6, 4, 2.5, 3, 2, 1.
//! Positions run on over all fields, with `GAP` (32) between two of them and between two headings, which no phrase bridges.
//!
//! **Score** (`score.rs`, `weights.rs`, `plan.rs`). BM25 with `K1` 1.2 and `B` 0.75: the occurrences of a word are
//! weighed by field and by form, divided by the length of their field against the mean of the notes that have it,
//! summed, saturated, and multiplied with `idf` = ln(1 + (N − n + ½) / (n + ½)). Another form of the same stem counts
//! `OTHER_FORM` 0.6, a stop word `STOP_WORD` 0.15, one part of an identifier or of several pairs `FRAGMENT` 0.5; a stop
//! word adds to what was found and finds nothing itself. Of a long question the `MAX_SCORED` (64) tokens that say most
//! count; `prefix*` stands for at most `MAX_EXPANSIONS` (1,000) terms.
//!
//! **Bonuses** (`evidence.rs`). The best 64 (`MIN_CANDIDATES`), or four times as many as were asked for, are looked at
//! closely. Coverage adds `COVERAGE` 0.5 of the sum, times the share of the query that the note has. Each pair of words
//! that follow each other as in the query adds `PHRASE` 0.6 of what the more common one says. All words that were found
//! add `PROXIMITY` 0.4 of what they say, divided by how far apart they are in the smallest window that has them all.
//!
//! **Operators** (`query.rs`, `matching.rs`). Words side by side are alternatives, unless a phrase, a field or an `AND`
//! beside them is required. If nothing matches, phrases are taken as words, and `AND` as nothing more than a space.
//!
//! **Superseding** (`notebook/recall.rs`). The score of a note that another one names under `supersedes` is multiplied with
//! `SUPERSEDED_WEIGHT` 0.4, and the hit names the newer one.
//!
//! **Passages** (`passage.rs`). The body is split into blocks: headings, paragraphs, and the entries of what has more than
//! `LONG_BLOCK` (480) bytes. A block scores what it has of the query, and half of the score of each neighbour in its
//! section; the best is widened over neighbours that have something of the query and over its heading, up to
//! `PASSAGE_BYTES` (800).
//!
//! The arithmetic is that of IEEE 754 alone, with a logarithm of our own, so that every machine gives the same bytes.

mod evidence;
mod index;
mod matching;
mod passage;
mod plan;
mod postings;
mod query;
mod score;
mod segment;
mod stem;
#[cfg(test)]
mod tests;
mod tokens;
mod types;
mod weights;

pub use index::{Fields, RankedIndex};
pub use passage::{Passage, Passages};
pub use query::{EmptyQuery, Joining, Query};
pub use types::{FIELDS, Field, FieldSet, Ranked, Ranking, ScorePart, Tie};
