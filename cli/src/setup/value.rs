//! [`Value`]: a value of a configuration file, whatever its format.

use std::fmt::Write as _;

/// Value of a configuration file. Keys keep their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// Number or date, as the file spells it.
    Number(String),
    Text(String),
    List(Vec<Value>),
    Table(Vec<(String, Value)>),
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn texts(texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// Returns the value of a key. If the key occurs twice, the last value wins, as it does for most parsers.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(pairs) => pairs.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the value at a path of keys.
    pub(crate) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items of a list. Any other value has no items.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Returns true if both values say the same. The order of keys does not count.
    pub(crate) fn says(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(ours), Self::List(theirs)) => {
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| ours.says(theirs))
            }
            (Self::Table(ours), Self::Table(theirs)) => {
                ours.len() == theirs.len()
                    && ours.iter().all(|(key, value)| other.get(key).is_some_and(|theirs| value.says(theirs)))
            }
            _ => self == other,
        }
    }

    /// Returns the value without the tables in it that are empty, or have only empty ones.
    pub(crate) fn without_empty_tables(&self) -> Self {
        let Self::Table(pairs) = self else { return self.clone() };
        let pairs = pairs.iter().map(|(key, value)| (key.clone(), value.without_empty_tables()));
        Self::Table(pairs.filter(|(_, value)| !matches!(value, Self::Table(pairs) if pairs.is_empty())).collect())
    }

    /// Returns the kind of the value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// Returns the value as JSON.
    pub(crate) fn to_json(&self, layout: &Layout<'_>) -> String {
        let mut out = String::new();
        self.write(&mut out, layout, layout.indent);
        out
    }

    /// Returns the value as an item of a list, as JSON.
    pub(crate) fn to_json_item(&self, layout: &Layout<'_>) -> String {
        self.to_json(&Layout { lines: layout.lines.inline(), ..*layout })
    }

    /// Returns the value with its key, as a table has them, as JSON.
    pub(crate) fn to_json_pair(&self, key: &str, layout: &Layout<'_>) -> String {
        let colon = if layout.lines == Lines::Compact { ":" } else { ": " };
        format!("{}{colon}{}", json_text(key), self.to_json(layout))
    }

    fn write(&self, out: &mut String, layout: &Layout<'_>, indent: &str) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => out.push_str(number),
            Self::Text(text) => out.push_str(&json_text(text)),
            Self::List(items) => {
                // A list of words reads best on one line, and a list of tables with a line for each.
                let is_flat = items.iter().all(|item| !matches!(item, Self::List(_) | Self::Table(_)));
                let of_items = Layout { lines: layout.lines.inline(), ..*layout };
                let layout = if is_flat { &of_items } else { layout };
                block(out, layout, indent, ['[', ']'], items, |item, out, indent| item.write(out, &of_items, indent));
            }
            Self::Table(pairs) => {
                block(out, layout, indent, ['{', '}'], pairs, |(key, value), out, indent| {
                    out.push_str(&json_text(key));
                    out.push_str(if layout.lines == Lines::Compact { ":" } else { ": " });
                    value.write(out, layout, indent);
                });
            }
        }
    }
}

/// Layout of JSON that is written into a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) lines: Lines,
    /// Line end of the file.
    pub(crate) newline: &'a str,
    /// Indentation of the line that the value begins on.
    pub(crate) indent: &'a str,
    /// Indentation of one level.
    pub(crate) unit: &'a str,
}

/// Number of lines that a value takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// A line for each item.
    Many,
    /// One line, with spaces.
    One,
    /// One line, without spaces.
    Compact,
}

impl Lines {
    fn inline(self) -> Self {
        if self == Self::Many { Self::One } else { self }
    }
}

/// Writes the items of a list or a table between brackets.
fn block<T>(
    out: &mut String,
    layout: &Layout<'_>,
    indent: &str,
    [open, close]: [char; 2],
    items: &[T],
    write: impl Fn(&T, &mut String, &str),
) {
    out.push(open);
    let inner = format!("{indent}{}", layout.unit);
    for (number, item) in items.iter().enumerate() {
        match (layout.lines, number) {
            (Lines::One, 0) | (Lines::Compact, 0) => {}
            (Lines::One, _) => out.push_str(", "),
            (Lines::Compact, _) => out.push(','),
            (Lines::Many, _) => {
                let comma = if number == 0 { "" } else { "," };
                let _ = write!(out, "{comma}{}{inner}", layout.newline);
            }
        }
        write(item, out, &inner);
    }
    if layout.lines == Lines::Many && !items.is_empty() {
        let _ = write!(out, "{}{indent}", layout.newline);
    }
    out.push(close);
}

/// Returns text as a JSON string.
fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
