//! What a person lets into prompts: notes and entries whose text is of tools or imports.
//!
//! [`Pending`] lists it, [`Approve`] lets it in. To approve sets a field of the frontmatter and nothing else, under the
//! version that was looked at, which every item names: text that changed, or came, meanwhile waits on.

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
    /// A decision of a person about text.
    TrustCommand =>
    /// The reply of a [`TrustCommand`].
    TrustReply {
        Pending,
        Approve,
    }
}
