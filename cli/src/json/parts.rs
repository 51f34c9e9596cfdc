//! Parts that several replies have.

use saddlebag::journal::{BackupReply, RestoreReply};
use saddlebag::search::Skipped;
use saddlebag::store::utc_text;
use saddlebag::tools::ToolAnswer;
use saddlebag::trust::Flag;
use serde_json::{Value, json};

/// A time as RFC 3339 in UTC; `null` where it is unknown, which is 0. As a number of nanoseconds it would be larger than
/// what many JSON parsers keep exactly.
pub(crate) fn time(nanoseconds: u64) -> Option<String> {
    (nanoseconds > 0).then(|| utc_text(nanoseconds))
}

pub(crate) fn restored(reply: &RestoreReply) -> Value {
    json!({
        "path": reply.path,
        "bytes": reply.bytes,
        "backup": backup(&reply.backup),
        "message": reply.message,
    })
}

pub(crate) fn skipped(skipped: &[Skipped]) -> Vec<Value> {
    skipped.iter().map(|file| json!({ "path": file.path, "reason": file.reason.to_string() })).collect()
}

pub(crate) fn backup(backup: &BackupReply) -> Value {
    match backup {
        BackupReply { path: None, .. } => Value::Null,
        BackupReply { path, failure } => json!({ "path": path, "failure": failure }),
    }
}

/// Flags as JSON.
pub(crate) fn flags(flags: &[Flag]) -> Vec<Value> {
    let flag = |flag: &Flag| json!({ "kind": flag.kind.as_str(), "what": flag.what, "count": flag.count });
    flags.iter().map(flag).collect()
}

/// The answer of a tool.
pub(crate) fn answered(answer: &ToolAnswer) -> Value {
    let structured = answer.structured.as_deref().map(serde_json::from_str::<Value>);
    json!({ "text": answer.text, "structured": structured.and_then(Result::ok), "is_error": answer.is_error })
}
