//! `approve`: approves notes and entries, so that they can appear in prompts.

use super::decide::{Decision, decide};
use super::types::{ApproveItem, SkippedItem};
use crate::names::Stores;
use crate::request::{Run, SAMPLE_WAITING, request};
use crate::trust::version_of;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Approves items, so that their text can appear in prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approve {
    /// Items to approve, at most [`MAX_NAMES`](super::MAX_NAMES).
    pub items: Vec<ApproveItem>,
    /// If set, only reports what would be approved.
    pub dry_run: bool,
}

/// Result of an approval.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApproveReply {
    /// Items that are approved now, as the request gave them.
    pub approved: Vec<ApproveItem>,
    /// Items that were not approved, with the reasons.
    pub skipped: Vec<SkippedItem>,
    /// Summary of the reply, to be read by a person.
    pub message: String,
}

request!(Approve "approve" => ApproveReply, Appends, |name| {
    let item = |name: String, version: String| ApproveItem { name, version };
    let items = vec![
        item(name.into(), "0".repeat(64)),
        item(format!("{name}.md"), "0".repeat(64)),
        item("waits".into(), version_of(SAMPLE_WAITING)),
    ];
    vec![Self { items, dry_run: false }]
});

impl Run<Stores<'_>> for Approve {
    async fn run(self, with: &Stores<'_>) -> Result<ApproveReply, Error> {
        let decided = decide(with, Decision::Approve, self.items, self.dry_run).await?;
        Ok(ApproveReply { approved: decided.items, skipped: decided.skipped, message: decided.message })
    }
}
