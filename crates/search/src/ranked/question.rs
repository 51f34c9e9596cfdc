//! [`Question`]: what somebody asks. Its operators count only where they were meant.
//!
//! People and models ask in sentences about flags, SQL and images: `why do we build with -Werror?` must not leave out the note
//! that says so. A text with operators is asked as words alone if it reads like a sentence, or if its operators leave nothing,
//! or leave out every document that has the most of its other words.

use super::pair::Pair;
use super::query::{EmptyQuery, Query, Word};
use super::score::search;
use super::source::Source;
use super::types::Ranked;
use saddlebag_collections::prelude::*;

/// Number of documents that each reading is compared by.
const COMPARED: usize = 256;

/// Names of operators, which are function words only in lower case.
const OPERATORS: [&str; 3] = ["AND", "OR", "NOT"];

/// What somebody asks, and how it may be read.
#[derive(Clone, Debug)]
pub struct Question {
    text: Query,
    /// With its operators; `None` if it has none, or reads like a sentence.
    query: Option<Query>,
}

/// How a question was read.
#[derive(Clone, Debug)]
pub struct Reading<'q> {
    /// The query.
    pub query: &'q Query,
    /// Operators that were read as text because they would leave out what has the other words.
    pub as_text: &'q [String],
    /// Exclusions that leave out documents with as many of the other words as the best that stay.
    pub exclusions: Vec<&'q str>,
    /// The documents that they leave out, best first.
    pub excluded: Vec<Ranked>,
}

impl Question {
    /// Parses a question.
    pub fn parse(text: &str) -> Result<Self, EmptyQuery> {
        let query = Query::read(text, false)?;
        if query.operators.is_empty() {
            return Ok(Self { text: query, query: None });
        }
        let as_text = Query::read(text, true)?;
        let is_sentence = text.trim_end().ends_with(['?', '？']) || as_text.has_function_word();
        Ok(Self { text: as_text, query: Some(query).filter(|_| !is_sentence) })
    }

    /// Returns the queries that it may be read as.
    pub fn readings(&self) -> impl Iterator<Item = &Query> {
        [&self.text].into_iter().chain(&self.query)
    }

