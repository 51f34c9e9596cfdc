//! `recall`: searches notes and entries together.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::everywhere::{add_other_projects, add_timelines};
use super::timeline::{TimeAsked, add_entries, time_asked, timeline};
use super::types::FilesCall;
use crate::changes::Call;
use crate::entries::{Entries, searchable};
use crate::notebook::{ItemKind, NoteFilter, Notebook, Reach, Recall, RecallReply, Warning, fitting, recall, render};
use crate::protocol::Error;
use crate::request::Run;
use crate::search::SearchableEntries;

impl Run<FilesCall<'_>> for Recall {
    async fn run(self, with: &FilesCall<'_>) -> Result<RecallReply, Error> {
        answer(with.call, with.notebook, with.entries, self).await
    }
}

/// Answers a recall from this memory, or from all projects of the store.
pub(crate) async fn answer(
    call: &Call,
    notebook: &Arc<Notebook>,
    entries: &Entries,
    request: Recall,
) -> Result<RecallReply, Error> {
    if request.everywhere {
        call.screen.check_other_projects()?;
    }
    let (start, limit) = (request.offset as usize, request.limit as usize);
    let asked = Recall { offset: 0, limit: request.offset.saturating_add(request.limit), ..request.clone() };
    let may_be_of_time = request.kinds.iter().all(|kind| kind.is_note() || *kind == ItemKind::Entry);
    if let Some(TimeAsked { time, .. }) = time_asked(&request.query, call.now).filter(|_| may_be_of_time) {
        let filter = request.filter.clone().below_notebook(&call.scope);
        let mut found =
            timeline(call, notebook, &Recall { filter: filter.clone(), ..asked.clone() }, time.clone()).await?;
        let with_entries = Recall { filter, ..request.clone() };
        if let Some(entries) = entries_asked(call, entries, &with_entries, &mut found.0.warnings).await {
            add_entries(call, &mut found, &entries, &time);
        }
        let found = add_timelines(call, found, &asked, &time).await?;
        // A word such as "today" alone may be looked for too.
        if found.total > 0 || request.query.split_whitespace().nth(2).is_some() {
            return Ok(page(found, start, limit, request.max_bytes));
        }
    }
    if !request.everywhere {
        return recall_all(call, notebook, entries, request).await;
    }
    if !request.sort.is_empty() {
        let message = "a recall everywhere cannot be sorted";
        return Err(Error::invalid_argument(message, "leave the sort keys out, or ask one project"));
    }
    let own = recall_all(call, notebook, entries, asked.clone()).await?;
    let reply = add_other_projects(call, own, &asked).await?;
    Ok(page(reply, start, limit, request.max_bytes))
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
async fn recall_all(
    call: &Call,
    notebook: &Arc<Notebook>,
    entries: &Entries,
    request: Recall,
) -> Result<RecallReply, Error> {
    let request = Recall { filter: request.filter.below_notebook(&call.scope), ..request };
    let mut warnings: Vec<Warning> = Vec::new();
    let found = entries_asked(call, entries, &request, &mut warnings).await;
    let mut reply = recall(call, notebook, found.as_ref(), &request, Reach::All).await?;
    reply.warnings.extend(warnings);
    Ok(reply)
}

/// Returns the entries that a recall is about; `None` if it is about none, or if they cannot be read.
async fn entries_asked(
    call: &Call,
    entries: &Entries,
    request: &Recall,
    warnings: &mut Vec<Warning>,
) -> Option<SearchableEntries> {
    let is_for_entries = request.filter == NoteFilter::default()
        && (request.kinds.is_empty() || request.kinds.contains(&ItemKind::Entry));
    if !is_for_entries || entries.agent().is_err() {
        return None;
    }
    // Entries that cannot be read must not keep the notes from being found.
    match searchable(call, entries).await {
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
