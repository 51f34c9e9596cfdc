//! The everyday tools: one set over the whole memory, in which any name means any item.

use super::answer::{Answer, Item, MAX_ANSWER_BYTES, Page, marked};
use super::arguments::{Arguments, on_one_line};
use super::json::Object;
use super::spec::{Id, Spec};
use super::table::{CHANGE, DECISION};
use super::types::ToolsCall;
use super::{entries, journal, notebook};
use crate::history::{ListOperations, Undo};
use crate::items::{Edit, Forget, ItemKind, ItemList, ListItems, Show, Shown, answer_recall, why_lost};
use crate::journal::{FileState, Target, WriteFile, WriteMode};
use crate::names::{Handle, handle};
use crate::notebook::{ConditionKind, NoteFilter, SortBy, SortKey};
use crate::request::Run;
use crate::store::{DECISIONS_FOLDER, LocalTime, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Default number of items in a list.
const USUAL_LIST: u32 = 20;

/// Runs a tool. The answer is only text: a structured copy would cost the tokens twice.
pub(super) async fn run(with: &ToolsCall<'_>, spec: &Spec, arguments: &Arguments) -> Result<Answer, Error> {
    match act(with, spec, arguments).await {
        Ok(answer) => Ok(Answer { structured: None, ..answer }),
        Err(error) => {
            let named = |fields: &[&str]| -> alloc::vec::Vec<String> {
                fields.iter().filter_map(|field| arguments.text(field)).map(String::from).collect()
            };
            let (names, kind) = match named(&["name"]) {
                names if !names.is_empty() => (names, None),
                _ => {
                    let notes = named(&["note", "source", "target", "supersedes"]);
                    (notes.into_iter().chain(arguments.texts("links")).collect(), Some(ItemKind::Note))
                }
            };
            Err(why_lost(with.stores(), &names, kind, error).await)
        }
    }
}

async fn act(with: &ToolsCall<'_>, spec: &Spec, arguments: &Arguments) -> Result<Answer, Error> {
    match spec.id {
        Id::Ask => ask(with, arguments).await,
        Id::Keep => keep(with, spec, arguments).await,
        Id::Show => show(with, arguments).await,
        Id::Change => change(with, arguments).await,
        Id::Drop => forget(with, arguments).await,
        Id::ListItems if arguments.text("kind") == Some(CHANGE) => changes(with, arguments).await,
        Id::ListItems => list(with, arguments).await,
        Id::Undo => undo(with).await,
        _ => notebook::run(with, spec, arguments).await,
    }
}

/// Answers a question from memory.
async fn ask(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let kind = arguments.text("kind").map(str::parse::<ItemKind>).transpose()?;
    if arguments.text("query").is_some_and(|query| query.trim().is_empty()) {
        let help = "ask a question, or list with mem_list, which takes tags and a kind";
        return Err(Error::invalid_argument("mem_recall: the query is empty", help));
    }
    let mut question = notebook::question(arguments)?;
    if kind == Some(ItemKind::Entry) && arguments.has("tags") {
        let message = "mem_recall: `tags` cannot be used with kind entry";
        return Err(Error::invalid_argument(message, "leave the tags out; mem_list selects entries by tags"));
    }
    question.kinds.extend(kind);
    question.everywhere = arguments.flag("everywhere");
    let reply = answer_recall(with.stores(), question).await?;
    Ok(notebook::recalled(&reply, &arguments.needed("query")?, arguments.start()?))
}

/// Lists items, the last changed first.
async fn list(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let is_decision = arguments.text("kind") == Some(DECISION);
    let kind = if is_decision { Some(ItemKind::Note) } else { arguments.text("kind").map(str::parse).transpose()? };
    let category = arguments.text("category").map(ToString::to_string);
    let asked = ListItems {
        // Only facts have a category.
        kinds: kind.or(category.as_ref().map(|_| ItemKind::Entry)).into_iter().collect(),
        category,
        filter: NoteFilter::default()
            .with(ConditionKind::Tag, arguments.texts("tags"))
            .with(ConditionKind::Path, is_decision.then_some(DECISIONS_FOLDER)),
        sort: vec![SortKey { by: SortBy::Modified, ascending: false }],
        limit: Some(arguments.limit(USUAL_LIST)),
        after: Some(arguments.start()?.to_string()),
        ..ListItems::default()
    };
    let reply = asked.run(&with.items(with.origin)).await?;
    Ok(listed(with.call.now, &reply, arguments.start()?))
}

/// Lists what was changed.
async fn changes(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let (start, limit) = (arguments.start()?, arguments.limit(USUAL_LIST));
    if let Some(other) = ["category", "tags"].into_iter().find(|name| arguments.has(name)) {
        let message = format!("mem_list: changes have no {other}");
        return Err(Error::invalid_argument(message, "leave it out"));
    }
    let list = ListOperations { limit: start.saturating_add(limit), ..ListOperations::default() };
    let list = list.run(&with.stores()).await?;
    let items = list.operations.iter().skip(start as usize).map(|info| {
        let files: alloc::vec::Vec<String> =
            info.files.iter().map(|file| format!("{} {}", file.kind, on_one_line(&file.path))).collect();
        let command = info.tool.as_ref().unwrap_or(&info.command);
        let undone = if info.undone { " (undone)" } else { "" };
        let text =
            format!("- {} {}{undone}: {} ({})", info.time, on_one_line(command), files.join(", "), info.operation);
        Item { text, object: Object::new() }
    });
    let page = Page::from_items(items);
    let end = start.saturating_add(page.len());
    let next = (page.len() > 0 && end < list.total).then(|| end.to_string());
    let headline = match (list.total, page.len()) {
        (0, _) => "Nothing was changed yet.".to_string(),
        (total, 0) => format!("No more changes: {total} in all."),
        (total, _) => {
            format!("Changes {} to {end} of {total}; mem_undo undoes your last one:", start.saturating_add(1))
        }
    };
    Ok(page.answer(&headline, "changes", Some(list.total.into()), next.as_deref()))
}

/// Undoes the last operation of the caller.
async fn undo(with: &ToolsCall<'_>) -> Result<Answer, Error> {
    let reply = Undo { only_own: true, ..Undo::default() }.run(&with.stores()).await?;
    Ok(Answer::new(reply.message, Object::new()))
}

/// Reads the item of a name from a position on.
pub(super) async fn part(with: &ToolsCall<'_>, name: String, start: u32) -> Result<Shown, Error> {
    let asked = Show { offset: start.into(), max_bytes: MAX_ANSWER_BYTES as u32, ..Show::new(name) };
    asked.run(&with.items(with.origin)).await
}

/// Reads a part of an item.
async fn show(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let name = arguments.needed("name")?;
    let start = arguments.start()?;
    let part = part(with, name, start).await?;
    let answer = match &part.entry {
        Some(entry) => entries::one(entry, start)?,
        None => journal::read(with.call, &part),
    };
    let head = match part.version {
        Some(version) if start == 0 => format!("{}@{version}:\n", part.path),
        None if part.entry.is_none() && part.state == FileState::Text && start == 0 => format!("{}:\n", part.path),
        _ => String::new(),
    };
    Ok(Answer { text: head + &answer.text, ..answer })
}

/// Keeps text as a note, as an entry, or as lines of a file of the scope.
async fn keep(with: &ToolsCall<'_>, spec: &Spec, arguments: &Arguments) -> Result<Answer, Error> {
    if arguments.needed("content")?.trim().is_empty() {
        return Err(Error::invalid_argument("mem_remember: `content` is empty", "give the text to keep"));
    }
    let kept = ["title", "key", "to"].into_iter().filter(|name| arguments.has(name));
    let kept: alloc::vec::Vec<&str> = kept.collect();
    let (place, others): (&str, &[&str]) = match kept.as_slice() {
        ["title"] => ("title", &["category"]),
        ["key"] => ("key", &["kind", "links", "supersedes"]),
        ["to"] => ("to", &["kind", "links", "supersedes", "category", "tags"]),
        [] => {
            let message = "mem_remember: none of `title`, `key` and `to` is given";
            return Err(Error::invalid_argument(message, "give one: a title for a note, a key for a fact, or `to`"));
        }
        several => {
            let message = format!("mem_remember: {} are given together", several.join(", "));
            return Err(Error::invalid_argument(message, "give one of them"));
        }
    };
    if let Some(other) = others.iter().find(|name| arguments.has(name)) {
        let message = format!("mem_remember: `{other}` cannot be used with `{place}`");
        return Err(Error::invalid_argument(message, "leave it out"));
    }
    match place {
        "title" => notebook::run(with, spec, arguments).await,
        "key" => entries::store(with, arguments).await,
        _ => {
            let target = Target::from_name(&arguments.needed("to")?)?;
            let content = arguments.needed("content")?;
            let write = WriteFile { target, mode: WriteMode::Append, content, truncate: false };
            let call = &with.call.of_provenance(arguments.provenance()?)?;
            Ok(journal::written(&crate::journal::write(call, write).await?))
        }
    }
}

/// Replaces text that an item has once.
async fn change(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let name = arguments.needed("name")?;
    let (old_text, new_text) = (arguments.needed("old_str")?, arguments.needed("new_str")?);
    let origin = arguments.origin(with.origin)?;
    let reply = Edit { name, kind: None, old_text, new_text }.run(&with.items(&origin)).await?;
    match &reply.entry {
        Some(stored) => entries::stored(stored),
        None => Ok(Answer::new(reply.message.as_str(), Object::new())),
    }
}

/// Returns the file of a target.
pub(super) async fn path(with: &ToolsCall<'_>, target: &Target) -> Result<RelPath, Error> {
    match target {
        Target::Page(name) => match handle(with.stores(), name, None).await? {
            Handle { kind: ItemKind::Entry, .. } => {
                Err(Error::invalid_argument("an entry is not a page", "store its new text under its key"))
            }
            Handle { file, .. } => Ok(file.path),
        },
        target => target.existing_path(with.call),
    }
}

async fn forget(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let asked = Forget::new(arguments.needed("name")?);
    let forgotten = asked.run(&with.items(&arguments.origin(with.origin)?)).await?;
    // A model has no `restore`, and its last operation is this one.
    Ok(Answer::new(forgotten.message.as_str().replace("`restore`", "`mem_undo`"), Object::new()))
}

fn listed(now: LocalTime, reply: &ItemList, start: u32) -> Answer {
    let items = reply.items.iter().map(|item| {
        let day = now.day_of(item.modified);
        let marks = marked(&item.marks);
        let writer = item.writer.as_ref().map(|name| format!(" (by {})", on_one_line(name))).unwrap_or_default();
        let place = item.category.as_ref().map_or_else(|| item.path.clone(), |category| format!("fact, {category}"));
        let preview = item.entry.as_ref().map(|entry| format!(": {}", entries::preview(entry))).unwrap_or_default();
        let text = format!("- {} ({}), {day}{writer}{marks}{preview}", on_one_line(&item.name), on_one_line(&place));
        Item { text, object: Object::new() }
    });
    let page = Page::from_items(items);
    let end = start.saturating_add(page.len());
    let next = (page.len() > 0 && end < reply.total).then(|| end.to_string());
    let headline = match (reply.total, page.len()) {
        (0, _) => "There are no such items.".to_string(),
        (total, 0) => format!("No more items: {total} in all."),
        (total, _) => format!("Items {} to {end} of {total}:", start.saturating_add(1)),
    };
    page.answer(&headline, "items", Some(reply.total.into()), next.as_deref())
}
