//! Three-way merges of Markdown files by frontmatter field, paragraph and entry of a log, without conflict marks and without
//! any I/O.
//!
//! * [`merge`] makes two changes of one file together. Its result does not depend on which side is ours, and merging it
//!   again with either side changes nothing.
//! * [`common_version`] finds a version that both sides come from, if nobody recorded it.
//!
//! ```
//! use saddlebag_log::merges::{Kind, Sides, merge};
//!
//! let sides = Sides { base: Some("- bread\n"), ours: Some("- bread\n- milk\n"), theirs: Some("- rye bread\n") };
//! let merged = merge(Kind::Note, sides);
//! assert_eq!(merged.text.unwrap(), "- rye bread\n- milk\n");
//! assert!(merged.conflicts.is_empty());
//! ```

mod blocks;
mod body;
mod common;
mod fields;
mod head;
mod keys;
mod matching;
mod merge;
mod similar;
mod spacing;
#[cfg(test)]
mod tests;
mod types;

pub use common::common_version;
pub use merge::merge;
pub use types::{Conflict, Kind, Merged, Part, Sides};
