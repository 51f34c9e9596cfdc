//! Stands in for `document::edit` until it is there.
use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;

pub(crate) fn replace_spans(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (span, new) in edits {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(new);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
pub(crate) fn append_block(text: &str, block: &str) -> String {
    format!("{}\n\n{block}\n", text.trim_end())
}
pub(crate) fn set_title(text: &str, title: &str) -> String {
    set_field(text, "title", &yaml_string(title))
}
pub(crate) fn set_field(text: &str, key: &str, value: &str) -> String {
    text.replacen("---\n", &format!("---\n{key}: {value}\n"), 1).to_string()
}
pub(crate) fn yaml_string(text: &str) -> String {
    super::template::json_string(text)
}
