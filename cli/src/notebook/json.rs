//! Replies of the notebook as JSON objects.

use saddlebag::notebook::{GraphLink, NoteInfo, NotebookReply, RecallHit, RememberState};
use serde_json::{Value, json};

use crate::json::skipped;

/// Any reply of the notebook.
pub(crate) fn reply(reply: &NotebookReply) -> Value {
    match reply {
        NotebookReply::Initialised(reply) => json!({ "made": reply.made, "message": reply.message }),
        NotebookReply::Remembered(reply) => {
            let state = match reply.state {
                RememberState::Created => "created",
                RememberState::Known => "known",
                RememberState::Superseded => "superseded",
            };
            json!({
                "path": reply.path,
                "title": reply.title,
                "state": state,
                "other": reply.other,
                "message": reply.message,
            })
        }
        NotebookReply::Recalled(reply) => json!({
            "hits": reply.hits.iter().map(hit).collect::<Vec<_>>(),
            "total": reply.total,
            "rendered": reply.rendered,
            "warnings": reply.warnings,
            "skipped": skipped(&reply.skipped),
        }),
        NotebookReply::Today(reply) => {
            json!({ "path": reply.path, "text": reply.text, "created": reply.created })
        }
        NotebookReply::Listed(reply) => json!({
            "notes": reply.notes.iter().map(note).collect::<Vec<_>>(),
            "warnings": reply.warnings,
            "skipped": skipped(&reply.skipped),
        }),
        NotebookReply::Related(notes) => {
            let notes = notes.iter().map(|note| {
                json!({
                    "path": note.path, "title": note.title, "distance": note.distance, "reason": note.reason,
                })
            });
            json!({ "notes": notes.collect::<Vec<_>>() })
        }
        NotebookReply::Linked(reply) => {
            json!({ "from": reply.from, "to": reply.to, "added": reply.added, "message": reply.message })
        }
        NotebookReply::Renamed(reply) => json!({
            "from": reply.from,
            "to": reply.to,
            "links": reply.links,
            "files": reply.files,
            "message": reply.message,
        }),
        NotebookReply::Forgotten(reply) => json!({
            "path": reply.path,
            "backup": reply.backup,
            "links_from": reply.links_from,
            "message": reply.message,
        }),
        NotebookReply::Tags(tags) => {
            let tags = tags.iter().map(|tag| json!({ "name": tag.name, "notes": tag.notes }));
            json!({ "tags": tags.collect::<Vec<_>>() })
        }
        NotebookReply::Graph(graph) => json!({
            "notes": graph.notes.iter().map(note).collect::<Vec<_>>(),
            "links": graph.links.iter().map(link).collect::<Vec<_>>(),
        }),
        NotebookReply::DeadLinks(links) => {
            let links = links.iter().map(|link| {
                json!({
                    "path": link.path, "line": link.line, "target": link.target, "candidates": link.candidates,
                })
            });
            json!({ "links": links.collect::<Vec<_>>() })
        }
        NotebookReply::Mentions(notes) => {
            let notes = notes.iter().map(|note| json!({ "path": note.path, "title": note.title, "lines": note.lines }));
            json!({ "notes": notes.collect::<Vec<_>>() })
        }
        NotebookReply::Loaded(count) => json!({ "memories": count }),
        NotebookReply::Section(section) => json!({ "section": section }),
        _ => Value::Null,
    }
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
        "created": note.created,
        "modified": note.modified,
        "snippets": note.snippets,
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
