//! `compare-versions`: shows the difference between two versions of a file.

use saddlebag_log::unified;

use super::files::{FileHistory, numbered};
use super::list_versions::{CONTEXT_LINES, history_of};
use crate::names::Stores;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Compares two versions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareVersions {
    /// Name of the file, as [`ListVersions`](super::ListVersions) takes it.
    pub name: String,
    /// Number of the version before; 0 means 2, the version before the newest.
    pub before: u32,
    /// Number of the version after; 0 means 1, the newest.
    pub after: u32,
}

/// Difference between two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Path of the file.
    pub path: String,
    /// Number of the version before.
    pub before: u32,
    /// Number of the version after.
    pub after: u32,
    /// Difference in the form of `git diff`, without the names of the files; empty if the texts are equal.
    pub diff: String,
}

request!(CompareVersions "compare-versions" => Comparison, Reads, |name| {
    vec![Self { name: format!("notes/{name}.md"), before: 1, after: 1 }]
});

impl Run<Stores<'_>> for CompareVersions {
    async fn run(self, with: &Stores<'_>) -> Result<Comparison, Error> {
        let call = with.call;
        let (path, history) = history_of(with, &self.name, None).await?;
        let mut file = FileHistory::of_item(call, &history, &path).await?;
        let older = if self.before == 0 { 2 } else { self.before };
        let newer = if self.after == 0 { 1 } else { self.after };
        let mut texts = [String::new(), String::new()];
        for (text, number) in texts.iter_mut().zip([older, newer]) {
            let version = numbered(&file, number)?;
            let bytes = file.content(call, version.state).await?.unwrap_or_default();
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        let [before, after] = &texts;
        let diff = unified(before, after, CONTEXT_LINES);
        Ok(Comparison { path: call.scope.display_path(&path), before: older, after: newer, diff })
    }
}
