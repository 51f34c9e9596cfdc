//! [`Value`]: a value of a configuration file, whatever its format.

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
                // Most tables have the same order, and some have thousands of keys.
                let pairs = || ours.iter().zip(theirs);
                let is_same = || pairs().all(|((key, ours), (other, theirs))| key == other && ours.says(theirs));
                let says = |key: &str, value: &Self| other.get(key).is_some_and(|theirs| value.says(theirs));
                ours.len() == theirs.len() && (is_same() || ours.iter().all(|(key, value)| says(key, value)))
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
}
