//! Edits of a JSON file in place: one key or one item of a list is added, replaced or removed, and every other byte
//! stays. The parser gives the places; it also reads comments, trailing commas and JSON5 where a client does.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::splice::{
    Splice, after_blanks, before_line_end, indent_of, line_and_column, line_start, newline_of, spliced,
};
use super::types::{Step, Unfit};
use super::value::{Layout, Lines, Value};

/// Kind of JSON that a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JSON of the standard.
    Strict,
    /// JSON with comments.
    Comments,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// JSON5.
    Json5,
}

impl Dialect {
    fn options(self) -> ParseOptions {
        let is_json5 = self == Self::Json5;
        ParseOptions {
            allow_comments: self != Self::Strict,
            allow_trailing_commas: matches!(self, Self::Jsonc | Self::Json5),
            allow_missing_commas: false,
            allow_loose_object_property_names: is_json5,
            allow_single_quoted_strings: is_json5,
            allow_hexadecimal_numbers: is_json5,
            allow_unary_plus_numbers: is_json5,
            allow_bare_decimal_point_numbers: is_json5,
            allow_non_finite_numbers: is_json5,
            allow_extended_string_escapes: is_json5,
        }
    }
}

/// Returns the value of the text. An empty text is an empty table.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Value, Unfit> {
    Ok(Parsed::new(text, dialect)?.root.as_ref().map_or_else(|| Value::Table(Vec::new()), value_of))
}

/// Returns the text with a value added at a path: under a new key, or as the last item of a list if `path` leads to
/// the list. Missing tables and lists are created.
pub(super) fn insert(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    value: &Value,
    as_item: bool,
) -> Result<String, Unfit> {
    let parsed = Parsed::new(text, dialect)?;
    let value = if as_item { Value::List(vec![value.clone()]) } else { value.clone() };
    let Some(root) = &parsed.root else { return Ok(parsed.with_root(&nested(path, value))) };
    let mut place = root;
    for (depth, key) in path.iter().enumerate() {
        let Ast::Object(object) = place else { return Err(parsed.unfit(&path[..depth], place, "a table")) };
        match member(object, key) {
            Some(found) => place = &found.value,
            None => {
                let rest = nested(&path[depth + 1..], value);
                return Ok(parsed
                    .with_item(to_range(object.range()), &members(object), |layout| rest.to_json_pair(key, layout)));
            }
        }
    }
    match (place, value) {
        (Ast::Array(list), Value::List(items)) if as_item => {
            let ranges: Vec<_> = list.elements.iter().map(Ranged::range).map(to_range).collect();
            let item = items.into_iter().next().unwrap_or(Value::Null);
            Ok(parsed.with_item(to_range(list.range()), &ranges, |layout| item.to_json_item(layout)))
        }
        (place, _) => Err(parsed.unfit(path, place, if as_item { "a list" } else { "absent" })),
    }
}

