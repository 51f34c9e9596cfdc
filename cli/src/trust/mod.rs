//! Approval: lists text that waits to go into prompts, and records the user's approval.

mod approve;
mod pending;
mod shared;

pub(crate) use approve::ApproveArgs;
pub(crate) use pending::PendingArgs;
pub(crate) use shared::{flags, note_pending};
