//! Notes by regular expressions on their text. The engine has no regular expressions, which would be a tenth of its
//! size.

use regex::{Regex, RegexBuilder};
use saddlebag::notebook::NoteInfo;

/// Maximum depth of nested expressions.
const MAX_DEPTH: u32 = 50;

/// Expressions that the text of a note must match, and the maximum number of notes.
#[derive(Debug)]
pub struct Expressions {
    all: Vec<Regex>,
    limit: usize,
}

impl Expressions {
    /// Compiles the patterns. Blank patterns are ignored.
    ///
    /// # Errors
    ///
    /// A pattern that is not a regular expression, with the reason.
    pub fn new(patterns: &[String], limit: Option<u32>) -> Result<Self, String> {
        let compiled = |pattern: &String| {
            RegexBuilder::new(pattern).nest_limit(MAX_DEPTH).build().map_err(|error| {
                format!(
                    "not a regular expression: `{pattern}`: {}\n`--match-strategy exact` takes the text as it stands",
                    problem(&error)
                )
            })
        };
        Ok(Self {
            all: patterns
                .iter()
                .filter(|pattern| !pattern.trim().is_empty())
                .map(compiled)
                .collect::<Result<_, _>>()?,
            limit: limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)),
        })
    }

    /// Keeps the first notes that match every expression.
    pub fn keep(&self, notes: &mut Vec<NoteInfo>) {
        notes.retain(|note| self.all.iter().all(|expression| expression.is_match(&note.text)));
        notes.truncate(self.limit);
    }
}

/// Returns the problem, without the drawing of its place.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_expression_is_refused() {
        for pattern in [r"(\w{1000}){1000}", "(a{1000}){1000}", &"(".repeat(10_000), "(", "[z-a]"] {
            assert!(Expressions::new(&[pattern.to_string()], None).is_err(), "{}", &pattern[..20.min(pattern.len())]);
        }
        let refused = Expressions::new(&["(".into()], None).expect_err("refused");
        assert!(refused.starts_with("not a regular expression: `(`: unclosed group\n"), "{refused}");
    }

    #[test]
    fn the_limit_counts_what_matches() {
        let note = |text: &str| NoteInfo { text: text.into(), ..NoteInfo::default() };
        let mut notes = vec![note("Postgres 5432"), note("port"), note("postgres\n# 42"), note("postgres 1")];
        let patterns = ["(?i)postgres".into(), " ".into(), r"\d\d$".into()];
        Expressions::new(&patterns, Some(1)).expect("valid").keep(&mut notes);
        assert_eq!(notes, [note("Postgres 5432")]);
    }
}
