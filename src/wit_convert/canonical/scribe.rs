//! [`ToCanonical`]: writing canonical JSON. A [`Scribe`] passes each value a [`Writer`].

use core::fmt::Write;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::types::{Place, wit_name};
use crate::trust::is_hidden;
use saddlebag_collections::prelude::*;

/// Fields that are never written: keys that the host keeps.
const NEVER_WRITTEN: [(&str, &str, &str); 1] = [("config", "Config", "secret")];

/// A value that can be written as canonical JSON.
pub trait ToCanonical {
    /// Writes the value.
    fn write(&self, out: &mut Writer<'_>);
}

/// Writer of canonical JSON for one opening of a memory.
#[derive(Default)]
pub struct Scribe {
    never_written: Vec<String>,
}

impl Scribe {
    /// Returns the JSON of a value.
    pub fn json(&mut self, value: &(impl ToCanonical + ?Sized)) -> String {
        let mut writer = Writer { out: String::new(), scribe: self, place: None, needs_comma: false };
        value.write(&mut writer);
        writer.out
    }

    /// Returns the fields that had a value and were not written, such as `config.config.secret`.
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
        self.string(text);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if self.is_never_written() {
            return self.raw("null");
        }
        self.out.push('"');
        BASE64_STANDARD.encode_string(bytes, &mut self.out);
        self.raw("\"");
    }

    /// Returns true, and records the field, if its value is never written.
    fn is_never_written(&mut self) -> bool {
        let is_kept = |place: &Place| NEVER_WRITTEN.contains(&(place.interface, place.owner, place.member));
        let Some(place) = self.place.filter(is_kept) else { return false };
        let name = place.in_wit();
        if !self.scribe.never_written.contains(&name) {
            self.scribe.never_written.push(name);
        }
        true
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
