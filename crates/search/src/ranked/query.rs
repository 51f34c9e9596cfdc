//! [`Query`]: a parsed query, as words and operators.
//!
//! A query is a sentence, or words with operators: `"a phrase"`, `prefix*`, `-not` or
//! `NOT x`, `a | b` or `a OR b`, `a AND b`, parentheses, and `title:`, `aliases:`, `headings:`, `tags:`,
//! `path:` and `body:` directly before a word, a phrase or a parenthesis. Everything else is text. A query is an error only if
//! it is empty or all white space.
//!
//! Adjacent words are alternatives, of which one must be found unless something beside them is required: a phrase, a field,
//! an `AND`. A word with several tokens, such as `foo-bar`, matches any of them if it is an alternative, and all of them in a
//! row if it is required or excluded. A minus sign excludes only directly before a letter, a quote or a parenthesis, so that
//! `exit code -1` and `--json` are text; so is `-v`, an option of one letter, in a sentence.

use super::language::Language;
use super::pair::{self, Pair};
use super::tokens::{TokenKind, Tokens};
use super::types::Field;
use saddlebag_collections::SortedMap;
use saddlebag_collections::TextPart;
use saddlebag_collections::prelude::*;

/// Maximum number of different words of a query that count. A query may be a whole message.
const MAX_WORDS: usize = 400;
/// Maximum number of tokens of a query that count.
const MAX_UNITS: usize = 1000;
/// Maximum depth of parentheses; deeper ones are ignored.
const MAX_DEPTH: usize = 16;
/// Maximum number of bytes of a query that are read.
const MAX_BYTES: usize = 64 << 10;

/// The query is empty or all white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the query is empty")]
pub struct EmptyQuery;

/// A parsed query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub(super) words: Vec<Word>,
    pub(super) units: Vec<Unit>,
    pub(super) root: Node,
    /// Languages that its function words tell; empty if it has none.
    pub(super) languages: Vec<Language>,
    /// Its operators that leave items out, with their operands, as written: exclusions, fields and `AND`.
    pub(super) operators: Vec<String>,
}

/// A word of the query as it was typed, or a quoted phrase.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    /// Text in the query.
    pub(super) text: String,
    /// Units of its tokens that take positions, in order.
    pub(super) parts: Vec<usize>,
    /// Units of its tokens that cover several parts.
    pub(super) wholes: Vec<usize>,
    pub(super) is_excluded: bool,
}

/// A token of the query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    /// Normalised text.
    pub(super) term: Box<[u8]>,
    /// Text in the query.
    pub(super) text: String,
    /// Field to search; `None` for all.
    pub(super) field: Option<Field>,
    pub(super) is_prefix: bool,
    pub(super) is_stop_word: bool,
    pub(super) is_whole: bool,
    /// True if it is one part of several.
    pub(super) is_fragment: bool,
    pub(super) is_excluded: bool,
    /// Function characters of a pair without spaces.
    pub(super) pair: Option<Pair>,
    /// Position in the query.
    pub(super) position: u32,
}

impl Unit {
    /// Returns true for a word that may be inflected.
    pub(super) fn is_plain(&self) -> bool {
        !self.is_stop_word && !self.is_whole && !self.is_prefix && self.pair.is_none()
    }
}

/// A word, or words and the operator between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A word that may be found in part.
    Word(usize),
    /// A phrase, by the index of its word.
    Phrase(usize),
    /// A word or phrase in one field.
    InField(Box<Node>),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    /// Adjacent words: strict ones are required, the others are alternatives.
    Beside(Vec<Node>),
}

impl Node {
    /// Returns true if it is required when it is beside others.
    pub(super) fn is_strict(&self) -> bool {
        matches!(self, Self::Phrase(_) | Self::InField(_) | Self::Not(_) | Self::All(_))
    }
}

impl Query {
    /// Parses a query.
    pub fn parse(text: &str) -> Result<Self, EmptyQuery> {
        Self::read(text, false)
    }

