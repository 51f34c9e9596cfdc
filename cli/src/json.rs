//! Replies as JSON objects.

use saddlebag::context::{ContextReply, LeftOut};
use saddlebag::journal::{
    BackupReply, EditReply, FileState, ListReply, ReadReply, RestoreReply, StatusReply, WriteReply,
};
use saddlebag::search::{SearchHit, SearchResults, Skipped};
use saddlebag::{Reply, journal::JournalReply};
use serde_json::{Value, json};

/// Any reply.
pub(crate) fn reply(reply: &Reply) -> Value {
    match reply {
        Reply::Journal(JournalReply::Written(reply)) => written(reply),
        Reply::Journal(JournalReply::Read(reply)) => read(reply),
        Reply::Journal(JournalReply::Listed(reply)) => listed(reply),
        Reply::Journal(JournalReply::Edited(reply)) => edited(reply),
        Reply::Journal(JournalReply::Restored(reply)) => restored(reply),
        Reply::Journal(JournalReply::Found(results)) => found(results),
        Reply::Journal(JournalReply::Status(reply)) => status(reply),
        Reply::Journal(JournalReply::Text(text)) => json!({ "text": text }),
        Reply::Context(reply) => context(reply),
        Reply::Notebook(reply) => crate::notebook::json(reply),
        Reply::Entries(reply) => crate::entries::json(reply),
        Reply::Exchange(reply) => crate::exchange::json(reply),
        _ => Value::Null,
    }
}

fn written(reply: &WriteReply) -> Value {
    json!({
        "path": reply.path,
        "bytes": reply.bytes,
        "skipped_lines": reply.skipped_lines,
        "truncated_from": reply.truncated_from,
        "backup": backup(&reply.backup),
        "message": reply.message,
    })
}

fn read(reply: &ReadReply) -> Value {
    let state = match reply.state {
        FileState::Missing => "missing",
        FileState::Empty => "empty",
        FileState::Text => "text",
    };
    json!({
        "path": reply.path,
        "state": state,
        "text": reply.text,
        "offset": reply.offset,
        "size": reply.size,
        "next_offset": reply.next_offset,
    })
}

fn listed(reply: &ListReply) -> Value {
    let files = reply.files.iter();
    let files: Vec<Value> =
        files.map(|file| json!({ "path": file.path, "size": file.size, "modified": file.modified })).collect();
    json!({ "files": files, "skipped": skipped(&reply.skipped) })
}

fn edited(reply: &EditReply) -> Value {
    json!({ "path": reply.path, "backup": backup(&reply.backup), "message": reply.message })
}

fn restored(reply: &RestoreReply) -> Value {
    json!({
        "path": reply.path,
        "bytes": reply.bytes,
        "backup": backup(&reply.backup),
        "message": reply.message,
    })
}

fn found(results: &SearchResults) -> Value {
    let terms = results.terms.iter();
    let terms: Vec<Value> = terms.map(|term| json!({ "term": term.term, "lines": term.lines })).collect();
    json!({
        "terms": terms,
        "total_files": results.total_files,
        "hits": results.hits.iter().map(hit).collect::<Vec<_>>(),
        "rendered": results.rendered,
        "rendered_hits": results.rendered_hits,
        "skipped": skipped(&results.skipped),
    })
}

fn hit(hit: &SearchHit) -> Value {
    json!({
        "path": hit.path,
        "terms": hit.terms,
        "lines": hit.lines,
        "total_lines": hit.total_lines,
        "filename_only": hit.filename_only,
        "date": hit.date,
        "long_term": hit.long_term,
        "body": hit.body,
    })
}

fn status(reply: &StatusReply) -> Value {
    json!({
        "long_term_bytes": reply.long_term_bytes,
        "open_items": reply.open_items,
        "today_entries": reply.today_entries,
        "text": reply.text,
    })
}

fn context(reply: &ContextReply) -> Value {
    json!({
        "block": reply.block,
        "tokens": reply.tokens,
        "left_out": reply.left_out.iter().map(left_out).collect::<Vec<_>>(),
    })
}

fn left_out(left_out: &LeftOut) -> Value {
    json!({
        "path": left_out.path,
        "key": left_out.key,
        "section": left_out.section,
        "reason": left_out.reason.to_string(),
        "kept_bytes": left_out.kept_bytes,
        "left_out_bytes": left_out.left_out_bytes,
    })
}

pub(crate) fn skipped(skipped: &[Skipped]) -> Vec<Value> {
    skipped.iter().map(|file| json!({ "path": file.path, "reason": file.reason.to_string() })).collect()
}

fn backup(backup: &BackupReply) -> Value {
    match backup {
        BackupReply { path: None, failure: None } => Value::Null,
        BackupReply { path, failure } => json!({ "path": path, "failure": failure }),
    }
}
