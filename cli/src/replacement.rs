//! [`Replacement`]: the arguments of every `edit`.

use clap::Args;

use crate::failure::Failure;
use crate::input::{self, free_text};

/// Text that occurs once, and the text in its place.
#[derive(Debug, Args)]
pub(crate) struct Replacement {
    /// Text to replace; it must occur exactly once; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = free_text)]
    old: String,
    /// New text; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = free_text, required_unless_present = "delete")]
    new: Option<String>,
    /// Delete the old text instead of replacing it
    #[arg(long, conflicts_with = "new")]
    delete: bool,
}

impl Replacement {
    /// Returns the old and the new text.
    pub(crate) fn texts(self) -> Result<(String, String), Failure> {
        let new = self.new.unwrap_or_default();
        if self.old == "-" && new == "-" {
            return Err(Failure::usage(
                "only one argument can be read from standard input",
                "give the other as an argument",
            ));
        }
        Ok((input::text(self.old)?, input::text(new)?))
    }
}
