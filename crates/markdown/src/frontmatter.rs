//! [`Frontmatter`]: the YAML at the head of a note.

use core::ops::Range;

use serde::{Deserialize, Serialize};

use memchr::memchr;

use super::tags::Names;
use super::types::Value;
use super::yaml::{self, YamlBlock};
use saddlebag_collections::TextPart;
use saddlebag_collections::order;
use saddlebag_collections::prelude::*;

/// Mark that Windows editors write before text.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Metadata at the head of a note.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frontmatter {
    /// Range of the whole block with both of its fences and the line ending after it. If the text has no frontmatter,
    /// it is empty and at the start of the text, after its byte order mark.
    pub span: Range<usize>,
    /// Keys of the top level, in lower case, in order.
    pub entries: Vec<(String, Value)>,
    /// Problem, if the YAML is invalid. The note is still searched.
    pub problem: Option<FrontmatterProblem>,
}

/// Problem of a frontmatter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontmatterProblem {
    /// Line of the file, counted from 1.
    pub line: u32,
    /// Problem in words.
    pub message: String,
}

impl Frontmatter {
    /// Parses the frontmatter of a file: the text between a first line of dashes and the next one, or a line of three
    /// dots.
    pub fn parse(text: &str) -> Self {
        let Some(block) = Fences::find(text) else {
            let start = start(text);
            return Self { span: start..start, ..Self::default() };
        };
        let YamlBlock { fields, problem, .. } = yaml::read(text.part(block.yaml.clone()));
        // The first line is a fence.
        let line = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
        let mut problem =
            problem.map(|(problem_line, message)| FrontmatterProblem { line: line(problem_line), message });
        let mut entries: Vec<(String, Value)> = Vec::with_capacity(fields.len());
        let mut lines = Vec::with_capacity(fields.len());
        for field in fields {
            lines.push((field.key.clone(), line(field.key_start.line)));
            entries.push((field.key.to_lowercase(), field.value));
        }
        order::sort_slice(&mut lines, Ord::cmp);
        let repeated = lines.windows(2).find_map(|pair| match pair {
            [(first, _), (second, line)] if first == second => Some((second, *line)),
            _ => None,
        });
        if let (None, Some((key, line))) = (&problem, repeated) {
            problem = Some(FrontmatterProblem { line, message: format!("the key {key:?} is given twice") });
        }
        Self { span: block.span, entries, problem }
    }

    /// Returns the value of a key in lower case; the first if it is given twice.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the text of a field, or the texts of its list.
    pub fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        let values = match self.value(key) {
            Some(Value::List(values)) => values.as_slice(),
            Some(value) => core::slice::from_ref(value),
            None => &[],
        };
        values.iter().filter_map(|value| if let Value::String(text) = value { Some(text.as_str()) } else { None })
    }

    /// Returns the `title`, if it is text.
    pub fn title(&self) -> Option<&str> {
        match self.value("title")? {
            Value::String(title) => Some(title.trim()).filter(|title| !title.is_empty()),
            _ => None,
        }
    }

    /// Returns the tags of `tag`, `tags`, `keyword` and `keywords`, without `#`: the items of a list, or the words of
    /// the text separated by commas and white space.
    pub fn tags(&self) -> Vec<String> {
        let mut tags = Vec::new();
        let mut push = |tag: &str| {
            let tag = tag.trim();
            let tag = tag.strip_prefix('#').unwrap_or(tag);
            if !tag.is_empty() {
                tags.push(tag.into());
            }
        };
        for key in ["tag", "tags", "keyword", "keywords"] {
            match self.value(key) {
                Some(Value::String(text)) => {
                    text.split(|c: char| c == ',' || c.is_whitespace()).for_each(&mut push);
                }
                Some(Value::List(items)) => items.iter().filter_map(Value::text).for_each(|tag| push(&tag)),
                Some(other) => other.text().iter().for_each(|tag| push(tag)),
                None => {}
            }
        }
        tags
    }

    /// Returns the other names of the note, from `alias` and `aliases`: the items of a list, or a whole text.
    pub fn aliases(&self) -> Vec<String> {
        let mut aliases = Names::default();
        for value in ["alias", "aliases"].into_iter().filter_map(|key| self.value(key)) {
            let names = match value {
                Value::List(items) => items.iter().filter_map(Value::text).collect(),
                other => Vec::from_iter(other.text()),
            };
            let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
            names.for_each(|name| aliases.push(name.into()));
        }
        aliases.into_list()
    }
}

/// Position of the frontmatter in a file.
#[derive(Debug)]
pub(super) struct Fences {
    /// Range of the block with both fences and the line ending after them.
    pub(super) span: Range<usize>,
    /// Range between the fences: whole lines.
    pub(super) yaml: Range<usize>,
}

impl Fences {
    pub(super) fn find(text: &str) -> Option<Self> {
        let start = start(text);
        let mut lines = Lines { text, next: start };
        let opening = lines.next()?;
        if !is_dashes(text.get(opening.clone())?) {
            return None;
        }
        let closing = lines.find(|line| {
            let line = text.part(line.clone());
            is_dashes(line) || line.trim_end() == "..."
        })?;
        Some(Self { span: start..closing.end, yaml: opening.end..closing.start })
    }
}

/// Returns the start of the Markdown in a file.
pub(super) fn markdown_start(text: &str) -> usize {
    Fences::find(text).map_or_else(|| start(text), |fences| fences.span.end)
}

/// Returns the start of the text, after a byte order mark.
pub(super) fn start(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

fn is_dashes(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 3 && line.bytes().all(|byte| byte == b'-')
}

/// Iterator over the lines of text with their endings.
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) next: usize,
}

impl Iterator for Lines<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.as_bytes().get(self.next..).filter(|rest| !rest.is_empty())?;
        let start = self.next;
        self.next = memchr(b'\n', rest).map_or(self.text.len(), |end| start + end + 1);
        Some(start..self.next)
    }
}
