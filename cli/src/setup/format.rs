//! [`Format`]: reads and edits the text of a configuration file, whatever its format. Each edit is checked: apart from
//! what was asked for, the file must say what it said before.

use super::json::{self, Dialect};
use super::toml;
use super::value::Value;

pub(crate) use super::types::{Step, Unfit};

/// Format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json(Dialect),
    Toml,
    /// Our text, which is written and removed as a whole.
    Whole,
}

impl Format {
    /// Returns the value of the text.
    pub(crate) fn parse(self, text: &str) -> Result<Value, Unfit> {
        match self {
            Self::Json(dialect) => json::parse(text, dialect),
            Self::Toml => toml::parse(text),
            Self::Whole => Ok(Value::text(text)),
        }
    }

    /// Returns the text with a new key.
    pub(crate) fn insert(self, text: &str, path: &[&str], value: &Value) -> Result<String, Unfit> {
        let new = match self {
            Self::Json(dialect) => json::insert(text, dialect, path, value, false)?,
            Self::Toml => toml::insert(text, path, value),
            Self::Whole => text.to_string(),
        };
        let steps: Vec<Step<'_>> = path.iter().copied().map(Step::Key).collect();
        self.checked(text, new, &steps, Some(value))
    }

    /// Returns the text with one more item at the beginning of a list.
    pub(crate) fn push(self, text: &str, path: &[&str], value: &Value) -> Result<String, Unfit> {
        let Self::Json(dialect) = self else { return Err(not_in_place(path.iter().copied().map(Step::Key))) };
        let new = json::insert(text, dialect, path, value, true)?;
        let list = self.parse(text)?.at(path).map(|list| list.items().to_vec()).unwrap_or_default();
        let list = Value::List(std::iter::once(value.clone()).chain(list).collect());
        let steps: Vec<Step<'_>> = path.iter().copied().map(Step::Key).collect();
        self.checked(text, new, &steps, Some(&list))
    }

    /// Returns the text with a value replaced.
    pub(crate) fn replace(self, text: &str, path: &[Step<'_>], value: &Value) -> Result<String, Unfit> {
        let new = match self {
            Self::Json(dialect) => json::replace(text, dialect, path, value)?,
            Self::Toml => toml::replace(text, &keys(path)?, value)?,
            Self::Whole => text.to_string(),
        };
        self.checked(text, new, path, Some(value))
    }

    /// Returns the text without a key or an item.
    pub(crate) fn remove(self, text: &str, path: &[Step<'_>]) -> Result<String, Unfit> {
        let new = match self {
            Self::Json(dialect) => json::remove(text, dialect, path)?,
            Self::Toml => toml::remove(text, &keys(path)?)?,
            Self::Whole => String::new(),
        };
        self.checked(text, new, path, None)
    }

    /// Returns the new text if it says what the old one says, except at the path, where it has the new value.
    fn checked(self, old: &str, new: String, path: &[Step<'_>], value: Option<&Value>) -> Result<String, Unfit> {
        if self == Self::Whole {
            return Ok(new);
        }
        let expected = with(self.parse(old)?, path, value);
        let says = |found: &Value| match self {
            // A table of TOML that only has subtables is not written, and goes with the last of them.
            Self::Toml => found.without_empty_tables().says(&expected.without_empty_tables()),
            _ => found.says(&expected),
        };
        match self.parse(&new) {
            Ok(found) if says(&found) => Ok(new),
            _ => Err(not_in_place(path.iter().copied())),
        }
    }
}

/// Returns a value with another value at a path, or without the value there.
fn with(mut value: Value, path: &[Step<'_>], new: Option<&Value>) -> Value {
    let Some((first, rest)) = path.split_first() else { return new.cloned().unwrap_or(value) };
    match (&mut value, first) {
        (Value::Table(pairs), Step::Key(key)) => match pairs.iter().rposition(|(name, _)| name == key) {
            Some(at) if rest.is_empty() && new.is_none() => {
                pairs.remove(at);
            }
            Some(at) => {
                let inner = std::mem::replace(&mut pairs[at].1, Value::Null);
                pairs[at].1 = with(inner, rest, new);
            }
            None => pairs.insert(0, ((*key).to_string(), with(Value::Table(Vec::new()), rest, new))),
        },
        (Value::List(items), Step::Item(number)) => match items.get_mut(*number) {
            Some(_) if rest.is_empty() && new.is_none() => {
                items.remove(*number);
            }
            Some(item) => *item = with(std::mem::replace(item, Value::Null), rest, new),
            None => {}
        },
        _ => {}
    }
    value
}

fn keys<'a>(path: &[Step<'a>]) -> Result<Vec<&'a str>, Unfit> {
    let key = |step: &Step<'a>| match step {
        Step::Key(key) => Some(*key),
        Step::Item(_) => None,
    };
    path.iter().map(key).collect::<Option<_>>().ok_or_else(|| not_in_place(path.iter().copied()))
}

fn not_in_place<'a>(path: impl Iterator<Item = Step<'a>>) -> Unfit {
    let words = path.map(|step| match step {
        Step::Key(key) => key.to_string(),
        Step::Item(number) => number.to_string(),
    });
    Unfit::NotInPlace { path: words.collect::<Vec<_>>().join(".") }
}
