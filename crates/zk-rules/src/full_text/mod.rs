//! zk's full-text search: the matches and the order that SQLite's FTS5 gives, without an index.
//!
//! One pass over the notes counts words and notes where the words of the query stand. Recall ranks
//! otherwise; this is for those who come from zk (`reference/notebook.md`, section 2.4).

mod porter;
mod query;
mod scan;
mod search;
mod snippet;
mod tokens;

pub use scan::Row;
pub use search::{FullText, Match, mentions};
