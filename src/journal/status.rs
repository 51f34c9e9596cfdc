//! `status`: the sizes of the files that are always in the context.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::read::size;
use super::types::JournalCall;
use crate::document::is_open_item;
use crate::engine::{Call, Loaded, load};
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::search::{SkipReason, Skipped};
use crate::store::{LONG_TERM_FILE, RelPath};

/// Returns the sizes of the files that are always in the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status;

/// Sizes of the files that are always in the context.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusReply {
    /// Size of the long-term memory that all projects share; `None` if it was never written.
    pub long_term_bytes: Option<u64>,
    /// Size of the project's long-term memory; `None` without a project, or if it was never written.
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

impl Request for Status {
    type Reply = StatusReply;
    const NAME: &'static str = "status";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<JournalCall<'_>> for Status {
    async fn run(self, with: &JournalCall<'_>) -> Result<StatusReply, Error> {
        status(with.call).await
    }
}

/// Returns the sizes.
pub(super) async fn status(call: &Call) -> Result<StatusReply, Error> {
    let layout = &call.scope.layout;
    let long_term = size(call, layout.shared_long_term()).await?;
    let of_project = match layout.project_long_term() {
        Some(path) => size(call, path).await?,
        None => None,
    };
    let mut skipped = Vec::new();
    let scratchpad = text_of(call, layout.scratchpad(), &mut skipped).await?;
    let today = text_of(call, &layout.daily(call.now.date()), &mut skipped).await?;
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
    let mut text = alloc::vec![size_of(LONG_TERM_FILE, long_term)];
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
    Ok(StatusReply {
        long_term_bytes: long_term,
        project_long_term_bytes: of_project,
        open_items,
        today_entries,
        skipped,
        text: text.join("\n"),
    })
}

/// Returns the text of a file. A file that is not text, or too large, counts as empty and is named.
async fn text_of(call: &Call, path: &RelPath, skipped: &mut Vec<Skipped>) -> Result<String, Error> {
    let read = match load(&call.fs, path, call.scope.limits.max_file_bytes).await? {
        Loaded::Absent => Ok(String::new()),
        Loaded::Whole { bytes, .. } => String::from_utf8(bytes).map_err(|_| SkipReason::NotText),
        Loaded::TooLarge(size) => Err(SkipReason::TooLarge(size)),
    };
    Ok(read.unwrap_or_else(|reason| {
        skipped.push(Skipped::new(call.scope.display_path(path), &reason));
        String::new()
    }))
}
