//! Approval by a person: notes and entries whose text comes from tools or imports stay out of prompts until then.
//!
//! [`Pending`] lists them, [`Approve`] approves them, [`Reject`] forgets them, also for good, and [`Restore`](crate::items::Restore) takes that back. An approval sets one field of the frontmatter. Each item names
//! the version that the person looked at; text that changed since then stays pending.

mod approve;
mod decide;
mod for_good;
mod pending;
mod reject;
mod types;
mod unforget;

pub use approve::{Approve, ApproveReply};
pub use pending::{DEFAULT_PENDING_ITEMS, Pending, PendingReply};
pub use reject::{Reject, RejectReply};
pub use types::{ApproveItem, MAX_NAMES, PendingItem, SkippedItem};

pub(crate) use unforget::unforget;

use crate::family::family;
use crate::names::Stores;

family! {
    "trust", run with Stores<'_>;
    /// A command about approval.
    TrustCommand =>
    /// Reply of a [`TrustCommand`].
    TrustReply {
        Pending,
        Approve { items, dry_run },
        Reject { items, dry_run, for_good },
    }
}