/// Returns the text with the value at a path replaced.
pub(super) fn replace(text: &str, dialect: Dialect, path: &[Step<'_>], value: &Value) -> Result<String, Unfit> {
    let parsed = Parsed::new(text, dialect)?;
    let Some(Found { value: old, .. }) = parsed.find(path) else { return Ok(text.to_string()) };
    let range = to_range(old.range());
    let lines = if text[range.clone()].contains('\n') { Lines::Many } else { parsed.lines_of_one() };
    let layout =
        Layout { lines, newline: newline_of(text), indent: indent_of(text, range.start), unit: &parsed.unit() };
    Ok(spliced(text, &[Splice { range, text: value.to_json(&layout) }]))
}

/// Returns the text without the key or the item at a path.
pub(super) fn remove(text: &str, dialect: Dialect, path: &[Step<'_>]) -> Result<String, Unfit> {
    let parsed = Parsed::new(text, dialect)?;
    let Some(found) = parsed.find(path) else { return Ok(text.to_string()) };
    Ok(spliced(text, &parsed.removal(&found)))
}

/// Item that a path leads to.
struct Found<'a, 'b> {
    /// Key with its value, or item of a list.
    item: Range<usize>,
    value: &'b Ast<'a>,
    /// Table or list around it.
    container: Range<usize>,
}

/// Parsed text with its tokens.
struct Parsed<'a> {
    text: &'a str,
    root: Option<Ast<'a>>,
    tokens: Vec<TokenAndRange<'a>>,
}

impl<'a> Parsed<'a> {
    fn new(text: &'a str, dialect: Dialect) -> Result<Self, Unfit> {
        let collected = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collected, &dialect.options()).map_err(|error| {
            let (line, column) = line_and_column(text, error.range().start);
            let message = lower_first(&error.kind().to_string());
            Unfit::Malformed { line, column, message }
        })?;
        let tokens = parsed.tokens.unwrap_or_default();
        // The parser allows comments that are tokens.
        if let Some(comment) = tokens.iter().find(|token| dialect == Dialect::Strict && is_comment(token)) {
            let (line, column) = line_and_column(text, comment.range.start);
            return Err(Unfit::Malformed { line, column, message: "comments are not allowed".to_string() });
        }
        let root = parsed.value;
        if let Some(other) = root.as_ref().filter(|root| root.as_object().is_none()) {
            let (line, column) = line_and_column(text, other.range().start);
            let message = format!("the file is {}, not a table", value_of(other).kind());
            return Err(Unfit::Malformed { line, column, message });
        }
        Ok(Self { text, root, tokens })
    }

    fn unfit(&self, path: &[&str], found: &Ast<'_>, wanted: &'static str) -> Unfit {
        let (line, column) = line_and_column(self.text, found.range().start);
        let message = format!("`{}` is {}, not {wanted}", path.join("."), value_of(found).kind());
        Unfit::Malformed { line, column, message }
    }

    /// Returns the text of a file that has no value yet. Comments stay above the value.
    fn with_root(&self, value: &Value) -> String {
        let newline = newline_of(self.text);
        let json = value.to_json(&Layout { lines: Lines::Many, newline, indent: "", unit: "  " });
        if self.text.trim().is_empty() {
            return format!("{json}{newline}");
        }
        let gap = if self.text.ends_with('\n') { "" } else { newline };
        format!("{}{gap}{json}{newline}", self.text)
    }

    fn find<'b>(&'b self, path: &[Step<'_>]) -> Option<Found<'a, 'b>> {
        let mut found: Option<Found<'a, 'b>> = None;
        for step in path {
            let place = match &found {
                Some(found) => found.value,
                None => self.root.as_ref()?,
            };
            let container = to_range(place.range());
            found = Some(match (step, place) {
                (Step::Key(key), Ast::Object(object)) => {
                    let pair = member(object, key)?;
                    Found { item: to_range(pair.range()), value: &pair.value, container }
                }
                (Step::Item(number), Ast::Array(list)) => {
                    let value = list.elements.get(*number)?;
                    Found { item: to_range(value.range()), value, container }
                }
                _ => return None,
            });
        }
        found
    }

    /// Returns the text with one more item at the end of a table or a list.
    fn with_item(
        &self,
        container: Range<usize>,
        items: &[Range<usize>],
        written: impl Fn(&Layout<'_>) -> String,
    ) -> String {
        let inner = container.start + 1..container.end - 1;
        match (items.first(), items.last()) {
            (Some(first), Some(last)) => self.with_later_item(inner.start, first, last, written),
            _ => self.with_first_item(inner, written),
        }
    }

    fn with_first_item(&self, inner: Range<usize>, written: impl Fn(&Layout<'_>) -> String) -> String {
        let (text, newline, unit) = (self.text, newline_of(self.text), &self.unit());
        let (open, close) = (inner.start, inner.end);
        if self.is_compact() {
            let item = written(&Layout { lines: Lines::Compact, newline, indent: "", unit });
            return spliced(text, &[Splice::insert(open, item)]);
        }
        let base = indent_of(text, open);
        let indent = format!("{base}{unit}");
        let item = written(&Layout { lines: Lines::Many, newline, indent: &indent, unit });
        let comments = self.comments().filter(|comment| open <= comment.start && comment.end <= close);
        let at = comments.last().map_or(open, |comment| comment.end);
        let end = if text[at..close].contains('\n') { at } else { close };
        let tail = if end == at && at != close { String::new() } else { format!("{newline}{base}") };
        spliced(text, &[Splice { range: at..end, text: format!("{newline}{indent}{item}{tail}") }])
    }

    fn with_later_item(
        &self,
        open: usize,
        first: &Range<usize>,
        last: &Range<usize>,
        written: impl Fn(&Layout<'_>) -> String,
    ) -> String {
        let (text, newline, unit) = (self.text, newline_of(self.text), &self.unit());
        let comma = self.comma_after(last.end);
        let end = comma.as_ref().map_or(last.end, |comma| comma.end);
        let after = if comma.is_some() { "," } else { "" };
        if !text[open..first.start].contains('\n') {
            let lines = self.lines_of_one();
            let item = written(&Layout { lines, newline, indent: "", unit });
            let space = if lines == Lines::Compact { "" } else { " " };
            let before = if comma.is_some() { "" } else { "," };
            return spliced(text, &[Splice::insert(end, format!("{before}{space}{item}{after}"))]);
        }
        let is_alone = |item: &Range<usize>| text[line_start(text, item.start)..item.start].trim().is_empty();
        let indent = indent_of(text, if is_alone(last) { last.start } else { first.start });
        let item = written(&Layout { lines: Lines::Many, newline, indent, unit });
        let item = format!("{newline}{indent}{item}{after}");
        let at = self.end_of_comments(end);
        let before = if comma.is_some() { "" } else { "," };
        match at == last.end {
            true => spliced(text, &[Splice::insert(at, format!("{before}{item}"))]),
            false => spliced(text, &[Splice::insert(last.end, before), Splice::insert(at, item)]),
        }
    }

    /// Returns the offset after the comments that follow an offset on its line.
    fn end_of_comments(&self, at: usize) -> usize {
        let mut end = at;
        for comment in self.comments().filter(|comment| at <= comment.start) {
            if !self.text[end..comment.start].chars().all(|c| matches!(c, ' ' | '\t')) {
                break;
            }
            end = comment.end;
        }
        // A line comment reaches up to the line feed.
        self.text[..end].strip_suffix('\r').map_or(end, str::len)
    }

    /// Returns the parts to cut so that an item is gone with one comma, and with its lines if it is alone on them.
    fn removal(&self, found: &Found<'_, '_>) -> Vec<Splice> {
        let text = self.text;
        let Found { item, container, .. } = found;
        let is_blank = |range: Range<usize>| text[range].trim().is_empty();
        let mut cut = item.clone();
        let mut apart: Option<Range<usize>> = None;
        let next = self.comma_after(item.end);
        let previous = self.comma_before(item.start).filter(|comma| comma.start > container.start);
        match (&next, &previous) {
            (Some(comma), _) if is_blank(item.end..comma.start) => cut.end = comma.end,
            (Some(comma), _) => apart = Some(comma.clone()),
            (None, Some(comma)) if is_blank(comma.end..item.start) => {
                cut.start = comma.start;
                return vec![Splice::cut(cut)];
            }
            (None, Some(comma)) => apart = Some(comma.clone()),
            (None, None) => {}
        }
        let (open, close) = (container.start + 1, container.end - 1);
        if next.is_none() && previous.is_none() && is_blank(open..cut.start) && is_blank(cut.end..close) {
            return vec![Splice::cut(open..close)];
        }
        let line = line_start(text, cut.start);
        let rest = after_blanks(text, cut.end);
        let has_own_lines = is_blank(line..cut.start) && line > open;
        if has_own_lines && text[rest..].starts_with('/') {
            // The comment after the item stays on its line.
        } else if has_own_lines {
            cut.start = before_line_end(text, line);
        } else if next.is_some() && self.has_item(cut.end..close) {
            cut.end = rest;
        } else if next.is_some() {
            cut.start = text[..cut.start].trim_end_matches([' ', '\t']).len();
        }
        let mut cuts = vec![Splice::cut(cut)];
        cuts.extend(apart.map(Splice::cut));
        cuts.sort_by_key(|cut| cut.range.start);
        cuts
    }

    fn comma_after(&self, at: usize) -> Option<Range<usize>> {
        let next = self.tokens.iter().find(|token| token.range.start >= at && !is_comment(token))?;
        (next.token == Token::Comma).then(|| to_range(next.range))
    }

    fn comma_before(&self, at: usize) -> Option<Range<usize>> {
        let before = self.tokens.iter().rev().find(|token| token.range.end <= at && !is_comment(token))?;
        (before.token == Token::Comma).then(|| to_range(before.range))
    }

    fn has_item(&self, range: Range<usize>) -> bool {
        let is_inside = |token: &&TokenAndRange<'_>| range.start <= token.range.start && token.range.end <= range.end;
        self.tokens.iter().any(|token| is_inside(&token) && !is_comment(token))
    }

    fn comments(&self) -> impl Iterator<Item = Range<usize>> {
        self.tokens.iter().filter(|token| is_comment(token)).map(|token| to_range(token.range))
    }

    /// Returns the indentation of one level: the indentation of the first key of the file, or two spaces.
    fn unit(&self) -> String {
        let first = self.root.as_ref().and_then(Ast::as_object).and_then(|root| root.properties.first());
        let indent = first.map(|first| indent_of(self.text, first.range().start)).filter(|indent| !indent.is_empty());
        let is_alone = |first: &&ObjectProp<'_>| {
            let start = first.range().start;
            self.text[line_start(self.text, start)..start].trim().is_empty()
        };
        indent.filter(|_| first.as_ref().is_some_and(is_alone)).unwrap_or("  ").to_string()
    }

    /// Returns true if the file is one line without spaces, as programs write it.
    fn is_compact(&self) -> bool {
        let has_items = self.root.as_ref().and_then(Ast::as_object).is_some_and(|root| !root.properties.is_empty());
        has_items && !self.text.trim().contains('\n') && !self.text.contains("\": ")
    }

    fn lines_of_one(&self) -> Lines {
        if self.is_compact() { Lines::Compact } else { Lines::One }
    }
}

fn nested(path: &[&str], value: Value) -> Value {
    path.iter().rev().fold(value, |value, key| Value::Table(vec![((*key).to_string(), value)]))
}

fn member<'a, 'b>(object: &'b Object<'a>, key: &str) -> Option<&'b ObjectProp<'a>> {
    object.properties.iter().rev().find(|pair| pair.name.as_str() == key)
}

fn members(object: &Object<'_>) -> Vec<Range<usize>> {
    object.properties.iter().map(|pair| to_range(pair.range())).collect()
}

fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

fn to_range(range: jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}

fn value_of(ast: &Ast<'_>) -> Value {
    match ast {
        Ast::NullKeyword(_) => Value::Null,
        Ast::BooleanLit(literal) => Value::Bool(literal.value),
        Ast::NumberLit(literal) => Value::Number(literal.value.to_string()),
        Ast::StringLit(literal) => Value::text(literal.value.clone()),
        Ast::Array(list) => Value::List(list.elements.iter().map(value_of).collect()),
        Ast::Object(object) => Value::Table(
            object.properties.iter().map(|pair| (pair.name.as_str().to_string(), value_of(&pair.value))).collect(),
        ),
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
