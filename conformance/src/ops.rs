//! Operations as JSON, so that a case can ask for a path that this program could not hold; and what their results say.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use saddlebag::protocol::Version;
use serde_json::{Value, json};

use crate::driver::Answer;
use crate::host::value;

/// Returns the precondition that a file has a version.
pub(crate) fn matches(version: &Version) -> Value {
    json!({ "matches": version.0 })
}

pub(crate) fn read(path: &str, offset: u64, max_bytes: u32) -> Value {
    json!({ "read": { "path": path, "offset": offset.to_string(), "max-bytes": max_bytes } })
}

pub(crate) fn write(path: &str, content: &[u8], precondition: impl Into<Value>) -> Value {
    let (content, precondition) = (BASE64_STANDARD.encode(content), precondition.into());
    json!({ "write": {
        "path": path, "content": content, "precondition": precondition, "keep-as": null, "like": null,
    } })
}

pub(crate) fn append(path: &str, content: &[u8], newline_first: bool, precondition: impl Into<Value>) -> Value {
    let (content, precondition) = (BASE64_STANDARD.encode(content), precondition.into());
    json!({ "append": {
        "path": path, "content": content, "newline-first": newline_first, "precondition": precondition,
        "may-tear": false, "may-vanish": false,
    } })
}

pub(crate) fn list(folder: Option<&str>, limit: u32) -> Value {
    json!({ "list-directory": { "folder": folder, "after": null, "limit": limit, "unless": null } })
}

pub(crate) fn remove(path: &str, precondition: impl Into<Value>) -> Value {
    json!({ "remove": {
        "path": path, "precondition": precondition.into(), "keep-as": null, "may-return": false,
    } })
}

pub(crate) fn rename(path: &str, to: &str, precondition: impl Into<Value>) -> Value {
    json!({ "rename": { "path": path, "to": to, "precondition": precondition.into() } })
}

pub(crate) fn make_directory(path: &str) -> Value {
    json!({ "make-directory": { "path": path } })
}

pub(crate) fn remove_directory(path: &str) -> Value {
    json!({ "remove-directory": { "path": path } })
}

/// Returns an operation with another value of a field.
pub(crate) fn with(mut op: Value, field: &str, value: impl Into<Value>) -> Value {
    if let Some(fields) = op.as_object_mut().and_then(|op| op.values_mut().next()) {
        fields[field] = value.into();
    }
    op
}

/// Returns the name of a case of a variant, and its content.
fn case(variant: &Value) -> (&str, &Value) {
    let with_content = variant.as_object().and_then(|variant| variant.iter().next());
    with_content.map_or((variant.as_str().unwrap_or_default(), &Value::Null), |(name, content)| (name, content))
}

/// Returns the word of a result, as the page for authors of hosts spells it.
pub(crate) fn word(answer: &Answer) -> String {
    let answer = value(answer).unwrap_or_default();
    if let Some(error) = answer.get("err") {
        return case(error).0.into();
    }
    match case(&answer["ok"]) {
        ("make-directory", _) => "done".into(),
        ("generation", _) => "generation".into(),
        (_, outcome) => match case(outcome) {
            ("stale", Value::Null) => "stale(none)".into(),
            ("stale", _) => "stale(v)".into(),
            ("page", page) if page["entries"] == json!([]) => "a page without entries".into(),
            (name, _) => name.into(),
        },
    }
}

/// Returns the version that a result names, if it names the version of one file.
pub(crate) fn version(answer: &Answer) -> Option<Version> {
    let answer = value(answer).ok()?;
    let (_, named) = case(case(&answer["ok"]).1);
    let version = named.as_str().or_else(|| named["version"].as_str())?;
    Some(Version(version.into()))
}
