//! Parses the text of `--match`: zk's query syntax is turned into an FTS5 query, which is then parsed.
//!
//! Both steps are kept apart, as they are in zk: which of FTS5's operators a query can reach, and which
//! mistakes it can make, follows from the text that the first step makes.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::tokens;
use saddlebag_collections::TextPart;

/// The greatest depth of nested parentheses; FTS5 has a limit of the same kind.
const MAX_DEPTH: u32 = 100;

/// The most words of a phrase that are compared: the work of a search grows with it.
const MAX_PHRASE_WORDS: usize = 64;

/// A set of columns, one bit for each.
pub(super) type Columns = u8;

pub(super) const PATH: Columns = 1;
pub(super) const TITLE: Columns = 2;
pub(super) const BODY: Columns = 4;
pub(super) const ALL: Columns = PATH | TITLE | BODY;

/// A query as FTS5 sees it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// No words: matches nothing, and vanishes beside other terms.
    Nothing,
    Phrase(Phrase),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// The first without any of the others.
    Not(Box<Expr>, Vec<Expr>),
}

/// Words that follow each other in one column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phrase {
    /// At least one.
    pub(super) stems: Vec<Vec<u8>>,
    /// The last stem is only the beginning of one.
    pub(super) is_prefix: bool,
    /// At the beginning of a column only.
    pub(super) is_first: bool,
    pub(super) columns: Columns,
}

impl Expr {
    /// Text as one phrase in any column.
    pub(super) fn phrase(text: &str) -> Self {
        let mut stems = tokens::stems(text);
        stems.truncate(MAX_PHRASE_WORDS);
        if stems.is_empty() {
            return Self::Nothing;
        }
        Self::Phrase(Phrase { stems, is_prefix: false, is_first: false, columns: ALL })
    }

    fn restrict(&mut self, to: Columns) {
        match self {
            Self::Nothing => {}
            Self::Phrase(phrase) => phrase.columns &= to,
            Self::And(parts) | Self::Or(parts) => parts.iter_mut().for_each(|part| part.restrict(to)),
            Self::Not(left, right) => {
                left.restrict(to);
                right.iter_mut().for_each(|part| part.restrict(to));
            }
        }
    }
}

/// Turns zk's query syntax into FTS5's.
pub(super) fn convert(query: &str) -> String {
    let mut out = String::with_capacity(query.len() + 16);
    let mut term = String::new();
    let mut is_quoted = false;
    for c in query.chars() {
        match c {
            '"' => {
                if is_quoted {
                    push_quoted(&mut out, &term);
                    term.clear();
                }
                is_quoted = !is_quoted;
            }
            _ if is_quoted => term.push(c),
            ' ' | '\t' | '\n' | '(' | ')' => {
                close_term(&mut out, &mut term);
                out.push(c);
            }
            '|' => {
                close_term(&mut out, &mut term);
                out.push_str(" OR ");
            }
            ':' => {
                out.push_str(&term);
                out.push(':');
                term.clear();
            }
            '*' | '^' if term.is_empty() => out.push(c),
            '-' if term.is_empty() => out.push_str(" NOT "),
            '+' if term.is_empty() => {}
            _ => term.push(c),
        }
    }
    if is_quoted {
        push_quoted(&mut out, &term);
    } else {
        close_term(&mut out, &mut term);
    }
    out
}

fn push_quoted(out: &mut String, term: &str) {
    out.push('"');
    out.push_str(term);
    out.push('"');
}

/// Puts an unquoted term out.
fn close_term(out: &mut String, term: &mut String) {
    match term.as_str() {
        "" => {}
        "AND" | "OR" | "NOT" => out.push_str(term),
        whole => match whole.strip_suffix('*') {
            Some(prefix) => {
                push_quoted(out, prefix);
                out.push('*');
            }
            None => push_quoted(out, whole),
        },
    }
    term.clear();
}