    /// Parses a query, with `as_text` without the operators that leave items out.
    pub(super) fn read(text: &str, as_text: bool) -> Result<Self, EmptyQuery> {
        if text.trim().is_empty() {
            return Err(EmptyQuery);
        }
        let text = text.part(..text.floor_char_boundary(MAX_BYTES));
        let mut parser = Parser {
            rest: text,
            is_behind_word: false,
            as_text,
            query: Self {
                words: Vec::new(),
                units: Vec::new(),
                root: Node::Any(Vec::new()),
                languages: Vec::new(),
                operators: Vec::new(),
            },
            tokens: Tokens::default(),
            position: 0,
            known: SortedMap::default(),
        };
        let mut alternatives = Vec::new();
        while !parser.rest.is_empty() {
            alternatives.extend(parser.alternatives(Context::default()));
            // Skips a parenthesis that was never opened.
            parser.rest = parser.rest.strip_prefix(')').unwrap_or(parser.rest);
        }
        let mut query = parser.query;
        query.root = group(alternatives, Node::Beside).unwrap_or(Node::Any(Vec::new()));
        query.find_stop_words();
        // If there are only stop words, they are searched for.
        let mut counted = query.units.iter().filter(|unit| !unit.is_excluded);
        if counted.all(|unit| unit.is_stop_word) {
            query.units.iter_mut().for_each(|unit| unit.is_stop_word = false);
        }
        Ok(query)
    }
}

impl Query {
    /// Returns true if it is several plain words, of which any may be found.
    pub fn is_sentence(&self) -> bool {
        matches!(&self.root, Node::Beside(nodes) if nodes.iter().all(|node| matches!(node, Node::Word(_))))
            && self.units.iter().all(|unit| !unit.is_prefix)
    }

    /// Guesses the language, and marks its function words.
    fn find_stop_words(&mut self) {
        let words = self.units.iter().filter(|unit| !unit.is_whole).map(|unit| &*unit.term);
        self.languages = Language::of_text(words);
        let is_english = self.languages.contains(&Language::English);
        let told = if is_english { &[] } else { self.languages.as_slice() };
        // English words stand in questions of every language.
        let languages = told.iter().chain(&[Language::English]);
        let is_japanese = self.units.iter().any(|unit| pair::has_hiragana(&unit.term));
        for unit in self.units.iter_mut().filter(|unit| !unit.is_whole && unit.field.is_none()) {
            unit.pair = Pair::of(&unit.term, is_japanese);
            unit.is_stop_word |= unit.pair == Some(Pair::Function)
                || languages.clone().any(|language| language.has_function_word(&unit.term));
        }
    }
}

/// Field and sign of the part of the query that is being parsed.
#[derive(Clone, Copy, Default)]
struct Context {
    depth: usize,
    field: Option<Field>,
    is_excluded: bool,
}

struct Parser<'a> {
    rest: &'a str,
    /// True if the rest directly follows a word, so that a minus sign is not an operator.
    is_behind_word: bool,
    /// True if no operator leaves items out.
    as_text: bool,
    query: Query,
    tokens: Tokens,
    position: u32,
    /// Words outside quotes, to find repetitions.
    known: SortedMap<(&'a str, Option<Field>, bool), usize>,
}

/// Operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Not,
}

impl<'a> Parser<'a> {
    /// Parses `a b | c AND d`, up to a closing parenthesis or the end.
    fn alternatives(&mut self, context: Context) -> Option<Node> {
        let mut alternatives = Vec::new();
        loop {
            alternatives.extend(self.conjunction(context));
            if !self.operator(Operator::Or) {
                return group(alternatives, Node::Any);
            }
        }
    }

    fn conjunction(&mut self, context: Context) -> Option<Node> {
        let mut all = Vec::new();
        loop {
            all.extend(self.beside(context));
            if !self.operator(Operator::And) {
                return group(all, Node::All);
            }
            self.query.operators.push("AND".into());
        }
    }

