//! `list-entries`: a page of the entries that match a filter.

use super::readable::readable;
use super::select::{Cursor, EntryFilter, LIST_ENTRIES, MAX_LIST_ENTRIES, in_order};
use super::state::EntriesCall;
use super::types::{EntryInfo, EntryProblem};
use super::view::look;
use crate::request::{Run, request};
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::Error;

/// Lists entries; the last created comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntries {
    /// Filter.
    pub filter: EntryFilter,
    /// Maximum number of entries. `None` means 100, which is also the limit.
    pub limit: Option<u32>,
    /// The `next` of the previous page.
    pub cursor: Option<String>,
}

/// A page of entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListEntriesReply {
    /// Entries; the last created comes first.
    pub entries: Vec<EntryInfo>,
    /// Cursor of the next page; `None` on the last page.
    pub next: Option<String>,
    /// Number of entries on all pages.
    pub total: u32,
    /// Files that could not be parsed as entries.
    pub problems: Vec<EntryProblem>,
}

request!(ListEntries "list-entries" => ListEntriesReply, Reads, |name| {
    let filters = [EntryFilter::default(), EntryFilter { category: Some(name.into()), ..EntryFilter::default() }];
    filters.map(|filter| Self { filter, limit: None, cursor: None }).to_vec()
});

impl Run<EntriesCall<'_>> for ListEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ListEntriesReply, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let Self { filter, limit, cursor } = self;
        filter.check()?;
        let cursor = cursor.as_deref().map(Cursor::parse).transpose()?;
        let limit = match limit {
            Some(0) => {
                return Err(Error::invalid_argument("limit is 0", "give a positive number, or leave it out for 100"));
            }
            limit => limit.unwrap_or(LIST_ENTRIES).min(MAX_LIST_ENTRIES) as usize,
        };
        let held = entries.held(run)?;
        let view = look(call, entries, scope).await?;
        let mut accepted = readable(call, &view, &held);
        accepted.retain(|readable| !readable.expired && filter.accepts(&readable.entry));
        order::sort_slice(&mut accepted, |a, b| in_order(&a.entry, &b.entry));
        let total = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
        accepted.retain(|readable| cursor.as_ref().is_none_or(|cursor| cursor.is_before(&readable.entry)));
        let has_more = accepted.len() > limit;
        accepted.truncate(limit);
        let next = accepted.last().filter(|_| has_more).map(|last| Cursor::from_entry(&last.entry).to_string());
        let entries = accepted.iter().map(|readable| readable.info(call)).collect();
        Ok(ListEntriesReply { entries, next, total, problems: view.problems })
    }
}