/// Parses an FTS5 query. The error says what is wrong, in FTS5's sense.
pub(super) fn parse(query: &str) -> Result<Expr, String> {
    let lexemes = lex(query)?;
    let mut parser = Parser { lexemes: &lexemes, depth: 0 };
    if parser.lexemes.is_empty() {
        return Ok(Expr::Nothing);
    }
    let expr = parser.or()?;
    match parser.lexemes.first() {
        None => Ok(expr),
        Some(lexeme) => Err(lexeme.unexpected()),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Lexeme {
    /// Quoted or bare.
    Text(String),
    And,
    Or,
    Not,
    /// One of `(){}:,+*-^`.
    Sign(char),
}

impl Lexeme {
    fn unexpected(&self) -> String {
        match self {
            Self::Text(text) => format!("unexpected \"{text}\""),
            Self::And => "AND needs a term on both sides".into(),
            Self::Or => "OR needs a term on both sides".into(),
            Self::Not => "NOT needs a term on both sides: say first what to find".into(),
            Self::Sign(sign) => format!("unexpected `{sign}`"),
        }
    }
}

fn lex(query: &str) -> Result<Vec<Lexeme>, String> {
    let mut lexemes = Vec::new();
    let mut rest = query;
    while let Some(c) = rest.chars().next() {
        let after = rest.part(c.len_utf8()..);
        match c {
            ' ' | '\t' | '\n' | '\r' => rest = after,
            '(' | ')' | '{' | '}' | ':' | ',' | '+' | '*' | '-' | '^' => {
                lexemes.push(Lexeme::Sign(c));
                rest = after;
            }
            // What zk's syntax quotes holds no quote.
            '"' => {
                let (text, after) = after.split_once('"').ok_or("a quote is not closed")?;
                lexemes.push(Lexeme::Text(text.into()));
                rest = after;
            }
            _ if is_bare(c) => {
                let end = rest.find(|c| !is_bare(c)).unwrap_or(rest.len());
                let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                lexemes.push(match word {
                    "AND" => Lexeme::And,
                    "OR" => Lexeme::Or,
                    "NOT" => Lexeme::Not,
                    _ => Lexeme::Text(word.into()),
                });
                rest = after;
            }
            _ => return Err(format!("unexpected `{c}`")),
        }
    }
    Ok(lexemes)
}

fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '\u{1a}' || !c.is_ascii()
}

/// Recursive descent over FTS5's grammar: OR binds least, then AND, then NOT, then terms side by side.
struct Parser<'a> {
    lexemes: &'a [Lexeme],
    depth: u32,
}

impl Parser<'_> {
    fn take(&mut self, lexeme: &Lexeme) -> bool {
        match self.lexemes.split_first() {
            Some((first, rest)) if first == lexeme => {
                self.lexemes = rest;
                true
            }
            _ => false,
        }
    }

    fn or(&mut self) -> Result<Expr, String> {
        let parts = self.separated(&Lexeme::Or, Self::and)?;
        Ok(single_or(parts, Expr::Or))
    }

    fn and(&mut self) -> Result<Expr, String> {
        let parts = self.separated(&Lexeme::And, Self::not)?;
        Ok(single_or(parts, Expr::And))
    }

    fn not(&mut self) -> Result<Expr, String> {
        let wanted = self.terms()?;
        if !self.take(&Lexeme::Not) {
            return Ok(wanted);
        }
        Ok(Expr::Not(Box::new(wanted), self.separated(&Lexeme::Not, Self::terms)?))
    }

    fn separated(
        &mut self,
        separator: &Lexeme,
        part: fn(&mut Self) -> Result<Expr, String>,
    ) -> Result<Vec<Expr>, String> {
        let mut parts = vec![part(self)?];
        while self.take(separator) {
            parts.push(part(self)?);
        }
        Ok(parts)
    }

    /// Terms side by side, or one expression in parentheses.
    fn terms(&mut self) -> Result<Expr, String> {
        if self.lexemes.first() == Some(&Lexeme::Sign('(')) {
            return self.parenthesised();
        }
        let first = self.term()?;
        // A column's parenthesised expression is alone, like every other.
        if first.stands_alone {
            return Ok(first.expr);
        }
        let mut parts = vec![first.expr];
        while let Some(Lexeme::Text(_) | Lexeme::Sign('^' | '{' | '-')) = self.lexemes.first() {
            let Term { expr, stands_alone } = self.term()?;
            if stands_alone {
                return Err("parentheses need AND, OR or NOT before them".into());
            }
            parts.push(expr);
        }
        // Words without letters or digits say nothing beside others.
        parts.retain(|part| *part != Expr::Nothing);
        Ok(single_or(parts, Expr::And))
    }

    fn parenthesised(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} parentheses within each other"));
        }
        if !self.take(&Lexeme::Sign('(')) {
            return Err("a parenthesis is missing".into());
        }
        let expr = self.or()?;
        if !self.take(&Lexeme::Sign(')')) {
            return Err(self.lexemes.first().map_or("a parenthesis is not closed".into(), Lexeme::unexpected));
        }
        self.depth -= 1;
        Ok(expr)
    }

    fn term(&mut self) -> Result<Term, String> {
        let columns = self.columns()?;
        if let Some(columns) = columns
            && self.lexemes.first() == Some(&Lexeme::Sign('('))
        {
            let mut expr = self.parenthesised()?;
            expr.restrict(columns);
            return Ok(Term { expr, stands_alone: true });
        }
        let is_first = self.take(&Lexeme::Sign('^'));
        let Some((Lexeme::Text(text), rest)) = self.lexemes.split_first() else {
            return Err(self.lexemes.first().map_or("the query ends where a term is due".into(), Lexeme::unexpected));
        };
        self.lexemes = rest;
        if self.lexemes.first() == Some(&Lexeme::Sign('(')) {
            return Err("parentheses need AND, OR or NOT before them".into());
        }
        let is_prefix = self.take(&Lexeme::Sign('*'));
        let mut expr = Expr::phrase(text);
        if let Expr::Phrase(phrase) = &mut expr {
            phrase.is_prefix = is_prefix;
            phrase.is_first = is_first;
            phrase.columns = columns.unwrap_or(ALL);
        }
        Ok(Term { expr, stands_alone: false })
    }

    /// `title:`, `{title body}:`, `-title:` before a term.
    fn columns(&mut self) -> Result<Option<Columns>, String> {
        let lexemes = self.lexemes;
        let (is_negated, rest) = match lexemes {
            [Lexeme::Sign('-'), rest @ ..] => (true, rest),
            _ => (false, lexemes),
        };
        let (columns, rest) = match rest {
            [Lexeme::Text(name), Lexeme::Sign(':'), rest @ ..] => (column(name)?, rest),
            [Lexeme::Sign('{'), list @ ..] => {
                let names = list.iter().map_while(|lexeme| match lexeme {
                    Lexeme::Text(name) => Some(name),
                    _ => None,
                });
                let mut columns = 0;
                for name in names.clone() {
                    columns |= column(name)?;
                }
                match list.get(names.count()..) {
                    Some([Lexeme::Sign('}'), Lexeme::Sign(':'), rest @ ..]) if columns != 0 => (columns, rest),
                    _ => return Err("unexpected `{`".into()),
                }
            }
            _ => return Ok(None),
        };
        self.lexemes = rest;
        Ok(Some(if is_negated { ALL & !columns } else { columns }))
    }
}

