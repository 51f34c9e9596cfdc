//! [`Arguments`]: the arguments of a model, checked against the table of tools.

use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::spec::{Field, Kind, Spec};
use crate::origin::Origin;
use crate::trust::Provenance;
use saddlebag_collections::{part::TextPart, prelude::*};
use saddlebag_markdown::breaks_one_line;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum size of the arguments of a call, in bytes of JSON.
pub const MAX_ARGUMENT_BYTES: usize = 1 << 20;

/// Default number of hits in an answer, as in NullClaw. It is below the default of the commands because a model reads
/// every hit and can ask for the next page.
const USUAL_HITS: u32 = 5;
/// Maximum number of characters of a value that an error shows.
const SHOWN_CHARS: usize = 60;

/// Arguments that fit the table: every field is known, given once, of the right type and within its bounds.
pub(super) struct Arguments {
    fields: Vec<(&'static str, Given)>,
}

/// Value of a field.
enum Given {
    Text(String),
    Integer(i64),
    Flag(bool),
    Texts(Vec<String>),
    Range(i64, i64),
}

impl Arguments {
    /// Parses the JSON of a call. `null` counts as a missing field, because some models send it.
    pub(super) fn parse(spec: &Spec, json: &str) -> Result<Self, Error> {
        if json.len() > MAX_ARGUMENT_BYTES {
            let message =
                format!("{}: the arguments have {} bytes, the limit is {MAX_ARGUMENT_BYTES}", spec.name, json.len());
            return Err(Error::new(ErrorCode::TooLarge, message, "send less at once"));
        }
        let json = if json.trim().is_empty() { "{}" } else { json };
        let Pairs(pairs) = serde_json::from_str(json).map_err(|error| {
            let message = format!("{}: the arguments are not a JSON object: {error}", spec.name);
            Error::invalid_argument(message, allowed(spec))
        })?;
        let mut fields: Vec<(&'static str, Given)> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in &pairs {
            let Some(field) = spec.fields.iter().find(|field| field.name == name) else {
                return Err(Error::invalid_argument(
                    format!("{}: unknown argument `{}`", spec.name, shown(name)),
                    allowed(spec),
                ));
            };
            if seen.contains(&field.name) {
                let message = format!("{}: `{}` is given twice", spec.name, field.name);
                return Err(Error::invalid_argument(message, "give it once"));
            }
            seen.push(field.name);
            if !value.is_null() {
                fields.push((field.name, given(spec, field, value)?));
            }
        }
        let missing =
            spec.fields.iter().find(|field| field.required && !fields.iter().any(|(name, _)| *name == field.name));
        if let Some(field) = missing {
            let message = format!("{}: `{}` is missing", spec.name, field.name);
            return Err(Error::invalid_argument(message, format!("`{}` is {}", field.name, expected(field.kind))));
        }
        Ok(Self { fields })
    }

    /// Returns the names of the given fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|(name, _)| *name)
    }

