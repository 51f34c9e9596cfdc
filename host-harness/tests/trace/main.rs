//! Recorded runs: what a trace has, that it can be replayed, and what it never has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod redaction;
mod replaying;
mod support;
mod values;
