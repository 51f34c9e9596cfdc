//! [`ToCanonical`]: writing canonical JSON. A [`Scribe`] passes each value a [`Writer`].

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::content::{Content, is_never_written};
use super::types::{LEFT_OUT, Place, REDACTED, wit_name};
use crate::part::TextPart;
use crate::search::is_index_part;
use crate::trust::{FoundSecret, is_hidden, secrets_in};

/// A value that can be written as canonical JSON.
pub trait ToCanonical {
    /// Writes the value.
    fn write(&self, out: &mut Writer<'_>);
}

/// Writer of canonical JSON for one opening of a memory.
pub struct Scribe {
    content: Content,
    never_written: Vec<String>,
}

impl Scribe {
    /// Creates a scribe that shows this much of text.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self { content, never_written: Vec::new() }
    }

    /// Returns how much of text it shows.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// Returns the JSON of a value.
    pub fn json(&mut self, value: &(impl ToCanonical + ?Sized)) -> String {
        let mut writer = Writer { out: String::new(), scribe: self, place: None, needs_comma: false };
        value.write(&mut writer);
        writer.out
    }

    /// Returns the fields that had a value and were not written, such as `config.config.secret`.
    #[must_use]
    pub fn never_written(&self) -> &[String] {
        &self.never_written
    }
}

/// Writer of one value, which gets its parts in order.
pub struct Writer<'a> {
    out: String,
    scribe: &'a mut Scribe,
    place: Option<Place>,
    needs_comma: bool,
}

impl Writer<'_> {
    /// Begins an object.
    pub fn begin(&mut self) {
        self.out.push('{');
        self.needs_comma = false;
    }

    /// Ends an object.
    pub fn end(&mut self) {
        self.out.push('}');
        self.needs_comma = true;
    }

    /// Begins a field.
    pub fn field(&mut self, place: Place) {
        self.place = Some(place);
        self.key(&wit_name(place.member));
    }

    /// Begins a field that has no name in `wit/`.
    pub(super) fn key(&mut self, name: &str) {
        self.separate();
        self.string(name);
        self.out.push(':');
        self.needs_comma = false;
    }

    /// Writes a case without a payload.
    pub fn word(&mut self, place: Place) {
        self.string(&wit_name(place.member));
    }

    /// Begins a case with a payload.
    pub fn begin_case(&mut self, place: Place) {
        self.begin();
        self.field(place);
    }

    pub(super) fn begin_list(&mut self) {
        self.out.push('[');
        self.needs_comma = false;
    }

    pub(super) fn end_list(&mut self) {
        self.out.push(']');
        self.needs_comma = true;
    }

    /// Writes the separator between two items.
    pub(super) fn separate(&mut self) {
        if core::mem::take(&mut self.needs_comma) {
            self.out.push(',');
        }
    }

    /// Writes JSON that contains no text.
    pub(super) fn raw(&mut self, json: &str) {
        self.out.push_str(json);
        self.needs_comma = true;
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.is_never_written() {
            return self.raw("null");
        }
        match self.scribe.content {
            Content::Whole => self.string(text),
            Content::WithoutSecrets => match without_secrets(text) {
                None => self.string(text),
                Some(redacted) => self.in_place_of_text(REDACTED, |out| out.string(&redacted)),
            },
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if self.is_never_written() {
            return self.raw("null");
        }
        match self.scribe.content {
            Content::Whole => self.base64(bytes),
            Content::WithoutSecrets if is_index_part(bytes) => self.length(bytes.len()),
            Content::WithoutSecrets => match core::str::from_utf8(bytes).map(without_secrets) {
                Ok(None) => self.base64(bytes),
                Ok(Some(redacted)) => self.in_place_of_text(REDACTED, |out| out.base64(redacted.as_bytes())),
                Err(_) if has_secret(bytes) => self.length(bytes.len()),
                Err(_) => self.base64(bytes),
            },
        }
    }

    /// Returns true, and records the field, if its value is never written.
    fn is_never_written(&mut self) -> bool {
        let Some(place) = self.place.filter(is_never_written) else { return false };
        let name = place.in_wit();
        if !self.scribe.never_written.contains(&name) {
            self.scribe.never_written.push(name);
        }
        true
    }

    fn length(&mut self, bytes: usize) {
        self.in_place_of_text(LEFT_OUT, |out| out.raw(&bytes.to_string()));
    }

    fn in_place_of_text(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.begin();
        self.key(name);
        write(self);
        self.end();
    }

    fn base64(&mut self, bytes: &[u8]) {
        self.out.push('"');
        BASE64_STANDARD.encode_string(bytes, &mut self.out);
        self.raw("\"");
    }

    /// Writes a string. Characters that a terminal obeys or nobody sees are escaped.
    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                c if c.is_control() || is_hidden(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        // Writing to a string cannot fail.
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                c => self.out.push(c),
            }
        }
        self.raw("\"");
    }
}

/// Returns true if bytes that are not UTF-8 have a secret, in UTF-16 or in an encoding that extends ASCII.
fn has_secret(bytes: &[u8]) -> bool {
    let without_zeros: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    [bytes, &without_zeros].iter().any(|bytes| !secrets_in(&String::from_utf8_lossy(bytes)).is_empty())
}

/// Returns the text with the name of its rule in place of each secret. Returns `None` if the text has no secrets.
fn without_secrets(text: &str) -> Option<String> {
    let found = secrets_in(text);
    if found.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for FoundSecret { rule, range } in found {
        out.push_str(text.part(from..range.start));
        // Writing to a string cannot fail.
        let _ = write!(out, "[redacted: {rule}]");
        from = range.end;
    }
    out.push_str(text.part(from..));
    Some(out)
}
