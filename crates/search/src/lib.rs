//! Two searches over documents in memory: all lines that contain a term, and the notes that answer a question best.
//!
//! * [`literal::LiteralIndex`] finds lines, ignoring case: exactly the lines that a scan of every document finds.
//!   [`literal::find`] ranks the documents, [`literal::windows`] shows the lines.
//! * [`ranked::RankedIndex`] ranks notes by the words of a [`ranked::Query`] (BM25 over fields, with stems, phrases
//!   and proximity), and returns the parts of each score. It can be written to a file and used in that form.
//! * [`ranked::Passages`] finds the part of a note that matches the query best.
//!
//! Each note or document has a number. Numbers only grow: a changed one is removed, and added under a new number. So
//! the indexes never look at a document twice.
//!
//! This crate does not read files and keeps no text. It does not parse notes: the caller passes their fields, the
//! positions of their headings, and which note supersedes which.
//!
//! ```
//! use core::cmp::Reverse;
//! use saddlebag_search::ranked::{Fields, Passages, Query, RankedIndex, Source, search};
//!
//! let notes = ["Postgres listens on port 5432.", "Deploys run at night.\n\nStaging is deployed first."];
//! let mut index = RankedIndex::default();
//! for (number, body) in (0..).zip(notes) {
//!    index.insert(number, &Fields { body, ..Fields::default() });
//! }
//!
//! let query = Query::parse("when do we deploy staging?")?;
//! let sources = [Source::new(&index, &|_| (Reverse(0), ""))];
//! let ranking = search(&sources, &query, 10);
//! assert_eq!(ranking.hits[0].doc, 1);
//!
//! let mut passages = Passages::new(&sources, &query);
//! let passage = passages.best(notes[1], 0..notes[1].len(), &mut core::iter::empty(), 30);
//! assert_eq!(&notes[1][passage.expect("it has text").range], "Staging is deployed first.");
//! # Ok::<(), saddlebag_search::ranked::EmptyQuery>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod literal;
pub mod ranked;