/// The only part, or all of them in a node.
fn single_or(mut parts: Vec<Expr>, node: fn(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() > 1 { node(parts) } else { parts.pop().unwrap_or(Expr::Nothing) }
}

struct Term {
    expr: Expr,
    stands_alone: bool,
}

fn column(name: &str) -> Result<Columns, String> {
    [("path", PATH), ("title", TITLE), ("body", BODY)]
        .into_iter()
        .find_map(|(known, columns)| name.eq_ignore_ascii_case(known).then_some(columns))
        .ok_or_else(|| format!("there is no field `{name}`; there are path, title and body"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs of `reference/notebook.md`, section 2.4.
    #[test]
    fn queries_convert_as_zk_converts_them() {
        for (query, converted) in [
            ("foo bar", r#""foo" "bar""#),
            ("foo|bar", r#""foo" OR "bar""#),
            ("foo -bar", r#""foo"  NOT "bar""#),
            ("foo-bar", r#""foo-bar""#),
            ("foo ba*", r#""foo" "ba"*"#),
            ("col:^foo", r#"col:^"foo""#),
            ("foo's", r#""foo's""#),
            ("foo + bar", r#""foo"  "bar""#),
            ("NEAR(a b)", r#""NEAR"("a" "b")"#),
            (r#""foo"*"#, r#""foo"*"#),
            (r#""not closed"#, r#""not closed""#),
            ("a AND b", r#""a" AND "b""#),
            ("col:(a b)", r#"col:("a" "b")"#),
        ] {
            assert_eq!(convert(query), converted, "{query}");
        }
    }

    #[test]
    fn mistakes_are_errors() {
        for query in
            ["deploy key: foo", "foo (bar", "foo (bar)", "NOT foo", "AND", "database OR", "*", "^", "-foo", ")"]
        {
            assert!(parse(&convert(query)).is_err(), "{query}");
        }
        let nested = "(".repeat(100_000);
        assert!(parse(&convert(&nested)).is_err());
    }

    #[test]
    fn a_long_query_does_not_nest() {
        for operator in [" OR ", " AND ", " NOT ", " "] {
            let query = ["word"; 50_000].join(operator);
            drop(parse(&convert(&query)).expect("valid"));
        }
    }

    #[test]
    fn words_without_letters_say_nothing_beside_others() {
        assert_eq!(parse(&convert("!! port ??")), Ok(Expr::phrase("port")));
        assert_eq!(parse(&convert("!!")), Ok(Expr::Nothing));
        assert_eq!(parse(""), Ok(Expr::Nothing));
    }
}
