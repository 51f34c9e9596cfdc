//! Tests of the promises of executors, on the local disk and the simulator.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agreement;
mod concurrency;
mod conformance;
mod leases;
mod local_dir;
mod simulator;
mod support;
