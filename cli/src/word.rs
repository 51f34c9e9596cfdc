//! [`Word`]: values of options that are words of the library.

use saddlebag::agents_md::Side;
use saddlebag::context::{BlockForm, Overflow};
use saddlebag::journal::WriteMode;
use saddlebag::trust::Provenance;

/// Words that a library type parses, with its messages.
pub(crate) trait Word: Sized {
    fn parse_word(word: &str) -> Result<Self, String>;
}

impl Word for WriteMode {
    fn parse_word(word: &str) -> Result<Self, String> {
        Self::parse(word).map_err(|error| format!("{}; {}", error.message, error.help))
    }
}

impl Word for Overflow {
    fn parse_word(word: &str) -> Result<Self, String> {
        Self::parse(word).map_err(|error| format!("{}; {}", error.message, error.help))
    }
}

impl Word for BlockForm {
    fn parse_word(word: &str) -> Result<Self, String> {
        Self::parse(word).map_err(|error| format!("{}; {}", error.message, error.help))
    }
}

impl Word for Side {
    fn parse_word(word: &str) -> Result<Self, String> {
        Self::parse(word).map_err(|error| format!("{}; {}", error.message, error.help))
    }
}

impl Word for Provenance {
    fn parse_word(word: &str) -> Result<Self, String> {
        Self::parse(word).map_err(|error| format!("{}; {}", error.message, error.help))
    }
}
