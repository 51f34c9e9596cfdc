//! Notes by their text as it stands: a part of it, or a regular expression.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::memmem::Finder;
use regex_automata::nfa::thompson::{
    self,
    pikevm::{Cache, PikeVM},
};
use regex_syntax::ParserBuilder;

/// How large a compiled expression may be, in bytes: the time for each byte of text grows with it.
const MAX_REGEX_BYTES: usize = 128 * 1024;

/// How deep an expression may nest.
const MAX_REGEX_DEPTH: u32 = 50;

/// Texts that must all occur, whatever the case of ASCII letters.
pub(super) struct Exact {
    needles: Vec<String>,
}

impl Exact {
    pub(super) fn new<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        Self { needles: texts.map(str::to_ascii_lowercase).collect() }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        self.needles.iter().all(|needle| Finder::new(needle.as_bytes()).find(lower.as_bytes()).is_some())
    }
}

/// A regular expression.
pub(super) enum Regex {
    /// It has no operators.
    Plain(String),
    Compiled(Box<(PikeVM, Cache)>),
}

impl Regex {
    /// The error says what is wrong with the expression.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        if !pattern.contains(|c: char| regex_syntax::is_meta_character(c)) {
            return Ok(Self::Plain(pattern.into()));
        }
        let hir =
            ParserBuilder::new().nest_limit(MAX_REGEX_DEPTH).build().parse(pattern).map_err(|error| problem(&error))?;
        // Where it matches is of no interest.
        let config =
            thompson::Config::new().nfa_size_limit(Some(MAX_REGEX_BYTES)).which_captures(thompson::WhichCaptures::None);
        let failed = |error: thompson::BuildError| match error.size_limit() {
            Some(limit) => format!("it takes more than {limit} bytes: repeat less, or name fewer characters"),
            None => format!("{error}"),
        };
        let nfa = thompson::Compiler::new().configure(config).build_from_hir(&hir).map_err(failed)?;
        let machine = PikeVM::builder().build_from_nfa(nfa).map_err(failed)?;
        let cache = machine.create_cache();
        Ok(Self::Compiled(Box::new((machine, cache))))
    }

    /// Whether it matches anywhere in the text.
    pub(super) fn matches(&mut self, text: &str) -> bool {
        match self {
            Self::Plain(needle) => Finder::new(needle.as_bytes()).find(text.as_bytes()).is_some(),
            Self::Compiled(compiled) => {
                let (machine, cache) = &mut **compiled;
                machine.is_match(cache, text)
            }
        }
    }
}

/// What is wrong, without the drawing of where it is.
fn problem(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => format!("{}", error.kind()),
        regex_syntax::Error::Translate(error) => format!("{}", error.kind()),
        _ => "it cannot be parsed".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_hostile_expression_is_refused() {
        for pattern in [r"\w{1000}", "(a{1000}){1000}", &"(".repeat(10_000), "(", "[z-a]"] {
            assert!(Regex::new(pattern).is_err(), "{}", &pattern[..20.min(pattern.len())]);
        }
        for pattern in [r"\w{5}\s\d{3}", "(?i)postgres", "^# ", "(?m)^# .*é$", "plain"] {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
        }
        assert_eq!(Regex::new("(").err().map(|e| e.to_string()).as_deref(), Some("unclosed group"));
    }
}
