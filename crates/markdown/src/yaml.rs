//! YAML, parsed into [`Value`]s within limits.
//!
//! The events come from `saphyr-parser`; their meaning is the core schema of YAML 1.2. A few bytes of YAML can expand
//! to gigabytes of values, so nodes, depth and copies are counted.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};

use super::types::Value;
use saddlebag_collections::SortedMap;
use saddlebag_collections::prelude::*;

/// Maximum number of bytes that are read, and that aliases copy.
const MAX_BYTES: usize = 256 * 1024;
/// Maximum number of nodes, those that aliases copy included.
const MAX_NODES: usize = 10_000;
/// Maximum depth of lists and mappings.
const MAX_DEPTH: usize = 32;

/// A place: a line counted from 1, and a column in characters counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl From<Marker> for Place {
    fn from(marker: Marker) -> Self {
        Self { line: marker.line(), column: marker.col() }
    }
}

/// A key of the top level with its value.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) key_start: Place,
    pub(super) key_end: Place,
    pub(super) value: Value,
    pub(super) value_start: Place,
    /// End of a scalar or an alias; the closing bracket of a list or mapping, or the place where the text continues
    /// after one without brackets.
    pub(super) value_end: Place,
}

/// Contents of a YAML text.
#[derive(Debug, Default)]
pub(super) struct YamlBlock {
    /// Fields up to the problem, if there is one.
    pub(super) fields: Vec<Field>,
    /// Start of the mapping.
    pub(super) start: Option<Place>,
    /// Line, counted from 1, and the problem there.
    pub(super) problem: Option<(usize, String)>,
    /// True if it is YAML other than a mapping.
    pub(super) is_other: bool,
}

/// Parses a YAML text whose top level is a mapping, or empty.
pub(super) fn read(yaml: &str) -> YamlBlock {
    if yaml.len() > MAX_BYTES {
        let message = format!("the frontmatter has {} bytes, the limit is {MAX_BYTES}", yaml.len());
        return YamlBlock { problem: Some((1, message)), ..YamlBlock::default() };
    }
    let mut reader = Reader::default();
    let mut parser = Parser::new_from_str(yaml);
    while let Some(next) = parser.next_event() {
        let read = match next {
            Ok((event, span)) => reader.event(event, span).map_err(|message| (span.start.line(), message)),
            Err(error) => Err((error.marker().line(), error.info().to_owned())),
        };
        if let Err(problem) = read {
            reader.document.problem = Some(problem);
            // The problem may be the end of the last value.
            reader.document.fields.pop();
            break;
        }
    }
    reader.document
}

/// Cost of a value.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

#[derive(Debug)]
enum Items {
    List(Vec<Value>),
    Map { entries: Vec<(String, Value)>, key: Option<String> },
}

/// A list or mapping that is being read.
#[derive(Debug)]
struct Frame {
    items: Items,
    anchor: usize,
    start: Place,
    cost: Cost,
}

#[derive(Debug, Default)]
struct Reader {
    document: YamlBlock,
    documents: usize,
    /// Frames below the mapping of the top level.
    frames: Vec<Frame>,
    in_top: bool,
    key: Option<(String, Place, Place)>,
    anchors: SortedMap<usize, (Value, Cost)>,
    nodes: usize,
    copied: usize,
}

