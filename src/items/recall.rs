//! `recall`: searches notes and entries together.

use super::everywhere::{add_other_projects, add_timelines};
use super::timeline::{Dated, TimeAsked, add_entries, latest_asked, time_asked, timeline};
use super::types::ItemsCall;
use crate::changes::Call;
use crate::entries::{self, Entries, EntryHit, EntryInfo, searchable};
use crate::names::Stores;
use crate::notebook::{
    ItemKind, NoteFilter, PASSAGE_BYTES, Reach, Recall, RecallHit, RecallReply, Warning, fitting, recall, render,
    words_of,
};
use crate::request::Run;
use crate::search::SearchableEntries;
use crate::store::NOTE_SUFFIX;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

impl Run<ItemsCall<'_>> for Recall {
    async fn run(self, with: &ItemsCall<'_>) -> Result<RecallReply, Error> {
        let held = self.held(with)?;
        let (max_bytes, limit) = (self.max_bytes, self.limit as usize);
        let mut reply = answer(with.stores, self).await?;
        if held.is_empty() {
            return Ok(reply);
        }
        // What the run holds replaces what is stored.
        let before = reply.hits.len();
        reply.hits.retain(|hit| hit.kind != ItemKind::Entry || held.iter().all(|held| held.entry.key != hit.title));
        let more = (held.len() + reply.hits.len()).saturating_sub(before);
        reply.total = reply.total.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
        reply.hits.splice(0..0, held.into_iter().map(hit_of_run));
        reply.is_doubtful = false;
        Ok(page(reply, 0, limit, max_bytes))
    }
}

