//! [`PastTime`]: the earlier time that a subcommand shows.

use clap::Args;
use saddlebag::store::Timestamp;

use crate::input::since;

/// Fewest characters that name an operation.
const LEAST_CHARACTERS: usize = 4;

/// Option of a subcommand that can show an earlier time.
#[derive(Debug, Args)]
pub(crate) struct AtArgs {
    /// Time at which to look at the memory: a date (its first moment, in UTC), a time, or an operation of `op log`, such as a
    /// snapshot
    #[arg(long, value_name = "TIME|OPERATION", value_parser = past_time)]
    pub(crate) at: Option<PastTime>,
}

/// A time, or the operation that was made then.
#[derive(Clone, Debug)]
pub(crate) enum PastTime {
    Time(Timestamp),
    Operation(String),
}

fn past_time(text: &str) -> Result<PastTime, String> {
    let is_operation = text.len() >= LEAST_CHARACTERS && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match since(text) {
        Ok(time) => Ok(PastTime::Time(time)),
        Err(_) if is_operation => Ok(PastTime::Operation(text.into())),
        Err(error) => Err(error),
    }
}
