//! JSON of the replies, where a derive alone is not enough.
//!
//! Replies are [`serde::Serialize`]: an object with the names of the fields. With the feature `schema` they also have
//! a JSON Schema. A time is RFC 3339 in UTC, because many parsers cannot represent the number of nanoseconds exactly.

use serde::{Serialize, Serializer};

use crate::store::utc_text;
use saddlebag_collections::prelude::*;

/// Writes a time, in nanoseconds since 1970, as RFC 3339; 0 means unknown and becomes `null`.
pub(crate) fn time<S: Serializer>(nanoseconds: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    (*nanoseconds > 0).then(|| utc_text(*nanoseconds)).serialize(serializer)
}

/// Writes a time, in nanoseconds since 1970, as RFC 3339.
pub(crate) fn moment<S: Serializer>(nanoseconds: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    utc_text(*nanoseconds).serialize(serializer)
}

/// Writes a time like [`moment`], or `null`.
pub(crate) fn moment_if_any<S: Serializer>(nanoseconds: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    nanoseconds.map(utc_text).serialize(serializer)
}

/// Writes the bytes of a file as text. Bytes that are not UTF-8 become U+FFFD.
pub(crate) fn text<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    bytes.as_deref().map(String::from_utf8_lossy).serialize(serializer)
}

/// Gives an enum its JSON form: one field with the word of the case, and one with the value of the cases that have one.
macro_rules! word_and_value {
    (
        $state:ident as $view:ident;
        $(#[$word_doc:meta])*
        $word:ident { $($case:ident $(($bound:ident))? = $text:literal),* $(,)? }
        $(#[$value_doc:meta])*
        $value:ident: $type:ty
    ) => {
        #[doc = concat!("JSON form of [`", stringify!($state), "`].")]
        #[derive(serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        struct $view {
            $(#[$word_doc])*
            #[cfg_attr(feature = "schema", schemars(extend("enum" = [$($text),*])))]
            $word: &'static str,
            $(#[$value_doc])*
            $value: Option<$type>,
        }

        impl From<$state> for $view {
            fn from(state: $state) -> Self {
                let ($word, $value) = match state {
                    $($state::$case $(($bound))? => ($text, $crate::json::word_and_value!(@value $($bound)?)),)*
                };
                Self { $word, $value }
            }
        }
    };
    (@value) => { None };
    (@value $bound:ident) => { Some($bound) };
}

pub(crate) use word_and_value;
