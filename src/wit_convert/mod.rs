//! Conversions between the types of this crate and those that a bindings generator makes from `wit/`.
//!
//! Guest and host both have generated types of the same shape. `wit_contract!` (in `contract.rs`, which a test
//! generates from `wit/`) is the one list of them, and each side expands it over its own bindings. A field or a case
//! that only one of `wit/` and this crate has does not compile: the guest knows every case of this crate, and all of
//! its matches are complete.
//!
//! By convention, a type of the interface `journal` is the type with that name in [`own::journal`].

#[cfg(feature = "trace")]
pub mod canonical;
mod contract;
mod types;

pub use contract::PACKAGE;
pub use types::{Mismatch, WitConvert, own};
