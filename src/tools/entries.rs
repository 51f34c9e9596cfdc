//! Tools of the entries.

use super::answer::{Answer, Item, MAX_ANSWER_BYTES, Page, marked, more};
use super::arguments::{Arguments, on_one_line, shown};
use super::json::Object;
use super::spec::{Id, Spec};
use super::types::ToolsCall;
use crate::entries::{self, EntryInfo, Found, NewEntry, StoreReply, StoreState, WriteEntry, cursor_of, find, get};
use crate::items::{Forget, Forgotten, ItemKind, ItemList, ListItems};
use crate::notebook::{ConditionKind, NoteFilter};
use crate::request::Run;
use crate::store::utc_text;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{head, normalize_line};
use saddlebag_protocol::{Error, ErrorCode};

/// Default number of keys in a list.
const USUAL_LIST: u32 = 20;
/// Highest position that the pages of a search reach.
const MAX_START: u32 = 1_000;
/// Size of the content that a list shows of each entry, in bytes.
const PREVIEW_BYTES: usize = 120;

/// Runs a tool.
pub(super) async fn run(with: &ToolsCall<'_>, spec: &Spec, arguments: &Arguments) -> Result<Answer, Error> {
    match spec.id {
        Id::Recall => recall(with, arguments).await,
        Id::List => list(with, arguments).await,
        Id::Forget => forget(with, arguments).await,
        _ => store(with, arguments).await,
    }
}

/// Shows the entry of a key, or searches the entries.
async fn recall(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let (call, origin, start) = (with.call, &arguments.origin(with.origin)?, arguments.start()?);
    let query = match (arguments.text("key"), arguments.text("query")) {
        (Some(_), None) if arguments.has("limit") => {
            let message = "memory_recall: `limit` cannot be used with `key`, which selects one entry";
            return Err(Error::invalid_argument(message, "leave it out, or give a query"));
        }
        (Some(_), Some(_)) => {
            return Err(Error::invalid_argument("memory_recall: both `key` and `query` are given", "give one"));
        }
        (None, None) => {
            let help = "give the exact key, or a query; memory_list has the keys";
            return Err(Error::invalid_argument("memory_recall: neither `key` nor `query` is given", help));
        }
        (Some(key), None) => {
            return one(&get(call, with.entries, with.origin, key).await?, start);
        }
        (None, Some(query)) => query,
    };
    if start > MAX_START {
        let message = format!("`cursor` is {start}, the limit is {MAX_START}");
        return Err(Error::invalid_argument(message, "ask a narrower question, or list the keys"));
    }
    let limit = start.saturating_add(arguments.hits());
    Ok(found(&find(call, with.entries, origin, query, limit).await?, query, start))
}

/// Stores an entry.
pub(super) async fn store(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let entry = NewEntry {
        tags: arguments.texts("tags"),
        ..NewEntry::new(
            arguments.needed("key")?,
            arguments.needed("content")?,
            arguments.text("category").unwrap_or("core"),
        )
    };
    let (origin, entry) = (arguments.origin(with.origin)?, WriteEntry { entry, expected_version: None });
    stored(&entries::run(with.call, with.entries, &origin, entry).await?)
}

/// Lists entries.
async fn list(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let asked = ListItems {
        kinds: vec![ItemKind::Entry],
        category: arguments.text("category").map(ToString::to_string),
        filter: NoteFilter::default().with(ConditionKind::Tag, arguments.texts("tags")),
        limit: Some(arguments.limit(USUAL_LIST)),
        after: arguments.text("cursor").map(ToString::to_string),
        ..ListItems::default()
    };
    Ok(listed(&asked.run(&with.items(with.origin)).await?))
}

pub(super) fn stored(reply: &StoreReply) -> Result<Answer, Error> {
    // Nothing was written. A model would read any other answer as success.
    if reply.state == StoreState::Forgotten {
        let help = "it was forgotten on purpose; if it is still true, store it in other words";
        let message = format!("{} is forgotten and was not stored", reply.key);
        return Err(Error::new(ErrorCode::InvalidArgument, message, help));
    }
    let state = match &reply.state {
        StoreState::Stored => "stored",
        StoreState::Updated => "updated",
        StoreState::Moved(_) => "moved",
        StoreState::Unchanged => "unchanged",
        StoreState::Forgotten => "forgotten",
        StoreState::Conflict => "conflict",
        StoreState::Held => "held",
    };
    let mut object = Object::new();
    object.text("key", &reply.key);
    object.text("category", &reply.category);
    object.text("state", state);
    object.texts("evicted", &reply.evicted);
    Ok(Answer::new(reply.message.as_str(), object))
}

