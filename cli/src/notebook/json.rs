//! Replies of the notebook as JSON objects.

use saddlebag::notebook::{ErrorState, GraphLink, NoteInfo, NotebookReply, RecallHit, RememberState, Warning};
use serde_json::{Value, json};

use crate::json::parts::{flags, restored, skipped, time};

/// Any reply of the notebook.
pub(crate) fn reply(reply: &NotebookReply) -> Value {
    match reply {
        NotebookReply::Init(reply) => {
            json!({ "made": reply.made, "kept": reply.kept, "message": reply.message })
        }
        NotebookReply::Remember(reply) | NotebookReply::RememberSummary(reply) => {
            let (state, other) = match &reply.state {
                RememberState::Created => ("created", None),
                RememberState::AlreadyThere => ("already-there", None),
                RememberState::Superseded(old) => ("superseded", Some(old)),
            };
            json!({
                "path": reply.path,
                "title": reply.title,
                "state": state,
                "supersedes": other,
                "message": reply.message,
                "warnings": warnings(&reply.warnings),
            })
        }
        NotebookReply::RememberError(reply) => {
            let state = match reply.state {
                ErrorState::Created => "created",
                ErrorState::Counted => "counted",
                ErrorState::Full => "full",
            };
            json!({
                "path": reply.path,
                "title": reply.title,
                "count": reply.count,
                "state": state,
                "message": reply.message,
            })
        }
        NotebookReply::Journal(reply) => json!({
            "path": reply.path,
            "entry": reply.entry,
            "created": reply.created,
            "message": reply.message,
            "warnings": warnings(&reply.warnings),
        }),
        NotebookReply::Recall(reply) => json!({
            "hits": reply.hits.iter().map(hit).collect::<Vec<_>>(),
            "total": reply.total,
            "rendered": reply.rendered,
            "warnings": warnings(&reply.warnings),
            "skipped": skipped(&reply.skipped),
        }),
        NotebookReply::Today(reply) => {
            json!({
                "path": reply.path,
                "text": reply.text,
                "created": reply.created,
                "warnings": warnings(&reply.warnings),
            })
        }
        NotebookReply::ListNotes(reply) | NotebookReply::Orphans(reply) => json!({
            "notes": reply.notes.iter().map(note).collect::<Vec<_>>(),
            "warnings": warnings(&reply.warnings),
            "skipped": skipped(&reply.skipped),
        }),
        NotebookReply::Related(reply) => {
            let notes = reply.notes.iter().map(|note| {
                json!({
                    "path": note.path, "title": note.title, "distance": note.distance, "reason": note.reason,
                })
            });
            json!({ "notes": notes.collect::<Vec<_>>() })
        }
        NotebookReply::Link(reply) => {
            json!({
                "from": reply.from,
                "to": reply.to,
                "link": reply.link,
                "already_linked": reply.already_linked,
                "message": reply.message,
            })
        }
        NotebookReply::Rename(reply) => json!({
            "old_path": reply.old_path,
            "path": reply.path,
            "title": reply.title,
            "links": reply.links,
            "files": reply.files,
            "not_rewritten": warnings(&reply.not_rewritten),
            "message": reply.message,
        }),
        NotebookReply::RestoreNote(reply) => restored(reply),
        NotebookReply::Forget(reply) => json!({
            "path": reply.path,
            "backup": reply.backup,
            "message": reply.message,
        }),
        NotebookReply::Tags(reply) => {
            let tags =
                reply.tags.iter().map(|tag| json!({ "name": tag.name, "notes": tag.notes, "number": tag.number }));
            json!({ "tags": tags.collect::<Vec<_>>() })
        }
        NotebookReply::Graph(graph) => json!({
            "notes": graph.notes.iter().map(note).collect::<Vec<_>>(),
            "links": graph.links.iter().map(link).collect::<Vec<_>>(),
        }),
        NotebookReply::DeadLinks(reply) => {
            let links = reply.links.iter().map(|link| {
                json!({
                    "path": link.path, "line": link.line, "target": link.target, "candidates": link.candidates,
                })
            });
            json!({ "links": links.collect::<Vec<_>>() })
        }
        NotebookReply::UnlinkedMentions(reply) => {
            let notes =
                reply.notes.iter().map(|note| json!({ "path": note.path, "title": note.title, "lines": note.lines }));
            json!({ "notes": notes.collect::<Vec<_>>() })
        }
        NotebookReply::LoadMemories(reply) | NotebookReply::RecallForTurn(reply) => {
            json!({ "memories": reply.memories })
        }
        NotebookReply::MemoryContext(section) => json!({
            "text": section.text,
            "included": section.included,
            "left_out": section.left_out,
            "unapproved": section.unapproved,
            "flags": flags(&section.flags),
        }),
        _ => Value::Null,
    }
}

fn warnings(warnings: &[Warning]) -> Vec<Value> {
    warnings.iter().map(|warning| json!({ "path": warning.path, "message": warning.message })).collect()
}

fn hit(hit: &RecallHit) -> Value {
    let parts = hit.parts.iter();
    let parts: Vec<Value> =
        parts.map(|part| json!({ "reason": part.reason, "field": part.field, "amount": part.amount })).collect();
    json!({
        "path": hit.path,
        "title": hit.title,
        "score": hit.score,
        "terms": hit.terms,
        "fields": hit.fields,
        "lines": hit.lines,
        "passage": hit.passage,
        "superseded_by": hit.superseded_by,
        "unapproved": hit.unapproved.map(saddlebag::trust::Provenance::as_str),
        "parts": parts,
    })
}

fn note(note: &NoteInfo) -> Value {
    json!({
        "path": note.path,
        "title": note.title,
        "lead": note.lead,
        "word_count": note.word_count,
        "tags": note.tags,
        "aliases": note.aliases,
        "link": note.link,
        "created": time(note.created),
        "modified": time(note.modified),
        "snippets": note.snippets,
        "unapproved": note.unapproved.map(saddlebag::trust::Provenance::as_str),
    })
}

fn link(link: &GraphLink) -> Value {
    json!({
        "source": link.source,
        "target": link.target,
        "title": link.title,
        "href": link.href,
        "kind": link.kind,
        "relations": link.relations,
        "snippet": link.snippet,
    })
}
