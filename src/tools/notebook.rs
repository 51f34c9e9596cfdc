//! Tools of the notebook.

use super::answer::{Answer, Item, Page, marked};
use super::arguments::{Arguments, on_one_line, shown};
use super::json::Object;
use super::spec::{Id, Spec};
use super::table::MAX_LIMIT;
use super::types::ToolsCall;
use crate::changes::Texts;
use crate::notebook::{
    self, ConditionKind, Journal, Link, NoteFilter, NotebookCall, Recall, RecallReply, Related, RelatedNote,
    RememberReply, RememberState, Warning, WriteNote,
};
use crate::request::Run;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Default number of related notes in an answer.
const USUAL_RELATED: u32 = 20;

/// Runs a tool.
pub(super) async fn run(with: &ToolsCall<'_>, spec: &Spec, arguments: &Arguments) -> Result<Answer, Error> {
    let call = &with.call.of_provenance(arguments.provenance()?)?;
    let with = &NotebookCall { call, notebook: with.notebook };
    let mut object = Object::new();
    Ok(match spec.id {
        Id::Journal => {
            let reply = screened(with, Journal { entry: arguments.needed("entry")? }).await?;
            object.text("path", &reply.path);
            object.text("entry", &reply.entry);
            Answer::new(with_warnings(reply.message.into_string(), &reply.warnings), object)
        }
        Id::Link => {
            let (source, target) = (arguments.needed("source")?, arguments.needed("target")?);
            let link = Link { source, target, text: arguments.text("text").map(ToString::to_string) };
            let reply = screened(with, link).await?;
            object.text("source", &reply.source);
            object.text("target", &reply.target);
            object.flag("already_linked", reply.already_linked);
            Answer::new(reply.message.as_str(), object)
        }
        Id::Related => {
            let (note, start, limit) = (arguments.needed("note")?, arguments.start()?, arguments.limit(USUAL_RELATED));
            // Asks for one more than is shown, to know if there is a next page.
            let limit_asked = start.saturating_add(limit).saturating_add(1);
            let reply = Related { note: note.clone(), limit: limit_asked }.run(with).await?;
            related(&reply.notes, &note, start, limit)
        }
        _ => remember(with, arguments).await?,
    })
}

/// Screens the texts of a command, and runs it.
async fn screened<'a, R: Run<NotebookCall<'a>> + Texts>(
    with: &NotebookCall<'a>,
    mut request: R,
) -> Result<R::Reply, Error> {
    request.screen(&with.call.screen)?;
    request.run(with).await
}

/// Creates a note.
async fn remember(with: &NotebookCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
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
    Ok(remembered(&notebook::write(with.call, with.notebook, note).await?))
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
