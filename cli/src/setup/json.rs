//! Edits of a JSON file in place: one key or one item of a list is added, replaced or removed, and every other byte
//! stays. The syntax tree of `jsonc-parser` lays values out, replaces them and removes them; it also knows comments, trailing
//! commas and JSON5 where a client does.
//!
//! Only the place of an addition is ours. The tree would break a table on one line into lines and drop blank lines, which
//! no removal brings back. An addition comes first in its table or list, because there the tree removes exactly what was added.

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::cst::{CstInputValue, CstNewlineKind, CstNode, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::types::{Step, Unfit};
use super::value::Value;

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
    let parsed = parse_to_ast(text, &CollectOptions::default(), &dialect.options())
        .map_err(|error| Unfit::malformed(text, error.range().start, lower_first(&error.kind().to_string())))?;
    let Some(root) = parsed.value else { return Ok(Value::Table(Vec::new())) };
    let value = value_of(&root);
    match value {
        Value::Table(_) => Ok(value),
        _ => {
            let at = jsonc_parser::common::Ranged::range(&root).start;
            Err(Unfit::malformed(text, at, format!("the file is {}, not a table", value.kind())))
        }
    }
}

/// Returns the text with a value added at a path: under a new key, or as the first item of a list if `path` leads to
/// the list. Missing tables and lists are created.
pub(super) fn insert(
    text: &str,
    dialect: Dialect,
    path: &[&str],
    value: &Value,
    as_item: bool,
) -> Result<String, Unfit> {
    let whole = parse(text, dialect)?;
    let root = tree(text, dialect)?;
    let nested = |path: &[&str]| {
        let value = if as_item { Value::List(vec![value.clone()]) } else { value.clone() };
        path.iter().rev().fold(value, |value, key| Value::Table(vec![((*key).to_string(), value)]))
    };
    if root.value().is_none() {
        root.set_value(input(&nested(path)));
        return Ok(root.to_string());
    }
    let depth = (0..=path.len()).rev().find(|depth| whole.at(&path[..*depth]).is_some()).unwrap_or_default();
    let mut steps: Vec<Step<'_>> = path[..depth].iter().copied().map(Step::Key).collect();
    let (Some(found), Some(place)) = (whole.at(&path[..depth]), find(&root, &steps)) else {
        return Ok(text.to_string());
    };
    match (found, path.get(depth)) {
        (Value::Table(_), Some(key)) => {
            steps.push(Step::Key(key));
            let key = serde_json::Value::from(*key);
            replace(
                &with_first(text, &root, &place, &format!("{key}: {{}}")),
                dialect,
                &steps,
                &nested(&path[depth + 1..]),
            )
        }
        (Value::List(_), None) if as_item => {
            steps.push(Step::Item(0));
            replace(&with_first(text, &root, &place, "{}"), dialect, &steps, value)
        }
        (found, key) => {
            let wanted = match key {
                Some(_) => "a table",
                None if as_item => "a list",
                None => "absent",
            };
            let message = format!("`{}` is {}, not {wanted}", path[..depth].join("."), found.kind());
            Err(Unfit::malformed(text, start_of(&place), message))
        }
    }
}

/// Returns the text with the value at a path replaced.
pub(super) fn replace(text: &str, dialect: Dialect, path: &[Step<'_>], value: &Value) -> Result<String, Unfit> {
    let root = tree(text, dialect)?;
    let Some(found) = find_item(&root, path) else { return Ok(root.to_string()) };
    match (found.as_object_prop(), found.as_object(), value) {
        (Some(pair), ..) => pair.set_value(input(value)),
        (None, Some(table), Value::Table(pairs)) => {
            // Replaced as a whole, an item of a list would have the indentation of the list.
            table.properties().into_iter().for_each(|pair| pair.remove());
            for (key, value) in pairs {
                table.append(key, input(value));
            }
        }
        _ => {}
    }
    Ok(root.to_string())
}

/// Returns the text without the key or the item at a path.
pub(super) fn remove(text: &str, dialect: Dialect, path: &[Step<'_>]) -> Result<String, Unfit> {
    let root = tree(text, dialect)?;
    if let Some(found) = find_item(&root, path) {
        found.remove();
    }
    Ok(root.to_string())
}

fn tree(text: &str, dialect: Dialect) -> Result<CstRootNode, Unfit> {
    CstRootNode::parse(text, &dialect.options())
        .map_err(|error| Unfit::malformed(text, error.range().start, lower_first(&error.kind().to_string())))
}

/// Returns the key with its value, or the item of a list, at a path.
fn find_item(root: &CstRootNode, path: &[Step<'_>]) -> Option<CstNode> {
    let (last, path) = path.split_last()?;
    let place = find(root, path)?;
    match last {
        // If the key occurs twice, the last value wins.
        Step::Key(key) => {
            let mut pairs = place.as_object()?.properties().into_iter();
            pairs.rfind(|pair| pair.decoded_name().as_deref() == Some(key)).map(CstNode::from)
        }
        Step::Item(number) => place.as_array()?.elements().into_iter().nth(*number),
    }
}

/// Returns the value at a path.
fn find(root: &CstRootNode, path: &[Step<'_>]) -> Option<CstNode> {
    if path.is_empty() {
        return root.value();
    }
    let item = find_item(root, path)?;
    match item.as_object_prop() {
        Some(pair) => pair.value(),
        None => Some(item),
    }
}

/// Returns the text with one more item before the others of a table or a list.
fn with_first(text: &str, root: &CstRootNode, container: &CstNode, item: &str) -> String {
    let children = container.children();
    let items = container.children_exclude_trivia_and_tokens();
    let comma = if items.is_empty() { "" } else { "," };
    let open = start_of(container) + 1;
    // A comment after the bracket stays there.
    let is_beside = |child: &&CstNode| child.is_whitespace() || child.is_comment();
    let beside: Vec<&CstNode> = children.iter().skip(1).take_while(is_beside).collect();
    let next = children.get(1 + beside.len()).filter(|next| next.is_newline());
    let base = &text[text[..open].rfind('\n').map_or(0, |newline| newline + 1)..open];
    let base = &base[..base.len() - base.trim_start_matches([' ', '\t']).len()];
    let indent = items.first().and_then(CstNode::indent_text).unwrap_or_else(|| {
        let unit = root.single_indent_text().unwrap_or_else(|| "  ".to_string());
        format!("{base}{unit}")
    });
    let (at, added) = match next {
        Some(newline) => {
            let at = open + beside.iter().map(|child| child.to_string().len()).sum::<usize>();
            (at, format!("{newline}{indent}{item}{comma}"))
        }
        None if items.is_empty() => {
            let newline = if root.newline_kind() == CstNewlineKind::CarriageReturnLineFeed { "\r\n" } else { "\n" };
            (open, format!("{newline}{indent}{item}{newline}{base}"))
        }
        None => (open, format!("{item},")),
    };
    format!("{}{added}{}", &text[..at], &text[at..])
}

/// Returns the offset of a node in the text.
fn start_of(node: &CstNode) -> usize {
    let before: usize = node.previous_siblings().map(|node| node.to_string().len()).sum();
    before + node.parent().map_or(0, |parent| start_of(&parent.into()))
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

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.clone()),
        Value::Text(text) => CstInputValue::String(text.clone()),
        Value::List(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Table(pairs) => {
            CstInputValue::Object(pairs.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
