//! Sorting, and maps and sets in order, each by one piece of code for all types; and enums with a word for each variant.
//!
//! The standard library's sort and `BTreeMap` are compiled once for each type that they are used with: 5 KB
//! and more each time, 230 KB in a component that uses them freely. Here only the access to a key is generic.
//! The order is kept as numbers, and the code that moves numbers exists once.
//!
//! * [`order`] sorts numbers, and anything that can be swapped.
//! * [`SortedMap`] is a map in the order of its keys, kept as numbers in chunks.
//! * [`SortedSet`] is such a map without values.
//! * [`TextPart`] and [`SlicePart`] take parts that must be there.
//! * [`words!`] gives an enum a word for each variant.
//! * [`prelude`] has the names of `alloc` that a library without `std` imports everywhere.
//! * [`SparseBytes`] are bytes of which only some parts may be in memory. A [`Piece`] is a range of shared bytes.
//!
//! This crate does not replace the standard library where size does not matter: there are no ranges, no entry
//! API and no iteration that can change values. Where order cannot be seen, a hash map is faster.
//!
//! ```
//! use saddlebag_collections::{SortedMap, SortedSet, order};
//!
//! let mut ports = SortedMap::default();
//! ports.insert("staging", 5433);
//! ports.insert("production", 5432);
//! assert_eq!(ports.get("staging"), Some(&5433));
//! assert!(ports.keys().eq(&["production", "staging"]));
//!
//! let words: SortedSet<&str> = "one two three two".split(' ').collect();
//! assert!(words.iter().eq(&["one", "three", "two"]));
//!
//! let mut lengths = ["three", "two", "one"];
//! order::sort_slice_by_key(&mut lengths, |word| word.len());
//! assert_eq!(lengths, ["two", "one", "three"]);
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "schema")]
#[doc(hidden)]
pub use schemars;
#[doc(hidden)]
pub use serde;

pub mod order;
pub mod part;
pub mod sorted;
pub mod sparse;
#[doc(hidden)]
pub mod word;

/// Names of `alloc` that most modules use. Those of `std` need no import elsewhere.
pub mod prelude {
    pub use alloc::borrow::{Cow, ToOwned};
    pub use alloc::boxed::Box;
    pub use alloc::string::{String, ToString};
    pub use alloc::sync::Arc;
    pub use alloc::vec::Vec;
}

pub use part::{SlicePart, TextPart, is_picture};
pub use sorted::{SortedMap, SortedSet};
pub use sparse::{Piece, SparseBytes};
pub use word::{UnknownWord, Word};
