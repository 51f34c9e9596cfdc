//! Questions about notes, tags and links, answered from the index.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::attachments::Attachments;
use super::config::{LinkFormat, NotebookConfig};
use super::links::{LinkTarget, format_link};
use super::select::{
    Edge, Graph, LinkTable, RelatedReason, Resolver, Snippets, dead_links, edges, related, select, tag_counts,
    unlinked_mentions,
};
use super::snapshot::{Snapshot, line_of};
use super::{
    DeadLink, GraphLink, GraphReply, ListNotes, ListNotesReply, Mention, NoteFilter, NoteInfo, RelatedNote, TagCount,
};
use crate::document::{Link, LinkKind, Value};
use crate::engine::Call;
use crate::order;
use crate::protocol::Error;
use crate::search::DocId;
use crate::trust::Standing;

/// Whether the filter looks into the text of notes, rather than at what is known about them.
pub(super) fn needs_text(filter: &NoteFilter) -> bool {
    filter.matches.iter().any(|query| !query.is_empty())
        || !filter.mention.is_empty()
        || !filter.mentioned_by.is_empty()
}

/// Notes that fit a filter.
pub(super) fn list(
    call: &Call,
    snapshot: &Snapshot<'_>,
    config: &NotebookConfig,
    request: &ListNotes,
) -> Result<ListNotesReply, Error> {
    let links = link_table(snapshot, request);
    let selected = select(&snapshot.views, request, call.now.timestamp(), &links)?;
    let snippets = Snippets::new(&snapshot.views, request)?;
    let notes = selected.iter().map(|&note| NoteInfo {
        snippets: snippets.of(&snapshot.views, &links, note),
        ..info(call, snapshot, config, note, request.with_text)
    });
    Ok(ListNotesReply { notes: notes.collect(), ..ListNotesReply::default() })
}

/// The numbers in the index of the notes that fit a request, in its order.
pub(super) fn selected(call: &Call, snapshot: &Snapshot<'_>, request: &ListNotes) -> Result<Vec<DocId>, Error> {
    let links = link_table(snapshot, request);
    let selected = select(&snapshot.views, request, call.now.timestamp(), &links)?;
    Ok(selected.iter().filter_map(|&note| snapshot.ids.get(note).copied()).collect())
}

/// The numbers in the index of the notes that have links which do not lead to one note.
pub(super) fn with_dead_links(snapshot: &Snapshot<'_>, attachments: &Attachments) -> Vec<DocId> {
    let dead = dead_links_of(snapshot, attachments);
    let mut ids: Vec<DocId> = dead.iter().filter_map(|dead| snapshot.ids.get(dead.note).copied()).collect();
    ids.dedup();
    ids
}

fn link_table(snapshot: &Snapshot<'_>, request: &ListNotes) -> LinkTable {
    if request.zk_links { LinkTable::zk(&snapshot.views) } else { LinkTable::new(&snapshot.views) }
}

/// What is linked with a note.
pub(super) fn related_notes(
    call: &Call,
    snapshot: &Snapshot<'_>,
    note: &str,
    limit: usize,
) -> Result<Vec<RelatedNote>, Error> {
    let note = snapshot.find(note)?;
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    let found = related(&snapshot.views, &graph, note).into_iter().take(limit);
    let notes = found.map(|found| RelatedNote {
        path: snapshot.shown(found.index, &call.scope),
        title: snapshot.title(found.index).to_string(),
        distance: found.distance,
        reason: match &found.reason {
            RelatedReason::LinksBothWays => "links both ways".to_string(),
            RelatedReason::LinksHere => "links here".to_string(),
            RelatedReason::LinkedFromHere => "linked from here".to_string(),
            RelatedReason::Shares(shared) => {
                let paths: Vec<String> = shared.iter().map(|&note| snapshot.shown(note, &call.scope)).collect();
                format!("both linked with {}", paths.join(", "))
            }
        },
    });
    Ok(notes.collect())
}

/// Every tag.
pub(super) fn tags(snapshot: &Snapshot<'_>) -> Vec<TagCount> {
    let counts = tag_counts(&snapshot.views).into_iter();
    counts.map(|tag| TagCount { name: tag.name.to_string(), notes: tag.notes, number: tag.id }).collect()
}

/// Notes, and the links between them.
pub(super) fn graph(
    call: &Call,
    snapshot: &Snapshot<'_>,
    config: &NotebookConfig,
    request: &ListNotes,
) -> Result<GraphReply, Error> {
    let links = link_table(snapshot, request);
    let selected = select(&snapshot.views, request, call.now.timestamp(), &links)?;
    let edges = edges(&snapshot.views, &links, &selected);
    let snippets = Snippets::new(&snapshot.views, request)?;
    let notes = selected.iter().map(|&note| NoteInfo {
        snippets: snippets.of(&snapshot.views, &links, note),
        ..info(call, snapshot, config, note, request.with_text)
    });
    Ok(GraphReply {
        notes: notes.collect(),
        links: edges.iter().filter_map(|edge| graph_link(call, snapshot, edge)).collect(),
    })
}

fn graph_link(call: &Call, snapshot: &Snapshot<'_>, edge: &Edge) -> Option<GraphLink> {
    let view = snapshot.views.get(edge.from)?;
    let link = view.note.links.get(edge.link)?;
    Some(GraphLink {
        source: snapshot.shown(edge.from, &call.scope),
        target: snapshot.shown(edge.to, &call.scope),
        title: link.text.clone(),
        href: super::select::zk_href(view.path, link).unwrap_or_else(|| href(link)),
        kind: match link.kind {
            LinkKind::Wiki => "wiki-link",
            LinkKind::Markdown | LinkKind::Url => "markdown",
            LinkKind::Embed | LinkKind::Image => "embed",
            LinkKind::Property => "property",
        }
        .to_string(),
        relations: link.relations.clone(),
        snippet: view.text.get(link.context.clone()).unwrap_or_default().to_string(),
        snippet_start: link.context.start as u64,
        snippet_end: link.context.end as u64,
    })
}

