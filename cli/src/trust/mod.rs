//! Approval: the text that waits to go into prompts, and a person's yes to it.

mod approve;
mod pending;
mod shared;

pub(crate) use approve::ApproveArgs;
pub(crate) use pending::PendingArgs;
pub(crate) use shared::{flags, note_pending};
