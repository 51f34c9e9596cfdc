//! `status`: the sizes of the files that are always in the context.

use super::types::JournalCall;
use crate::changes::Call;
use crate::engine::{Loaded, load_all};
use crate::request::{Run, request};
use crate::search::{SkipReason, Skipped};
use crate::store::{LONG_TERM_FILE, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::is_open_item;
use saddlebag_protocol::{Error, ReadOutcome};

/// Returns the sizes of the files that are always in the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status;

/// Sizes of the files that are always in the context.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusReply {
    /// Size of the long-term memory that all projects share; `None` if it was never written, 0 if it could not be read.
    pub long_term_bytes: Option<u64>,
    /// Size of the project's long-term memory; `None` without a project, or if it was never written; 0 if it could not be
    /// read.
    pub project_long_term_bytes: Option<u64>,
    /// Number of open items of the scratchpad; 0 if it could not be read.
    pub open_items: u32,
    /// Number of entries of today's log; 0 if it could not be read.
    pub today_entries: u32,
    /// Files that could not be read, and are counted as empty.
    pub skipped: Vec<Skipped>,
    /// Summary for a person.
    pub text: String,
}

request!(Status "status" => StatusReply, Reads, |_| vec![Self]);

impl Run<JournalCall<'_>> for Status {
    async fn run(self, with: &JournalCall<'_>) -> Result<StatusReply, Error> {
        Ok(status(with.call).await)
    }
}

/// Returns the sizes.
pub(super) async fn status(call: &Call) -> StatusReply {
    let layout = &call.scope.layout;
    let mut skipped = Vec::new();
    let long_term = size(call, layout.shared_long_term(), &mut skipped).await;
    let of_project = match layout.project_long_term() {
        Some(path) => size(call, path, &mut skipped).await,
        None => None,
    };
    let scratchpad = text_of(call, layout.scratchpad(), &mut skipped).await;
    let today = text_of(call, &layout.daily(call.now.date()), &mut skipped).await;
    let count = |text: &str, counts: fn(&str) -> bool| {
        u32::try_from(text.lines().filter(|line| counts(line)).count()).unwrap_or(u32::MAX)
    };
    let open_items = count(&scratchpad, is_open_item);
    let today_entries = count(&today, |line| line.starts_with("### "));
    let size_of = |what: &str, size: Option<u64>| {
        size.map_or_else(|| format!("{what}: (not created)"), |size| format!("{what}: {size}B"))
    };
    // If the shared file is the one that is written, the line about the project's file appears only if that file
    // exists.
    let names_project = of_project.is_some() || layout.project_long_term() == Some(layout.long_term());
    let mut text = vec![size_of(LONG_TERM_FILE, long_term)];
    text.extend(names_project.then(|| size_of("MEMORY.md of the project", of_project)));
    text.extend([
        match open_items {
            0 => "scratchpad: (empty)".to_string(),
            items => format!("scratchpad: {items} open item(s)"),
        },
        match today_entries {
            0 => "today: (no entries)".to_string(),
            entries => format!("today: {entries} entry(s)"),
        },
    ]);
    StatusReply {
        long_term_bytes: long_term,
        project_long_term_bytes: of_project,
        open_items,
        today_entries,
        skipped,
        text: text.join("\n"),
    }
}

/// Returns the size of a file; `None` if it does not exist. A file that cannot be opened counts as empty and is named.
async fn size(call: &Call, path: &RelPath, skipped: &mut Vec<Skipped>) -> Option<u64> {
    match call.fs.read(path, 0, 0).await {
        Ok(ReadOutcome::Content(content)) => Some(content.size),
        Ok(ReadOutcome::Absent) => None,
        Err(error) => {
            skipped.push(Skipped::new(call.scope.display_path(path), &SkipReason::Unreadable(error)));
            Some(0)
        }
    }
}

/// Returns the text of a file. A file that cannot be opened, is not text, or is too large counts as empty and is named.
async fn text_of(call: &Call, path: &RelPath, skipped: &mut Vec<Skipped>) -> String {
    let loaded = load_all(&call.fs, &[path], call.scope.limits.max_file_bytes).await.pop();
    let read = match loaded {
        Some(Ok(Loaded::Whole { bytes, .. })) => String::from_utf8(bytes).map_err(|_| SkipReason::NotText),
        Some(Ok(Loaded::TooLarge(size))) => Err(SkipReason::TooLarge(size)),
        Some(Err(error)) => Err(SkipReason::Unreadable(error)),
        Some(Ok(Loaded::Absent)) | None => Ok(String::new()),
    };
    read.unwrap_or_else(|reason| {
        skipped.push(Skipped::new(call.scope.display_path(path), &reason));
        String::new()
    })
}