impl Reader {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err("the frontmatter has more than one document".into());
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.spend(1)?;
                if self.takes_key() {
                    return self.take_key(text, anchor, span);
                }
                let cost = Cost { nodes: 1, bytes: text.len(), depth: 0 };
                let value = match scalar(&text, style, tag.as_deref()) {
                    // A name is the text as it stands, also if it looks like a number.
                    value @ (Value::String(_) | Value::Null) => value,
                    _ if self.reads_names() => Value::String(text.into_owned()),
                    value => value,
                };
                self.keep(anchor, &value, cost)?;
                self.add(value, cost, span.start.into(), span.end.into())?;
            }
            Event::SequenceStart(..) if !self.in_top => {
                self.document.is_other = true;
                return Err(no_mapping());
            }
            Event::SequenceStart(anchor, _) => self.start(Items::List(Vec::new()), anchor, span)?,
            Event::MappingStart(anchor, _) => {
                if !self.in_top && self.frames.is_empty() {
                    self.spend(1)?;
                    self.in_top = true;
                    self.document.start = Some(span.start.into());
                    return Ok(());
                }
                self.start(Items::Map { entries: Vec::new(), key: None }, anchor, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.frames.pop() {
                None => self.in_top = false,
                Some(frame) => {
                    let value = match frame.items {
                        Items::List(items) => Value::List(items),
                        Items::Map { entries, .. } => Value::Map(entries),
                    };
                    self.keep(frame.anchor, &value, frame.cost)?;
                    self.add(value, frame.cost, frame.start, span.start.into())?;
                }
            },
            Event::Alias(anchor) => {
                let Some((_, cost)) = self.anchors.get(&anchor) else {
                    return Err("an alias is inside of its own anchor".into());
                };
                let cost = *cost;
                self.copy(cost)?;
                if self.frames.len() + cost.depth > MAX_DEPTH {
                    return Err(too_deep());
                }
                let Some(value) = self.anchors.get(&anchor).map(|(value, _)| value.clone()) else {
                    return Ok(());
                };
                if self.takes_key() {
                    let Value::String(key) = value else { return Err(no_key()) };
                    return self.take_key(key.into(), 0, span);
                }
                self.add(value, cost, span.start.into(), span.end.into())?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn start(&mut self, items: Items, anchor: usize, span: Span) -> Result<(), String> {
        self.spend(1)?;
        if self.takes_key() {
            return Err(no_key());
        }
        // The mapping of the top level has no frame.
        if self.frames.len() + 1 >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.frames.push(Frame {
            items,
            anchor,
            start: span.start.into(),
            cost: Cost { nodes: 1, bytes: 0, depth: 1 },
        });
        Ok(())
    }

    /// Returns true within a field of names of the note or of tags.
    fn reads_names(&self) -> bool {
        const NAMES: [&str; 7] = ["title", "alias", "aliases", "tag", "tags", "keyword", "keywords"];
        self.key.as_ref().is_some_and(|(key, ..)| NAMES.iter().any(|name| key.eq_ignore_ascii_case(name)))
    }

    /// Returns true if the key of a mapping comes next.
    fn takes_key(&self) -> bool {
        match self.frames.last() {
            Some(Frame { items: Items::Map { key, .. }, .. }) => key.is_none(),
            Some(_) => false,
            None => self.in_top && self.key.is_none(),
        }
    }

    fn take_key(&mut self, text: Cow<'_, str>, anchor: usize, span: Span) -> Result<(), String> {
        let cost = Cost { nodes: 1, bytes: text.len(), depth: 0 };
        let text = text.into_owned();
        if anchor > 0 {
            self.keep(anchor, &Value::String(text.clone()), cost)?;
        }
        match self.frames.last_mut() {
            Some(frame) => {
                frame.cost.nodes += cost.nodes;
                frame.cost.bytes += cost.bytes;
                if let Items::Map { key, .. } = &mut frame.items {
                    *key = Some(text);
                }
            }
            None => self.key = Some((text, span.start.into(), span.end.into())),
        }
        Ok(())
    }

    fn add(&mut self, value: Value, cost: Cost, start: Place, end: Place) -> Result<(), String> {
        if let Some(frame) = self.frames.last_mut() {
            frame.cost.nodes += cost.nodes;
            frame.cost.bytes += cost.bytes;
            frame.cost.depth = frame.cost.depth.max(cost.depth + 1);
            match &mut frame.items {
                Items::List(items) => items.push(value),
                Items::Map { entries, key } => {
                    if let Some(key) = key.take() {
                        entries.push((key, value));
                    }
                }
            }
            return Ok(());
        }
        if !self.in_top {
            self.document.is_other = value != Value::Null;
            return if self.document.is_other { Err(no_mapping()) } else { Ok(()) };
        }
        if let Some((key, key_start, key_end)) = self.key.take() {
            self.document.fields.push(Field { key, key_start, key_end, value, value_start: start, value_end: end });
        }
        Ok(())
    }

    /// Stores a value for its aliases.
    fn keep(&mut self, anchor: usize, value: &Value, cost: Cost) -> Result<(), String> {
        if anchor > 0 {
            self.copy(cost)?;
            self.anchors.insert(anchor, (value.clone(), cost));
        }
        Ok(())
    }

    fn copy(&mut self, cost: Cost) -> Result<(), String> {
        self.copied += cost.bytes;
        if self.copied > MAX_BYTES {
            return Err(format!("aliases of the frontmatter expand to more than {MAX_BYTES} bytes"));
        }
        self.spend(cost.nodes)
    }

    fn spend(&mut self, nodes: usize) -> Result<(), String> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(format!("the frontmatter has more than {MAX_NODES} values"));
        }
        Ok(())
    }
}

fn too_deep() -> String {
    format!("the frontmatter is nested more than {MAX_DEPTH} levels deep")
}

fn no_mapping() -> String {
    "the frontmatter is not a mapping of keys to values".into()
}

fn no_key() -> String {
    "a key of the frontmatter is not text".into()
}

/// Returns the value of a scalar.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_typed = match tag {
        None => style == ScalarStyle::Plain,
        Some(tag) => tag.is_yaml_core_schema() && tag.suffix != "str",
    };
    let typed = if is_typed { plain(text) } else { None };
    typed.unwrap_or_else(|| Value::String(text.into()))
}

/// Returns the value of a plain scalar that is not text, in the core schema of YAML 1.2.
fn plain(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Some(Value::Float(f64::NAN)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(Value::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    let first = *unsigned.as_bytes().first()?;
    if !first.is_ascii_digit() && first != b'.' {
        return None;
    }
    // A number with more digits than the type can hold stays as it is written.
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            return if is_number { i64::from_str_radix(digits, radix).ok().map(Value::Integer) } else { None };
        }
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Value::Integer);
    }
    is_float(unsigned).then(|| text.parse().ok().map(Value::Float)).flatten()
}

/// Returns true for `[0-9]+(\.[0-9]*)?` or `\.[0-9]+`, with or without an exponent.
fn is_float(unsigned: &str) -> bool {
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    is_digits(whole)
        && is_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && is_digits(exponent))
}
