//! [`Replacement`]: the arguments of every `edit`.

use clap::Args;

use crate::failure::Failure;
use crate::input::{self, free_text};

/// A text that occurs once, and the text in its place.
#[derive(Debug, Args)]
pub(crate) struct Replacement {
    /// Text to replace, which occurs exactly once; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    old: String,
    /// Text in its place; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = free_text, required_unless_present = "delete")]
    new: Option<String>,
    /// Delete the old text; takes no NEW
    #[arg(long, conflicts_with = "new")]
    delete: bool,
}

impl Replacement {
    /// Returns the old and the new text.
    pub(crate) fn texts(self) -> Result<(String, String), Failure> {
        let new = self.new.unwrap_or_default();
        if self.old == "-" && new == "-" {
            return Err(Failure::usage("only one text can come from standard input", "give the other one here"));
        }
        Ok((input::text(self.old)?, input::text(new)?))
    }
}
