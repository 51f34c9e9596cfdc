//! What the subcommands about notes share.

pub(crate) mod filter;
pub(crate) mod shared;
