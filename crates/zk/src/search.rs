//! [`TextSearch`]: zk's queries and mentions, over the notes of a memory.
//!
//! The memory selects notes by every other filter. It has no full-text search of zk's kind: the scores need the text of
//! every note, and the words are the words of FTS5.

use std::collections::{BTreeMap, BTreeSet};

use regex::{Regex, RegexBuilder};
use saddlebag::notebook::{NoteInfo, SortFields, SortKey, notes_named};
use saddlebag_zk_rules::{FullText, Row, mentions};

/// Depth to which an expression may nest.
const MAX_DEPTH: u32 = 50;

/// Conditions on the text of notes, with the order and the number of the notes that meet them.
#[derive(Clone, Debug, Default)]
pub struct TextSearch {
    pub(super) queries: Queries,
    /// Paths of notes whose title or alias must be mentioned.
    pub(super) mention: Vec<String>,
    /// Paths of notes that must mention the title or an alias.
    pub(super) mentioned_by: Vec<String>,
    /// The keys to sort by, before the score.
    pub(super) sort: Vec<SortKey>,
    /// The most notes to keep.
    pub(super) limit: Option<u32>,
}

/// The queries of `--match`, all of which must match. Blank ones ask for nothing.
#[derive(Clone, Debug)]
pub(super) enum Queries {
    /// Words of path, title and body, stemmed; in zk's query syntax.
    FullText(Vec<String>),
    /// The text as it is anywhere in the file, whatever the case of ASCII letters.
    Exact(Vec<String>),
    /// Regular expressions on the file.
    Expressions(Vec<Regex>),
}

impl Default for Queries {
    fn default() -> Self {
        Self::FullText(Vec::new())
    }
}

/// Reason why a search finds nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// A query cannot be read. zk prints nothing and succeeds.
    #[error("not a query: `{query}`: {problem}")]
    Query {
        /// The query.
        query: String,
        /// The problem, in words.
        problem: String,
    },
    /// A path names no note.
    #[error("could not find notes at: {0}")]
    NoNotesAt(String),
}

impl TextSearch {
    /// Returns true if every note is kept, in the order it has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty() && self.mention.is_empty() && self.mentioned_by.is_empty()
    }

    /// Returns true if the search needs the text of every note of the notebook, and not only of those it is to keep.
    #[must_use]
    pub fn needs_all_notes(&self) -> bool {
        let is_full_text = matches!(self.queries, Queries::FullText(_)) && !self.queries.is_empty();
        is_full_text || !self.mention.is_empty() || !self.mentioned_by.is_empty()
    }

    /// Keeps the notes that meet every condition: sorted by the keys, then by score, then as they were.
    ///
    /// `all` is every note of the notebook, with its text. It may be empty unless
    /// [`needs_all_notes`](Self::needs_all_notes).
    pub fn keep(&self, notes: &mut Vec<NoteInfo>, all: &[NoteInfo]) -> Result<(), SearchError> {
        match &self.queries {
            Queries::FullText(_) => {}
            Queries::Exact(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| text.to_ascii_lowercase()).collect();
                notes.retain(|note| {
                    let text = note.text.to_ascii_lowercase();
                    texts.iter().all(|wanted| text.contains(wanted))
                });
            }
            Queries::Expressions(all) => {
                notes.retain(|note| all.iter().all(|expression| expression.is_match(&note.text)));
            }
        }
        let mentioned = named(all, &self.mention)?;
        if !mentioned.is_empty() {
            let excluded = paths_of(&mentioned);
            notes.retain(|note| !excluded.contains(&*note.path));
        }
        if !self.mentioned_by.is_empty() {
            let mentioning = named(all, &self.mentioned_by)?;
            let wanted = mentioned_by(all, &mentioning);
            let excluded = paths_of(&mentioning);
            notes.retain(|note| wanted.contains(&*note.path) && !excluded.contains(&*note.path));
        }
        let full_text = self.full_text(&mentioned)?;
        if !full_text.is_empty() {
            let found = full_text.run(&mut all.iter().map(row));
            let scores: BTreeMap<&str, f64> =
                found.iter().filter_map(|found| Some((all.get(found.note)?.path.as_str(), found.score))).collect();
            notes.retain(|note| scores.contains_key(&*note.path));
            notes.sort_by(|a, b| {
                let score = |note: &NoteInfo| scores.get(&*note.path).copied().unwrap_or_default();
                SortKey::compare(&self.sort, &sort_fields(a), &sort_fields(b))
                    .then_with(|| score(b).total_cmp(&score(a)))
            });
        }
        let limit = self.limit.and_then(|limit| usize::try_from(limit).ok());
        notes.truncate(limit.unwrap_or(usize::MAX));
        if !full_text.is_empty() {
            for note in notes {
                note.snippets = vec![full_text.snippet(&row(note))];
                note.snippets.retain(|snippet| !snippet.is_empty());
            }
        }
        Ok(())
    }

    /// The full-text queries, mentions among them.
    fn full_text(&self, mentioned: &[&NoteInfo]) -> Result<FullText, SearchError> {
        let mut full_text = FullText::default();
        if let Queries::FullText(queries) = &self.queries {
            for query in queries {
                let added = full_text.add_query(query);
                added.map_err(|problem| SearchError::Query { query: query.clone(), problem })?;
            }
        }
        if !self.mention.is_empty() {
            let added = full_text.add_names(mentioned.iter().flat_map(|note| names(note)));
            added.map_err(|problem| SearchError::Query { query: self.mention.join(", "), problem })?;
        }
        Ok(full_text)
    }
}

