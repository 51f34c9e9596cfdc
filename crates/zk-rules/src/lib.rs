//! zk's full-text search over notes.
//!
//! * [`FullText`] is one or more queries. It gives the matches and the order that SQLite's FTS5 gives, with zk's
//!   tokenizer, and cuts the same snippets. A [`Row`] is a note as FTS5 sees it.
//! * [`mentions`] finds which names are in a note, by the same words.
//!
//! There is no index: each search reads every note once. Nothing here knows a notebook, its filters or its
//! configuration; notes are numbered by their place in what the caller hands in.
//!
//! ```
//! use saddlebag_zk_rules::{FullText, Row};
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
//! # Ok::<(), String>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod full_text;

pub use full_text::{FullText, Match, Row, mentions};
