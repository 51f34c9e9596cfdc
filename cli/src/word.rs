//! [`word`]: a parser for options whose values are words of the library.

use std::ffi::OsStr;
use std::marker::PhantomData;

use clap::Arg;
use clap::builder::{PossibleValue, TypedValueParser};
use saddlebag_collections::Word;

/// Returns a parser for a word of the library. It uses the library's error message, and lists the words in the help.
pub(crate) fn word<T: Word + Send + Sync>() -> impl TypedValueParser<Value = T> {
    WordParser(PhantomData)
}

struct WordParser<T>(PhantomData<T>);

impl<T> Clone for WordParser<T> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<T: Word + Send + Sync> TypedValueParser for WordParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        T::from_str.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(T::VARIANTS.iter().map(|word| PossibleValue::new(word.word()))))
    }
}
