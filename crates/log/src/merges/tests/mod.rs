//! Tests of merges.

mod cases;
mod properties;
