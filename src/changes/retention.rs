//! The policy of the history, and removing what it does not keep.
//!
//! The policy is one file for the whole store. Each machine removes its own logs, because no log has two writers: whole
//! months, when the log of a new month begins, or when the policy changes. The log of the current month stays.

use saddlebag_log::{Log, Stored};

use super::call::Call;
use super::operation::HistoryPolicy;
use crate::engine::{Loaded, load};
use crate::store::{HistoryFolder, Layout, RelPath};
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_protocol::{Error, ErrorCode, Precondition};

/// Number of seconds of a day.
const DAY_SECONDS: i64 = 86_400;
/// Mean number of seconds of a month.
const MONTH_SECONDS: i64 = 2_629_746;

/// Maximum size of the file of the policy in bytes.
const MAX_POLICY_BYTES: u32 = 4096;

/// Returns the number of the month of a log.
fn month_of(log: &RelPath) -> Option<i64> {
    let folder = log.parent()?;
    let (year, month) = folder.file_name().split_once('-')?;
    Some(year.parse::<i64>().ok()? * 12 + month.parse::<i64>().ok()?)
}

impl Call {
    /// Reads the policy of the store.
    ///
    /// # Errors
    ///
    /// The file is damaged. Nobody knows then if changes are to be recorded.
    pub(crate) async fn history_policy(&self) -> Result<HistoryPolicy, Error> {
        let path = Layout::history_policy().map_err(|_| Error::internal("the policy has no path"))?;
        match load(&self.fs, &path, MAX_POLICY_BYTES).await? {
            Loaded::Absent => Ok(HistoryPolicy::default()),
            Loaded::Whole { bytes, .. } => serde_json::from_slice(&bytes).map_err(|_| damaged(&path)),
            Loaded::TooLarge(_) => Err(damaged(&path)),
        }
    }

    /// Changes the policy of the store.
    pub(crate) async fn set_history_policy(&self, policy: HistoryPolicy) -> Result<(), Error> {
        let path = Layout::history_policy().map_err(|_| Error::internal("the policy has no path"))?;
        let text = serde_json::to_vec(&policy).map_err(|_| Error::internal("a policy is not JSON"))?;
        let written = self.operations.write(&path, text, Precondition::Any, None, None).await;
        written.map(drop).map_err(|error| Error::storage(Some(&path), &error))
    }

    /// Removes the logs of this machine that the policy does not keep, and the contents that only they named. Returns the
    /// number of removed months.
    pub(crate) async fn prune_history(&self, folder: &HistoryFolder, policy: &HistoryPolicy) -> Result<u32, Error> {
        let Some(recorder) = &self.recorder else { return Ok(0) };
        let now = self.now.timestamp().seconds;
        let current = self.current_log(folder, recorder)?;
        let mut own = self.logs(folder).await?;
        own.retain(|log| log.path.file_name() == current.file_name());
        // The paths sort by month; the newest are kept first.
        let mut bytes = 0_u64;
        let mut removed = 0;
        // After a jump of more than a year, the age counts from the newest month before it: a wrong clock must not empty the history.
        let months = own.iter().filter(|log| log.path != current).filter_map(|log| month_of(&log.path));
        let gap = months.max().and_then(|month| Some(month_of(&current)? - month)).filter(|gap| *gap > 12);
        let now = now.saturating_sub(gap.map_or(0, |gap| (gap - 1) * MONTH_SECONDS));
        // The last record of a month is as old as the end of the month.
        let oldest = now.saturating_sub(i64::from(policy.max_age_days).saturating_mul(DAY_SECONDS));
        let oldest = folder.log(oldest, &recorder.machine).map_err(|_| Error::internal("the log has no path"))?;
        for log in own.into_iter().rev() {
            bytes = bytes.saturating_add(log.size);
            let is_kept = log.path == current || (log.path >= oldest && bytes <= policy.max_log_bytes);
            if !is_kept {
                self.remove_record(&log.path).await?;
                removed += 1;
            }
        }
        if removed > 0 {
            self.prune_blobs(folder).await?;
        }
        Ok(removed)
    }

    /// Removes the contents that no log names any more.
    async fn prune_blobs(&self, folder: &HistoryFolder) -> Result<(), Error> {
        let blobs = folder.blobs().map_err(|_| Error::internal("the history has no path"))?;
        let blobs = self.list(Some(&blobs)).await?;
        if blobs.is_empty() {
            return Ok(());
        }
        let mut named: SortedSet<alloc::string::String> = SortedSet::default();
        for log in self.logs(folder).await? {
            let Loaded::Whole { bytes, .. } = load(&self.fs, &log.path, self.scope.limits.max_file_bytes).await? else {
                return Ok(());
            };
            for line in Log::new(&bytes).lines() {
                for change in 0..line.head.record().changes.len() {
                    for content in line.head.contents(change).unwrap_or_default() {
                        if matches!(content.stored, Stored::Blob) {
                            named.insert(content.digest.to_string());
                        }
                    }
                }
            }
        }
        for blob in blobs.into_iter().filter(|blob| !named.contains(blob.path.file_name())) {
            self.remove_record(&blob.path).await?;
        }
        Ok(())
    }

    async fn remove_record(&self, path: &RelPath) -> Result<(), Error> {
        let removed = self.operations.remove(path, Precondition::Any, None).await;
        removed.map(drop).map_err(|error| Error::storage(Some(path), &error))
    }
}

fn damaged(path: &RelPath) -> Error {
    let message = format!("{path} is damaged, so it is not known whether changes are recorded");
    Error::new(ErrorCode::DamagedFile, message, "remove the file, or set the policy again with `history --policy on`")
}
