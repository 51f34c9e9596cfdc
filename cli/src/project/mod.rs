//! `project`: which folder opens which project's memory.

mod link;
mod list;
mod shared;

pub(crate) use link::ProjectArgs;
pub(crate) use shared::{Other, opened, others, told};
