//! [`AtArgs`]: the earlier time that a subcommand shows.

use clap::Args;
use saddlebag::Moment;
use saddlebag::history::MIN_OPERATION_DIGITS;

use crate::input::since;

/// Option of a subcommand that can show an earlier time.
#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// Time at which to look at the memory: a date (its first moment), a time, or an operation of `op log`, such as a
    /// snapshot
    #[arg(long, value_name = "TIME|OPERATION", value_parser = moment)]
    pub(crate) at: Option<Moment>,
}

/// Parses a time, or the operation that was made then.
pub(crate) fn moment(text: &str) -> Result<Moment, String> {
    if text.len() >= MIN_OPERATION_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Moment::Operation(text.into()));
    }
    Ok(Moment::Second(since(text)?.seconds(saddlebag_host::now())))
}
