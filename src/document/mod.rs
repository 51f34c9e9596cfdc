//! One Markdown file: its lines, its structure, what it says and edits of it.
//!
//! * [`Note`] is a file as a notebook sees it: title, body, tags, [`Heading`]s, [`Link`]s, and its
//!   [`Frontmatter`].
//! * [`set_title`], [`set_field`], [`remove_field`], [`append_block`] and [`replace_spans`] change one thing of a file and
//!   leave the rest as it is.
//! * [`Outside`] is what in a text leads out of the store: links, pictures, and comments that nobody sees.
//! * [`hidden_lines`] are those of code. [`heading`], [`list_item`], [`FenceTracker`] and their like look at one line, [`head`], [`tail`] and
//!   [`truncate`] cut text.
//!
//! ```
//! use saddlebag::document::{Note, TagSyntax, set_title};
//!
//! let text = "# Port\n\nListens on 5433, see [[runbook|the runbook]]. #infra\n";
//! let note = Note::parse(text, TagSyntax::default());
//! assert_eq!(note.title, "Port");
//! assert_eq!(note.tags, ["infra"]);
//! assert_eq!(note.links[0].target, "runbook");
//! assert!(set_title(text, &note, "Staging port").starts_with("# Staging port\n\nListens"));
//! ```

mod edit;
mod frontmatter;
mod html;
mod inline;
mod lines;
mod note;
mod outside;
mod plain;
mod properties;
mod references;
mod scanner;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod yaml;

pub use edit::{append_block, remove_field, replace_spans, set_field, set_title, yaml_scalar, yaml_string};
pub use frontmatter::{Frontmatter, FrontmatterProblem, Value};
pub use lines::{FenceTracker, ListItem, heading, is_open_item, is_rule, is_structure, list_item};
pub use note::{Heading, Link, LinkKind, Note, TagSyntax, ZkTitle, parse_date};
pub use outside::{Counted, Outside};
pub use properties::property_text;
pub use scanner::hidden_lines;
pub use text::{head, normalize_line, tail, truncate};