fn href(link: &Link) -> String {
    match &link.anchor {
        Some(anchor) => format!("{}#{anchor}", link.target),
        None => link.target.clone(),
    }
}

/// Notes that nothing links to.
pub(super) fn orphans(call: &Call, snapshot: &Snapshot<'_>, config: &NotebookConfig) -> Vec<NoteInfo> {
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    graph.orphans().map(|note| info(call, snapshot, config, note, false)).collect()
}

/// Their numbers in the index.
pub(super) fn orphan_ids(snapshot: &Snapshot<'_>) -> Vec<DocId> {
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    graph.orphans().filter_map(|note| snapshot.ids.get(note).copied()).collect()
}

/// Whether any link leads to no note, so that it matters which other files there are.
pub(super) fn leads_astray(snapshot: &Snapshot<'_>) -> bool {
    let dead = dead_links(&snapshot.views, &Resolver::new(&snapshot.views));
    dead.iter().any(|dead| dead.candidates.is_empty())
}

/// Links that lead to no note and no other file, or to more than one note.
fn dead_links_of(snapshot: &Snapshot<'_>, attachments: &Attachments) -> Vec<super::select::DeadLink> {
    let mut dead = dead_links(&snapshot.views, &Resolver::new(&snapshot.views));
    dead.retain(|dead| {
        let view = snapshot.views.get(dead.note);
        let link = view.and_then(|view| Some((view, view.note.links.get(dead.link)?)));
        !dead.candidates.is_empty() || link.is_some_and(|(view, link)| !attachments.has(view, link))
    });
    dead
}

/// Links that do not lead to one note.
pub(super) fn dead(call: &Call, snapshot: &Snapshot<'_>, attachments: &Attachments) -> Vec<DeadLink> {
    let dead = dead_links_of(snapshot, attachments).into_iter();
    dead.filter_map(|dead| {
        let view = snapshot.views.get(dead.note)?;
        let link = view.note.links.get(dead.link)?;
        Some(DeadLink {
            path: snapshot.shown(dead.note, &call.scope),
            line: line_of(view.text, link.span.start),
            target: href(link),
            candidates: dead.candidates.iter().map(|&note| snapshot.shown(note, &call.scope)).collect(),
        })
    })
    .collect()
}

/// Notes that name a note without linking to it.
pub(super) fn mentions(call: &Call, snapshot: &Snapshot<'_>, note: &str) -> Result<Vec<Mention>, Error> {
    let note = snapshot.find(note)?;
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    let mut found: Vec<(usize, Mention)> = Vec::new();
    for mention in unlinked_mentions(&snapshot.views, &graph, note) {
        match found.last_mut() {
            Some((index, last)) if *index == mention.index => last.lines.push(mention.line),
            _ => found.push((
                mention.index,
                Mention {
                    path: snapshot.shown(mention.index, &call.scope),
                    title: snapshot.title(mention.index).to_string(),
                    lines: alloc::vec![mention.line],
                },
            )),
        }
    }
    Ok(found.into_iter().map(|(_, mention)| mention).collect())
}

/// What is known of a note.
pub(super) fn info(
    call: &Call,
    snapshot: &Snapshot<'_>,
    config: &NotebookConfig,
    index: usize,
    with_text: bool,
) -> NoteInfo {
    let Some(view) = snapshot.views.get(index) else { return NoteInfo::default() };
    let note = view.note;
    let part = |range: &core::ops::Range<usize>| view.text.get(range.clone()).unwrap_or_default().to_string();
    let lead = part(&note.lead);
    NoteInfo {
        path: snapshot.shown(index, &call.scope),
        title: note.title.clone(),
        snippets: if lead.is_empty() { Vec::new() } else { alloc::vec![lead.clone()] },
        lead,
        body: if with_text { part(&note.body) } else { String::new() },
        text: if with_text { view.text.to_string() } else { String::new() },
        word_count: note.word_count,
        tags: note.tags.clone(),
        aliases: note.aliases.clone(),
        metadata: json_object(&note.frontmatter.entries),
        link: link_to(config, view.path, &note.title),
        created: view.created,
        modified: view.modified,
        unapproved: Standing::of(&note.frontmatter).unapproved(),
    }
}

/// A link to a note as zk lists it: a wiki-link shows its target.
fn link_to(config: &NotebookConfig, path: &str, title: &str) -> String {
    let title = if config.link_format == LinkFormat::Wiki { "" } else { title };
    format_link(config, "", LinkTarget { path, title })
}

/// Frontmatter as a JSON object, its keys sorted.
fn json_object(entries: &[(String, Value)]) -> String {
    let mut sorted: Vec<&(String, Value)> = entries.iter().collect();
    order::sort_slice(&mut sorted, |a, b| a.0.cmp(&b.0));
    let fields: Vec<String> = sorted
        .into_iter()
        .map(|(key, value)| format!("{}:{}", super::template::json_string(key), json(value)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => format!("{value:?}"),
        Value::Float(_) => "null".to_string(),
        Value::String(text) => super::template::json_string(text),
        Value::List(values) => format!("[{}]", values.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Map(entries) => json_object(entries),
    }
}
