//! [`SelectError`]: why no notes could be selected, where zk would answer with nothing.

use alloc::format;
use alloc::string::String;

use crate::protocol::{Error, ErrorCode};

/// The beginning of messages about the syntax of a query.
const QUERY_SYNTAX: &str = "not a query: ";

/// Why a request selects nothing: it cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SelectError {
    /// A query of the full-text search. zk prints nothing and succeeds.
    Query {
        query: String,
        problem: String,
    },
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
            SelectError::Query { query, problem } => Self::invalid_argument(
                format!("{QUERY_SYNTAX}`{query}`: {problem}"),
                "put words with signs in double quotes; `recall` takes any text",
            ),
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
                format!("cannot negate a tag in a OR group: `{}`", filter.escape_debug()),
                "give what must not be there as a tag filter of its own: `--tag 'NOT done'`",
            ),
        }
    }
}

/// Returns true if a listing was refused for the syntax of a full-text query, where zk prints nothing and succeeds.
///
/// ```
/// use saddlebag::protocol::{Error, ErrorCode};
///
/// let help = String::new();
/// let error = Error { code: ErrorCode::InvalidArgument, message: "not a query: `*`: unexpected `*`".into(), help };
/// assert!(saddlebag::notebook::is_query_syntax_error(&error));
/// ```
#[must_use]
pub fn is_query_syntax_error(error: &Error) -> bool {
    error.code == ErrorCode::InvalidArgument && error.message.starts_with(QUERY_SYNTAX)
}