    fn get(&self, name: &str) -> Option<&Given> {
        self.fields.iter().find(|(known, _)| *known == name).map(|(_, given)| given)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Given::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns text that the table requires.
    pub(super) fn needed(&self, name: &str) -> Result<String, Error> {
        self.text(name).map(ToString::to_string).ok_or_else(|| Error::internal(format!("no `{name}` was given")))
    }

    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Given::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Given::Flag(true)))
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        match self.get(name) {
            Some(Given::Texts(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn range(&self, name: &str) -> Option<(i64, i64)> {
        match self.get(name) {
            Some(Given::Range(first, last)) => Some((*first, *last)),
            _ => None,
        }
    }

    /// Returns the given provenance of the text.
    pub(super) fn provenance(&self) -> Result<Option<Provenance>, Error> {
        Ok(self.text("provenance").map(str::parse).transpose()?)
    }

    /// Returns the origin of a call, with the given provenance.
    pub(super) fn origin(&self, of_call: &Origin) -> Result<Origin, Error> {
        Ok(Origin { provenance: self.provenance()?.or(of_call.provenance), ..of_call.clone() })
    }

    /// Returns the requested number of hits.
    pub(super) fn hits(&self) -> u32 {
        self.limit(USUAL_HITS)
    }

    pub(super) fn limit(&self, usual: u32) -> u32 {
        self.integer("limit").and_then(|limit| u32::try_from(limit).ok()).unwrap_or(usual)
    }

    /// Parses the cursor of a search, which is a number; 0 for the first page.
    pub(super) fn start(&self) -> Result<u32, Error> {
        let Some(cursor) = self.text("cursor") else { return Ok(0) };
        cursor.parse().map_err(|_| {
            let message = format!("`cursor` is `{}`", shown(cursor));
            Error::invalid_argument(message, "give the cursor of the previous answer, or leave it out to begin")
        })
    }
}

fn given(spec: &Spec, field: &Field, value: &Value) -> Result<Given, Error> {
    let refused = || {
        let message = format!("{}: `{}` is {}", spec.name, field.name, cut(on_one_line(&value.to_string())));
        Error::invalid_argument(message, format!("`{}` is {}", field.name, expected(field.kind)))
    };
    let given = match (field.kind, value) {
        (Kind::Text, Value::String(text)) => Some(Given::Text(text.clone())),
        (Kind::Word(words), Value::String(text)) if words.contains(&text.as_str()) => Some(Given::Text(text.clone())),
        (Kind::Flag, Value::Bool(flag)) => Some(Given::Flag(*flag)),
        (Kind::Integer { least, most }, value) => {
            whole(value).filter(|number| (least..=most).contains(number)).map(Given::Integer)
        }
        (Kind::Texts(most), Value::Array(items)) if items.len() <= most => {
            let texts = items.iter().map(|item| item.as_str().map(ToString::to_string));
            texts.collect::<Option<Vec<String>>>().map(Given::Texts)
        }
        (Kind::Range, Value::Array(items)) => match items.as_slice() {
            [first, last] => whole(first).zip(whole(last)).map(|(first, last)| Given::Range(first, last)),
            _ => None,
        },
        _ => None,
    };
    given.ok_or_else(refused)
}

/// Returns a whole number, even if it is written `5.0`.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64()?;
        // Above this limit `f64` cannot represent every whole number.
        let is_exact = number.abs() <= 9_007_199_254_740_992.0;
        (is_exact && number as i64 as f64 == number).then_some(number as i64)
    })
}

/// Describes the values of a field for an error.
fn expected(kind: Kind) -> String {
    match kind {
        Kind::Text => "a string".into(),
        Kind::Word(words) => format!("one of {}", words.join(", ")),
        Kind::Flag => "true or false".into(),
        Kind::Integer { least: i64::MIN, .. } => "a whole number".into(),
        Kind::Integer { least, most: i64::MAX } => format!("a whole number of at least {least}"),
        Kind::Integer { least, most } => format!("a whole number from {least} to {most}"),
        Kind::Texts(most) => format!("an array of at most {most} strings"),
        Kind::Range => "an array of two whole numbers".into(),
        Kind::Objects => "an array of objects".into(),
    }
}

fn allowed(spec: &Spec) -> String {
    let names: Vec<&str> = spec.fields.iter().map(|field| field.name).collect();
    format!("the arguments are {}", names.join(", "))
}

/// Shortens a value and puts it on one line.
pub(super) fn shown(text: &str) -> String {
    cut(text.chars().take(SHOWN_CHARS + 1).flat_map(char::escape_debug).collect())
}

fn cut(text: String) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.part(..end)),
        None => text,
    }
}

/// Puts a name on one line without shortening it.
pub(super) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if breaks_one_line(character) { line.extend(character.escape_debug()) } else { line.push(character) }
    }
    line
}

/// Fields of an object in their order. A field that is given twice is kept twice, so that it can be refused.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
