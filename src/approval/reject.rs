//! `reject`: removes items that wait for approval, so that they no longer wait.

use alloc::string::String;
use alloc::vec::Vec;

use super::decide::{Decision, decide};
use super::types::{ApproveItem, SkippedItem, TrustCall};
use crate::protocol::Error;
use crate::request::{Effect, Request, Run, SAMPLE_WAITING};
use crate::trust::version_of;

/// Rejects items that wait for approval. A note is forgotten as by `forget`, an entry as by `forget-entry`, so that
/// both can be restored, and an import does not bring them back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reject {
    /// Items to reject, at most [`MAX_NAMES`](super::MAX_NAMES).
    pub items: Vec<ApproveItem>,
    /// If set, only reports what would be rejected.
    pub dry_run: bool,
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

impl Request for Reject {
    type Reply = RejectReply;
    const NAME: &'static str = "reject";
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        let item = |name: String, version: String| ApproveItem { name, version };
        let items = alloc::vec![item(name.into(), "0".repeat(64)), item("waits".into(), version_of(SAMPLE_WAITING)),];
        alloc::vec![Self { items, dry_run: false }]
    }
}

impl Run<TrustCall<'_>> for Reject {
    async fn run(self, with: &TrustCall<'_>) -> Result<RejectReply, Error> {
        let decided = decide(with, Decision::Reject, self.items, self.dry_run).await?;
        Ok(RejectReply { rejected: decided.items, skipped: decided.skipped, message: decided.message })
    }
}
