//! Enums whose variants are words, as command lines, JSON and files have them.
//!
//! `words!` takes an enum and one list of its variants and their words. It gives the enum `ALL`, `WORDS`, `as_str`,
//! [`Display`](core::fmt::Display), [`FromStr`], [`Word`] and `serde::Serialize`. A variant that the list lacks does not compile.
//!
//! ```
//! use saddlebag_collections::words;
//!
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! enum Mode {
//!     Append,
//!     Overwrite,
//! }
//!
//! words!(Mode, "mode" { Append = "append", Overwrite = "overwrite" });
//!
//! assert_eq!("append".parse(), Ok(Mode::Append));
//! assert_eq!(Mode::Overwrite.as_str(), "overwrite");
//! assert_eq!(Mode::WORDS, ["append", "overwrite"]);
//! let error = "apend".parse::<Mode>().unwrap_err();
//! assert_eq!(error.to_string(), "unknown mode: apend; one of append, overwrite");
//! ```
//!
//! It is not for words that take a value with them, nor for sets of words that a user may add to.

#[doc(hidden)]
pub extern crate alloc;

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// An enum that `words!` was applied to.
pub trait Word: Copy + FromStr<Err = UnknownWord> + 'static {
    /// Name of the words in a message, for example `mode`.
    const KIND: &'static str;
    /// Every variant, in the order of the list.
    const VARIANTS: &'static [Self];

    /// Returns the word of this variant.
    fn word(self) -> &'static str;
}

/// Error for a word that an enum does not have. It is never guessed, because a typo must not choose a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// Name of the words: [`Word::KIND`].
    pub kind: &'static str,
    /// Given word.
    pub word: String,
    /// Valid words.
    pub known: &'static [&'static str],
}

impl UnknownWord {
    /// Returns the message without the way out.
    pub fn message(&self) -> String {
        alloc::format!("unknown {}: {}", self.kind, self.word.escape_debug())
    }

    /// Returns the way out: the valid words.
    pub fn help(&self) -> String {
        alloc::format!("one of {}", self.known.join(", "))
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.help())
    }
}

impl core::error::Error for UnknownWord {}

/// Gives an enum without fields its words: `words!(Type, "what a message calls them" { Variant = "word", … })`.
#[macro_export]
macro_rules! words {
    ($name:ident, $kind:literal { $($variant:ident = $word:literal),+ $(,)? }) => {
        #[allow(unreachable_pub, reason = "the enum may be private")]
        impl $name {
            /// Every variant.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];
            /// The word of every variant, in the order of [`Self::ALL`].
            pub const WORDS: [&'static str; [$($word),+].len()] = [$($word),+];

            /// Returns the word of this variant.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::core::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> ::core::result::Result<Self, $crate::UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::UnknownWord { kind: $kind, word: word.into(), known: &Self::WORDS }),
                }
            }
        }

        impl $crate::Word for $name {
            const KIND: &'static str = $kind;
            const VARIANTS: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.as_str()
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::word_schema!($name);
    };
}

/// Gives an enum of words its JSON Schema: a string with these values.
#[cfg(feature = "schema")]
#[doc(hidden)]
#[macro_export]
macro_rules! word_schema {
    ($name:ident) => {
        impl $crate::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> $crate::word::alloc::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::schemars::json_schema!({ "type": "string", "enum": Self::WORDS })
            }
        }
    };
}

/// Does nothing: without the feature `schema` there are no schemas.
#[cfg(not(feature = "schema"))]
#[doc(hidden)]
#[macro_export]
macro_rules! word_schema {
    ($name:ident) => {};
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Side {
        Left,
        Right,
    }

    words!(Side, "side" { Left = "left", Right = "right" });

    #[test]
    fn every_word_is_read_back() {
        assert_eq!(Side::VARIANTS, Side::ALL);
        for (side, word) in Side::ALL.into_iter().zip(Side::WORDS) {
            assert_eq!((word.parse(), side.as_str(), side.to_string().as_str()), (Ok(side), word, word));
        }
    }

    #[test]
    fn no_other_word_is_taken_and_the_error_names_those_that_are() {
        for word in ["", "Left", " left", "left ", "lef", "middle"] {
            let error = word.parse::<Side>().unwrap_err();
            assert_eq!((error.kind, error.word.as_str(), error.known), ("side", word, &["left", "right"][..]));
        }
        let error = "\u{1b}[2J".parse::<Side>().unwrap_err();
        assert_eq!(error.to_string(), "unknown side: \\u{1b}[2J; one of left, right");
    }

    #[test]
    fn a_word_is_padded_as_text_is() {
        assert_eq!(alloc::format!("{:6}|", Side::Left), "left  |");
    }
}
