//! Ranked search: the notes that answer a question best, and the best passage of each.
//!
//! A [`RankedIndex`] has the notes, fields and positions of every word. A [`Query`] is a sentence, or words with
//! operators. [`search`] looks in one index or several ([`Source`]), and returns the matching notes, best first, each
//! with the parts of its score.
//! [`Passages`] finds the part of a note's text that matches the query best.
//!
//! # How does recall work?
//!
//! docs/recall.md has the rules for users; this is where they are implemented. Everything is in `search/ranked/`, except for
//! which note supersedes which.
//!
//! **Words** (`tokens.rs`). Text is normalised: compatibility forms are resolved (NFKD), case and diacritics folded. An
//! identifier such as `src/main.rs`, `parseHttp` or `v1.2.3` gives its parts, which take the positions, and each whole that
//! they form, at the position of the first part. A run of Han, Kana or Hangul gives overlapping pairs of characters. A
//! token has at most `MAX_TOKEN_BYTES` (64). No term is a stem: an index groups its terms by their English stems, so that a query finds
//! every form and knows which one is exact.
//!
//! **Languages** (`language.rs`, `plan.rs`, `compound.rs`, `pair.rs`). The function words of a question tell its language; without any, the
//! `common_words` of a language in `IN_LANGUAGE` 0.3 of the notes do. Terms of the same stem in another language than English are looked up by
//! the beginning of the stem. A German word finds the compounds that begin or end with it, and a compound its parts
//! (`COMPOUND` 0.3). In Chinese and Japanese, function characters tell which pairs say little (`AFTER_FUNCTION` 0.25).
//!
//! **Fields.** Title, aliases, headings, tags, path and body, `Field::ALL`, have the weights `FIELD_WEIGHTS` = 6, 4, 2.5, 3, 2, 1.
//! Positions continue over all fields, with `GAP` (32) between two of them and between two headings, which no phrase bridges.
//!
//! **Score** (`score.rs`, `weights.rs`, `plan.rs`). BM25 with `K1` 1.2 and `B` 0.75: the occurrences of a word are
//! weighted by field and by form, divided by the length of their field against the mean of the notes that have it,
//! summed, saturated, and multiplied by `idf` = ln(1 + (N − n + ½) / (n + ½)). Another form of the same stem counts
//! `OTHER_FORM` 0.6, a stop word `STOP_WORD` 0.15, one part of an identifier or of several pairs `FRAGMENT` 0.5. A stop
//! word adds to the score of notes but does not find any. Only the `MAX_SCORED` (64) rarest tokens of a long question are
//! scored; `prefix*` matches at most `MAX_EXPANSIONS` (1,000) terms.
//!
//! **Several indexes** (`source.rs`). Numbers of notes, of notes with a word, and mean lengths are summed over all indexes of a
//! search, so that a note has the score that it would have in one index. Notes that do not count, such as unapproved ones for
//! a prompt, are in none of these numbers.
//!
//! **Bonuses** (`evidence.rs`). The best 64 (`MIN_CANDIDATES`), or four times the requested number, are examined
//! closely. Coverage adds `COVERAGE` 0.5 of the sum, times the share of the query that the note has. Each pair of words
//! that are adjacent as in the query adds `PHRASE` 0.6 of the score of the more common one. All found words together
//! add `PROXIMITY` 0.4 of their score, divided by their distance in the smallest window that has them all.
//!
//! **Operators** (`query.rs`, `matching.rs`, `question.rs`). They count where they were meant. Adjacent words are alternatives, unless a phrase, a field or an `AND`
//! beside them is required. If nothing matches, phrases count as words, and `AND` counts as a space.
//!
//! **Superseding** (`succession.rs`, `notebook/succession.rs`). The score of a note that another one names under `supersedes`
//! is multiplied by `SUPERSEDED_WEIGHT` 0.4, and the hit names the newer one. The newer one has at least the whole score.
//! Superseded notes are left out of prompts.
//!
//! **Passages** (`passage.rs`). The body is split into blocks: headings, paragraphs, the items of lists, and the entries of
//! paragraphs over `LONG_BLOCK` (480) bytes. The blocks of all notes of an answer compete by BM25 (`K1` 1.2, `B` 0.5) with the sum of a
//! word's rarities in the notes and among the blocks, and `COVERAGE` 0.5. A block adds `NEIGHBOUR` 0.2 of each neighbour's score in
//! its section, and `HEADING` 0.2 of its heading's. The turns of a person in a log of a chat count `PERSON` 1.75 times, and
//! blocks that only ask what the query asks `ECHO` 0.25 times (`echo.rs`). The
//! best block of a note is extended by its heading and by neighbours with words of the query, up to `PASSAGE_BYTES` (800); with a
//! budget for all passages, the best blocks of all notes fill it.
//!
//! **Fit** (`fit.rs`, `near.rs`). Whether a note fits a prompt at all is another question than which one fits best: the weight of the
//! words that stand together in it, and that of the missing ones. `everyday.txt` has the words of prompts that say little, and
//! `trained.rs` the numbers. A word that no note has may be a misspelling of a name.
//!
//! The arithmetic uses only IEEE 754 operations, with our own logarithm, so that every machine gives the same bytes.

mod bits;
mod compound;
mod echo;
mod evidence;
mod fit;
mod grams;
mod index;
mod language;
mod matching;
mod near;
mod pair;
mod passage;
mod plan;
mod postings;
mod query;
mod question;
mod score;
mod segment;
mod source;
mod stemmer;
mod succession;
mod telling;
#[cfg(test)]
mod tests;
mod tokens;
mod trained;
mod types;
mod weights;

pub use fit::{Fit, Fits, RULE, Rule, Words, everyday_key, is_everyday};
pub use grams::Grams;
pub use index::{Fields, RankedIndex};
pub use near::near_words;
pub use passage::{CUT, Competed, Passage, Passages, Pool, Scored};
pub use query::{EmptyQuery, Query};
pub use question::{Question, Reading};
pub use score::search;
pub use source::Source;
pub use succession::Succession;
pub use telling::telling_words;
pub use types::{FIELDS, Field, FieldSet, Ranked, Ranking, ScorePart, Tie};
