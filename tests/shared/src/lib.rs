//! What tests of several packages share: generated files, damaged inputs, and the tests that hold `wit/` and the crate together.

#![allow(clippy::expect_used, clippy::panic, reason = "only tests use it, and a test may stop at the unexpected")]

#[cfg(all(test, feature = "contract"))]
mod contract;
pub mod generated;
pub mod mutations;
