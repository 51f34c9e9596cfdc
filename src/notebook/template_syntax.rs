//! Syntax of templates: parsing text to a tree, and checking every name.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use saddlebag_collections::words;

use crate::part::TextPart;

/// Maximum depth of nested blocks, and of nested calls.
const MAX_DEPTH: u32 = 32;

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Text(String),
    Show(Expression),
    If { condition: Expression, negated: bool, then: Vec<Node>, otherwise: Vec<Node> },
}

/// A value that is computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Text(String),
    Number(i64),
    Flag(bool),
    Path(Vec<String>),
    Call(Helper, Box<[Expression]>),
}

/// A function of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Helper {
    Slug,
    FormatDate,
    Date,
    Json,
    Concat,
    Substring,
}

words!(Helper, "helper" {
    Slug = "slug",
    FormatDate = "format-date",
    Date = "date",
    Json = "json",
    Concat = "concat",
    Substring = "substring",
});

/// Parses a template.
pub(super) fn parse(text: &str) -> Result<Vec<Node>, String> {
    let mut scanner = Scanner { text, at: 0 };
    let tokens = scanner.tokens().map_err(|problem| scanner.located(&problem))?;
    let mut tree = Tree { tokens: tokens.into_iter() };
    let (nodes, end) = tree.nodes(0)?;
    match end {
        End::Text => Ok(nodes),
        End::Close(name, line) => Err(format!("line {line}: `/{name}` closes nothing")),
        End::Else(line) => Err(format!("line {line}: `else` is outside of a block")),
    }
}

/// Text between tags, or a tag.
enum Token {
    Text(String),
    Tag { tag: Tag, line: usize },
}

enum Tag {
    Comment,
    Show(Expression),
    Open(Block),
    Else,
    Close(String),
}

struct Block {
    name: String,
    argument: Expression,
}