impl Recall {
    /// Returns the entries that the run holds and that have any word of the query. They come first.
    fn held(&self, with: &ItemsCall<'_>) -> Result<Vec<EntryHit>, Error> {
        match with.origin.run.as_deref() {
            Some(run) if self.is_for_entries() && self.offset == 0 => {
                entries::held_hits(with.call, with.entries, run, &self.query)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn is_for_entries(&self) -> bool {
        self.filter == NoteFilter::default() && (self.kinds.is_empty() || self.kinds.contains(&ItemKind::Entry))
    }
}

fn hit_of_run(EntryHit { entry, terms }: EntryHit) -> RecallHit {
    let EntryInfo { key, category, content, updated, marks, .. } = entry;
    let (kind, passage) = (ItemKind::Entry, saddlebag_markdown::head(&content, PASSAGE_BYTES).to_string());
    RecallHit {
        kind,
        title: key,
        category: Some(category),
        date: updated,
        terms,
        passage,
        marks,
        ..RecallHit::default()
    }
}

/// Answers a recall from this memory, or from all projects of the store.
pub(crate) async fn answer(stores: Stores<'_>, request: Recall) -> Result<RecallReply, Error> {
    let Stores { call, notebook, entries } = stores;
    if request.everywhere {
        call.screen.check_other_projects()?;
    }
    if request.max_bytes.is_some() && (request.offset > 0 || !request.sort.is_empty() || request.explain) {
        let message = "passages that fill a budget have no pages, no sort keys and no parts of a score";
        return Err(Error::invalid_argument(message, "leave the budget out, or these options"));
    }
    let (start, limit) = (request.offset as usize, request.limit as usize);
    // A budget has room for no more, and `limit` is not used then.
    let of_page = request.offset.saturating_add(request.limit);
    let most = request.max_bytes.map_or(of_page, |bytes| bytes / LEAST_HIT_BYTES + 1);
    let asked = Recall { offset: 0, limit: most, ..request.clone() };
    let may_be_of_time = request.kinds.iter().all(|kind| kind.is_note() || *kind == ItemKind::Entry);
    let of_time = time_asked(&request.query, call.now).map(|TimeAsked { time, .. }| (time, Dated::default()));
    let of_time = of_time.or_else(|| Some((0..u64::MAX, latest_asked(&request.query)?)));
    if let Some((time, dated)) = of_time.filter(|_| may_be_of_time) {
        let filter = request.filter.clone().below_notebook(&call.scope);
        let mut found =
            timeline(call, notebook, &Recall { filter: filter.clone(), ..asked.clone() }, time.clone(), dated).await?;
        let with_entries = Recall { filter, ..request.clone() };
        if dated.has_entries()
            && let Some(entries) = entries_asked(call, entries, &with_entries, true, &mut found.0.warnings).await
        {
            add_entries(call, &mut found, &entries, &time);
        }
        let mut found = add_timelines(call, notebook, found, &asked, &time, dated).await?;
        if found.total > 0 && (!request.sort.is_empty() || request.explain) {
            let message = "a question about a time is answered in its order, and has no parts of a score";
            let help = "leave the sort keys and `explain` out, or name what to look for";
            return Err(Error::invalid_argument(message, help));
        }
        // A name may have a date in it.
        let named = Recall { max_bytes: None, limit: COMPARED_NAMES, ..asked.clone() };
        for hit in recall_all(stores, named).await?.hits.into_iter().rev() {
            let stem = hit.path.rsplit('/').next().unwrap_or_default().trim_end_matches(NOTE_SUFFIX);
            let is_named = [&hit.title, stem].iter().any(|name| has_name(&request.query, name));
            // The name of a log is only a date.
            if is_named && hit.kind != ItemKind::Log {
                let others = found.hits.len();
                found.hits.retain(|other| (&other.path, &other.title) != (&hit.path, &hit.title));
                found.total += u32::from(found.hits.len() == others);
                found.hits.insert(0, hit);
            }
        }
        // A word such as "today" alone may be looked for too.
        if found.total > 0 || request.query.split_whitespace().nth(2).is_some() {
            return Ok(page(found, start, limit, request.max_bytes));
        }
    }
    if !request.everywhere {
        return recall_all(stores, request).await;
    }
    if !request.sort.is_empty() {
        let message = "a recall everywhere cannot be sorted";
        return Err(Error::invalid_argument(message, "leave the sort keys out, or ask one project"));
    }
    let own = recall_all(stores, asked.clone()).await?;
    let reply = add_other_projects(call, notebook, own, &asked).await?;
    Ok(page(reply, start, limit, request.max_bytes))
}

/// Number of bytes of a hit of a time, at the least.
const LEAST_HIT_BYTES: u32 = 32;

/// Number of hits whose names are compared with a question about a time.
const COMPARED_NAMES: u32 = 20;

/// Returns true if a question is a name, or has a whole name with a date in it.
pub(crate) fn has_name(query: &str, name: &str) -> bool {
    let (name, query) = (name.to_lowercase(), query.to_lowercase());
    let (name, query) = (words_of(&name), words_of(&query));
    let has_date = name.iter().any(|word| word.contains(|c: char| c.is_ascii_digit()));
    let is_part = has_date && name.len() > 1 && query.windows(name.len()).any(|words| words == name);
    name == query || is_part
}

/// Leaves a page of the hits; with a budget, those that fit it.
fn page(mut reply: RecallReply, start: usize, limit: usize, max_bytes: Option<u32>) -> RecallReply {
    reply.hits = match max_bytes {
        Some(max_bytes) => fitting(reply.hits, max_bytes as usize),
        None => reply.hits.into_iter().skip(start).take(limit).collect(),
    };
    reply.rendered = render(&reply.hits);
    reply
}

/// Searches the notes and the entries of a memory.
async fn recall_all(Stores { call, notebook, entries }: Stores<'_>, request: Recall) -> Result<RecallReply, Error> {
    let request = Recall { filter: request.filter.below_notebook(&call.scope), ..request };
    let mut warnings: Vec<Warning> = Vec::new();
    let found = entries_asked(call, entries, &request, false, &mut warnings).await;
    let mut reply = recall(call, notebook, found.as_ref(), &request, Reach::All).await?;
    reply.warnings.extend(warnings);
    Ok(reply)
}

/// Returns the entries that a recall is about; `None` if it is about none, or if they cannot be read.
async fn entries_asked(
    call: &Call,
    entries: &Entries,
    request: &Recall,
    needs_text: bool,
    warnings: &mut Vec<Warning>,
) -> Option<SearchableEntries> {
    if !request.is_for_entries() || entries.agent().is_err() {
        return None;
    }
    // Entries that cannot be read must not keep the notes from being found.
    match searchable(call, entries, needs_text).await {
        Ok((found, problems)) => {
            warnings.extend(problems.into_iter().map(|problem| Warning::new(&problem.path, problem.message)));
            Some(found)
        }
        Err(error) => {
            warnings.push(Warning::new("", format!("entries were not searched: {error}")));
            None
        }
    }
}
