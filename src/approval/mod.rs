//! Approval by a person: notes and entries whose text comes from tools or imports stay out of prompts until then.
//!
//! [`Pending`] lists them, [`Approve`] approves them. An approval sets one field of the frontmatter. Each item names
//! the version that the person looked at; text that changed since then stays pending.

mod approve;
mod pending;
mod types;

pub use approve::{Approve, ApproveItem, ApproveReply, MAX_NAMES, SkippedItem};
pub use pending::{DEFAULT_PENDING_ITEMS, Pending, PendingReply};
pub use types::PendingItem;

pub(crate) use types::TrustCall;

use crate::family::family;

family! {
    "trust", run with TrustCall<'_>;
    /// A command about approval.
    TrustCommand =>
    /// Reply of a [`TrustCommand`].
    TrustReply {
        Pending,
        Approve,
    }
}
