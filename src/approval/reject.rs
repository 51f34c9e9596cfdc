//! `reject`: removes items that wait for approval, so that they no longer wait; refuses the values of items for good.

use super::decide::{Decision, decide};
use super::for_good::reject_for_good;
use super::types::{ApproveItem, SkippedItem};
use crate::names::Stores;
use crate::request::{Run, SAMPLE_WAITING, request};
use crate::trust::version_of;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Rejects items that wait for approval. They are forgotten as by `forget`: they
/// can be restored, and an import does not bring them back.
///
/// With `for_good`, an item need not wait: any note or entry can be named, forgotten or not. Its value is refused from now on,
/// in every spelling and by any way in, until [`Restore`](crate::items::Restore) lifts the rejection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reject {
    /// Items to reject, at most [`MAX_NAMES`](super::MAX_NAMES).
    pub items: Vec<ApproveItem>,
    /// If set, only reports what would be rejected.
    pub dry_run: bool,
    /// If set, the values of the items are rejected for good. An empty version then means any version.
    pub for_good: bool,
}

/// Result of a rejection.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RejectReply {
    /// Items that are rejected now, as the request gave them.
    pub rejected: Vec<ApproveItem>,
    /// Items that were not rejected, with the reasons.
    pub skipped: Vec<SkippedItem>,
    /// Summary of the reply, to be read by a person.
    pub message: String,
}

request!(Reject "reject" => RejectReply, Removes, |name| {
    let item = |name: String, version: String| ApproveItem { name, version };
    let items = vec![item(name.into(), "0".repeat(64)), item("waits".into(), version_of(SAMPLE_WAITING)),];
    let for_good = [name, "waits"].map(|name| item(name.into(), String::new())).to_vec();
    vec![
        Self { items, dry_run: false, for_good: false },
        Self { items: for_good, dry_run: false, for_good: true },
    ]
});

impl Run<Stores<'_>> for Reject {
    async fn run(self, with: &Stores<'_>) -> Result<RejectReply, Error> {
        let decided = match self.for_good {
            false => decide(with, Decision::Reject, self.items, self.dry_run).await?,
            true => reject_for_good(with, self.items, self.dry_run).await?,
        };
        Ok(RejectReply { rejected: decided.items, skipped: decided.skipped, message: decided.message })
    }
}
