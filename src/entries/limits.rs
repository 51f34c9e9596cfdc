//! Errors for exceeded limits: the value, the limit, and the difference.

use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum length of a key in bytes.
pub const MAX_KEY_BYTES: usize = 255;

/// Minimum and maximum length in bytes.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) least: usize,
    pub(super) most: usize,
}

/// Checks a length in bytes.
pub(super) fn within(what: &str, bytes: usize, limit: Limit) -> Result<(), Error> {
    let Limit { least, most } = limit;
    if bytes < least {
        let message = format!("{what} is empty, at least {least} byte is needed");
        return Err(Error::invalid_argument(message, format!("give it {least} to {most} bytes")));
    }
    over("bytes", what, bytes, most)
}

/// Returns the key if it has 1 to [`MAX_KEY_BYTES`] bytes.
pub(super) fn checked_key(what: &str, key: &str) -> Result<String, Error> {
    within(what, key.len(), Limit { least: 1, most: MAX_KEY_BYTES })?;
    Ok(key.to_string())
}

/// Refuses more than a limit, in bytes or any other unit.
pub(super) fn over(unit: &str, what: &str, given: usize, most: usize) -> Result<(), Error> {
    if given <= most {
        return Ok(());
    }
    let message = format!("{what} has {given} {unit}, the limit is {most}: {} too many", given - most);
    Err(Error::new(ErrorCode::TooLarge, message, "shorten it, or keep it as several entries"))
}
