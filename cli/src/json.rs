//! Replies as JSON objects.

pub(crate) mod exchange;
pub(crate) mod parts;
pub(crate) mod trust;

use saddlebag::agents_md::{AgentsMdReply, FactChange, FactChangeKind};
use saddlebag::context::{ContextReply, LeftOut, PreambleReply};
use saddlebag::files::{FilePage, FilesReply};
use saddlebag::journal::{EditReply, FileState, ListReply, ListedFile, ReadReply, StatusReply, WriteReply};
use saddlebag::search::{SearchHit, SearchResults};
use saddlebag::trust::Provenance;
use saddlebag::{Reply, journal::JournalReply};
use serde_json::{Value, json};

use parts::{backup, restored, skipped, time};

/// Any reply.
pub(crate) fn reply(reply: &Reply) -> Value {
    match reply {
        Reply::Journal(
            JournalReply::Write(reply) | JournalReply::AppendDaily(reply) | JournalReply::FlushSummary(reply),
        ) => written(reply),
        Reply::Journal(JournalReply::Read(reply)) => read(reply),
        Reply::Journal(JournalReply::List(reply)) => listed(reply),
        Reply::Journal(JournalReply::Edit(reply)) => edited(reply),
        Reply::Journal(JournalReply::Restore(reply)) => restored(reply),
        Reply::Journal(JournalReply::Search(results)) => found(results),
        Reply::Journal(JournalReply::Status(reply)) => status(reply),
        Reply::Journal(JournalReply::Slash(reply)) => json!({ "text": reply.text }),
        Reply::Context(reply) => context(reply),
        Reply::Preamble(reply) => preamble(reply),
        Reply::SyncAgentsMd(reply) => agents_md(reply),
        Reply::Notebook(reply) => crate::notebook::json(reply),
        Reply::Entries(reply) => crate::entries::json(reply),
        Reply::Files(FilesReply::ReadFile(reply)) => read(reply),
        Reply::Files(FilesReply::ListFiles(page)) => file_page(page),
        Reply::CallTool(answer) => parts::answered(answer),
        Reply::Trust(reply) => trust::reply(reply),
        Reply::Exchange(reply) => exchange::reply(reply),
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

fn file_page(page: &FilePage) -> Value {
    let files: Vec<Value> = page.files.iter().map(listed_file).collect();
    json!({ "files": files, "next": page.next, "total": page.total })
}

fn listed_file(file: &ListedFile) -> Value {
    json!({ "path": file.path, "size": file.size, "modified": time(file.modified) })
}

fn listed(reply: &ListReply) -> Value {
    let files: Vec<Value> = reply.files.iter().map(listed_file).collect();
    json!({ "files": files, "skipped": skipped(&reply.skipped) })
}

fn edited(reply: &EditReply) -> Value {
    json!({ "path": reply.path, "backup": backup(&reply.backup), "message": reply.message })
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
        "unapproved": hit.unapproved.map(Provenance::as_str),
    })
}

fn status(reply: &StatusReply) -> Value {
    json!({
        "long_term_bytes": reply.long_term_bytes,
        "project_long_term_bytes": reply.project_long_term_bytes,
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
        "flags": reply.flags.iter().map(|flagged| json!({
            "path": flagged.path,
            "key": flagged.key,
            "section": flagged.section,
            "flags": parts::flags(&flagged.flags),
        })).collect::<Vec<_>>(),
    })
}

fn preamble(reply: &PreambleReply) -> Value {
    let parts = reply.parts.iter().map(|part| json!({ "name": part.name, "bytes": part.bytes }));
    json!({
        "text": reply.text,
        "tokens": reply.tokens,
        "parts": parts.collect::<Vec<_>>(),
        "left_out": reply.left_out.iter().map(left_out).collect::<Vec<_>>(),
    })
}

fn agents_md(reply: &AgentsMdReply) -> Value {
    let problems = reply.problems.iter();
    let problems =
        problems.map(|problem| json!({ "path": problem.path, "key": problem.key, "message": problem.message }));
    json!({
        "content": reply.content.as_deref().map(String::from_utf8_lossy),
        "unconfirmed": reply.unconfirmed.as_ref().map(|waiting| json!({
            "digest": waiting.digest, "reason": waiting.reason,
        })),
        "changes": reply.changes.iter().map(fact_change).collect::<Vec<_>>(),
        "listed": reply.listed,
        "left_out": reply.left_out.iter().map(left_out).collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
        "message": reply.message,
    })
}

fn fact_change(change: &FactChange) -> Value {
    let (word, reason) = change_words(&change.kind);
    json!({
        "key": change.key, "line": change.line, "change": word, "reason": reason,
        "entry": change.entry, "section": change.section,
    })
}

/// What was done with a fact, in a word, and why it was not if it was not.
pub(crate) fn change_words(kind: &FactChangeKind) -> (&'static str, Option<&str>) {
    match kind {
        FactChangeKind::Listed => ("listed", None),
        FactChangeKind::Refreshed => ("refreshed", None),
        FactChangeKind::Unlisted => ("unlisted", None),
        FactChangeKind::Stored => ("stored", None),
        FactChangeKind::Updated => ("updated", None),
        FactChangeKind::Forgotten => ("forgotten", None),
        FactChangeKind::Conflict(reason) => ("conflict", Some(reason)),
        FactChangeKind::Refused(reason) => ("refused", Some(reason)),
        _ => ("other", None),
    }
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