    fn beside(&mut self, context: Context) -> Option<Node> {
        let mut nodes = Vec::new();
        loop {
            self.skip_space();
            let before = self.rest;
            if self.operator(Operator::Not) {
                let excluded = Context { is_excluded: !context.is_excluded, ..context };
                nodes.extend(self.operand(excluded).map(|node| Node::Not(Box::new(node))));
                self.note_operator(before);
                continue;
            }
            if self.rest.is_empty()
                || self.rest.starts_with([')', '|'])
                || self.is_at(Operator::Or)
                || self.is_at(Operator::And)
            {
                return group(nodes, Node::Beside);
            }
            nodes.extend(self.operand(context));
        }
    }

    /// Parses one word, phrase or parenthesis, with the field before it.
    fn operand(&mut self, context: Context) -> Option<Node> {
        self.skip_space();
        let before = self.rest;
        let filter = self.field();
        let context = Context { field: filter.or(context.field), ..context };
        let node = if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            self.is_behind_word = false;
            if context.depth >= MAX_DEPTH {
                return None;
            }
            let node = self.alternatives(Context { depth: context.depth + 1, ..context });
            self.rest = self.rest.strip_prefix(')').unwrap_or(self.rest);
            self.is_behind_word = true;
            node
        } else if let Some((quoted, rest)) = self.rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            self.rest = rest;
            self.is_behind_word = true;
            self.word(quoted, context).map(Node::Phrase)
        } else {
            let rest = self.rest.trim_start_matches('"');
            let end =
                rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | ')' | '|')).unwrap_or(rest.len());
            let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.rest = after;
            self.is_behind_word = !word.is_empty();
            let key = (word, context.field, context.is_excluded);
            let number = match self.known.get(&key) {
                Some(&number) => {
                    let parts = self.query.words.get(number).map_or(0, |word| word.parts.len());
                    self.position = self.position.saturating_add(u32::try_from(parts).unwrap_or(0));
                    Some(number)
                }
                None => self.word(word, context),
            };
            self.known.extend(number.map(|number| (key, number)));
            number.map(|word| self.combine(word, context))
        };
        if filter.is_none() {
            return node;
        }
        if !context.is_excluded {
            self.note_operator(before);
        }
        node.map(|node| Node::InField(Box::new(node)))
    }

    /// Notes an operator with its operand, which ends where the rest begins.
    fn note_operator(&mut self, before: &str) {
        let written = before.part(..before.len().saturating_sub(self.rest.len()));
        self.query.operators.push(written.trim_end().into());
    }

    /// Returns the node of a word. A required or excluded word must be found exactly, not in part.
    fn combine(&self, word: usize, context: Context) -> Node {
        let parts = self.query.words.get(word).map_or(0, |word| word.parts.len());
        let is_whole = context.is_excluded || context.field.is_some();
        if is_whole && parts > 1 { Node::Phrase(word) } else { Node::Word(word) }
    }

    /// Adds a word, or the words of a phrase. `None` if it has no letter and no digit.
    fn word(&mut self, text: &str, context: Context) -> Option<usize> {
        let text = text.trim();
        let star = text.strip_suffix('*').filter(|stem| !stem.contains('*') && stem.ends_with(char::is_alphanumeric));
        let source = star.unwrap_or(text);
        self.position = self.tokens.read(source, self.position);
        let query = &mut self.query;
        let parts = self.tokens.iter().filter(|token| token.kind == TokenKind::Part).count();
        if parts == 0 || query.words.len() >= MAX_WORDS {
            return None;
        }
        let mut word =
            Word { text: text.into(), parts: Vec::new(), wholes: Vec::new(), is_excluded: context.is_excluded };
        let mut is_alone = parts == 1;
        let is_phrase = source.contains(char::is_whitespace);
        let has_whole = self.tokens.iter().any(|token| token.kind == TokenKind::Whole);
        for token in self.tokens.iter() {
            let is_whole = token.kind == TokenKind::Whole;
            // `c++` is one part and a larger whole.
            is_alone &= !is_whole;
            let is_full = query.units.len() >= MAX_UNITS && !word.parts.is_empty();
            if token.kind == TokenKind::Last || is_whole && star.is_some() || is_full {
                continue;
            }
            // A single character of a script without spaces matches the pairs that begin with it.
            let is_character = parts == 1 && !is_whole && is_one_wide_character(token.text);
            let is_last = token.span.end == source.len();
            let is_fragment = !is_whole && parts > 1 && !is_phrase;
            // The 2 of `eu-west-2` is in many notes that have nothing to do with it.
            let is_lone_sign = is_fragment && has_whole && token.text.len() == 1;
            let list = if is_whole { &mut word.wholes } else { &mut word.parts };
            list.push(query.units.len());
            query.units.push(Unit {
                term: token.text.into(),
                text: source.part(token.span.clone()).into(),
                field: context.field,
                is_prefix: star.is_some() && is_last || is_character,
                is_stop_word: context.field.is_none() && is_lone_sign,
                is_whole,
                is_fragment,
                is_excluded: context.is_excluded,
                pair: None,
                position: token.position,
            });
        }
        let only = word.parts.first().filter(|_| !is_alone && parts == 1);
        if let Some(unit) = only.and_then(|&unit| query.units.get_mut(unit)) {
            unit.is_fragment = true;
        }
        query.words.push(word);
        Some(query.words.len() - 1)
    }

    /// Parses `title:` and similar prefixes, if an operand follows at once.
    fn field(&mut self) -> Option<Field> {
        if self.as_text {
            return None;
        }
        let (name, rest) = self.rest.split_at_checked(self.rest.find(|c: char| !c.is_ascii_lowercase())?)?;
        let (field, rest) = (Field::from_filter_name(name)?, rest.strip_prefix(':')?);
        if rest.is_empty() || rest.starts_with(char::is_whitespace) {
            return None;
        }
        self.rest = rest;
        Some(field)
    }

    fn operator(&mut self, operator: Operator) -> bool {
        self.skip_space();
        let Some(length) = self.length_of(operator) else { return false };
        self.rest = self.rest.part(length..);
        self.is_behind_word = false;
        true
    }

    fn is_at(&self, operator: Operator) -> bool {
        self.length_of(operator).is_some()
    }

    fn length_of(&self, operator: Operator) -> Option<usize> {
        let (sign, name) = match operator {
            Operator::Or => ("|", "OR"),
            Operator::And => ("", "AND"),
            Operator::Not => ("-", "NOT"),
        };
        if self.as_text && operator != Operator::Or {
            return None;
        }
        let behind_sign = self.rest.strip_prefix(sign).filter(|_| !sign.is_empty());
        let is_sign = behind_sign.is_some_and(|after| {
            let mut next = after.chars();
            let is_name = next.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '"' | '('));
            // In a sentence, `-v` is the name of an option.
            let is_option =
                after.starts_with(|c: char| c.is_ascii_alphabetic()) && !next.next().is_some_and(char::is_alphanumeric);
            operator == Operator::Or || !self.is_behind_word && is_name && !is_option
        });
        if is_sign {
            return Some(sign.len());
        }
        let behind_name = self.rest.strip_prefix(name).filter(|_| !self.is_behind_word)?;
        let is_word = behind_name.is_empty() || behind_name.starts_with(|c: char| c.is_whitespace() || c == '(');
        is_word.then_some(name.len())
    }

    fn skip_space(&mut self) {
        let rest = self.rest.trim_start();
        self.is_behind_word &= rest.len() == self.rest.len();
        self.rest = rest;
    }
}

