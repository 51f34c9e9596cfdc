//! `approve`: approves notes and entries, so that they can appear in prompts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::types::{ApproveItem, MAX_NAMES, SkippedItem, TrustCall, Waiting, changed, named, pending_approvals};
use crate::changes::{Backups, Call, File};
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::samples::SAMPLE_WAITING;
use crate::trust::{PendingApproval, approve as approved_text, version_of};

/// Approves items, so that their text can appear in prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approve {
    /// Items to approve, at most [`MAX_NAMES`].
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

impl Request for Approve {
    type Reply = ApproveReply;
    const NAME: &'static str = "approve";
    const EFFECT: Effect = Effect::Appends;

    fn samples(name: &str) -> Vec<Self> {
        let item = |name: String, version: String| ApproveItem { name, version };
        let items = alloc::vec![
            item(name.into(), "0".repeat(64)),
            item(format!("{name}.md"), "0".repeat(64)),
            item("waits".into(), version_of(SAMPLE_WAITING)),
        ];
        alloc::vec![Self { items, dry_run: false }]
    }
}

impl Run<TrustCall<'_>> for Approve {
    async fn run(self, with: &TrustCall<'_>) -> Result<ApproveReply, Error> {
        check(with.call, &self)?;
        let waiting = pending_approvals(with.call, with.notebook, with.entries).await?;
        approve(with, &waiting, &self).await
    }
}

fn check(call: &Call, request: &Approve) -> Result<(), Error> {
    call.scope.trust.check_person("approve text")?;
    if request.items.len() > MAX_NAMES {
        let message = format!("{} names, the limit is {MAX_NAMES}", request.items.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "approve in parts"));
    }
    if request.items.is_empty() {
        let help = "give the keys or paths to approve, with the versions that `memory pending` shows";
        return Err(Error::invalid_argument("the request names nothing to approve", help));
    }
    Ok(())
}

async fn approve(with: &TrustCall<'_>, waiting: &Waiting, request: &Approve) -> Result<ApproveReply, Error> {
    let mut reply = ApproveReply::default();
    let mut meant: Vec<(&ApproveItem, &PendingApproval)> = Vec::new();
    for given in &request.items {
        let ApproveItem { name, version } = given;
        let reason = match named(with, waiting, name).await {
            Ok(one) if one.version == *version => {
                meant.push((given, one));
                continue;
            }
            Ok(_) => changed(version),
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            Err(error) => error.into_message(),
        };
        reply.skipped.push(SkippedItem { name: name.clone(), reason });
    }
    let mut done: Vec<&PendingApproval> = Vec::new();
    for (given, item) in meant {
        if done.iter().any(|other| other.path == item.path) {
            continue;
        }
        done.push(item);
        let written = if request.dry_run { Ok(()) } else { write(with.call, item).await };
        match written {
            Ok(()) => reply.approved.push(given.clone()),
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            Err(error) => {
                reply.skipped.push(SkippedItem { name: given.name.clone(), reason: error.into_message() });
            }
        }
    }
    let (approved, skipped) = (reply.approved.len(), reply.skipped.len());
    let verb = if request.dry_run { "Would approve" } else { "Approved" };
    reply.message = format!("{verb} {approved}, skipped {skipped}");
    Ok(reply)
}

/// Writes the time of the approval into the file, if it still has the version that the person looked at.
async fn write(call: &Call, item: &PendingApproval) -> Result<(), Error> {
    let stale = || Error::new(ErrorCode::StaleVersion, changed(&item.version), "look at it again");
    let change = |file: &File| {
        let text = file.text().ok().flatten().ok_or_else(stale)?;
        if version_of(text) != item.version {
            return Err(stale());
        }
        let approved = approved_text(text, call.now.epoch_nanoseconds()).ok_or_else(|| {
            let message = format!(
                "the approval cannot be written into the frontmatter of {}",
                call.scope.display_path(&item.path)
            );
            Error::invalid_argument(message, "add `approved: ` and the time by hand")
        })?;
        Ok((Some(call.screen.rewrite(file, approved)?), ()))
    };
    call.update(&item.path, Backups::Off, change).await.map(|_| ())
}
