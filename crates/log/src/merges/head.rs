//! [`Head`]: the frontmatter of a file as fields, each with its own lines.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_markdown::{Frontmatter, Value, moment};

/// Fields with the time of the last change.
pub(crate) const CHANGED: [&str; 3] = ["updated", "updated_at", "modified"];
/// Fields with the time of the creation.
pub(crate) const CREATED: [&str; 2] = ["created", "created_at"];

/// Most fields that are merged one by one. More are one value, so that the time stays short.
const MOST_FIELDS: usize = 500;

/// A field of the frontmatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// Key as it is written; empty for lines before the first field.
    pub(crate) key: &'a str,
    /// All lines of the field, with the end of the last one.
    pub(crate) lines: &'a str,
}

/// The frontmatter of a file, and what comes after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head<'a> {
    /// The first fence and what is before it.
    pub(crate) open: &'a str,
    pub(crate) fields: Vec<Field<'a>>,
    /// The last fence, with its line end.
    pub(crate) close: &'a str,
    /// Everything from the byte order mark to the last fence.
    pub(crate) whole: &'a str,
    pub(crate) body: &'a str,
    frontmatter: Frontmatter,
}

impl<'a> Head<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let frontmatter = Frontmatter::parse(text);
        let end = frontmatter.span.end;
        let (whole, body) = (text.get(..end).unwrap_or_default(), text.get(end..).unwrap_or_default());
        let mut head = Self { whole, body, frontmatter, ..Self::default() };
        if head.frontmatter.span.is_empty() {
            head.open = whole;
            return head;
        }
        let mut lines = whole.split_inclusive('\n').map(str::len);
        let first = lines.next().unwrap_or(0);
        let last = whole.split_inclusive('\n').next_back().map_or(0, str::len);
        let close = whole.len().saturating_sub(last).max(first);
        head.open = whole.get(..first).unwrap_or_default();
        head.close = whole.get(close..).unwrap_or_default();
        let mut at = first;
        let mut begun: Option<(usize, &'a str)> = None;
        let part = |begin: usize, end: usize| whole.get(begin..end).unwrap_or_default();
        for line in part(first, close).split_inclusive('\n') {
            let key = key_of(line);
            if key.is_some() || begun.is_none() {
                if let Some((begin, key)) = begun {
                    head.fields.push(Field { key, lines: part(begin, at) });
                }
                begun = Some((at, key.unwrap_or_default()));
            }
            at += line.len();
        }
        if let Some((begin, key)) = begun {
            head.fields.push(Field { key, lines: part(begin, at) });
        }
        head
    }

    /// Returns true if each key of the frontmatter has its own lines, none is there twice, and the YAML is valid.
    pub(crate) fn is_plain(&self) -> bool {
        let mut keys: Vec<String> =
            self.fields.iter().filter(|field| !field.key.is_empty()).map(|field| field.key.to_lowercase()).collect();
        let entries = &self.frontmatter.entries;
        let is_same = keys.iter().eq(entries.iter().map(|(key, _)| key));
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        self.frontmatter.problem.is_none() && is_same && keys.len() == count && count <= MOST_FIELDS
    }

    /// Returns the lines of a field.
    pub(crate) fn lines(&self, key: &str) -> Option<&'a str> {
        self.fields.iter().find(|field| is_key(field.key, key)).map(|field| field.lines)
    }

    /// Returns the value of a field.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.frontmatter.value(&key.to_lowercase())
    }

    /// Returns the text of a field.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.value(key)?.text().filter(|text| !text.is_empty())
    }

    /// Returns the time of the last change, in nanoseconds since 1970, if a field names it.
    pub(crate) fn changed(&self) -> Option<u64> {
        CHANGED.iter().filter_map(|key| moment(self.value(key)?)).max()
    }
}

/// Returns true if both spell the same key.
pub(crate) fn is_key(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Returns the key that begins on a line of the top level.
fn key_of(line: &str) -> Option<&str> {
    let first = line.chars().next()?;
    if first.is_whitespace() || matches!(first, '-' | '#' | '}' | ']') {
        return None;
    }
    let (key, rest) = line.split_once(':')?;
    let is_key = rest.starts_with([' ', '\t', '\r', '\n']) || rest.is_empty();
    is_key.then(|| key.trim().trim_matches(['"', '\'']))
}
