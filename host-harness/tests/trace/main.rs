//! Recorded runs: the content of a trace, its replay, and the text that it must not contain.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod json;
mod replaying;
mod secrets;
mod support;
mod values;
