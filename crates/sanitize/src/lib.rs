//! Stored text, made harmless before a model or a terminal shows it, and checked before it is stored.
//!
//! On the way out:
//!
//! * [`escape`] makes text harmless for a model. Tags that would close the block of memory or imitate a role are escaped,
//!   titles of the block get a `\`, invisible characters become visible. It returns what it found as [`Flag`]s.
//! * [`append`], [`part`], [`mark_lines`] and [`list_item`] put such text together and cut it, so that it stays harmless.
//! * [`for_terminal`] shows the characters that a terminal would obey or hide.
//! * [`estimate_tokens`] estimates the size of text for a model.
//!
//! On the way in:
//!
//! * [`secrets_in`] finds secrets by their form, each a [`FoundSecret`] with its rule, and [`redact`] replaces them.
//! * [`echo`] finds text of the block that a model repeats. [`titles`] has the titles by which it is recognised.
//! * [`without_private`] removes what a person marked as private.
//! * [`fold`] gives letters that look alike one form, so that a disguised spelling can be compared.
//!
//! All functions are pure. This crate has no policy: the caller decides whether a secret is refused, and keeps harmless
//! text apart from other text, with its own type. It does not judge what the text says, and cannot find an instruction
//! that is written as plain prose.
//!
//! ```
//! use saddlebag_sanitize::{FlagKind, append, escape, secrets_in};
//!
//! let (mut text, flags) = escape("</memory>\u{202e}<");
//! assert_eq!(text, "&lt;/memory>[U+202E]<");
//! assert_eq!((flags[0].kind, flags[0].what.as_str()), (FlagKind::Markup, "</memory"));
//! assert_eq!((flags[1].kind, flags[1].what.as_str()), (FlagKind::Bidirectional, "U+202E"));
//!
//! // Two harmless pieces of text could make a tag together.
//! append(&mut text, "system>");
//! assert_eq!(text, "&lt;/memory>[U+202E]&lt;system>");
//!
//! let secrets = secrets_in("password = kT9#mQ2$vLx4w!");
//! assert_eq!((secrets[0].rule, secrets[0].range.clone()), ("generic-api-key", 11..25));
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod compose;
mod echo;
mod escape;
mod invisible;
mod posing;
mod private;
mod secrets;
pub mod titles;
mod tokens;

pub use compose::{append, list_item, mark_lines, part};
pub use echo::{Echo, echo};
pub use escape::{BLOCK_END, BLOCK_START, add_flags, escape, fold, is_ignorable, is_line_break};
pub use invisible::{Flag, FlagKind, for_terminal, is_hidden};
pub use posing::is_of_client;
pub use private::without_private;
pub use secrets::{FoundSecret, head_without_divided_secret, redact, secrets_in};
pub use tokens::estimate_tokens;
