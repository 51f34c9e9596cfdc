//! Replies of the entries as JSON objects. Moments are RFC 3339.

use saddlebag::entries::{EntriesReply, EntryInfo, EntryProblem, Explanation, SkippedEntry, StoreState};
use saddlebag::store::utc_text;
use serde_json::{Value, json};

/// Any reply of the entries.
pub(crate) fn reply(reply: &EntriesReply) -> Value {
    match reply {
        EntriesReply::StoreEntry(reply) | EntriesReply::RestoreEntry(reply) => {
            let (state, from) = match &reply.state {
                StoreState::Stored => ("stored", None),
                StoreState::Updated => ("updated", None),
                StoreState::Moved(from) => ("moved", Some(from)),
                StoreState::Unchanged => ("unchanged", None),
                StoreState::Forgotten => ("forgotten", None),
                StoreState::Conflict => ("conflict", None),
                StoreState::Held => ("held", None),
                _ => ("other", None),
            };
            json!({
                "key": reply.key,
                "category": reply.category,
                "state": state,
                "moved_from": from,
                "version": reply.version,
                "path": reply.path,
                "swept": reply.swept,
                "evicted": reply.evicted,
                "message": reply.message,
            })
        }
        EntriesReply::GetEntry(found) => entry(found),
        EntriesReply::FindEntries(reply) => json!({
            "hits": reply.hits.iter().map(|hit| json!({
                "entry": entry(&hit.entry),
                "score": hit.score,
                "terms": hit.terms,
                "passage": hit.passage,
            })).collect::<Vec<_>>(),
            "total": reply.total,
            "problems": problems(&reply.problems),
        }),
        EntriesReply::ListEntries(reply) => json!({
            "entries": reply.entries.iter().map(entry).collect::<Vec<_>>(),
            "next": reply.next,
            "total": reply.total,
            "problems": problems(&reply.problems),
        }),
        EntriesReply::ForgetEntry(reply) => json!({
            "key": reply.key,
            "path": reply.path,
            "version": reply.version,
            "already_forgotten": reply.already_forgotten,
            "message": reply.message,
        }),
        EntriesReply::PurgeEntries(reply) => json!({ "purged": reply.purged, "message": reply.message }),
        EntriesReply::Hydrate(reply) => json!({
            "entries": reply.entries.iter().map(entry).collect::<Vec<_>>(),
            "bytes": reply.bytes,
            "left_out": reply.left_out.iter().map(explanation).collect::<Vec<_>>(),
            "problems": problems(&reply.problems),
        }),
        EntriesReply::Explain(reply) => json!({
            "entries": reply.entries.iter().map(explanation).collect::<Vec<_>>(),
            "bytes": reply.bytes,
            "max_bytes": reply.max_bytes,
            "problems": problems(&reply.problems),
        }),
        EntriesReply::OpenRun(reply) => json!({ "run": reply.run, "fence": reply.fence, "message": reply.message }),
        EntriesReply::Checkpoint(reply) | EntriesReply::CloseRun(reply) => json!({
            "stored": reply.stored,
            "unchanged": reply.unchanged,
            "skipped": reply.skipped.iter().map(skipped).collect::<Vec<_>>(),
            "truncated": reply.truncated,
            "swept": reply.swept,
            "evicted": reply.evicted,
            "message": reply.message,
        }),
        _ => Value::Null,
    }
}

fn entry(entry: &EntryInfo) -> Value {
    json!({
        "key": entry.key,
        "category": entry.category,
        "content": entry.content,
        "tags": entry.tags,
        "created": utc_text(entry.created),
        "updated": utc_text(entry.updated),
        "source": entry.source,
        "supersedes": entry.supersedes,
        "version": entry.version,
        "path": entry.path,
        "size": entry.size,
        "provenance": entry.provenance.as_str(),
        "approved": entry.approved.map(utc_text),
        "unapproved": entry.standing().unapproved().map(saddlebag::trust::Provenance::as_str),
    })
}

fn explanation(entry: &Explanation) -> Value {
    json!({
        "key": entry.key,
        "path": entry.path,
        "category": entry.category,
        "pinned": entry.pinned,
        "rank": entry.rank,
        "size": entry.size,
        "total": entry.total,
        "updated": utc_text(entry.updated),
        "left_out": entry.left_out,
    })
}

fn skipped(entry: &SkippedEntry) -> Value {
    json!({ "key": entry.key, "reason": entry.reason })
}

pub(crate) fn problems(problems: &[EntryProblem]) -> Vec<Value> {
    let problem =
        |problem: &EntryProblem| json!({ "path": problem.path, "key": problem.key, "message": problem.message });
    problems.iter().map(problem).collect()
}
