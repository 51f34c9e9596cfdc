//! `list-operations`: lists what was changed, newest first.

use super::log::{History, Recorded};
use super::types::{MAX_HISTORY_ITEMS, OperationInfo, file_change, operation_info};
use crate::names::Stores;
use crate::request::{Run, request};
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_protocol::Error;

/// Lists operations, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOperations {
    /// Maximum number of operations, at most [`MAX_HISTORY_ITEMS`].
    pub limit: u32,
    /// Only the operation with this identifier, or with the only one that begins so.
    pub operation: Option<String>,
    /// Only operations at or after this time, in seconds since 1970-01-01T00:00:00Z.
    pub since: Option<i64>,
    /// Only operations by this agent, client, tool or session, or with text of this provenance.
    pub by: Option<String>,
}

/// Operations, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationList {
    /// Operations, newest first.
    pub operations: Vec<OperationInfo>,
    /// Number of all operations that match.
    pub total: u32,
    /// Number of damaged lines in the logs, which were left out. A power cut leaves such a line.
    pub damaged: u32,
    /// True if the logs are too large, and their oldest months were not read.
    pub cut: bool,
}

request!(ListOperations "list-operations" => OperationList, Reads, |name| {
    let all = Self { limit: 9, since: Some(0), ..Self::default() };
    vec![Self { by: Some(name.into()), ..all.clone() }, all]
});

impl Run<Stores<'_>> for ListOperations {
    async fn run(self, with: &Stores<'_>) -> Result<OperationList, Error> {
        let Stores { call, entries, .. } = *with;
        let history = History::read(call, entries, None).await?;
        let only = self.operation.as_deref().map(|given| history.operation(given)).transpose()?;
        let since = self.since.map(|seconds| seconds.saturating_mul(1_000_000_000));
        let is_listed = |recorded: &Recorded, info: &OperationInfo| {
            only.is_none_or(|only| info.operation == only)
                && since.is_none_or(|since| recorded.record.time_ns >= since)
                && self.by.as_deref().is_none_or(|by| is_by(info, by))
        };
        let operations = operations(with, &history, &is_listed);
        let total = u32::try_from(operations.len()).unwrap_or(u32::MAX);
        let limit = self.limit.clamp(1, MAX_HISTORY_ITEMS);
        let operations = operations.into_iter().rev().take(limit as usize).collect();
        Ok(OperationList { operations, total, damaged: history.damaged, cut: history.is_cut })
    }
}

/// Returns true if an operation is by an agent, client, tool or session, or has text of a provenance.
pub(super) fn is_by(info: &OperationInfo, by: &str) -> bool {
    let OperationInfo { provenance, agent, client, session, tool, .. } = info;
    provenance == by || [agent, client, session, tool].into_iter().any(|name| name.as_deref() == Some(by))
}

/// Returns the operations whose records are wanted, oldest first. The last record of an operation counts: what comes before it
/// may be of a change that others prevented, and that was made later.
pub(super) fn operations(
    with: &Stores<'_>,
    history: &History,
    is_wanted: &dyn Fn(&Recorded, &OperationInfo) -> bool,
) -> Vec<OperationInfo> {
    let Stores { call, entries, .. } = *with;
    let undone = history.undone();
    let mut found: Vec<(usize, OperationInfo)> = Vec::new();
    let mut places: SortedMap<&str, usize> = SortedMap::default();
    for recorded in history.records.iter().filter(|recorded| !recorded.is_lost()) {
        let record = &recorded.record;
        let place = match places.get(&record.operation.as_str()) {
            Some(place) => *place,
            None => {
                let mut info = OperationInfo {
                    undone: undone.contains(&record.operation.as_str()),
                    ..operation_info(call, entries, record)
                };
                // Who may not know the agent learns no session of it.
                if let Some(tied) =
                    history.sessions.get(&record.operation).filter(|_| info.agent == record.writer.agent)
                {
                    info.session = Some(tied.clone());
                }
                if !is_wanted(recorded, &info) {
                    continue;
                }
                places.insert(&record.operation, found.len());
                found.push((recorded.place, info));
                found.len() - 1
            }
        };
        let Some((last, info)) = found.get_mut(place) else { continue };
        *last = recorded.place;
        // The record of each folder names the operations that changed files there.
        for (known, more) in [(&mut info.undoes, &record.undoes), (&mut info.redoes, &record.redoes)] {
            known.extend(more.iter().filter(|operation| !known.contains(operation)).cloned().collect::<Vec<_>>());
        }
        let visible = record.changes.iter().zip(&recorded.paths);
        for file in visible.filter_map(|(change, path)| file_change(call, path.as_ref()?, change)) {
            // A change that was tried again is recorded again.
            match info.files.iter_mut().find(|known| known.path == file.path && known.kind == file.kind) {
                Some(known) => known.after = file.after,
                None => info.files.push(file),
            }
        }
    }
    saddlebag_collections::order::sort_slice(&mut found, |(a, _), (b, _)| a.cmp(b));
    found.into_iter().map(|(_, info)| info).collect()
}
