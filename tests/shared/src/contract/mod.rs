//! The tests that hold `wit/` and the crate together.
//!
//! `conversions.rs` makes the conversions from `wit/`, with the defaults of `defaults.rs`.
//! `names.rs` holds the names of `wit/` against the reserved words of other languages.
//! `schemas.rs` holds the JSON of the program against `docs/schemas/`.
//! `hooks.rs` holds the answers to hooks against the schemas of the clients.
//!
//! The feature `compare` links the crate. Without it the conversions can be written while the crate does not compile.
//! `catalogue.rs` holds the commands of the crate against `wit/`, `defaults.rs` the constants.

#[cfg(feature = "compare")]
mod catalogue;
mod conversions;
mod defaults;
mod hooks;
mod names;
mod schemas;
mod wit;
