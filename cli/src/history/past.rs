//! [`PastTime`]: the earlier time that a subcommand shows.

use clap::Args;
use saddlebag::history::ListOperations;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::Timestamp;

use crate::failure::Failure;
use crate::input::since;
use crate::output::Output;
use crate::store::Store;

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

impl PastTime {
    /// Returns the time in seconds since 1970-01-01T00:00:00Z.
    pub(crate) fn seconds(&self, store: &mut Store, output: &mut Output) -> Result<i64, Failure> {
        let operation = match self {
            Self::Time(time) => return Ok(time.seconds),
            Self::Operation(operation) => operation,
        };
        let request = ListOperations { limit: 1, operation: Some(operation.clone()), ..ListOperations::default() };
        let neither = || {
            let help =
                "give a day such as 2026-05-30, a time such as 2026-05-30T09:15:00Z, or an operation of `op log`";
            Failure::usage(format!("`{operation}` is neither a time nor an operation"), help)
        };
        let found = match store.call(request, output) {
            Err(failure) if failure.code == ErrorCode::NotFound.into() => None,
            found => found?.operations.pop(),
        };
        let time = found.and_then(|info| saddlebag_host::parse_time(&info.time).ok());
        time.map(|time| time.seconds).ok_or_else(neither)
    }
}
