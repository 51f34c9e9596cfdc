//! One Markdown file: its lines and their structure.

mod frontmatter;
mod lines;
mod note;
mod text;

pub use frontmatter::{Frontmatter, FrontmatterProblem, Value};
pub use lines::{FenceTracker, ListItem, heading, is_open_item, is_rule, is_structure, list_item};
pub use note::{Heading, Link, LinkKind, Note, TagSyntax};
pub use text::{head, normalize_line, tail, truncate};