/// Builds the answer for one entry. Content that is longer than an answer is shown from byte `start` on.
pub(super) fn one(entry: &EntryInfo, start: u32) -> Result<Answer, Error> {
    let start = start as usize;
    let size = entry.content.len();
    let rest = entry.content.get(start..).filter(|rest| start == 0 || !rest.is_empty()).ok_or_else(|| {
        let message = format!("`cursor` is {start}, the content has {size} bytes");
        Error::invalid_argument(message, "give the cursor of the previous answer, or leave it out to begin")
    })?;
    let part = head(rest, MAX_ANSWER_BYTES);
    let next = (part.len() < rest.len()).then(|| (start + part.len()).to_string());
    let mut text = format!("[{}] ({})", on_one_line(&entry.key), on_one_line(&entry.category));
    if !entry.tags.is_empty() {
        text.push_str(&format!(" tags: {}", on_one_line(&entry.tags.join(", "))));
    }
    text.push_str(&format!(", updated {}{}\n{part}", seconds(entry.updated), marked(&entry.marks)));
    if let Some(next) = &next {
        text.push_str(&format!("\n(bytes {start} to {next} of {size})"));
        text.push_str(&more(next));
    }
    let mut object = Object::new();
    object.objects("entries", &[fields(entry, part)]);
    object.count("total", 1);
    object.next(next.as_deref());
    Ok(Answer::new(text, object))
}

fn found(reply: &Found, query: &str, start: u32) -> Answer {
    let items = reply.hits.iter().skip(start as usize).zip(1_u64..).map(|(hit, number)| {
        let entry = &hit.entry;
        let content = content(&entry.content);
        let number = number.saturating_add(start.into());
        let (key, category) = (on_one_line(&entry.key), on_one_line(&entry.category));
        let text = format!("{number}. [{key}] ({category}){}: {content}", marked(&entry.marks));
        let mut object = fields(entry, &content);
        object.texts("terms", &hit.terms);
        Item { text, object }
    });
    let page = Page::from_items(items);
    let end = start.saturating_add(page.len());
    let next = (page.len() > 0 && end < reply.total).then(|| end.to_string());
    let headline = match (reply.total, page.len()) {
        (0, _) => format!("No memories found matching: {}", shown(query)),
        (total, 0) => format!("No more memories matching: {}; {total} in all", shown(query)),
        (1, _) => "Found 1 memory:".to_string(),
        (total, _) => format!("Found {total} memories, {} to {end} of them:", start.saturating_add(1)),
    };
    let remarks = reply.problems.iter().filter(|problem| problem.path.is_empty());
    let headline = remarks.fold(headline, |text, remark| format!("{text}\n(warning: {})", remark.message));
    page.answer(&headline, "entries", Some(reply.total.into()), next.as_deref())
}

fn listed(reply: &ItemList) -> Answer {
    let entries = || reply.items.iter().filter_map(|item| item.entry.as_ref());
    let items = entries().map(|entry| {
        let (key, category, preview) = (on_one_line(&entry.key), on_one_line(&entry.category), preview(entry));
        let text = format!("- {key} [{category}] {}{}: {preview}", seconds(entry.updated), marked(&entry.marks));
        Item { text, object: fields(entry, preview.trim_end_matches('…')) }
    });
    let page = Page::from_items(items);
    // A page that is full before the command's page ends continues after the last entry shown.
    let shown = page.len() as usize;
    let is_full = shown > 0 && shown < reply.items.len();
    let last = entries().nth(shown.saturating_sub(1)).filter(|_| is_full).map(cursor_of);
    let next = last.or_else(|| reply.next.clone());
    let headline = match (reply.total, page.len()) {
        (0, _) => "No memory entries found.".to_string(),
        (total, 0) => format!("No more memory entries: {total} in all."),
        (total, count) => format!("Memory entries: showing {count} of {total}"),
    };
    page.answer(&headline, "entries", Some(reply.total.into()), next.as_deref())
}

/// Returns the beginning of the content of an entry, on one line.
pub(super) fn preview(entry: &EntryInfo) -> String {
    let preview = head(&entry.content, PREVIEW_BYTES);
    let rest = if preview.len() < entry.content.len() { "…" } else { "" };
    format!("{}{rest}", normalize_line(preview))
}

/// Forgets an entry.
async fn forget(with: &ToolsCall<'_>, arguments: &Arguments) -> Result<Answer, Error> {
    let asked = Forget { kind: Some(ItemKind::Entry), ..Forget::new(arguments.needed("key")?) };
    let Forgotten { name, already_forgotten, .. } = asked.run(&with.items(&arguments.origin(with.origin)?)).await?;
    let mut object = Object::new();
    object.text("key", &name);
    object.flag("already_forgotten", already_forgotten);
    let again = if already_forgotten { " (it was forgotten before)" } else { "" };
    Ok(Answer::new(format!("Forgot memory: {}{again}", on_one_line(&name)), object))
}

/// Shortens the content of an entry to fit the answer. The whole content can be recalled by its key.
fn content(content: &str) -> String {
    let part = head(content, MAX_ANSWER_BYTES / 2);
    match part.len() < content.len() {
        true => format!("{part}… ({} bytes; recall it by its key)", content.len()),
        false => part.to_string(),
    }
}

/// Returns a moment for a model, in whole seconds. The rest would cost tokens and say nothing.
fn seconds(nanoseconds: u64) -> String {
    utc_text(nanoseconds - nanoseconds % 1_000_000_000)
}

fn fields(entry: &EntryInfo, content: &str) -> Object {
    let mut object = Object::new();
    object.text("key", &entry.key);
    object.text("category", &entry.category);
    object.text("content", content);
    object.texts("tags", &entry.tags);
    object.text("updated", &seconds(entry.updated));
    object.marks(&entry.marks);
    object
}