/// Combines several nodes into one; `None` for an empty list.
fn group(mut nodes: Vec<Node>, combine: impl FnOnce(Vec<Node>) -> Node) -> Option<Node> {
    match nodes.len() {
        0 => None,
        1 => nodes.pop(),
        _ => Some(combine(nodes)),
    }
}

fn is_one_wide_character(term: &[u8]) -> bool {
    core::str::from_utf8(term).is_ok_and(|term| {
        let mut characters = term.chars();
        characters.next().is_some_and(|c| c >= '\u{2e80}') && characters.next().is_none()
    })
}

#[cfg(test)]
mod tests {

    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    /// Renders the tree, with words in place of their numbers.
    fn tree(text: &str) -> String {
        fn show(query: &Query, node: &Node) -> String {
            let all = |nodes: &[Node]| nodes.iter().map(|node| show(query, node)).collect::<Vec<_>>().join(" ");
            match node {
                Node::Word(word) => query.words[*word].text.clone(),
                Node::Phrase(word) => format!("\"{}\"", query.words[*word].text),
                Node::InField(node) => format!("in({})", show(query, node)),
                Node::Not(node) => format!("not({})", show(query, node)),
                Node::All(nodes) => format!("all({})", all(nodes)),
                Node::Any(nodes) => format!("any({})", all(nodes)),
                Node::Beside(nodes) => format!("[{}]", all(nodes)),
            }
        }
        let query = Query::parse(text).unwrap();
        show(&query, &query.root)
    }

