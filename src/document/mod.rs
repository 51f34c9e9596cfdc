//! One Markdown file: its lines and their structure.

mod frontmatter;
mod html;
mod inline;
mod lines;
mod note;
mod plain;
mod references;
mod scanner;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod yaml;

pub use frontmatter::{Frontmatter, FrontmatterProblem, Value};
pub use lines::{FenceTracker, ListItem, heading, is_open_item, is_rule, is_structure, list_item};
pub use note::{Heading, Link, LinkKind, Note, TagSyntax, parse_date};
pub use text::{head, normalize_line, tail, truncate};
