//! Tools of the notebook.

use super::answer::{Answer, Item, Page, marked};
use super::arguments::{Arguments, on_one_line, shown};
use super::json::Object;
use super::spec::{Id, Spec};
use super::table::MAX_LIMIT;
use super::types::ToolsCall;
use crate::notebook::{
    self, ConditionKind, Journal, Link, NoteFilter, NotebookCommand, NotebookReply, Recall, RecallReply, Related,
    RelatedNote, RememberReply, RememberState, Warning, WriteNote,
};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Default number of related notes in an answer.
const USUAL_RELATED: u32 = 20;

/// Builds the command of a call.
pub(super) fn command(spec: &Spec, arguments: &Arguments) -> Result<NotebookCommand, Error> {
    Ok(match spec.id {
        Id::Journal => NotebookCommand::Journal(Journal { entry: arguments.needed("entry")? }),
        Id::Link => NotebookCommand::Link(Link {
            source: arguments.needed("source")?,
            target: arguments.needed("target")?,
            text: arguments.text("text").map(ToString::to_string),
        }),
        Id::Related => {
            let end = arguments.start()?.saturating_add(arguments.limit(USUAL_RELATED));
            // Asks for one more than is shown, to know if there is a next page.
            NotebookCommand::Related(Related { note: arguments.needed("note")?, limit: end.saturating_add(1) })
        }
        _ => return Err(Error::internal("no tool of the notebook")),
    })
}

/// Creates a note.
pub(super) async fn remember(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let note = WriteNote {
        title: arguments.needed("title")?,
        content: arguments.needed("content")?,
        template: arguments.text("kind").unwrap_or_default().to_string(),
        tags: arguments.texts("tags"),
        links: arguments.texts("links"),
        supersede: arguments.flag("supersede"),
        supersedes: arguments.text("supersedes").map(ToString::to_string),
        ..WriteNote::default()
    };
    let call = with.call.of_provenance(arguments.provenance()?)?;
    Ok(remembered(&notebook::write(&call, with.notebook, note).await?))
}

/// Builds the question of a recall.
pub(super) fn question(arguments: &Arguments) -> Result<Recall, Error> {
    Ok(Recall {
        query: arguments.needed("query")?,
        limit: arguments.hits(),
        offset: arguments.start()?,
        filter: NoteFilter::default().with(ConditionKind::Tag, arguments.texts("tags")),
        ..Recall::default()
    })
}

/// Builds the answer from the reply.
pub(super) fn answer(arguments: &Arguments, reply: NotebookReply) -> Result<Answer, Error> {
    Ok(match reply {
        NotebookReply::Journal(reply) => {
            let mut object = Object::new();
            object.text("path", &reply.path);
            object.text("entry", &reply.entry);
            Answer::new(with_warnings(reply.message.into_string(), &reply.warnings), object)
        }
        NotebookReply::Link(reply) => {
            let mut object = Object::new();
            object.text("source", &reply.source);
            object.text("target", &reply.target);
            object.flag("already_linked", reply.already_linked);
            Answer::new(reply.message.as_str(), object)
        }
        NotebookReply::Related(reply) => {
            related(&reply.notes, &arguments.needed("note")?, arguments.start()?, arguments.limit(USUAL_RELATED))
        }
        _ => return Err(Error::internal("no answer of the notebook")),
    })
}

fn remembered(reply: &RememberReply) -> Answer {
    let state = match reply.state {
        RememberState::Created => "created",
        RememberState::AlreadyThere => "already_there",
        RememberState::Superseded(_) => "superseded",
    };
    let mut object = Object::new();
    object.text("path", &reply.path);
    object.text("title", &reply.title);
    object.text("state", state);
    Answer::new(with_warnings(reply.message.to_string(), &reply.warnings), object)
}

/// Number of items that are named if none seems to answer.
const NEAREST: usize = 3;

/// Builds the answer to a recall.
pub(super) fn recalled(reply: &RecallReply, query: &str, start: u32) -> Answer {
    let items = reply.hits.iter().zip(1_u64..).map(|(hit, number)| {
        let number = number.saturating_add(start.into());
        let title = on_one_line(&hit.title);
        let mut object = Object::new();
        object.text("kind", hit.kind.as_str());
        let name = match &hit.category {
            Some(category) => {
                object.text("key", &hit.title);
                object.text("category", category);
                format!("entry [{title}] ({})", on_one_line(category))
            }
            None => {
                object.text("title", &hit.title);
                format!("{title} ({})", hit.path)
            }
        };
        object.text("path", &hit.path);
        let mut day = String::new();
        if let Some(date) = &hit.day {
            day = format!(", {date}");
            object.text("date", date);
        }
        object.text("passage", &hit.passage);
        object.texts("terms", &hit.terms);
        object.marks(&hit.marks);
        let text = format!("{number}. {name}{day}{}\n{}", marked(&hit.marks), hit.passage.trim_end());
        Item { text, object }
    });
    // What does not answer is named, so that the model can look, and costs no more.
    let nearest = |item: Item| match reply.is_doubtful {
        true => Item { text: item.text.lines().next().unwrap_or_default().to_string(), ..item },
        false => item,
    };
    let most = if reply.is_doubtful { NEAREST } else { usize::MAX };
    let page = Page::from_items(items.take(most).map(nearest));
    let end = start.saturating_add(page.len());
    let next = (page.len() > 0 && end < reply.total && !reply.is_doubtful).then(|| end.to_string());
    let headline = match (reply.total, page.len()) {
        (1.., _) if reply.is_doubtful => format!("Nothing in memory seems to answer: {}; the nearest:", shown(query)),
        (0, _) => format!("Nothing in memory answers: {}", shown(query)),
        (total, 0) => format!("Nothing more answers: {}; {total} in all", shown(query)),
        (total, _) => format!("{total} found, {} to {end} of them:", start.saturating_add(1)),
    };
    page.answer(&with_warnings(headline, &reply.warnings), "hits", Some(reply.total.into()), next.as_deref())
}

fn related(notes: &[RelatedNote], note: &str, start: u32, limit: u32) -> Answer {
    let limit = limit.min(MAX_LIMIT as u32) as usize;
    let items = notes.iter().skip(start as usize).take(limit).map(|related| {
        let marks = marked(&related.marks);
        let text = format!("- {} ({}): {}{marks}", on_one_line(&related.title), related.path, related.reason);
        let mut object = Object::new();
        object.text("path", &related.path);
        object.text("title", &related.title);
        object.count("distance", related.distance.into());
        object.text("reason", &related.reason);
        object.marks(&related.marks);
        Item { text, object }
    });
    let page = Page::from_items(items);
    let end = start.saturating_add(page.len());
    let next = (page.len() > 0 && (end as usize) < notes.len()).then(|| end.to_string());
    let headline = match (notes.is_empty(), page.len()) {
        (true, _) => format!("Nothing is linked with {}.", shown(note)),
        (false, 0) => format!("Nothing more is linked with {}.", shown(note)),
        _ => format!("Linked with {}:", shown(note)),
    };
    page.answer(&headline, "notes", None, next.as_deref())
}

fn with_warnings(mut text: String, warnings: &[Warning]) -> String {
    for warning in warnings.iter().take(3) {
        text.push_str(&format!("\n(warning: {warning})"));
    }
    text
}
