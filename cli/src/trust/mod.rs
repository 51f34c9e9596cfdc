//! Approval: lists text that waits to go into prompts, and records what the user decides.

mod approve;
mod pending;
mod reject;
mod shared;

pub(crate) use approve::ApproveArgs;
pub(crate) use pending::list_pending;
pub(crate) use reject::RejectArgs;
pub(crate) use shared::{flags, note_pending, print_item, waiting};
