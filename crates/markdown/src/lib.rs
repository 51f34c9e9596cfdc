//! One Markdown file as a note: its lines, its structure, what it says, and edits of it.
//!
//! The reader follows CommonMark's blocks as far as they decide where links, tags and headings are, and adds what
//! notebooks use: frontmatter, wiki links, hashtags. It does not render, resolve links or read files. Any text is a
//! note, the time is linear in its size, and it does not panic on any text.
//!
//! * [`Note`] is a file as a notebook sees it: title, body, tags, [`Heading`]s, [`Link`]s, and its
//!   [`Frontmatter`].
//! * [`set_title`], [`set_field`], [`remove_field`], [`append_block`] and [`replace_spans`] change one thing of a file
//!   and leave the rest as it is. They take the [`Note`] for the places that they change.
//! * [`Outside`] is what leads out of the store: links, pictures, and comments that a reader does not see. It reads
//!   the same blocks and links as a [`Note`].
//! * [`hidden_lines`] are the lines of code. [`heading`], [`list_item`], [`FenceTracker`] and their like look at one
//!   line; [`head`], [`tail`] and [`truncate`] cut text; [`percent`] encodes what Markdown allows in no link; [`paths`]
//!   takes the paths in links apart.
//!
//! ```
//! use saddlebag_markdown::{Note, TagSyntax, set_title};
//!
//! let text = "# Port\n\nListens on 5433, see [[runbook|the runbook]]. #infra\n";
//! let note = Note::parse(text, TagSyntax::default());
//! assert_eq!(note.title, "Port");
//! assert_eq!(note.tags, ["infra"]);
//! assert_eq!(note.links[0].target, "runbook");
//! assert!(set_title(text, &note, "Staging port").starts_with("# Staging port\n\nListens"));
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod content;
mod edit;
mod frontmatter;
mod html;
mod inline;
mod lines;
mod note;
mod outside;
pub mod paths;
pub mod percent;
mod plain;
mod properties;
mod references;
mod scanner;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod urls;
mod wiki;
mod yaml;

pub use edit::{
    append_block, json_string, remove_field, replace_spans, set_field, set_title, yaml_scalar, yaml_string,
};
pub use frontmatter::{Frontmatter, FrontmatterProblem};
pub use lines::{FenceTracker, ListItem, heading, is_open_item, is_rule, is_structure, list_item, underlines};
pub use note::{Heading, Note, Stated, ZkTitle, moment, parse_date};
pub use outside::Outside;
pub use properties::property_text;
pub use scanner::hidden_lines;
pub use text::{breaks_one_line, head, line_of, normalize_line, one_line, replace_once, tail, truncate};
pub use types::{Counted, Link, LinkKind, TagSyntax, Value};