/// Sides of a tag whose white space is dropped.
#[derive(Clone, Copy, Default)]
struct Trim {
    before: bool,
    after: bool,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.part(self.at..)
    }

    fn located(&self, problem: &str) -> String {
        format!("line {}: {problem}", self.line())
    }

    fn line(&self) -> usize {
        self.text.get(..self.at).unwrap_or(self.text).matches('\n').count() + 1
    }

    fn tokens(&mut self) -> Result<Vec<Token>, String> {
        let mut texts = vec![String::new()];
        let mut tags: Vec<(Tag, Trim, usize)> = Vec::new();
        let mut line = 1;
        while let Some(found) = self.rest().find("{{") {
            let before = self.rest().part(..found);
            let text = texts.last_mut().ok_or("no text")?;
            line += before.matches('\n').count();
            self.at += found;
            if let Some(plain) = before.strip_suffix('\\') {
                // An escaped tag is text up to the next tag.
                text.push_str(plain);
                text.push_str("{{");
                self.at += 2;
                continue;
            }
            text.push_str(before);
            let start = self.at;
            let mut trim = Trim::default();
            let tag = self.tag(&mut trim)?;
            tags.push((tag, trim, line));
            line += self.text.part(start..self.at).matches('\n').count();
            texts.push(String::new());
        }
        if let Some(text) = texts.last_mut() {
            text.push_str(self.rest());
        }
        let kept = kept_texts(&texts, &tags);
        let mut tokens = Vec::with_capacity(texts.len() + tags.len());
        let mut tags = tags.into_iter();
        for text in kept {
            if !text.is_empty() {
                tokens.push(Token::Text(text.to_string()));
            }
            if let Some((tag, _, line)) = tags.next() {
                tokens.push(Token::Tag { tag, line });
            }
        }
        Ok(tokens)
    }

    /// Parses a tag, which begins with `{{`.
    fn tag(&mut self, trim: &mut Trim) -> Result<Tag, String> {
        let is_triple = self.take("{{{");
        if !is_triple {
            self.take("{{");
        }
        trim.before = self.take("~");
        if self.rest().starts_with('!') {
            return self.comment(trim);
        }
        self.space();
        let tag = if is_triple {
            Tag::Show(self.shown()?)
        } else if self.take("#>") || self.take(">") {
            self.space();
            let name = self.word();
            return Err(format!("the template `{name}` cannot be included: partials are not supported"));
        } else if self.take("#") {
            Tag::Open(self.block()?)
        } else if self.take("/") {
            self.space();
            Tag::Close(self.word().to_string())
        } else if self.take("^") {
            Tag::Else
        } else if self.is_else() {
            self.take("else");
            self.space();
            if !self.rest().starts_with(['}', '~']) {
                return Err("`else` with a condition is not supported; put a block into it".to_string());
            }
            Tag::Else
        } else {
            self.take("&");
            Tag::Show(self.shown()?)
        };
        self.space();
        trim.after = self.take("~");
        if !self.take(if is_triple { "}}}" } else { "}}" }) {
            return Err(match self.rest().chars().next() {
                Some(c) => format!("`{}` where the tag should end", c.escape_debug()),
                None => "a tag without its end".to_string(),
            });
        }
        Ok(tag)
    }

    fn comment(&mut self, trim: &mut Trim) -> Result<Tag, String> {
        let end = if self.rest().starts_with("!--") { "--" } else { "" };
        for (close, after) in [(format!("{end}}}}}"), false), (format!("{end}~}}}}"), true)] {
            if let Some(found) = self.rest().find(&close) {
                // The nearer of the two ends.
                let other = if after { None } else { self.rest().find(&format!("{end}~}}}}")) };
                if other.is_some_and(|other| other < found) {
                    continue;
                }
                self.at += found + close.len();
                trim.after = after;
                return Ok(Tag::Comment);
            }
        }
        Err("a comment without its end".to_string())
    }

    fn is_else(&self) -> bool {
        self.rest().strip_prefix("else").is_some_and(|rest| rest.starts_with(|c: char| !is_word(c)))
    }

    fn block(&mut self) -> Result<Block, String> {
        self.space();
        let name = self.word().to_string();
        match name.as_str() {
            "if" | "unless" => {}
            _ => return Err(refused(&name, "block")),
        }
        self.space();
        let argument = self.argument(0)?.ok_or_else(|| format!("`{name}` needs an argument"))?;
        Ok(Block { name, argument })
    }

    /// Parses a variable, or a helper with its arguments.
    fn shown(&mut self) -> Result<Expression, String> {
        self.call(0)?.ok_or_else(|| "a tag with nothing in it".to_string())
    }

    fn call(&mut self, depth: u32) -> Result<Option<Expression>, String> {
        if depth > MAX_DEPTH {
            return Err(format!("calls nested more than {MAX_DEPTH} levels deep"));
        }
        self.space();
        let Some(first) = self.argument(depth)? else { return Ok(None) };
        let mut arguments = Vec::new();
        loop {
            self.space();
            match self.argument(depth)? {
                Some(argument) => arguments.push(argument),
                None => break,
            }
        }
        if arguments.is_empty() {
            return Ok(Some(first));
        }
        match &first {
            Expression::Path(path) => {
                let name = path.join(".");
                let helper = name.parse().map_err(|_| refused(&name, "helper"))?;
                Ok(Some(Expression::Call(helper, arguments.into_boxed_slice())))
            }
            _ => Err("text where the name of a helper should be".to_string()),
        }
    }

    /// Parses the next value; `None` at the end of the tag or the brackets.
    fn argument(&mut self, depth: u32) -> Result<Option<Expression>, String> {
        let Some(c) = self.rest().chars().next() else { return Ok(None) };
        Ok(Some(match c {
            '}' | ')' | '~' => return Ok(None),
            '"' | '\'' => {
                self.at += 1;
                let quoted = self.rest();
                let end = quoted.find(c).ok_or("a quote without its end")?;
                self.at += end + 1;
                Expression::Text(quoted.part(..end).to_string())
            }
            '(' => {
                self.at += 1;
                let inner = self.call(depth + 1)?.ok_or("brackets with nothing in them")?;
                self.space();
                if !self.take(")") {
                    return Err("a `(` without its `)`".to_string());
                }
                inner
            }
            _ => {
                let word = self.word();
                if word.is_empty() {
                    return Err(format!("`{}` is not valid here", c.escape_debug()));
                }
                if self.rest().starts_with('=') {
                    return Err(format!("`{word}=`: named arguments are not supported"));
                }
                value(word)?
            }
        }))
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let word = rest.part(..rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        self.at += word.len();
        word
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Parses a word without quotes.
fn value(word: &str) -> Result<Expression, String> {
    if let Ok(number) = word.parse() {
        return Ok(Expression::Number(number));
    }
    Ok(match word {
        "true" => Expression::Flag(true),
        "false" => Expression::Flag(false),
        _ => {
            let path: Vec<String> = word.split('.').map(ToString::to_string).collect();
            match path.first().map(String::as_str) {
                Some(name @ ("sh" | "env" | "style" | "format-link")) => return Err(refused(name, "helper")),
                _ => Expression::Path(path),
            }
        }
    })
}

fn refused(name: &str, kind: &str) -> String {
    match name {
        "sh" => "`sh` would run a command, which no template here does".to_string(),
        "env" => "`env` would read the environment, which no template here does".to_string(),
        _ => {
            let known = match kind {
                "block" => "if, unless".to_string(),
                _ => Helper::WORDS.join(", "),
            };
            format!("the {kind} `{}` is not supported; there are {known}", name.escape_debug())
        }
    }
}

/// Returns the text between the tags without the white space that the tags remove: the sides marked with `~`, and the
/// whole line of a block or a comment that is alone on it.
fn kept_texts<'a>(texts: &'a [String], tags: &[(Tag, Trim, usize)]) -> Vec<&'a str> {
    let mut cuts: Vec<(usize, usize)> = texts.iter().map(|text| (0, text.len())).collect();
    for (i, (tag, trim, _)) in tags.iter().enumerate() {
        let (Some(before), Some(after)) = (texts.get(i), texts.get(i + 1)) else { continue };
        let mut end = before.len();
        let mut start = 0;
        if !matches!(tag, Tag::Show(_)) {
            let line_start = before.rfind('\n').map(|at| at + 1).or((i == 0).then_some(0));
            let line_end = match after.find('\n') {
                Some(at) => Some(at + 1),
                None => (i + 1 == tags.len()).then_some(after.len()),
            };
            let is_blank = |text: Option<&str>| text.is_some_and(|text| text.trim().is_empty());
            if let (Some(from), Some(to)) = (line_start, line_end)
                && is_blank(before.get(from..))
                && is_blank(after.get(..to))
            {
                (end, start) = (from, to);
            }
        }
        if trim.before {
            end = before.trim_end().len();
        }
        if trim.after {
            start = after.len() - after.trim_start().len();
        }
        if let Some(cut) = cuts.get_mut(i) {
            cut.1 = cut.1.min(end);
        }
        if let Some(cut) = cuts.get_mut(i + 1) {
            cut.0 = cut.0.max(start);
        }
    }
    // The tags on both sides may remove the same white space.
    texts.iter().zip(cuts).map(|(text, (from, to))| text.part(from.min(to)..to)).collect()
}

