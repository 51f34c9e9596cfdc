//! Literal search: which lines have a term.
//!
//! [`Texts`] are what is searched; the caller keeps them. A [`LiteralIndex`] has their names and words. [`find`] gives
//! the [`Matches`] of [`Terms`], best first: each [`Match`] names a document, and which lines of it have which terms.
//!
//! ```
//! use saddlebag_search::literal::{LiteralIndex, Rank, Terms, TextId, Texts, find, windows};
//!
//! struct Lines(Vec<&'static str>);
//!
//! impl Texts for Lines {
//!     fn next_id(&self) -> TextId {
//!         self.0.len() as TextId
//!     }
//!     fn text(&self, id: TextId) -> Option<&str> {
//!         self.0.get(id as usize).copied()
//!     }
//!     fn is_searched(&self, _: TextId) -> bool {
//!         true
//!     }
//!     fn rank(&self, id: TextId) -> Rank {
//!         Rank { order: id, ..Rank::default() }
//!     }
//! }
//!
//! let texts = Lines(vec!["the port\nis 5432", "no PORT is open\nin this port"]);
//! let mut index = LiteralIndex::new(".md");
//! let matches = find(&mut index, &texts, &Terms::from_query("port"));
//! let best = matches.from(0).next().expect("both match");
//! assert_eq!((matches.len(), best.text, best.lines), (2, 1, vec![0, 1]));
//! assert_eq!(windows(texts.0[0], &[0]), "the port\nis 5432\n…");
//! ```
//!
//! # How does literal search work, and what does it cost?
//!
//! Search answers from the files of the journal: the Markdown files directly in the root, `MEMORY.md` and the scratchpad of
//! the project, and those directly in `notes/`, `daily/`, `facts/` and `decisions/` of the project. It shares the
//! index with the notebook.
//!
//! 1. **Refresh.** The root and the folders of the scope are listed, one after the other. The request carries the
//!    version of the page as it was (`unless`); an `unchanged` page costs the component nothing. The files of any other
//!    page are compared by version, and changed files are read in batches of 256 requests. The host still looks at
//!    every file of a folder to answer, in several threads where there are thousands. With `assume-unchanged` the
//!    listing is left out: not one request.
//! 2. **Find.** A term has no white space, so it lies within one word of one line. The first search folds and scans
//!    every document. When there is a second one, every distinct word goes into an index once, with its lines as LEB128
//!    postings; from then on a search scans the words, not the documents, in time that grows with the vocabulary and
//!    the matches. Indexing costs more than one scan: a program that searches once does not pay for it.
//! 3. **Rank.** Long-term memory first, then the number of terms, content before file name, matching lines, the date of
//!    a log, the path. A name counts only for files without a match in their content, and the extension not at all.
//! 4. **Render.** Windows of three lines around the matches, at most five a file, within a budget of bytes; a page of hits
//!    beside it.
//!
//! Case folds by Unicode simple folding, the rule of case-insensitive regular expressions. What cannot be searched (not
//! UTF-8, too large, a link, unreadable, index full) is named in the reply with the reason, and found by name. Measured
//! costs are in docs/benchmarks.md.

mod fold;
mod index;
mod query;
mod windows;

pub use index::{LiteralIndex, Rank, TextId, Texts};
pub use query::{Match, Matches, Terms, find};
pub use windows::{name_match, windows};
