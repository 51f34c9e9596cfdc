//! [`SelectError`]: why no notes could be selected, where zk would answer with nothing.

use alloc::format;
use alloc::string::String;

use crate::protocol::{Error, ErrorCode};

/// Mistake in a request that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SelectError {
    Date {
        text: String,
    },
    /// A filter names a note that does not exist.
    NoNotesAt {
        path: String,
    },
    NegatedTagInGroup {
        filter: String,
    },
}

impl From<SelectError> for Error {
    fn from(error: SelectError) -> Self {
        match error {
            SelectError::Date { text } => Self::invalid_argument(
                format!("not a date: `{}`", text.escape_debug()),
                "write YYYY, YYYY-MM, YYYY-MM-DD, YYYY-MM-DD HH:MM[:SS], HH:MM, RFC 3339, today, yesterday, \
                 monday, `3 days ago`, `this week` or `last month`",
            ),
            SelectError::NoNotesAt { path } => Self::new(
                ErrorCode::NotFound,
                format!("could not find notes at: {path}"),
                "give the path of a note below the root of the notebook, or a part of its name",
            ),
            SelectError::NegatedTagInGroup { filter } => Self::invalid_argument(
                format!("cannot negate a tag in a OR group: {}", filter.escape_debug()),
                "use a separate tag filter for what must not be there: `--tag 'NOT done'`",
            ),
        }
    }
}