struct Tree {
    tokens: vec::IntoIter<Token>,
}

/// End of a row of nodes: the end of the text, or a tag.
enum End {
    Text,
    Close(String, usize),
    Else(usize),
}

impl Tree {
    fn nodes(&mut self, depth: u32) -> Result<(Vec<Node>, End), String> {
        let mut nodes = Vec::new();
        while let Some(token) = self.tokens.next() {
            let (tag, line) = match token {
                Token::Text(text) => {
                    nodes.push(Node::Text(text));
                    continue;
                }
                Token::Tag { tag, line } => (tag, line),
            };
            match tag {
                Tag::Comment => {}
                Tag::Show(expression) => nodes.push(Node::Show(expression)),
                Tag::Open(block) => nodes.push(self.block(block, line, depth + 1)?),
                Tag::Else => return Ok((nodes, End::Else(line))),
                Tag::Close(name) => return Ok((nodes, End::Close(name, line))),
            }
        }
        Ok((nodes, End::Text))
    }

    /// Parses the rest of a block.
    fn block(&mut self, block: Block, line: usize, depth: u32) -> Result<Node, String> {
        let Block { name, argument } = block;
        if depth > MAX_DEPTH {
            return Err(format!("line {line}: blocks nested more than {MAX_DEPTH} levels deep"));
        }
        let (then, mut end) = self.nodes(depth)?;
        let mut otherwise = Vec::new();
        if let End::Else(_) = end {
            (otherwise, end) = self.nodes(depth)?;
        }
        match end {
            End::Close(closed_by, _) if closed_by == name => {}
            End::Close(closed_by, _) => return Err(format!("line {line}: `#{name}` is closed by `/{closed_by}`")),
            End::Else(_) => return Err(format!("line {line}: `#{name}` is not closed after its `else`")),
            End::Text => return Err(format!("line {line}: `#{name}` is not closed")),
        }
        Ok(Node::If { condition: argument, negated: name == "unless", then, otherwise })
    }
}
