//! JSON of the replies, where a derive alone is not enough.
//!
//! Replies are [`serde::Serialize`]: an object with the names of the fields. With the feature `schema` they also have
//! a JSON Schema. A time is RFC 3339 in UTC, because many parsers cannot represent the number of nanoseconds exactly.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::store::utc_text;

/// Writes a time, in nanoseconds since 1970, as RFC 3339; 0 means unknown and becomes `null`.
pub(crate) fn time<S: Serializer>(nanoseconds: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    (*nanoseconds > 0).then(|| utc_text(*nanoseconds)).serialize(serializer)
}

/// Writes the bytes of a file as text. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn text<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    bytes.as_deref().map(String::from_utf8_lossy).serialize(serializer)
}
