//! `reject`: removes items that wait for approval, so that they no longer wait.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::types::{ApproveItem, MAX_NAMES, SkippedItem, TrustCall, changed, named, pending_approvals};
use crate::entries::{self, ForgetEntry};
use crate::notebook::forget_version;
use crate::origin::Origin;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::samples::SAMPLE_WAITING;
use crate::trust::{PendingApproval, version_of};

/// Rejects items that wait for approval. A note is forgotten as by `forget`, an entry as by `forget-entry`, so that
/// both can be restored, and an import does not bring them back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reject {
    /// Items to reject, at most [`MAX_NAMES`].
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
        with.call.scope.trust.check_person("reject text")?;
        if self.items.len() > MAX_NAMES {
            let message = format!("{} names, the limit is {MAX_NAMES}", self.items.len());
            return Err(Error::new(ErrorCode::TooLarge, message, "reject in parts"));
        }
        if self.items.is_empty() {
            let help = "give the keys or paths to reject, with the versions that `memory pending` shows";
            return Err(Error::invalid_argument("the request names nothing to reject", help));
        }
        let pending = pending_approvals(with.call, with.notebook, with.entries).await?;
        let mut reply = RejectReply::default();
        let mut done: Vec<&PendingApproval> = Vec::new();
        for given in self.items {
            let rejected = match named(with, &pending, &given.name).await {
                Ok(item) if item.version != given.version => Err(changed(&given.version)),
                Ok(item) if done.iter().any(|other| other.path == item.path) => continue,
                Ok(item) => {
                    done.push(item);
                    match if self.dry_run { Ok(()) } else { forget(with, item).await } {
                        Err(error) if error.code == ErrorCode::Storage => return Err(error),
                        forgotten => forgotten.map_err(Error::into_message),
                    }
                }
                Err(error) if error.code == ErrorCode::Storage => return Err(error),
                Err(error) => Err(error.into_message()),
            };
            match rejected {
                Ok(()) => reply.rejected.push(given),
                Err(reason) => reply.skipped.push(SkippedItem { name: given.name, reason }),
            }
        }
        let (rejected, skipped) = (reply.rejected.len(), reply.skipped.len());
        let verb = if self.dry_run { "Would reject" } else { "Rejected" };
        reply.message = format!("{verb} {rejected}, skipped {skipped}");
        Ok(reply)
    }
}

/// Forgets the text, if it still has the version that was listed.
async fn forget(with: &TrustCall<'_>, item: &PendingApproval) -> Result<(), Error> {
    if !item.is_entry {
        return forget_version(with.call, &item.path, &item.version).await;
    }
    let request = ForgetEntry { key: item.path.as_str().into(), expected_version: Some(item.version.clone()) };
    entries::run(with.call, with.entries, &Origin::default(), request).await.map(|_| ())
}
