//! JSON byte for byte as Go writes it, because scripts compare it and cut it apart.

use std::fmt::Write as _;

use saddlebag::trust::is_hidden;
use serde_json::Value;

/// Appends a string in quotes. `<`, `>` and `&` are escaped, and so are line ends of JavaScript.
pub(super) fn push_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{0}'..='\u{1f}' | '\u{2028}' | '\u{2029}' => push_escape(out, c),
            // Go writes these unchanged. The value is the same, and no terminal obeys it.
            c if is_hidden(c) => push_escape(out, c),
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// Appends an escaped character; above U+FFFF as two surrogates.
fn push_escape(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Appends a list of strings.
pub(super) fn push_texts(out: &mut String, texts: &[String]) {
    push_list(out, texts, |out, text| push_text(out, text));
}

/// Appends a list.
pub(super) fn push_list<T>(out: &mut String, items: &[T], mut push: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        push(out, item);
    }
    out.push(']');
}

/// An object of fields in a fixed order.
pub(super) struct Object<'a> {
    out: &'a mut String,
    is_empty: bool,
}

impl<'a> Object<'a> {
    pub(super) fn begin(out: &'a mut String) -> Self {
        out.push('{');
        Self { out, is_empty: true }
    }

    /// Adds a field of any kind, which `push` writes.
    pub(super) fn field(mut self, name: &str, push: impl FnOnce(&mut String)) -> Self {
        if !self.is_empty {
            self.out.push(',');
        }
        self.is_empty = false;
        push_text(self.out, name);
        self.out.push(':');
        push(self.out);
        self
    }

    pub(super) fn text(self, name: &str, value: &str) -> Self {
        self.field(name, |out| push_text(out, value))
    }

    pub(super) fn texts(self, name: &str, values: &[String]) -> Self {
        self.field(name, |out| push_texts(out, values))
    }

    pub(super) fn number(self, name: &str, value: u64) -> Self {
        self.field(name, |out| out.push_str(&value.to_string()))
    }

    pub(super) fn end(self) {
        self.out.push('}');
    }
}

/// Appends any value; the keys of objects are sorted.
pub(super) fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => push_text(out, text),
        Value::Array(items) => push_list(out, items, push_value),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            entries
                .into_iter()
                .fold(Object::begin(out), |object, (key, value)| object.field(key, |out| push_value(out, value)))
                .end();
        }
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => push_float(out, float),
            None => out.push_str(&number.to_string()),
        },
        Value::Bool(_) | Value::Null => out.push_str(&value.to_string()),
    }
}

/// Appends a number. Very large and very small ones have an exponent with its sign.
fn push_float(out: &mut String, float: f64) {
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        let _ = write!(out, "{float}");
        return;
    }
    let text = format!("{float:e}");
    out.push_str(&if text.contains("e-") { text } else { text.replace('e', "e+") });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_written_as_go_writes_them() {
        let mut out = String::new();
        push_value(&mut out, &json!({"b": [0.8, 1e21, 1e-7, -3, 2.0], "a": "<\u{1}\u{2028}é\"\\>", "c": null}));
        assert_eq!(out, r#"{"a":"\u003c\u0001\u2028é\"\\\u003e","b":[0.8,1e+21,1e-7,-3,2],"c":null}"#);
    }
}
