//! One Markdown file: its lines and their structure.

mod lines;
mod text;

pub use lines::{FenceTracker, ListItem, heading, is_open_item, is_rule, is_structure, list_item};
pub use text::{head, normalize_line, tail, truncate};
