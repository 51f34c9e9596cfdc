//! What taking files in has in common with taking entries of another format in.

use alloc::format;
use alloc::string::String;

use crate::protocol::{Error, ErrorCode};

pub(super) fn at_most(what: &str, given: usize, limit: usize) -> Result<(), Error> {
    if given <= limit {
        return Ok(());
    }
    let message = format!("{given} {what}, the limit is {limit}: {} too many", given - limit);
    Err(Error::new(ErrorCode::TooLarge, message, "import in parts; nothing was changed"))
}

/// What tells one key from another: the agent and the workspace have keys of their own.
pub(super) fn name(shared: bool, key: &str) -> String {
    format!("{}{key}", if shared { 'w' } else { 'a' })
}