    /// Decides by the documents how the question is read.
    pub fn read(&self, sources: &[Source<'_>]) -> Reading<'_> {
        let reading = |query| Reading { query, as_text: &[], exclusions: Vec::new(), excluded: Vec::new() };
        let Some(query) = &self.query else { return reading(&self.text) };
        let other_words: Vec<&str> = query.other_words().collect();
        let others = |hit: &Ranked| hit.terms.iter().filter(|term| other_words.contains(&term.as_str())).count();
        let left = search(sources, query, COMPARED);
        let all = search(sources, &self.text, COMPARED).hits;
        let most = |hits: &[Ranked]| hits.iter().map(others).max().unwrap_or_default();
        let most_of_all = most(&all);
        let exclusions = || query.operators.iter().map(String::as_str).filter(|operator| is_exclusion(operator));
        // Then something was only found because it lacks a word.
        let lacks_all = exclusions().next().is_some() && left.hits.iter().all(|hit| hit.terms.is_empty());
        if left.total == 0 || lacks_all || most(&left.hits) < most_of_all {
            let as_text = if all.is_empty() { &[] } else { query.operators.as_slice() };
            return Reading { as_text, ..reading(&self.text) };
        }
        if exclusions().next().is_none() || left.total as usize > left.hits.len() {
            return reading(query);
        }
        let stays = |hit: &Ranked| left.hits.iter().any(|other| (other.source, other.doc) == (hit.source, hit.doc));
        let excluded = all.into_iter().filter(|hit| most_of_all > 0 && others(hit) == most_of_all && !stays(hit));
        Reading { exclusions: exclusions().collect(), excluded: excluded.collect(), ..reading(query) }
    }
}

impl Reading<'_> {
    /// Says which operators were read as text, or what they leave out, by the names of documents; `None` if there is nothing to say.
    pub fn remark(&self, name: impl FnMut(&Ranked) -> Option<String>) -> Option<String> {
        let quoted = |operators: &mut dyn Iterator<Item = &str>| {
            let all: Vec<String> = operators.map(|operator| format!("`{operator}`")).collect();
            all.join(", ")
        };
        if !self.as_text.is_empty() {
            let operators = quoted(&mut self.as_text.iter().map(String::as_str));
            return Some(format!(
                "{operators}: searched as text, because as an operator it leaves out every item with the other words"
            ));
        }
        let names: Vec<String> = self.excluded.iter().filter_map(name).collect();
        let more = names.len().saturating_sub(MAX_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = names.get(..MAX_NAMES).unwrap_or(&names).join(", ");
        let exclusions = quoted(&mut self.exclusions.iter().copied());
        let remark = || format!("{exclusions} leaves out {shown}{more}; ask a whole sentence to search it as text");
        (!names.is_empty()).then(remark)
    }
}

/// Maximum number of items that are named as left out.
const MAX_NAMES: usize = 3;

fn is_exclusion(operator: &str) -> bool {
    operator.starts_with('-') || operator.starts_with("NOT")
}

impl Query {
    /// Returns true if it has a function word by itself, as sentences do.
    fn has_function_word(&self) -> bool {
        let is_function = |word: &Word| {
            let mut units = word.parts.iter().filter_map(|unit| self.units.get(*unit));
            let is_alone = word.parts.len() == 1 && !OPERATORS.contains(&word.text.as_str());
            units.any(|unit| is_alone && unit.is_stop_word || unit.pair == Some(Pair::Function))
        };
        self.words.iter().any(is_function)
    }

    /// Returns the words outside of operators, as written.
    fn other_words(&self) -> impl Iterator<Item = &str> {
        let units = self.units.iter().filter(|unit| !unit.is_excluded && unit.field.is_none() && !unit.is_stop_word);
        units.map(|unit| unit.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranked::tests::{by_number, index_of};

    const NOTES: [&str; 4] = [
        "Build with -Werror and -Xmx2g. orders.customer is NOT NULL. Never deploy tag:latest. Start it with java -jar app.jar \
         and a List<String>; rm -rf is forbidden, see path:/etc/hosts. The regex is (foo|bar)-baz$",
        "Java has a style guide",
        "Staging port 8443",
        "Production port 443, since the move to a new rack",
    ];

    /// Returns the documents, and the remark.
    fn asked(text: &str) -> (Vec<u32>, String) {
        let index = index_of(&NOTES);
        let sources = [Source::new(&index, &by_number)];
        let question = Question::parse(text).unwrap();
        let reading = question.read(&sources);
        let hits = search(&sources, reading.query, 10).hits;
        let remark = reading.remark(|hit| Some(format!("{}", hit.doc)));
        (hits.into_iter().map(|hit| hit.doc).collect(), remark.unwrap_or_default())
    }

    #[test]
    fn what_looks_like_an_operator_is_text_where_it_was_not_meant() {
        for text in [
            "why do we build with -Werror?",
            "why is orders.customer NOT NULL?",
            "why not deploy tag:latest?",
            "how does java -jar app.jar start?",
            "java -jar app.jar",
            "-Xmx2g",
            "what is -Xmx2g for",
            "rm -rf",
            "customer NOT NULL",
            "deploy tag:latest",
            "see path:/etc/hosts",
            "is it forbidden AND null",
            "regex (foo|-bar)-baz$",
            "-Werror",
        ] {
            assert_eq!(asked(text).0.first(), Some(&0), "{text}");
        }
    }

    #[test]
    fn operators_count_where_they_were_meant_and_name_what_they_leave_out() {
        assert_eq!(
            asked("port -staging"),
            (vec![3], "`-staging` leaves out 2; ask a whole sentence to search it as text".into())
        );
        assert_eq!(asked("port NOT staging").0, [3]);
        assert_eq!(asked("body:port 8443"), (vec![2, 3], String::new()));
        assert_eq!(asked("port AND production"), (vec![3], String::new()));
        assert_eq!(asked("\"style guide\" port"), (vec![1], String::new()));
        let (found, remark) = asked("java -jar app.jar");
        assert_eq!(found.len(), 2);
        assert!(remark.starts_with("`-jar`: searched as text"), "{remark}");
    }
}
