//! Replies of `pending` and `approve` as JSON objects.

use saddlebag::approval::{PendingItem, TrustReply};
use serde_json::{Value, json};

use super::parts::flags;

/// Any reply.
pub(crate) fn reply(reply: &TrustReply) -> Value {
    match reply {
        TrustReply::Pending(reply) => json!({
            "items": reply.items.iter().map(item).collect::<Vec<_>>(),
            "next": reply.next,
            "total": reply.total,
            "digest": reply.digest,
        }),
        TrustReply::Approve(reply) => json!({
            "approved": reply.approved.iter().map(item).collect::<Vec<_>>(),
            "skipped": reply.skipped.iter().map(|item| json!({ "name": item.name, "reason": item.reason }))
                .collect::<Vec<_>>(),
            "message": reply.message,
        }),
        _ => Value::Null,
    }
}

fn item(item: &PendingItem) -> Value {
    json!({
        "name": item.name,
        "path": item.path,
        "is_entry": item.is_entry,
        "provenance": item.provenance.as_str(),
        "source": item.source,
        "version": item.version,
        "size": item.size,
        "preview": item.preview,
        "text": item.text,
        "flags": flags(&item.flags),
    })
}
