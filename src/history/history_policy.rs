//! `history-policy`: shows whether changes are recorded and how long the history is kept, and changes that.

use super::log::folders;
use crate::names::Stores;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Shows the policy of the history of the store, or changes it. `None` leaves a field unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetHistoryPolicy {
    /// Whether changes are recorded.
    pub recording: Option<bool>,
    /// Age in days after which the log of a month is removed.
    pub max_age_days: Option<u32>,
    /// Size of the logs of one machine and one scope, in bytes, above which the oldest months are removed.
    pub max_log_bytes: Option<u64>,
}

/// Policy of the history, and what it keeps now.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryPolicyReply {
    /// True if changes are recorded.
    pub recording: bool,
    /// Age in days after which the log of a month is removed.
    pub max_age_days: u32,
    /// Size in bytes above which the oldest months are removed.
    pub max_log_bytes: u64,
    /// Logs of the scope.
    pub logs: Vec<HistoryLog>,
    /// Size of all logs in bytes.
    pub bytes: u64,
    /// Number of logs that were removed.
    pub removed: u32,
    /// Summary.
    pub message: String,
}

/// Log of one month and one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryLog {
    /// Path of the log.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}

// Only files of our own change, which do not count.
request!(SetHistoryPolicy "set-history-policy" => HistoryPolicyReply, Reads, |_| {
    vec![Self::default(), Self { max_age_days: Some(100), ..Self::default() }]
});

impl Run<Stores<'_>> for SetHistoryPolicy {
    async fn run(self, with: &Stores<'_>) -> Result<HistoryPolicyReply, Error> {
        let Stores { call, entries, .. } = *with;
        let before = call.history_policy().await;
        let is_change = self != Self::default();
        if is_change {
            call.scope.trust.check_person("change the policy of the history")?;
        }
        // A damaged policy can be set again, as a whole.
        let before = if is_change && self.recording.is_some() { before.unwrap_or_default() } else { before? };
        let policy = crate::changes::HistoryPolicy {
            record: self.recording.unwrap_or(before.record),
            max_age_days: self.max_age_days.unwrap_or(before.max_age_days),
            max_log_bytes: self.max_log_bytes.unwrap_or(before.max_log_bytes),
        };
        let mut removed = 0;
        if is_change {
            call.set_history_policy(policy).await?;
            for folder in folders(call, entries)? {
                removed += call.prune_history(&folder, &policy).await?;
            }
        }
        let mut logs = Vec::new();
        for folder in folders(call, entries)? {
            let listed = call.logs(&folder).await?.into_iter();
            logs.extend(listed.map(|log| HistoryLog { path: call.scope.display_path(&log.path), bytes: log.size }));
        }
        let bytes = logs.iter().map(|log| log.bytes).sum();
        let crate::changes::HistoryPolicy { record, max_age_days, max_log_bytes } = policy;
        let recorded = match (record, call.recorder.is_some()) {
            (true, true) => "Changes are recorded",
            (true, false) => "Changes are not recorded: this memory has no name of a machine",
            (false, _) => "Changes are not recorded",
        };
        let message = format!(
            "{recorded}; the history is kept for {max_age_days} days and {max_log_bytes} bytes a machine; it has {bytes} bytes in {} \
             {}",
            logs.len(),
            if logs.len() == 1 { "log" } else { "logs" }
        );
        Ok(HistoryPolicyReply { recording: record, max_age_days, max_log_bytes, logs, bytes, removed, message })
    }
}