    #[test]
    fn a_sentence_is_words_side_by_side() {
        assert_eq!(tree("What port does staging use?"), "[What port does staging use?]");
        assert_eq!(tree("deploy key: foo"), "[deploy key: foo]");
        assert_eq!(tree("title: foo -- --json -1 a-b"), "[title: foo --json -1 a-b]");
        assert_eq!(tree("what does -v do, -verbose"), "[what does -v do, not(verbose)]");
        assert_eq!(tree("foo (bar"), "[foo bar]");
        assert_eq!(tree("a) \"b c"), "[a [b c]]");
    }

    #[test]
    fn operators_join_the_words_beside_them() {
        assert_eq!(tree("foo|bar"), "any(foo bar)");
        assert_eq!(tree("foo OR bar baz"), "any(foo [bar baz])");
        assert_eq!(tree("foo -bar"), "[foo not(bar)]");
        assert_eq!(tree("foo NOT \"bar baz\""), "[foo not(\"bar baz\")]");
        assert_eq!(tree("-foo-bar"), "not(\"foo-bar\")");
        assert_eq!(tree("foo ba*"), "[foo ba*]");
        assert_eq!(tree("(a OR b) AND -cc"), "all(any(a b) not(cc))");
        assert_eq!(tree("title:foo body:(a b) tag:lang/rust"), "[in(foo) in([a b]) in(\"lang/rust\")]");
        assert_eq!(tree("AND"), "any()");
        assert_eq!(tree("!!!"), "any()");
    }

    #[test]
    fn only_white_space_is_an_error() {
        assert_eq!(Query::parse(" \u{3000}\n"), Err(EmptyQuery));
    }

    #[test]
    fn units_know_what_they_are() {
        let query = parse("the src/main.rs pref* 木");
        let units: Vec<String> =
            query.units.iter().map(|unit| String::from_utf8_lossy(&unit.term).into_owned()).collect();
        assert_eq!(units, ["the", "src", "main", "rs", "main.rs", "src/main.rs", "pref", "木"]);
        assert!(query.units[0].is_stop_word && query.units[1].is_fragment && query.units[5].is_whole);
        assert!(query.units[6].is_prefix && query.units[7].is_prefix);
        assert!(parse("to be or not to be").units.iter().filter(|unit| unit.is_stop_word).count() > 0);
        assert!(!parse("who is it").units.iter().any(|unit| unit.is_stop_word));
    }

    #[test]
    fn deep_nesting_is_harmless() {
        parse(&"(".repeat(100_000));
        parse(&"(a ".repeat(1000));
        parse(&"NOT ".repeat(1000));
        parse(&"title:".repeat(1000));
    }

    proptest! {
        /// A query is an error only if it is all white space or larger than 64 KiB.
        #[test]
        fn no_query_fails(text in "([a-c]|[ \"()|*:-]|title:|AND|OR|NOT|\\PC){0,40}") {
            let query = Query::parse(&text);
            prop_assert_eq!(query.is_err(), text.trim().is_empty());
        }
    }
}
