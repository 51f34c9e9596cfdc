//! Replies of imports from and exports for other agents as JSON objects.

use saddlebag::entries::ExchangeState;
use saddlebag::exchange::{ExchangeReply, Loss};
use serde_json::{Value, json};

/// Any reply.
pub(crate) fn reply(reply: &ExchangeReply) -> Value {
    match reply {
        ExchangeReply::ImportFrom(reply) => json!({
            "entries": reply.entries.iter().map(|entry| {
                let (state, detail) = state(&entry.state);
                json!({ "path": entry.path, "line": entry.line, "key": entry.key, "state": state, "detail": detail })
            }).collect::<Vec<_>>(),
            "rejected": reply.rejected.iter().map(|part| {
                json!({ "path": part.path, "line": part.line, "reason": part.reason })
            }).collect::<Vec<_>>(),
        }),
        ExchangeReply::ExportTo(reply) => json!({
            "files": reply.files,
            "bytes": reply.bytes,
            "entries": reply.entries,
            "next": reply.next,
            "losses": losses(&reply.losses),
        }),
        _ => Value::Null,
    }
}

fn state(state: &ExchangeState) -> (&'static str, Option<&str>) {
    match state {
        ExchangeState::Stored => ("stored", None),
        ExchangeState::Updated => ("updated", None),
        ExchangeState::Unchanged => ("unchanged", None),
        ExchangeState::Renamed(key) => ("renamed", Some(key)),
        ExchangeState::Kept(reason) => ("kept", Some(reason)),
        ExchangeState::Rejected(reason) => ("rejected", Some(reason)),
        _ => ("other", None),
    }
}

/// What the format could not carry.
pub(crate) fn losses(losses: &[Loss]) -> Vec<Value> {
    losses.iter().map(|loss| json!({ "key": loss.key, "field": loss.field, "reason": loss.reason })).collect()
}
