//! Decisions of zk about notes: which match its full-text search, and where its links lead.
//!
//! * [`FullText`] is one or more queries. It gives the matches and the order that SQLite's FTS5 gives, with zk's
//!   tokenizer, and cuts the same snippets. A [`Row`] is a note as FTS5 sees it.
//! * [`mentions`] finds which names stand in a note, by the same words.
//! * [`ZkResolver`] finds the note that a link leads to, and [`zk_href`] the target as zk notes it.
//!
//! There is no index: each search reads every note once. Nothing here knows a notebook, its filters or its
//! configuration; notes are numbered by their place in what the caller hands in.
//!
//! ```
//! use saddlebag_markdown::{Note, TagSyntax};
//! use saddlebag_zk_rules::{FullText, Row, ZkResolver};
//!
//! let rows = [
//!     Row { path: "facts/port.md", title: "Port", body: "Postgres listens on 5433." },
//!     Row { path: "author-style.md", title: "Style", body: "See [[por]]." },
//! ];
//! let mut query = FullText::default();
//! query.add_query("listen OR nothing")?;
//! let matches = query.run(&mut rows.iter().copied());
//! assert_eq!(matches.iter().map(|found| found.note).collect::<Vec<_>>(), [0]);
//! assert_eq!(query.snippet(&rows[0]), "Postgres listens on 5433.");
//!
//! let note = Note::parse(rows[1].body, TagSyntax::default());
//! let mut resolver = ZkResolver::new(rows.iter().map(|row| row.path).collect());
//! assert_eq!(resolver.resolve(1, &note.links[0]), Some(0));
//! # Ok::<(), String>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod full_text;
mod links;

pub use full_text::{FullText, Match, Row, mentions};
pub use links::{ZkResolver, zk_href};
