//! What only the local disk and the simulator do. `saddlebag-conformance` checks the promises of every executor.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agreement;
mod concurrency;
mod limits;
mod local_dir;
mod simulator;
mod support;
