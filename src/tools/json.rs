//! JSON writer that keeps the fields in the order in which they are added.

use serde_json::Value;

use crate::trust::{ForModel, Marks, for_model};
use saddlebag_collections::prelude::*;

/// A JSON object.
#[derive(Clone, Debug)]
pub(super) struct Object(String);

impl Object {
    pub(super) fn new() -> Self {
        Self("{".into())
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        push_text(&mut self.0, value);
    }

    /// Adds the cursor of the next page, if there is one. It stays unchanged, because the model sends it back.
    pub(super) fn next(&mut self, cursor: Option<&str>) {
        if let Some(cursor) = cursor {
            self.name("next");
            self.0.push_str(&cursor_text(cursor));
        }
    }

    pub(super) fn number(&mut self, name: &str, value: i64) {
        self.name(name);
        self.0.push_str(&format!("{value}"));
    }

    /// Adds a number of bytes or items. Such a number is far below the limit of JSON's numbers.
    pub(super) fn count(&mut self, name: &str, value: u64) {
        self.number(name, i64::try_from(value).unwrap_or(i64::MAX));
    }

    pub(super) fn flag(&mut self, name: &str, value: bool) {
        self.name(name);
        self.0.push_str(if value { "true" } else { "false" });
    }

    /// Adds the marks that an item has.
    pub(super) fn marks(&mut self, marks: &Marks) {
        if let Some(from) = marks.unapproved {
            self.text("unapproved", from.as_str());
        }
        if !marks.only_in.is_empty() {
            self.texts("only_in", &marks.only_in);
        }
        if let Some(newer) = &marks.superseded_by {
            self.text("superseded_by", newer);
        }
    }

    pub(super) fn texts<T: AsRef<str>>(&mut self, name: &str, values: &[T]) {
        self.name(name);
        self.0.push('[');
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.0.push(',');
            }
            push_text(&mut self.0, value.as_ref());
        }
        self.0.push(']');
    }

    pub(super) fn object(&mut self, name: &str, value: &Self) {
        self.name(name);
        value.close_into(&mut self.0);
    }

    pub(super) fn objects(&mut self, name: &str, values: &[Self]) {
        self.name(name);
        self.0.push('[');
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.0.push(',');
            }
            value.close_into(&mut self.0);
        }
        self.0.push(']');
    }

    pub(super) fn finish(mut self) -> ForModel {
        self.0.push('}');
        // Its texts are escaped already, so this changes nothing.
        let object = ForModel::escaped(&self.0);
        debug_assert_eq!(object, self.0, "a broken invariant: an answer with text that was not made harmless");
        object
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        push_text(&mut self.0, name);
        self.0.push(':');
    }

    fn close_into(&self, out: &mut String) {
        out.push_str(&self.0);
        out.push('}');
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(&Value::from(for_model(text).0.as_str()).to_string());
}

/// Returns a cursor as JSON text. A JSON parser gets it unchanged. A reader of the text sees ASCII escapes in place of
/// characters that hide or imitate something.
pub(super) fn cursor_text(cursor: &str) -> String {
    let json = Value::from(cursor).to_string();
    let mut text = String::with_capacity(json.len());
    let mut units = [0; 2];
    for character in json.chars() {
        if matches!(character, ' '..='~') && character != '<' {
            text.push(character);
        } else {
            for unit in character.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}