impl Queries {
    /// The queries that are not blank, with the match strategy of this name.
    ///
    /// # Errors
    ///
    /// The strategy is unknown, or a pattern is not a regular expression: the text says why.
    pub(super) fn new(strategy: &str, queries: Vec<String>) -> Result<Self, String> {
        let queries = queries.into_iter().filter(|query| !query.trim().is_empty());
        match strategy {
            "fts" | "f" | "" => Ok(Self::FullText(queries.collect())),
            "exact" | "e" => Ok(Self::Exact(queries.collect())),
            "re" | "grep" | "r" => {
                Ok(Self::Expressions(queries.map(|query| expression(&query)).collect::<Result<_, _>>()?))
            }
            _ => Err(format!(
                "incorrect criteria: {strategy}: unknown match strategy\n\
                 try fts (full-text search), re (regular expression) or exact"
            )),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::FullText(queries) | Self::Exact(queries) => queries.is_empty(),
            Self::Expressions(all) => all.is_empty(),
        }
    }
}

fn expression(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).nest_limit(MAX_DEPTH).build().map_err(|error| {
        format!(
            "not a regular expression: `{pattern}`: {}\n`--match-strategy exact` takes the text as it stands",
            problem(&error)
        )
    })
}

/// The problem, without the drawing of where it is.
fn problem(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("it takes more than {limit} bytes: repeat less, or name fewer characters")
        }
        error => {
            let text = error.to_string();
            text.lines().last().map_or("", |line| line.trim_start_matches("error: ")).to_string()
        }
    }
}

/// A note as the full-text search sees it.
fn row(note: &NoteInfo) -> Row<'_> {
    Row { path: &note.path, title: &note.title, body: &note.body }
}

/// The title and the aliases of a note.
fn names(note: &NoteInfo) -> impl Iterator<Item = &str> {
    let aliases = note.aliases.iter().map(String::as_str);
    std::iter::once(note.title.as_str()).chain(aliases).filter(|name| !name.trim().is_empty())
}

/// The notes that paths name. A path that names none is an error.
fn named<'a>(all: &'a [NoteInfo], paths: &[String]) -> Result<Vec<&'a NoteInfo>, SearchError> {
    let of_all: Vec<&str> = all.iter().map(|note| note.path.as_str()).collect();
    let mut places = Vec::new();
    for path in paths {
        let found = notes_named(&of_all, path);
        if found.is_empty() {
            return Err(SearchError::NoNotesAt(path.clone()));
        }
        places.extend(found);
    }
    places.sort_unstable();
    places.dedup();
    Ok(places.into_iter().filter_map(|place| all.get(place)).collect())
}

fn paths_of<'a>(notes: &[&'a NoteInfo]) -> BTreeSet<&'a str> {
    notes.iter().map(|note| note.path.as_str()).collect()
}

/// The paths of the notes whose title or alias is in one of the mentioning notes.
fn mentioned_by<'a>(all: &'a [NoteInfo], mentioning: &[&NoteInfo]) -> BTreeSet<&'a str> {
    let named: Vec<(&str, &str)> =
        all.iter().flat_map(|note| names(note).map(|name| (note.path.as_str(), name))).collect();
    let mut mentioned = BTreeSet::new();
    for note in mentioning {
        let found = mentions(&row(note), named.iter().map(|(_, name)| *name));
        mentioned.extend(named.iter().zip(found).filter(|(_, is_found)| *is_found).map(|((path, _), _)| *path));
    }
    mentioned
}

fn sort_fields(note: &NoteInfo) -> SortFields<'_> {
    SortFields {
        created: Some(note.created),
        modified: note.modified,
        path: &note.path,
        title: &note.title,
        word_count: note.word_count,
    }
}

#[cfg(test)]
mod tests;
