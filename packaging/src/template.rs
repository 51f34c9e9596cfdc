//! Templates of JSON files. A value replaces `@NAME@` in a string; a string that is only `@NAME@` becomes the value itself.

use serde_json::Value;

/// Reads a template and fills it in.
pub(crate) fn fill(template: &str, values: &[(&str, Value)]) -> Result<Value, String> {
    let mut filled = serde_json::from_str(template).map_err(|error| format!("a template is not JSON: {error}"))?;
    fill_value(&mut filled, values)?;
    Ok(filled)
}

fn fill_value(value: &mut Value, values: &[(&str, Value)]) -> Result<(), String> {
    match value {
        Value::Object(fields) => fields.values_mut().try_for_each(|value| fill_value(value, values)),
        Value::Array(items) => items.iter_mut().try_for_each(|value| fill_value(value, values)),
        Value::String(text) => {
            let filled = fill_text(text, values)?;
            *value = filled;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn fill_text(text: &str, values: &[(&str, Value)]) -> Result<Value, String> {
    let mut filled = text.to_string();
    for (name, value) in values {
        let mark = format!("@{name}@");
        if text == mark {
            return Ok(value.clone());
        }
        if let Some(value) = value.as_str() {
            filled = filled.replace(&mark, value);
        }
    }
    match text.split('@').nth(1).filter(|name| filled.contains(&format!("@{name}@"))) {
        Some(name) => Err(format!("a template has the mark @{name}@, which has no value")),
        None => Ok(Value::String(filled)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_become_values_and_an_unknown_mark_is_an_error() {
        let values = [("A", json!("x")), ("LIST", json!([1, 2]))];
        let template = r#"{ "a": "@A@/@A@.git", "list": ["@LIST@"], "c": true, "d": "you@example.org" }"#;
        let filled = fill(template, &values).expect("filled");
        assert_eq!(filled, json!({ "a": "x/x.git", "list": [[1, 2]], "c": true, "d": "you@example.org" }));
        let refused = fill(r#"["@B@"]"#, &values).expect_err("refused");
        assert!(refused.contains("@B@"), "{refused}");
    }
}
