//! The logs of the history: which one a change belongs to, and which a scope has.

use super::call::Call;
use super::operation::Recorder;
use crate::store::{HistoryFolder, Layout, RelPath, is_month};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Entry, EntryKind, Error};

/// Extension of a log.
const LOG_SUFFIX: &str = ".log";

/// Returns the folder with the history of a file.
pub(crate) fn history_of(path: &RelPath) -> Result<HistoryFolder, Error> {
    Layout::history_of(path).map_err(|_| Error::internal("a file without a history"))
}

impl Call {
    /// Returns the log of a scope that this machine writes now.
    pub(super) fn current_log(&self, folder: &HistoryFolder, recorder: &Recorder) -> Result<RelPath, Error> {
        let log = folder.log(self.now.timestamp().seconds, &recorder.machine);
        log.map_err(|_| Error::internal("the log has no path"))
    }

    /// Lists the logs of a scope, of all machines. The oldest month is first.
    pub(crate) async fn logs(&self, folder: &HistoryFolder) -> Result<Vec<Entry>, Error> {
        let mut logs = Vec::new();
        for month in self.list(Some(folder.path())).await? {
            if month.kind == EntryKind::Directory && is_month(month.path.file_name()) {
                logs.extend(self.list(Some(&month.path)).await?.into_iter().filter(is_log));
            }
        }
        Ok(logs)
    }
}

fn is_log(entry: &Entry) -> bool {
    entry.kind == EntryKind::File && entry.path.file_name().ends_with(LOG_SUFFIX)
}
